"""Known mistakes, and how they are recognised.

A diagnosis is no guess. The wrong code of a mistake is run on the same cases as the
answer, and the two must do the same where the mistake is wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .call import Answer, Outcome, attempt
from .cases import Case, Limit, on_cpu
from .compare import same, tolerance


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
        limit: What the example may hold and compute, if the mistake is there.
    """

    id: str
    sentence: str
    wrong: Answer
    example: tuple[Any, ...]
    section: str
    source: str
    convention: bool = False
    kind: str = "numbers"
    limit: Limit | None = None

    def case(self) -> Case:
        """The example as a case."""
        allowed = 1e-3 if self.kind == "large" else 1e-5
        name = f"example of {self.wrong.__name__}"
        return Case(name, self.example, self.kind, allowed, self.limit)


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
        limit: Limit | None = None,
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
                    name,
                    sentence,
                    wrong,
                    example,
                    section,
                    source,
                    convention,
                    kind,
                    limit,
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


Fault = Callable[[Case, Outcome, Outcome], str]


def _tried(mistake: Misconception, trial: Trial, fault: Fault) -> tuple[Outcome, bool]:
    """What the wrong code does on a case, and whether it is wrong there."""
    memo, name = trial.case.memo, mistake.wrong.__name__
    if name not in memo:
        theirs = attempt(mistake.wrong, on_cpu(trial.case))
        memo[name] = theirs, fault(trial.case, theirs, trial.want) != ""
    found: tuple[Outcome, bool] = memo[name]
    return found


def _does_the_same(
    mistake: Misconception, trials: Sequence[Trial], fault: Fault
) -> list[Trial]:
    """The trials on which a mistake is wrong, if the answer does all that it does.

    All ordinary cases must agree. Where the mistake is wrong on fewer than two of
    them (with large numbers only, say), all cases on which it is wrong must, and all
    large numbers on which the answer is.
    """
    explained = []
    for ordinary in (True, False):
        for trial in trials:
            if (trial.case.kind == "numbers") != ordinary:
                continue
            theirs, wrong = _tried(mistake, trial, fault)
            agrees = same(trial.got, theirs, tolerance(trial.case))
            large = trial.case.kind == "large" and trial.fault
            if not agrees and (ordinary or wrong or large):
                return []
            if wrong:
                explained.append(trial)
        if len(explained) >= 2:
            return explained
    return []


def _telling(trial: Trial) -> bool:
    """Whether agreement is no chance: examples are too simple for that."""
    example = trial.case.name.startswith("example of")
    return trial.case.kind == "numbers" and not trial.got.error and not example


def _does_mostly_the_same(
    mistake: Misconception, wrong: Sequence[Trial], fault: Fault
) -> list[Trial]:
    """The trials on which answer and mistake are wrong alike, if they are most."""
    explained, others = [], 0
    for trial in wrong:
        theirs, _ = _tried(mistake, trial, fault)
        if same(trial.got, theirs, tolerance(trial.case)):
            explained.append(trial)
        else:
            others += 1
        if 2 * others >= len(wrong):
            return []
    return explained if len(explained) >= 3 else []


def _shown(mistake: Misconception, explained: Sequence[Trial]) -> Trial:
    """The example of the mistake if it shows it, else the smallest case that does."""
    name = mistake.case().name
    examples = [trial for trial in explained if trial.case.name == name]
    return min(examples or explained, key=lambda trial: trial.case.size)


def diagnose(
    mistakes: Sequence[Misconception], trials: Sequence[Trial], fault: Fault
) -> Diagnosis | None:
    """Recognise the mistake of an answer, or say nothing.

    A mistake is recognised when the answer does what its wrong code does on every
    ordinary case, and on two cases at least where that code is wrong. Failing that, it
    is recognised beside a second fault: on three random cases at least, and on more
    than half of those that went wrong. Two mistakes at once are none.
    """
    trials = sorted(trials, key=lambda trial: trial.case.size)
    found: dict[str, tuple[Misconception, list[Trial]]] = {}
    for mistake in mistakes:
        if explained := _does_the_same(mistake, trials, fault):
            found.setdefault(mistake.id, (mistake, explained))
    if not found:
        wrong = [trial for trial in trials if trial.fault and _telling(trial)]
        for mistake in mistakes:
            if explained := _does_mostly_the_same(mistake, wrong, fault):
                found.setdefault(mistake.id, (mistake, explained))
    if len(found) != 1:
        return None
    ((mistake, explained),) = found.values()
    beside = None
    for trial in trials:
        if trial.fault and beside is None:
            theirs, _ = _tried(mistake, trial, fault)
            if not same(trial.got, theirs, tolerance(trial.case)):
                beside = trial
    return Diagnosis(mistake, _shown(mistake, explained), beside)
