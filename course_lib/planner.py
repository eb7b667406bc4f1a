"""Plans the sentences of the corpus so that no pronoun can mean two things."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from course_lib.grammar import (
    ADJECTIVES,
    NOUNS,
    PLACES,
    TIMES,
    VERBS,
    Adjective,
    Clause,
    Noun,
    Place,
    Thing,
    Time,
    Verb,
)

Item = TypeVar("Item")

KINDS = ["person", "animal", "food", "thing"]
NOUNS_OF = {kind: [noun for noun in NOUNS if noun.kind == kind] for kind in KINDS}
ADJECTIVES_OF = {kind: [a for a in ADJECTIVES if kind in a.kinds] for kind in KINDS}
VERBS_OF = {kind: [verb for verb in VERBS if kind in verb.subjects] for kind in KINDS}


class Planner:
    """Plans one sentence at random, clause by clause.

    A new noun may come at any time. One that was named may come back, as a pronoun,
    only while it is the only thing in the sentence that the pronoun could mean.

    Args:
        random: only its random() is used, whose numbers Python promises to keep.
        detail: how likely each adjective, place and time is, 0 to 1.
    """

    def __init__(self, random: Random, detail: float) -> None:
        self.random = random
        self.detail = detail
        self.tense = self.pick(["past", "past", "past", "present", "future"])
        self.clauses: list[Clause] = []
        self.things: list[Thing] = []  # everything that was spoken of
        self.pronouns: list[str] = []  # and the pronouns that could mean it
        self.eaten: list[Thing] = []  # gone, so it cannot come back
        self.times = TIMES
        self.nouns_left = dict(NOUNS_OF)

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self.random.random() * len(items))]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def add_clause(self) -> None:
        """Plan one clause more."""
        subject, subject_mention = self.choose_subject()
        verb = self.choose_verb(subject)
        object, object_mention = self.choose_object(verb, subject)
        place = self.choose_place(verb)
        time = self.choose_time()
        time_first = bool(time) and subject_mention != "same" and self.chance(0.5)
        self.clauses.append(
            Clause(
                subject=subject,
                subject_mention=subject_mention,
                verb=verb,
                tense=self.tense,
                object=object,
                object_mention=object_mention,
                place=place,
                time=time,
                time_first=time_first,
            )
        )

    def choose_subject(self) -> tuple[Thing, str]:
        """Choose whom the clause is about: the same as before, one known, or new."""
        forms = ["the", "the", "the", "plural"]
        if not self.clauses:
            forms += ["a", "a", "two", "three"]
        else:
            same = self.clauses[-1].subject
            if self.pronouns.count(same.pronoun) == 1 and self.chance(0.6):
                return same, "same"
            known = self.known_things(["person", "animal"], same)
            if known and self.chance(0.5):
                return self.pick(known), "known"
        kinds = self.kinds_left(["person", "person", "animal"])
        return self.new_thing(self.pick(kinds), forms, "the"), "new"

    def choose_verb(self, subject: Thing) -> Verb:
        """Choose a verb that makes sense and was not used in this sentence."""
        used = [clause.verb for clause in self.clauses]
        kinds = set(self.kinds_left(KINDS))
        verbs = [
            verb
            for verb in VERBS_OF[subject.nouns[0].kind]
            if verb not in used and (not verb.objects or kinds & set(verb.objects))
        ]
        return self.pick(verbs)

    def choose_object(self, verb: Verb, subject: Thing) -> tuple[Thing | None, str]:
        """Choose what the verb acts on, known or new, if it acts on anything."""
        if not verb.objects:
            return None, "new"
        known = self.known_things(verb.objects, subject)
        if known and self.chance(0.4):
            thing, mention = self.pick(known), "known"
        else:
            forms = ["a", "a", "a", "the", "two", "three", "plural"]
            kind = self.pick(self.kinds_left(verb.objects))
            thing, mention = self.new_thing(kind, forms, "a"), "new"
        if verb.uses_up:
            self.eaten.append(thing)
        return thing, mention

    def choose_place(self, verb: Verb) -> Place | None:
        """Choose a place that suits the verb, each place once in a sentence."""
        used = [clause.place for clause in self.clauses]
        places = [p for p in PLACES if p.korean in verb.places and p not in used]
        return self.pick(places) if places and self.chance(self.detail) else None

    def choose_time(self) -> Time | None:
        """Choose a word of time that fits the tense; no later clause goes back."""
        if self.clauses and self.tense == "past" and self.chance(self.detail / 2):
            self.tense, self.times = "future", []
            return TIMES[-1]  # tomorrow
        times = [time for time in self.times if self.tense in time.tenses]
        time = self.pick(times) if times and self.chance(self.detail) else None
        self.times = TIMES[TIMES.index(time) + 1 :] if time else []
        return time

    def kinds_left(self, kinds: list[str]) -> list[str]:
        """The kinds of which some noun has not been used."""
        return [kind for kind in kinds if self.nouns_left[kind]]

    def take_noun(self, kind: str) -> Noun:
        """Choose a noun that the sentence does not have yet."""
        noun = self.pick(self.nouns_left[kind])
        self.nouns_left[kind] = [n for n in self.nouns_left[kind] if n is not noun]
        return noun

    def new_thing(self, kind: str, forms: list[str], form_of_two: str) -> Thing:
        """Choose one noun, or two joined by "and", with or without adjectives."""
        nouns = [self.take_noun(kind)]
        form = self.pick(forms)
        pronoun = nouns[0].pronoun if form in ("the", "a") else "they"
        self.pronouns.append(pronoun)
        if pronoun != "they" and self.nouns_left[kind] and self.chance(0.15):
            nouns.append(self.take_noun(kind))
            form, pronoun = form_of_two, "they"
            self.pronouns += [nouns[1].pronoun, "they"]
        adjectives: list[Adjective] = []
        if self.chance(self.detail):
            # 작은 말과 곰: is the bear small too? So both nouns get one, or neither.
            adjectives = [self.pick(ADJECTIVES_OF[kind]) for _ in nouns]
        self.things.append(Thing(nouns, adjectives, form, pronoun))
        return self.things[-1]

    def known_things(self, kinds: list[str], subject: Thing) -> list[Thing]:
        """Things of these kinds, not the subject, that a pronoun names beyond doubt."""
        return [
            thing
            for thing in self.things
            if thing.nouns[0].kind in kinds
            and len(thing.nouns) == 1
            and thing not in self.eaten
            and thing is not subject
            and self.pronouns.count(thing.pronoun) == 1
        ]
