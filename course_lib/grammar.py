"""The small Korean-English grammar of the corpus: one plan, two word orders.

A clause is planned first, in no language (see planner.py). `korean` and `english` each
write it in the order of their language, and mark the words that belong together.
The words themselves stand in data/grammar.toml.

Three rules give every sentence exactly one translation, in both directions:

- A subject with 은/는 is "the boy", 소년 한 명이 is "a boy". A bare object is "a boy",
  그 소년을 is "the boy". Numbers follow their noun in Korean: 소년 두 명, "two boys".
- A noun that comes back is 그 + noun in Korean and a pronoun in English. It comes back
  only while nothing else in the sentence could be meant by that pronoun.
- A subject that stays the same is dropped in Korean and a pronoun in English.
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple


@dataclass(frozen=True, eq=False)
class Noun:
    korean: str
    english: str
    plural: str
    kind: str  # "person", "animal", "food" or "thing"
    pronoun: str
    counter: str  # follows a number in Korean: 고양이 두 마리


@dataclass(frozen=True, eq=False)
class Adjective:
    korean: str
    english: str
    kinds: list[str]


@dataclass(frozen=True, eq=False)
class Place:
    korean: str
    preposition: str
    english: str


@dataclass(frozen=True, eq=False)
class Time:
    korean: str
    english: str
    tenses: list[str]


@dataclass(frozen=True, eq=False)
class Verb:
    korean: list[str]  # past, present, future
    joined: list[str]  # past, present, when another clause follows
    english: list[str]  # plain, with he or she, past
    subjects: list[str]  # the kinds of noun that make sense
    objects: list[str]
    places: list[str]
    place_particle: str = "에서"
    uses_up: bool = False  # what was eaten cannot come back


@dataclass(frozen=True, eq=False)
class Thing:
    """Someone or something that a sentence speaks of."""

    nouns: list[Noun]  # one, or two joined by "and"
    adjectives: list[Adjective]  # one for each noun, or none
    form: str  # "the", "a", "two", "three" or "plural" (the boys)
    pronoun: str


@dataclass(frozen=True, eq=False)
class Clause:
    """What one clause says, in no language yet; a mention is new, known or same."""

    subject: Thing
    subject_mention: str
    verb: Verb
    tense: str
    object: Thing | None
    object_mention: str
    place: Place | None
    time: Time | None
    time_first: bool


class Word(NamedTuple):
    """A word; words of the two languages with the same link translate each other."""

    text: str
    link: str = ""
    introduces: str = ""  # the Korean noun that is named here for the first time
    means: tuple[str, ...] = ()  # the Korean nouns that a pronoun stands for


TABLES: dict[str, Any] = tomllib.loads(
    files("course_lib").joinpath("data/grammar.toml").read_text(encoding="utf-8")
)
PARTICLES: dict[str, list[str]] = TABLES["particles"]
NOUNS = [Noun(korean, *row) for korean, row in TABLES["nouns"].items()]
ADJECTIVES = [Adjective(korean, *row) for korean, row in TABLES["adjectives"].items()]
PLACES = [Place(korean, *row) for korean, row in TABLES["places"].items()]
TIMES = [Time(korean, *row) for korean, row in TABLES["times"].items()]
VERBS = [Verb(**row) for row in TABLES["verbs"]]
TENSES = ["past", "present", "future"]
JOINED = {"것이다": "것이고"} | {
    alone: before_another
    for verb in VERBS
    for alone, before_another in zip(verb.korean, verb.joined, strict=False)
}
NUMBERS = {"a": "한", "two": "두", "three": "세"}
PRONOUNS = {  # as subject, as object
    "he": ["he", "him"],
    "she": ["she", "her"],
    "it": ["it", "it"],
    "they": ["they", "them"],
}


def particle(word: str, role: str) -> str:
    """The particle that fits a word: after a final consonant 은, after a vowel 는.

    Args:
        word: a Korean word that ends in a Hangul syllable.
        role: "topic" 은/는, "subject" 이/가, "object" 을/를 or "and" 과/와.

    Source: Unicode lists the Hangul syllables from 가 on, 28 endings for each; the
    first of the 28 has no final consonant.
    """
    after_consonant, after_vowel = PARTICLES[role]
    has_final_consonant = (ord(word[-1]) - ord("가")) % 28 > 0
    return after_consonant if has_final_consonant else after_vowel


def korean(clause: Clause) -> list[Word]:
    """Write a clause in Korean order: subject, time, place, object, verb."""
    time = [Word(clause.time.korean, "time")] if clause.time else []
    words = time if clause.time_first else []
    if clause.subject_mention != "same":
        words += korean_phrase(clause.subject, "subject", clause.subject_mention)
    if not clause.time_first:
        words += time
    if clause.place:
        words.append(Word(clause.place.korean, "place"))
        words.append(Word(clause.verb.place_particle, "preposition"))
    if clause.object:
        words += korean_phrase(clause.object, "object", clause.object_mention)
    return words + korean_verb(clause)


def english(clause: Clause) -> list[Word]:
    """Write a clause in English order: subject, verb, object, place, time."""
    time = clause.time.english.split() if clause.time else []
    time_words = [Word(word, "time") for word in time]
    words = time_words if clause.time_first else []
    words += english_phrase(clause.subject, "subject", clause.subject_mention)
    words += english_verb(clause)
    if clause.object:
        words += english_phrase(clause.object, "object", clause.object_mention)
    if clause.place:
        words.append(Word(clause.place.preposition, "preposition"))
        words += [Word("the"), Word(clause.place.english, "place")]
    return words if clause.time_first else words + time_words


def joined(korean: list[Word], english: list[Word]) -> tuple[list[Word], list[Word]]:
    """Prepare a clause for the next one: 쫓았다 becomes 쫓았고, English gets "and"."""
    last = korean[-1]
    return (
        [*korean[:-1], last._replace(text=JOINED[last.text])],
        [*english, Word(","), Word("and", last.link)],
    )


def korean_phrase(thing: Thing, role: str, mention: str) -> list[Word]:
    """Write 소년은, 작은 고양이 두 마리를, 왕과 여왕을: a noun phrase, its particle."""
    words: list[Word] = []
    counted = thing.form in NUMBERS and len(thing.nouns) == 1
    many = thing.form == "plural"
    if mention == "known":
        counted, many = False, thing.pronoun == "they"
        words.append(Word("그", f"{role} 0"))
    elif role == "object":
        counted = counted and thing.form != "a"
        if thing.form in ("the", "plural"):
            words.append(Word("그", "the"))
    for i, noun in enumerate(thing.nouns):
        if i > 0:
            words.append(Word(particle(words[-1].text, "and"), f"{role} and"))
        if mention == "new" and thing.adjectives:
            words.append(Word(thing.adjectives[i].korean, f"{role} adjective {i}"))
        introduces = noun.korean if mention == "new" else ""
        words.append(Word(noun.korean, f"{role} {i}", introduces))
    if many:
        words.append(Word("들", f"{role} 0"))
    if counted:
        words.append(Word(NUMBERS[thing.form], f"{role} number"))
        words.append(Word(thing.nouns[0].counter, f"{role} number"))
    marker = "object" if role == "object" else "subject" if counted else "topic"
    return [*words, Word(particle(words[-1].text, marker))]


def english_phrase(thing: Thing, role: str, mention: str) -> list[Word]:
    """Write the boy, two small cats, a king and a queen; or a pronoun."""
    if mention != "new":
        pronoun = PRONOUNS[thing.pronoun][role == "object"]
        return [Word(pronoun, f"{role} 0", means=noun_names(thing))]
    words: list[Word] = []
    singular = thing.form in ("the", "a")
    for i, noun in enumerate(thing.nouns):
        if i > 0:
            words.append(Word("and", f"{role} and"))
        name = noun.english if singular else noun.plural
        phrase = [Word(name, f"{role} {i}", introduces=noun.korean)]
        if thing.adjectives:
            adjective = thing.adjectives[i].english
            phrase.insert(0, Word(adjective, f"{role} adjective {i}"))
        if thing.form == "a":
            article = "an" if phrase[0].text[0] in "aeiou" else "a"
            words.append(Word(article, f"{role} number"))
        elif thing.form in NUMBERS:
            words.append(Word(thing.form, f"{role} number"))
        else:
            words.append(Word("the", "the" if role == "object" else ""))
        words += phrase
    return words


def korean_verb(clause: Clause) -> list[Word]:
    """Write 쫓았다, 쫓는다 or 쫓을 것이다; it stands for a subject that was dropped."""
    dropped = clause.subject_mention == "same"
    means = noun_names(clause.subject) if dropped else ()
    form = clause.verb.korean[TENSES.index(clause.tense)]
    will = [Word("것이다", "will")] if clause.tense == "future" else []
    return [Word(form, "verb", means=means), *will]


def english_verb(clause: Clause) -> list[Word]:
    """Write chased, chases, chase or will chase, as tense and subject ask."""
    plain, with_s, past = clause.verb.english
    if clause.tense == "past":
        return [Word(past, "verb")]
    if clause.tense == "future":
        return [Word("will", "will"), Word(plain, "verb")]
    return [Word(plain if clause.subject.pronoun == "they" else with_s, "verb")]


def noun_names(thing: Thing) -> tuple[str, ...]:
    return tuple(noun.korean for noun in thing.nouns)


def words(language: str) -> list[str]:
    """Every word of the grammar in one language, once, in a fixed order."""
    if language == "korean":
        endings = [form for forms in PARTICLES.values() for form in forms]
        found = [".", "그", "들", *endings, "에서", "에", *NUMBERS.values()]
        found += [noun.counter for noun in NOUNS]
        for table in (NOUNS, ADJECTIVES, PLACES, TIMES):
            found += [row.korean for row in table]
        found += [form for verb in VERBS for form in verb.korean + verb.joined]
        found += ["것이다", "것이고"]
    else:
        found = [".", ",", "the", "an", "and", "will", *NUMBERS]
        found += [form for forms in PRONOUNS.values() for form in forms]
        found += [form for noun in NOUNS for form in (noun.english, noun.plural)]
        found += [adjective.english for adjective in ADJECTIVES]
        found += [w for place in PLACES for w in (place.preposition, place.english)]
        found += [word for time in TIMES for word in time.english.split()]
        found += [form for verb in VERBS for form in verb.english]
    return list(dict.fromkeys(found))
