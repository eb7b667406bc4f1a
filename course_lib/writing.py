"""Tokens of the corpus as a reader writes them: spaces, particles, a capital letter."""

from collections.abc import Iterable
from unicodedata import normalize

from course_lib import grammar
from course_lib.grammar import particle


def attach(tokens: Iterable[str]) -> list[str]:
    """Join Korean particles to the word before them: 고양이 가 -> 고양이가."""
    words: list[str] = []
    for token in tokens:
        if token in _PARTICLES and words:
            words[-1] += token
        else:
            words.append(token)
    return words


def text(tokens: Iterable[str], language: str) -> str:
    """Write tokens as a reader expects them: spaces, particles, a capital letter.

    Args:
        tokens: the tokens of a sentence.
        language: "korean" or "english".
    """
    check_language(language)
    words = attach(tokens) if language == "korean" else list(tokens)
    sentence = " ".join(words).replace(" .", ".").replace(" ,", ",")
    return sentence[:1].upper() + sentence[1:]


def tokenize(text: str, language: str) -> tuple[str, ...]:
    """Split a written sentence into the tokens of the corpus; undoes text().

    Args:
        text: one sentence of the grammar.
        language: "korean" or "english".

    Raises:
        ValueError: if a word is not in the grammar, or carries the wrong particle.
    """
    check_language(language)
    text = normalize("NFC", text)  # some systems type 가 as ㄱ and ㅏ
    tokens: list[str] = []
    for word in text.replace(".", " . ").replace(",", " , ").split():
        if word.lower() not in _WRITTEN[language]:
            raise ValueError(f"{word!r} is not a {language.title()} word of the corpus")
        tokens += _WRITTEN[language][word.lower()]
    return tuple(tokens)


def check_language(language: str) -> None:
    if language not in ("korean", "english"):
        raise ValueError(f'language must be "korean" or "english", not {language!r}')


_PARTICLES = ["들", "에서", "에"] + [
    form for forms in grammar.PARTICLES.values() for form in forms
]


def _written_korean() -> dict[str, list[str]]:
    """Every written Korean word, particles attached -> its tokens."""
    stems = [[word] for word in grammar.words("korean") if word not in _PARTICLES]
    stems += [[noun.korean, "들"] for noun in grammar.NOUNS]
    written = {"".join(stem): stem for stem in stems}
    for place in grammar.PLACES:
        for ending in ["에서", "에"]:
            written[place.korean + ending] = [place.korean, ending]
    counted = [noun.korean for noun in grammar.NOUNS]
    counted += [noun.counter for noun in grammar.NOUNS]
    for stem in stems:
        if stem[0] in counted:
            for role in grammar.PARTICLES:
                ending = particle(stem[-1], role)
                written["".join(stem) + ending] = [*stem, ending]
    return written


_WRITTEN = {
    "korean": _written_korean(),
    "english": {word: [word] for word in grammar.words("english")},
}
