"""A small grammar that writes Korean-English sentence pairs with gold answers.

Every pair is written in both languages at once from one plan, so we know which words
belong together and whom each pronoun means. The words stand in data/grammar.toml.

The rules that make every sentence translatable in exactly one way, in both directions:

- A subject with 은/는 is "the boy"; 소년 한 명이 is "a boy". A bare object is "a boy",
  그 소년을 is "the boy". Numbers follow their noun in Korean: 소년 두 명, "two boys".
- A noun that comes back is 그 + noun in Korean and a pronoun in English. It may come
  back only if nothing else in the sentence so far could be meant by that pronoun.
- A subject that stays the same is dropped in Korean and a pronoun in English.
"""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from random import Random
from typing import Any, NamedTuple, TypeVar

import torch
from jaxtyping import Int
from torch import Tensor

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SHORTEST, LONGEST = 4, 26  # Korean tokens in a sentence, the full stop included
MOST_CLAUSES = 4

_GRAMMAR: dict[str, Any] = tomllib.loads(
    files("course_lib").joinpath("data/grammar.toml").read_text(encoding="utf-8")
)
_NOUNS: dict[str, list[str]] = _GRAMMAR["nouns"]
_VERBS: list[dict[str, Any]] = _GRAMMAR["verbs"]
_TENSES = ["past", "present", "future"]
_NUMBERS: dict[str, str] = {"a": "한", **_GRAMMAR["numbers"]}
_PRONOUNS = {  # as subject, as object
    "he": ["he", "him"],
    "she": ["she", "her"],
    "it": ["it", "it"],
    "they": ["they", "them"],
}
# the last word of a clause -> the same word when another clause follows
_JOINED = {"것이다": "것이고"} | {
    alone: joined
    for verb in _VERBS
    for alone, joined in zip(verb["korean"], verb["and"], strict=False)
}


def _by_kind(kinds_of: dict[str, list[str]]) -> dict[str, list[str]]:
    """Turn item -> kinds into kind -> items, in the grammar's order."""
    return {
        kind: [item for item, kinds in kinds_of.items() if kind in kinds]
        for kind in ["person", "animal", "food", "thing"]
    }


_NOUNS_OF = _by_kind({noun: [row[2]] for noun, row in _NOUNS.items()})
_ADJECTIVES_OF = _by_kind({a: row[1] for a, row in _GRAMMAR["adjectives"].items()})
_VERBS_OF = {
    kind: [verb for verb in _VERBS if kind in verb["subjects"]] for kind in _NOUNS_OF
}

Item = TypeVar("Item")


@dataclass(frozen=True)
class Pair:
    """One sentence in two languages, with its gold alignment and antecedents.

    Args:
        korean: the Korean tokens; particles are tokens of their own.
        english: the English tokens, in lower case.
        alignment: pairs (index in korean, index in english) of words that translate
            each other; case particles and some articles have no counterpart.
        antecedents: pairs (pronoun, noun) of indices in english; a "they" that means
            two nouns has a pair for each.
        dropped: pairs (verb, noun) of indices in korean: the verb has no subject
            because it is the noun named earlier; again one pair for each noun.
    """

    korean: tuple[str, ...]
    english: tuple[str, ...]
    alignment: frozenset[tuple[int, int]]
    antecedents: tuple[tuple[int, int], ...]
    dropped: tuple[tuple[int, int], ...]


@dataclass
class _Thing:
    """Someone or something that a sentence speaks of."""

    nouns: list[str]  # in Korean: one, or two joined by "and"
    adjectives: list[str | None]  # one for each noun
    form: str  # "the", "a", "two", "three" or "plural" (the boys)
    kind: str
    pronoun: str
    can_return: bool = True
    korean_at: list[int] = field(default_factory=list)  # where its nouns stand
    english_at: list[int] = field(default_factory=list)


def particle(word: str, role: str) -> str:
    """The particle that fits the word: after a final consonant 은, after a vowel 는.

    Args:
        word: a Korean word that ends in a Hangul syllable.
        role: "topic" 은/는, "subject" 이/가, "object" 을/를, "and" 과/와.

    Source: Unicode lists the syllables from 가 on with 28 endings each, the first of
    the 28 without a final consonant.
    """
    after_consonant, after_vowel = _GRAMMAR["particles"][role]
    has_final_consonant = (ord(word[-1]) - ord("가")) % 28 > 0
    return str(after_consonant if has_final_consonant else after_vowel)


