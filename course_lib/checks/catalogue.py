"""Known mistakes, and how they are recognised.

A diagnosis is no guess. The wrong code of a mistake is run on the same cases as the
answer, and the two must do the same where the mistake is wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .cases import Case, on_cpu
from .compare import same, tolerance
from .run import Answer, Outcome, attempt


@dataclass(frozen=True)
class Misconception:
    """One known mistake.

    Args:
        id: Its name, said in the report.
        sentence: What went wrong, in one to three short sentences.
        wrong: The wrong answer, as code.
        example: The smallest arguments on which it shows.
        section: Where the course explains it.
        source: Where people met it, or why a teacher expects it.
        convention: Whether it is right elsewhere, by another convention.
        kind: The kind of the example as a case: "large" for large numbers.
    """

    id: str
    sentence: str
    wrong: Answer
    example: tuple[Any, ...]
    section: str
    source: str
    convention: bool = False
    kind: str = "numbers"

    def case(self) -> Case:
        """The example as a case."""
        allowed = 1e-3 if self.kind == "large" else 1e-5
        return Case(f"example of {self.id}", self.example, self.kind, allowed)


class Catalogue(list[Misconception]):
    """The mistakes of one exercise."""

    def add(
        self,
        sentence: str,
        example: tuple[Any, ...],
        section: str,
        source: str,
        *,
        convention: bool = False,
        kind: str = "numbers",
    ) -> Callable[[Answer], Answer]:
        """Take a wrong answer into the catalogue, under the name of the function."""

        def keep(wrong: Answer) -> Answer:
            name = wrong.__name__.replace("_", "-")
            self.append(
                Misconception(
                    name, sentence, wrong, example, section, source, convention, kind
                )
            )
            return wrong

        return keep


@dataclass(frozen=True)
class Trial:
    """One case with what the answer did, what is right, and what is wrong with it."""

    case: Case
    got: Outcome
    want: Outcome
    fault: str


@dataclass(frozen=True)
class Diagnosis:
    """A mistake that was recognised.

    Args:
        mistake: The entry of the catalogue.
        shown: The trial that shows it best.
        beside: A trial that is wrong in another way, if there is one.
    """

    mistake: Misconception
    shown: Trial
    beside: Trial | None = None


@dataclass(frozen=True)
class _Match:
    """How an answer compares with the wrong code of one mistake."""

    mistake: Misconception
    explained: list[Trial]  # the mistake is wrong here, and the answer does the same
    against: list[Trial]  # the answer is wrong here, and not as the mistake is
    whole: bool  # the two do the same on all ordinary cases


Fault = Callable[[Case, Outcome, Outcome], str]


def _tried(mistake: Misconception, trial: Trial, fault: Fault) -> tuple[Outcome, bool]:
    """What the wrong code does on a case, and whether it is wrong there."""
    memo = trial.case.memo
    if mistake.id not in memo:
        theirs = attempt(mistake.wrong, on_cpu(trial.case))
        memo[mistake.id] = theirs, fault(trial.case, theirs, trial.want) != ""
    found: tuple[Outcome, bool] = memo[mistake.id]
    return found


def _match(
    mistake: Misconception,
    trials: Sequence[Trial],
    fault: Fault,
) -> _Match:
    explained, against, whole = [], [], True
    elsewhere = True
    for trial in trials:
        theirs, wrong = _tried(mistake, trial, fault)
        agrees = same(trial.got, theirs, tolerance(trial.case, *trial.got.results))
        ordinary = trial.case.kind == "numbers"
        if agrees and wrong:
            explained.append(trial)
        elif trial.fault:
            against.append(trial)
        whole = whole and (agrees or not ordinary)
        elsewhere = elsewhere and (agrees or ordinary or not wrong)
    ordinary_count = sum(t.case.kind == "numbers" for t in explained)
    if ordinary_count < 2:  # what sets the mistake apart lies beyond the ordinary
        whole = whole and elsewhere and len(explained) >= 2
    return _Match(mistake, explained, against, whole)


def _shown(match: _Match) -> Trial:
    """The example of the mistake if it shows it, else the smallest case that does."""
    name = match.mistake.case().name
    for trial in match.explained:
        if trial.case.name == name:
            return trial
    return min(match.explained, key=lambda trial: trial.case.size)


def diagnose(
    mistakes: Sequence[Misconception],
    trials: Sequence[Trial],
    fault: Fault,
) -> Diagnosis | None:
    """Recognise the mistake of an answer, or say nothing.

    A mistake is recognised when the answer does what its wrong code does on every
    ordinary case, and on two cases at least where that code is wrong. Failing that, it
    is recognised beside a second fault: on three ordinary cases at least, and on more
    than half of those that gave a wrong result, and better than any other mistake.
    """
    matches = [_match(mistake, trials, fault) for mistake in mistakes]
    whole = [match for match in matches if match.whole]
    if whole:
        only = whole[0]
        return Diagnosis(only.mistake, _shown(only)) if len(whole) == 1 else None

    def weight(match: _Match) -> int:
        return sum(
            t.case.kind == "numbers" and not t.got.error for t in match.explained
        )

    best = sorted(matches, key=weight, reverse=True)[:2]
    if not best or (len(best) > 1 and weight(best[0]) == weight(best[1])):
        return None
    first = best[0]
    wrong = [
        t for t in trials if t.fault and not t.got.error and t.case.kind == "numbers"
    ]
    if weight(first) < 3 or 2 * weight(first) <= len(wrong):
        return None
    beside = min(first.against, key=lambda t: t.case.size, default=None)
    return Diagnosis(first.mistake, _shown(first), beside)
