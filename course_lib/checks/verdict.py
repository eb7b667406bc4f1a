"""The verdict on an answer: what is wrong, and how far it got.

It looks at outcomes alone, so that the answer may have run anywhere.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from . import run
from .call import Outcome
from .cases import SMALL, Case, describe, show
from .catalogue import Diagnosis, Trial, diagnose
from .compare import near, tolerance
from .faults import fault, same_shapes
from .language import translate as _
from .report import RUNGS, Report

if TYPE_CHECKING:
    from .exercise import Exercise

# What was called and what it did, by the name of the case.
Records = Mapping[str, tuple[Case, Outcome]]


@dataclass(frozen=True)
class Property:
    """Something that every right answer has, and what to say when it is missing.

    Args:
        name: What it is called.
        test: Looks at the records; returns a sentence, or "" if it holds.
        cases: Makes the further cases that it compares, from the first case.
    """

    name: str
    test: Callable[[Records], str]
    cases: Callable[[Case], list[Case]] = lambda first: []


# A fault that shows in one kind of call alone is named by that kind.
GENERAL = {
    "gradient": "gradient-lost",
    "double": "float32-only",
    "strided": "contiguous-only",
    "again": "first-call-only",
}


def judge(
    exercise: "Exercise", cases: Sequence[Case], outcomes: Sequence[Outcome]
) -> Report:
    """Give the verdict on the outcomes of the cases."""
    printed, last = outcomes[0].printed, outcomes[-1]
    if outcomes[0].raised == "NotImplementedError":
        said = _("Nothing to check yet: write the body of the function.")
        return Report(exercise.id, "not_attempted", said, printed=printed)
    if last.raised == "TimedOut":
        said = _(
            "Your code did not come to an end within {seconds:.0f} seconds, for "
            "{case}. Does a loop go on for ever?"
        ).format(
            seconds=run.LIMIT,
            case=describe(cases[len(outcomes) - 1], exercise.parameters),
        )
        return Report(exercise.id, "timed_out", said, printed=printed)
    if last.raised == "PrintFlood":
        said = _("Your code prints without end. Take the print out of the loop.")
        return Report(exercise.id, "error", said, printed=printed)
    if last.replaced:
        said = _(
            "Your code replaces {names}, which other code relies on. It was put back: "
            "write a function of your own under another name."
        ).format(names=", ".join(f"`{name}`" for name in last.replaced))
        return Report(exercise.id, "wrong", said, "shared-function-replaced")
    if last.left:
        said = _(
            "Your code leaves {count} threads running; they were told to stop. Wait "
            "for a thread with join() before you return."
        ).format(count=last.left)
        return Report(exercise.id, "wrong", said, "thread-left-behind")
    trials = []
    for case, got in zip(cases, outcomes, strict=True):
        want = exercise.expected(case)
        trials.append(Trial(case, got, want, fault(exercise, case, got, want)))
    ladder = rungs(trials)
    if not any(trial.fault for trial in trials):
        said = _("Right on every input that was tried.")
        return Report(exercise.id, "passed", said, ladder=ladder)
    found = diagnose(exercise.misconceptions, trials, exercise.fault)
    if found:
        return _diagnosed(exercise, found, ladder)
    return _described(exercise, trials, ladder)


def rungs(trials: Sequence[Trial]) -> tuple[tuple[str, bool | None], ...]:
    """How far an answer got: shape, small numbers, random numbers, properties."""
    failed = [_rung(trial) for trial in trials if trial.fault]
    first = min(failed, default=len(RUNGS))
    return tuple(
        (name, number < first if number <= first else None)
        for number, name in enumerate(RUNGS)
    )


def _rung(trial: Trial) -> int:
    """The rung on which a faulty trial stands."""
    if trial.case.kind != "numbers" or trial.case.perturbed or trial.case.limit:
        return 3
    if trial.got.error or not same_shapes(trial.got, trial.want):
        return 0
    small = trial.case.size <= SMALL or trial.case.name.startswith("example of")
    return 1 if small else 2


def _diagnosed(
    exercise: "Exercise",
    found: Diagnosis,
    ladder: tuple[tuple[str, bool | None], ...],
) -> Report:
    """Name a known mistake."""
    sentence = _(found.mistake.sentence)
    if found.beside:
        sentence += " " + _("Another thing, for {case}: {fault}").format(
            case=describe(found.beside.case, exercise.parameters),
            fault=found.beside.fault,
        )
    return Report(
        exercise.id,
        "wrong",
        sentence,
        found.mistake.id,
        numbers(exercise, found.shown) or _for(exercise, found.shown),
        _(found.mistake.section),
        found.shown.got.printed,
        found.mistake.convention,
        ladder,
    )


def _for(exercise: "Exercise", trial: Trial) -> str:
    """One fault, and the input that shows it."""
    return _("For {case}: {fault}").format(
        case=describe(trial.case, exercise.parameters), fault=trial.fault
    )


def _described(
    exercise: "Exercise",
    trials: Sequence[Trial],
    ladder: tuple[tuple[str, bool | None], ...],
) -> Report:
    """Say what is certain about a fault that is not in the catalogue."""
    faulty = [trial for trial in trials if trial.fault]
    printed = trials[0].got.printed
    if all(trial.got.error for trial in trials):
        said = _("Your code raised {error}. This was for {case}.").format(
            error=trials[0].got.error,
            case=describe(trials[0].case, exercise.parameters),
        )
        return Report(exercise.id, "error", said, printed=printed, ladder=ladder)
    kinds = {trial.case.kind for trial in faulty}
    name = GENERAL.get(next(iter(kinds))) if len(kinds) == 1 else None
    if name == "gradient-lost" and not all(map(_finite_gradients, faulty)):
        name = "gradient-not-finite"
    if all(_only_changed(trial) for trial in faulty):
        name = "input-changed"
    if all(trial.got.over for trial in faulty):
        name = "bound-exceeded"
    if all(trial.got.results == (None,) for trial in trials):
        name = "nothing-returned"
    ordinary = [trial for trial in faulty if trial.case.kind == "numbers"]
    worst = min(ordinary or faulty, key=lambda trial: trial.case.size)
    shapes = all(same_shapes(trial.got, trial.want) for trial in trials)
    broken = _broken(exercise, trials) if ordinary and shapes else ""
    return Report(
        exercise.id,
        "wrong",
        f"{broken} {_for(exercise, worst)}".strip(),
        name,
        numbers(exercise, worst) if worst.case.size > 3 else "",
        _(exercise.section),
        printed,
        ladder=ladder,
    )


def _only_changed(trial: Trial) -> bool:
    """Whether the results are right, and an input was changed."""
    pairs = zip(trial.got.results, trial.want.results, strict=False)
    right = all(near(mine, want, tolerance(trial.case)) for mine, want in pairs)
    return bool(trial.got.changed) and right and not trial.got.error


def _finite_gradients(trial: Trial) -> bool:
    """Whether no gradient holds a nan or an infinity."""
    found = [part for each in trial.got.gradients for part in each if part is not None]
    return all(bool(part.isfinite().all()) for part in found)


def _broken(exercise: "Exercise", trials: Sequence[Trial]) -> str:
    """The first property that does not hold."""
    records = {t.case.name: (t.case, t.got) for t in trials}
    for each in exercise.properties:
        broken = each.test(records)
        if broken:
            return broken
    return ""


def numbers(exercise: "Exercise", trial: Trial) -> str:
    """Right and wrong numbers side by side, where they are few."""
    case, got, want = trial.case, trial.got, trial.want
    given = zip(exercise.parameters, case.arguments, strict=False)
    rows = [(name, show(argument)) for name, argument in given]
    results = [(got.results, want.results)]
    if exercise.sequence:  # a list is one result
        results = [((list(got.results),), (list(want.results),))]
    for all_mine, all_right in results:
        for name, mine, right in zip(
            exercise.results, all_mine, all_right, strict=False
        ):
            if exercise.sequence:
                alike = len(mine) == len(right) and all(map(_equal, mine, right))
            else:
                alike = near(mine, right, tolerance(case))
            if not alike:
                rows.append((_("right {name}").format(name=name), show(right)))
                rows.append((_("your {name}").format(name=name), show(mine)))
    if got.error:
        rows.append((_("your code"), _("raises {error}").format(error=got.error)))
    for number in got.changed:
        name = exercise.parameters[number]
        rows.append((_("your code"), _("changes {name}").format(name=name)))
    shown = len(rows) > len(case.arguments)
    if not shown or case.size > 40 or any(len(text) > 400 for __, text in rows):
        return ""
    width = max(_columns(name) for name, __ in rows)
    pads = [" " * (width - _columns(name)) for name, __ in rows]
    lines = zip(rows, pads, strict=True)
    return "\n".join(f"{name}{pad} = {text}" for (name, text), pad in lines)


def _equal(mine: Any, right: Any) -> bool:
    """Whether two entries of a list are the same whole number."""
    return near(mine, right, 0.0)


def _columns(text: str) -> int:
    """How wide a text is in a terminal, where a Hangul syllable takes two columns."""
    return sum(1 + (east_asian_width(sign) in "WF") for sign in text)
