"""Translates the corpus by rule, knowing only its word list: a check of the grammar.

It was written from the rules that the grammar promises, not from its code. Where a
sentence could be read in two ways, it fails.
"""

import tomllib
import unicodedata
from importlib.resources import files

TABLES = tomllib.loads(
    files("course_lib").joinpath("data/grammar.toml").read_text(encoding="utf-8")
)
NOUNS = TABLES["nouns"]  # korean -> [english, plural, kind, pronoun, counter]
ADJECTIVES = {korean: row[0] for korean, row in TABLES["adjectives"].items()}
PLACES = TABLES["places"]  # korean -> [preposition, english]
TIMES = {korean: row[0].split() for korean, row in TABLES["times"].items()}
NUMBERS = {"한": 1, "두": 2, "세": 3}
NUMBER_WORDS = {2: "two", 3: "three"}
PRONOUNS = {"he": "him", "she": "her", "it": "it", "they": "them"}

KOREAN_VERBS = {}  # form -> (verb, tense, another clause follows)
ENGLISH_VERBS = {}  # form -> (verb, its place in the row: plain, with s, past)
for row in TABLES["verbs"]:
    for place, form in enumerate(row["korean"]):
        KOREAN_VERBS[form] = row, ["past", "present", "future"][place], False
    for place, form in enumerate(row["joined"]):
        KOREAN_VERBS[form] = row, ["past", "present"][place], True
    for place, form in enumerate(row["english"]):
        assert form not in ENGLISH_VERBS, f"{form} is two verbs or two tenses"
        ENGLISH_VERBS[form] = row, place
ENGLISH_NOUNS = {}  # form -> (korean, is plural)
for name, row in NOUNS.items():
    ENGLISH_NOUNS[row[0]] = name, False
    ENGLISH_NOUNS[row[1]] = name, True


def pronoun_of(nouns, plural):
    return "they" if plural or len(nouns) > 1 else NOUNS[nouns[0]][3]


def with_particle(word, after_consonant, after_vowel):
    # A precomposed syllable whose decomposition has three parts ends in a consonant.
    parts = unicodedata.normalize("NFD", word[-1])
    return after_consonant if len(parts) == 3 else after_vowel


# Korean to English


def to_english(tokens):
    english, named, subject = [], {}, None
    tokens = list(tokens)
    while tokens[0] != ".":
        clause, subject, another = read_korean_clause(tokens, named, subject)
        english += clause + ([",", "and"] if another else [])
    assert tokens == ["."]
    return (*english, ".")


def read_korean_clause(tokens, named, last_subject):
    """Take one clause off the tokens: its English, its subject, "and" or not."""
    time, place, subject, target = [], [], None, []
    while tokens[0] not in KOREAN_VERBS:
        if tokens[0] in TIMES:
            time, time_first = TIMES[tokens.pop(0)], subject is None
        elif tokens[0] in PLACES:
            preposition, name = PLACES[tokens.pop(0)]
            place_particle = tokens.pop(0)
            place = [preposition, "the", name]
        else:
            words, pronoun, role = read_korean_phrase(tokens, named)
            if role == "object":
                target = words
            else:
                subject, last_subject = words, pronoun
    dropped = subject is None
    if dropped:
        subject = [last_subject]
    verb, tense, another = KOREAN_VERBS[tokens.pop(0)]
    plain, with_s, past = verb["english"]
    forms = {"past": [past], "future": ["will", plain]}
    forms["present"] = [plain] if last_subject == "they" else [with_s]
    if tense == "future":
        another = {"것이다": False, "것이고": True}[tokens.pop(0)]
    if place:
        assert place_particle == verb.get("place_particle", "에서")
    front = time if time and time_first and not dropped else []
    back = [] if front else time
    words = front + subject + forms[tense] + target + place + back
    return words, last_subject, another


def read_korean_phrase(tokens, named):
    """Take a noun phrase off the tokens: its English, its pronoun, its role."""
    definite = tokens[0] == "그" and bool(tokens.pop(0))
    nouns, adjectives, many, number = [], [], False, 0
    while True:
        adjectives.append(tokens.pop(0) if tokens[0] in ADJECTIVES else None)
        nouns.append(tokens.pop(0))
        if tokens[0] not in ("과", "와"):
            break
        tokens.pop(0)
    if tokens[0] == "들":
        many = bool(tokens.pop(0))
    if tokens[0] in NUMBERS:
        number = NUMBERS[tokens.pop(0)]
        assert {NOUNS[noun][4] for noun in nouns} == {tokens.pop(0)}
    marker = tokens.pop(0)
    role = "object" if marker in ("을", "를") else "subject"
    if nouns[0] in named:
        assert definite and len(nouns) == 1
        assert many == (named[nouns[0]] == "they")
        pronoun = named[nouns[0]]
        return [PRONOUNS[pronoun] if role == "object" else pronoun], pronoun, role
    plural = many or number > 1
    named[nouns[0]] = pronoun_of(nouns, plural)
    words = []
    for adjective, noun in zip(adjectives, nouns, strict=True):
        name = [ADJECTIVES[adjective]] if adjective else []
        name.append(NOUNS[noun][1] if plural else NOUNS[noun][0])
        if number > 1:
            article = NUMBER_WORDS[number]
        elif definite or marker in ("은", "는"):
            article = "the"
        else:
            article = "an" if name[0][0] in "aeiou" else "a"
        words += ["and"] * bool(words) + [article, *name]
    return words, named[nouns[0]], role


