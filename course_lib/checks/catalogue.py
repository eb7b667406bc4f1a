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
        name = f"example of {self.wrong.__name__}"
        return Case(name, self.example, self.kind, allowed)


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
        id: str = "",
    ) -> Callable[[Answer], Answer]:
        """Take a wrong answer into the catalogue.

        Its id is the name of the function, unless one is given: another wrong answer
        that comes of the same mistake has the id of the first.
        """

        def keep(wrong: Answer) -> Answer:
            name = id or wrong.__name__.replace("_", "-")
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
    memo, name = trial.case.memo, mistake.wrong.__name__
    if name not in memo:
        theirs = attempt(mistake.wrong, on_cpu(trial.case))
        memo[name] = theirs, fault(trial.case, theirs, trial.want) != ""
    found: tuple[Outcome, bool] = memo[name]
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
        agrees = same(trial.got, theirs, tolerance(trial.case))
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
    is recognised beside a second fault: on three random cases at least, and on more
    than half of those that gave a wrong result, and better than any other mistake.
    """
    matches = [_match(mistake, trials, fault) for mistake in mistakes]
    whole = [match for match in matches if match.whole]
    if whole:
        only = whole[0]
        one = len({match.mistake.id for match in whole}) == 1
        return Diagnosis(only.mistake, _shown(only)) if one else None

    def telling(trial: Trial) -> bool:
        """Whether agreement is no chance: examples are too simple for that."""
        case = trial.case
        example = case.name.startswith("example of")
        return case.kind == "numbers" and not trial.got.error and not example

    def weight(match: _Match) -> int:
        return sum(map(telling, match.explained))

    first = max(matches, key=weight, default=None)
    if first is None:
        return None
    others = [m for m in matches if m.mistake.id != first.mistake.id]
    if any(weight(match) == weight(first) for match in others):
        return None
    wrong = [trial for trial in trials if trial.fault and telling(trial)]
    if weight(first) < 3 or 2 * weight(first) <= len(wrong):
        return None
    beside = min(first.against, key=lambda t: t.case.size, default=None)
    return Diagnosis(first.mistake, _shown(first), beside)