class _Writer:
    """Writes one sentence, clause by clause, in both languages at once."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.detail = self.pick([0.0, 0.3, 0.6])  # how much is added to the clause
        self.tense = self.pick(["past", "past", "past", "present", "future"])
        self.times = list(_GRAMMAR["times"])  # those that may still come
        self.things: list[_Thing] = []
        self.pronouns: list[str] = []  # of everything spoken of so far
        self.verbs: list[dict[str, Any]] = []
        self.places: list[str] = []
        self.korean: list[str] = []
        self.english: list[str] = []
        self.links: list[list[str]] = [[], []]  # in the clause being written
        self.alignment: list[tuple[int, int]] = []
        self.antecedents: list[tuple[int, int]] = []
        self.dropped: list[tuple[int, int]] = []

    # Choosing. Only random() is used: Python promises its numbers for every version.

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self.random.random() * len(items))]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def free(self, kind: str) -> list[str]:
        """The nouns of a kind that are not yet in the sentence."""
        known = [noun for thing in self.things for noun in thing.nouns]
        return [noun for noun in _NOUNS_OF[kind] if noun not in known]

    def new_thing(self, kind: str, forms: list[str], role: str) -> _Thing:
        """Choose one noun not yet in the sentence, or two, with adjectives."""
        free = self.free(kind)
        nouns = [self.pick(free)]
        form = self.pick(forms)
        pronoun = _NOUNS[nouns[0]][3] if form in ("the", "a") else "they"
        self.pronouns.append(pronoun)
        # 왕과 여왕은: the king and the queen; 왕과 여왕을: a king and a queen.
        if form in ("the", "a") and len(free) > 1 and self.chance(0.15):
            nouns.append(self.pick([noun for noun in free if noun not in nouns]))
            self.pronouns += [_NOUNS[nouns[1]][3], "they"]
            pronoun = "they"
            form = "the" if role == "subject" else "a"
        adjectives: list[str | None] = [None for _ in nouns]
        if self.chance(self.detail):
            # 작은 고양이와 토끼: is the rabbit small too? So both get one, or neither.
            adjectives = [self.pick(_ADJECTIVES_OF[kind]) for _ in nouns]
        thing = _Thing(nouns, adjectives, form, kind, pronoun)
        self.things.append(thing)
        return thing

    def known_thing(self, kinds: list[str]) -> _Thing | None:
        """Choose something mentioned before that its pronoun names beyond doubt."""
        things = [
            thing
            for thing in self.things
            if thing.kind in kinds
            and thing.can_return
            and len(thing.nouns) == 1
            and thing is not self.subject
            and self.pronouns.count(thing.pronoun) == 1
        ]
        return self.pick(things) if things else None

    def choose_subject(self) -> tuple[_Thing, str]:
        """Choose whom the clause is about: "new", "same" as before, or "known"."""
        if self.things:
            same = self.subject
            if self.pronouns.count(same.pronoun) == 1 and self.chance(0.6):
                return same, "same"
            if self.chance(0.5):
                known = self.known_thing(["person", "animal"])
                if known:
                    return known, "known"
        forms = ["the", "the", "the", "plural"]
        if not self.things:
            forms += ["a", "a", "two", "three"]
        kind = self.pick([k for k in ("person", "person", "animal") if self.free(k)])
        return self.new_thing(kind, forms, "subject"), "new"

    def choose_time(self) -> str | None:
        """Choose a word of time that fits the tense; later clauses never go back."""
        if self.verbs and self.tense == "past" and self.chance(self.detail / 2):
            self.tense, self.times = "future", ["내일"]
        fitting = [t for t in self.times if self.tense in _GRAMMAR["times"][t][1]]
        if not fitting or not self.chance(self.detail or 0.1):
            self.times = self.times if self.verbs else []
            return None
        time: str = self.pick(fitting)
        self.times = self.times[self.times.index(time) + 1 :]
        return time

    # Writing. Words with the same link within a clause translate each other.

    def say(self, korean: str, link: str = "") -> None:
        self.korean.append(korean)
        self.links[0].append(link)

    def say_in_english(self, english: str, link: str = "") -> None:
        self.english.append(english)
        self.links[1].append(link)

    def add_clause(self) -> None:
        """Add one clause to the sentence, after "and" if it is not the first."""
        if self.korean:
            self.korean[-1] = _JOINED[self.korean[-1]]
            self.english += [",", "and"]
            self.alignment.append((len(self.korean) - 1, len(self.english) - 1))
        start = len(self.korean), len(self.english)
        self.links = [[], []]

        subject, mention = self.choose_subject()
        self.subject = subject
        verbs = [
            verb
            for verb in _VERBS_OF[subject.kind]
            if verb not in self.verbs
            and (not verb["objects"] or any(map(self.free, verb["objects"])))
        ]
        verb = self.pick(verbs)
        target: _Thing | None = None
        target_is_known = False
        if verb["objects"]:
            if self.chance(0.4):
                target = self.known_thing(verb["objects"])
            target_is_known = target is not None
            if target is None:
                forms = ["a", "a", "a", "the", "two", "three", "plural"]
                target = self.new_thing(
                    self.pick([kind for kind in verb["objects"] if self.free(kind)]),
                    forms,
                    "object",
                )
        time = self.choose_time()
        place = None
        free_places = [place for place in verb["places"] if place not in self.places]
        if free_places and self.chance(self.detail or 0.1):
            place = self.pick(free_places)
            self.places.append(place)
        time_first = time is not None and mention != "same" and self.chance(0.5)

        # Korean: (time) subject (time) place object verb
        if time and time_first:
            self.say(time, "time")
        if mention != "same":
            self.korean_phrase(subject, "subject", mention == "known")
        if time and not time_first:
            self.say(time, "time")
        if place:
            self.say(place, "place")
            self.say(verb.get("place_particle", "에서"), "preposition")
        if target:
            self.korean_phrase(target, "object", target_is_known)
        if mention == "same":
            self.dropped += [(len(self.korean), noun) for noun in subject.korean_at]
        self.say(verb["korean"][_TENSES.index(self.tense)], "verb")
        if self.tense == "future":
            self.say("것이다", "will")

        # English: (time) subject verb object place (time)
        english_time = _GRAMMAR["times"][time][0].split() if time else []
        if time_first:
            for word in english_time:
                self.say_in_english(word, "time")
        self.english_phrase(subject, "subject", mention != "new")
        if self.tense == "future":
            self.say_in_english("will", "will")
        plain, with_s, past = verb["english"]
        singular = subject.pronoun != "they"
        present = with_s if singular else plain
        forms_by_tense = {"past": past, "present": present, "future": plain}
        self.say_in_english(forms_by_tense[self.tense], "verb")
        if target:
            self.english_phrase(target, "object", target_is_known)
        if place:
            preposition, place_name = _GRAMMAR["places"][place]
            self.say_in_english(preposition, "preposition")
            self.say_in_english("the")
            self.say_in_english(place_name, "place")
        if not time_first:
            for word in english_time:
                self.say_in_english(word, "time")

        self.alignment += [
            (start[0] + i, start[1] + j)
            for i, korean_link in enumerate(self.links[0])
            for j, english_link in enumerate(self.links[1])
            if korean_link and korean_link == english_link
        ]
        self.verbs.append(verb)
        if target and verb.get("uses_up"):
            target.can_return = False

    def korean_phrase(self, thing: _Thing, role: str, known: bool) -> None:
        """소년은, 작은 고양이 두 마리를, 그 왕과 여왕을: noun phrase and particle."""
        many = thing.form == "plural"
        counted = thing.form in _NUMBERS and len(thing.nouns) == 1
        if known:
            many, counted = thing.pronoun == "they", False
            self.say("그", f"{role} 0")
        elif role == "object":
            counted = counted and thing.form != "a"
            if thing.form in ("the", "plural"):
                self.say("그", "the")
        for i, (noun, adjective) in enumerate(
            zip(thing.nouns, thing.adjectives, strict=True)
        ):
            if i > 0:
                self.say(particle(thing.nouns[i - 1], "and"), f"{role} and")
            if adjective and not known:
                self.say(adjective, f"{role} adjective {i}")
            if not known:
                thing.korean_at.append(len(self.korean))
            self.say(noun, f"{role} {i}")
        if many:
            self.say("들", f"{role} 0")
        if counted:
            self.say(_NUMBERS[thing.form], f"{role} number")
            self.say(_NOUNS[thing.nouns[0]][4], f"{role} number")
        marker = role if role == "object" or counted else "topic"
        self.say(particle(self.korean[-1], marker))

    def english_phrase(self, thing: _Thing, role: str, known: bool) -> None:
        """The boy, two small cats, the king and the queen; or a pronoun."""
        if known:
            self.antecedents += [(len(self.english), noun) for noun in thing.english_at]
            self.say_in_english(_PRONOUNS[thing.pronoun][role == "object"], f"{role} 0")
            return
        for i, (noun, adjective) in enumerate(
            zip(thing.nouns, thing.adjectives, strict=True)
        ):
            if i > 0:
                self.say_in_english("and", f"{role} and")
            singular, plural = _NOUNS[noun][:2]
            words = [singular if thing.form in ("the", "a") else plural]
            if adjective:
                words.insert(0, _GRAMMAR["adjectives"][adjective][0])
            if thing.form == "a":
                article = "an" if words[0][0] in "aeiou" else "a"
                self.say_in_english(article, f"{role} number")
            elif thing.form in _NUMBERS:
                self.say_in_english(thing.form, f"{role} number")
            else:
                self.say_in_english("the", "the" if role == "object" else "")
            if adjective:
                self.say_in_english(words[0], f"{role} adjective {i}")
            thing.english_at.append(len(self.english))
            self.say_in_english(words[-1], f"{role} {i}")

    def pair(self) -> Pair:
        """The finished sentence, with its full stop."""
        full_stops = (len(self.korean), len(self.english))
        return Pair(
            (*self.korean, "."),
            (*self.english, "."),
            frozenset([*self.alignment, full_stops]),
            tuple(self.antecedents),
            tuple(self.dropped),
        )


def generate(
    count: int = 60_000,
    seed: int = 0,
    *,
    min_length: int | None = None,
    max_length: int | None = None,
) -> list[Pair]:
    """Write distinct sentence pairs; the same seed gives the same pairs anywhere.

    Args:
        count: how many pairs, at least 1.
        seed: the start of the random numbers.
        min_length: the fewest Korean tokens, the full stop included; None means 4.
        max_length: the most Korean tokens; None means 26.

    Raises:
        ValueError: if the grammar does not have so many sentences of these lengths.
    """
    shortest = SHORTEST if min_length is None else max(min_length, SHORTEST)
    longest = LONGEST if max_length is None else min(max_length, LONGEST)
    if count < 1:
        raise ValueError(f"count must be at least 1, not {count}")
    if shortest > longest:
        raise ValueError(
            f"no sentence has {min_length} to {max_length} Korean tokens: "
            f"the grammar writes {SHORTEST} to {LONGEST}"
        )
    random = Random(seed)
    pairs: dict[tuple[str, ...], Pair] = {}
    misses = 0
    while len(pairs) < count:
        writer = _Writer(random)
        enough = shortest + int(random.random() * (longest - shortest + 1))
        while len(writer.korean) + 1 < enough and len(writer.verbs) < MOST_CLAUSES:
            writer.add_clause()
        length = len(writer.korean) + 1
        if shortest <= length <= longest and (*writer.korean, ".") not in pairs:
            pair = writer.pair()
            pairs[pair.korean] = pair
            misses = 0
        else:
            misses += 1
        if misses == 20_000:
            raise ValueError(
                f"count is {count}, but only {len(pairs)} different sentences of "
                f"{shortest} to {longest} Korean tokens were found"
            )
    return list(pairs.values())


def split(
    pairs: Sequence[Pair], held_out: int, seed: int = 0
) -> tuple[list[Pair], list[Pair]]:
    """Deal the pairs out at random: those to train on, and held_out to test with.

    Raises:
        ValueError: if held_out leaves nothing on one side, or a sentence occurs twice.
    """
    if not 0 < held_out < len(pairs):
        raise ValueError(
            f"held_out must be between 1 and {len(pairs) - 1} for {len(pairs)} pairs, "
            f"not {held_out}"
        )
    distinct = len({pair.korean for pair in pairs})
    if distinct < len(pairs):
        raise ValueError(f"only {distinct} of the {len(pairs)} sentences are distinct")
    shuffled = _shuffled(pairs, Random(seed))
    return shuffled[held_out:], shuffled[:held_out]


def _shuffled(items: Sequence[Item], random: Random) -> list[Item]:
    return sorted(items, key=lambda _: random.random())


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
    _check_language(language)
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
    _check_language(language)
    tokens: list[str] = []
    for word in text.replace(".", " . ").replace(",", " , ").split():
        if word.lower() not in _WRITTEN[language]:
            raise ValueError(f"{word!r} is not a {language.title()} word of the corpus")
        tokens += _WRITTEN[language][word.lower()]
    return tuple(tokens)


def _check_language(language: str) -> None:
    if language not in ("korean", "english"):
        raise ValueError(f'language must be "korean" or "english", not {language!r}')


_PARTICLES = ["들", "에서", "에"] + [
    form for forms in _GRAMMAR["particles"].values() for form in forms
]


def _words(language: str) -> list[str]:
    """Every word of the grammar, once, in the order of the grammar."""
    if language == "korean":
        words = [".", "그", *_PARTICLES, *_NUMBERS.values()]
        words += [row[4] for row in _NOUNS.values()]
        for table in ["nouns", "adjectives", "places", "times"]:
            words += _GRAMMAR[table]
        for verb in _VERBS:
            words += verb["korean"] + verb["and"]
        words += ["것이다", "것이고"]
    else:
        words = [".", ",", "the", "an", "and", "will", *_NUMBERS]
        words += [word for forms in _PRONOUNS.values() for word in forms]
        words += [word for row in _NOUNS.values() for word in row[:2]]
        words += [row[0] for row in _GRAMMAR["adjectives"].values()]
        words += [word for row in _GRAMMAR["places"].values() for word in row]
        for english, _ in _GRAMMAR["times"].values():
            words += english.split()
        words += [word for verb in _VERBS for word in verb["english"]]
    return list(dict.fromkeys(words))


def _written_korean() -> dict[str, list[str]]:
    """Every written Korean word, particles attached -> its tokens."""
    written = {word: [word] for word in _words("korean") if word not in _PARTICLES}
    for place in _GRAMMAR["places"]:
        written |= {place + ending: [place, ending] for ending in ["에서", "에"]}
    counters = [row[4] for row in _NOUNS.values()]
    for tokens in [[word] for word in [*_NOUNS, *counters]] + [
        [n, "들"] for n in _NOUNS
    ]:
        for role in _GRAMMAR["particles"]:
            ending = particle(tokens[-1], role)
            written["".join(tokens) + ending] = [*tokens, ending]
    return written


_WRITTEN = {
    "korean": _written_korean(),
    "english": {word: [word] for word in _words("english")},
}


class Vocabulary:
    """A numbered list of words: 0 to 3 are pad, bos, eos and unk, then the tokens.

    Args:
        tokens: the words, in the order of their numbers.
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = ["<pad>", "<bos>", "<eos>", "<unk>", *tokens]
        self.ids = {token: number for number, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """The numbers of the tokens; UNK for a token that is not in the list."""
        return [self.ids.get(token, UNK) for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The tokens of the numbers, up to the first EOS, without PAD and BOS."""
        tokens: list[str] = []
        for number in map(int, ids):
            if number == EOS:
                break
            if number not in (PAD, BOS):
                tokens.append(self.tokens[number])
        return tokens


def vocabulary(pairs: Iterable[Pair] | None, language: str) -> Vocabulary:
    """Number the words of a language, in the order of the grammar.

    Args:
        pairs: number only the words of these pairs; None numbers the whole grammar.
        language: "korean" or "english".
    """
    _check_language(language)
    words = _words(language)
    if pairs is not None:
        used = {token for pair in pairs for token in getattr(pair, language)}
        words = [word for word in words if word in used]
    return Vocabulary(words)


class Batch(NamedTuple):
    """Token numbers of some pairs, padded on the right with PAD.

    Args:
        source: the sentences to translate.
        target: their translations, each with EOS at its end and no BOS.
    """

    source: Int[Tensor, "B S"]
    target: Int[Tensor, "B T"]


def batches(
    pairs: Sequence[Pair],
    batch_size: int,
    *,
    source: str = "korean",
    seed: int | None = None,
    device: torch.device | str | None = None,
) -> Iterator[Batch]:
    """Number the pairs and hand them out in batches, every pair once.

    Args:
        pairs: the sentence pairs.
        batch_size: pairs in a batch; the last one may be smaller.
        source: the language to translate from, "korean" or "english".
        seed: None keeps the order of the pairs; a number mixes them, with sentences
            of about the same length in a batch, so that there is little padding.
        device: where the tensors are made.
    """
    _check_language(source)
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, not {batch_size}")
    target = "english" if source == "korean" else "korean"
    source_words, target_words = vocabulary(None, source), vocabulary(None, target)
    ordered = list(pairs)
    random = Random(seed)
    if seed is not None:
        ordered = _shuffled(ordered, random)
        ordered.sort(key=lambda pair: len(getattr(pair, source)))
    groups = [
        ordered[start : start + batch_size]
        for start in range(0, len(ordered), batch_size)
    ]
    if seed is not None:
        groups = _shuffled(groups, random)
    for group in groups:
        yield Batch(
            _padded([source_words.encode(getattr(p, source)) for p in group], device),
            _padded(
                [[*target_words.encode(getattr(p, target)), EOS] for p in group], device
            ),
        )


def _padded(
    rows: list[list[int]], device: torch.device | str | None
) -> Int[Tensor, "B T"]:
    longest = max(len(row) for row in rows)
    padded = [row + [PAD] * (longest - len(row)) for row in rows]
    return torch.tensor(padded, device=device)  # (B, T)