# English to Korean


def to_korean(tokens):
    korean, named, subject = [], [], None
    tokens = list(tokens)
    while tokens[0] != ".":
        clause, subject = read_english_clause(tokens, named, subject)
        another = tokens[0] == ","
        if another:
            assert [tokens.pop(0), tokens.pop(0)] == [",", "and"]
        verb, tense = clause.pop()
        if tense == "future":
            korean += [*clause, verb["korean"][2], "것이고" if another else "것이다"]
        else:
            forms = verb["joined"] if another else verb["korean"]
            korean += [*clause, forms[["past", "present"].index(tense)]]
    assert tokens == ["."]
    return (*korean, ".")


def take_time(tokens):
    for korean, words in TIMES.items():
        if tokens[: len(words)] == words:
            del tokens[: len(words)]
            return [korean]
    return []


def read_english_clause(tokens, named, last_subject):
    """Take one clause off the tokens: its Korean, (verb, tense) at the end; subject."""
    front = take_time(tokens)
    subject, nouns, pronoun = read_english_phrase(tokens, named, "subject")
    if nouns == last_subject:
        subject = []
    future = tokens[0] == "will" and bool(tokens.pop(0))
    verb, place_in_row = ENGLISH_VERBS[tokens.pop(0)]
    tense = "future" if future else "past" if place_in_row == 2 else "present"
    if tense == "present":
        assert place_in_row == (0 if pronoun == "they" else 1), "agreement"
    if future:
        assert place_in_row == 0
    target, place = [], []
    if verb["objects"]:
        target, target_nouns, _ = read_english_phrase(tokens, named, "object")
        assert target_nouns != nouns, "someone does something to themselves"
    if tokens[0] in ("in", "at"):
        preposition, _, name = tokens.pop(0), tokens.pop(0), tokens.pop(0)
        korean = next(k for k, row in PLACES.items() if row == [preposition, name])
        place = [korean, verb.get("place_particle", "에서")]
    back = take_time(tokens)
    return [*front, *subject, *back, *place, *target, (verb, tense)], nouns


def read_english_phrase(tokens, named, role):
    """Take a noun phrase off the tokens: its Korean, its nouns, its pronoun."""
    if tokens[0] in PRONOUNS or tokens[0] in PRONOUNS.values():
        word = tokens.pop(0)
        pronoun = next(
            p for p in PRONOUNS if word == (p, PRONOUNS[p])[role == "object"]
        )
        could_be = [nouns for nouns, its_pronoun in named if its_pronoun == pronoun]
        assert len(could_be) == 1, f"{word} could be any of {could_be}"
        nouns = could_be[0]
        words = ["그", *nouns] + ["들"] * (pronoun == "they")
        return add_particle(words, role, topic=True), nouns, pronoun
    nouns, words = [], []
    while True:
        article = tokens.pop(0)
        adjective = next((k for k, e in ADJECTIVES.items() if e == tokens[0]), None)
        if adjective:
            tokens.pop(0)
        if article in ("a", "an"):
            first = ADJECTIVES[adjective] if adjective else tokens[0]
            assert article == ("an" if first[0] in "aeiou" else "a")
        noun, plural = ENGLISH_NOUNS[tokens.pop(0)]
        assert plural or article in ("a", "an", "the")
        nouns.append(noun)
        words += [adjective] * bool(adjective) + [noun]
        if tokens[0] != "and":
            break
        tokens.pop(0)
        words.append(with_particle(noun, "과", "와"))
    counted = article != "the" and len(nouns) == 1
    if article == "the" and plural:
        words.append("들")
    if role == "object" and article == "the":
        words.insert(0, "그")
    if article in ("two", "three"):
        number = {"two": "두", "three": "세"}[article]
        words += [number, NOUNS[noun][4]]
    elif counted and role == "subject":
        words += ["한", NOUNS[noun][4]]
    pronoun = pronoun_of(nouns, plural)
    named.append((nouns, pronoun))
    if len(nouns) > 1:
        named += [([noun], NOUNS[noun][3]) for noun in nouns]
    return add_particle(words, role, topic=not counted), nouns, pronoun


def add_particle(words, role, topic):
    if role == "object":
        forms = ("을", "를")
    else:
        forms = ("은", "는") if topic else ("이", "가")
    return [*words, with_particle(words[-1], *forms)]
