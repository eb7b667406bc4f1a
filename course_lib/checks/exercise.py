"""An exercise: cases, verdict, and what learners call.

The *cases* are made from a seed and the *verdict* looks at outcomes alone, so that an
answer may run elsewhere: `check` is `cases`, then `run.run`, then `judge`, and the
middle one may be another process.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from .cases import Case, Draw, describe, has_float64, on_cpu, place, show
from .catalogue import Diagnosis, Misconception, Trial, diagnose
from .compare import HALVES, gradient_fault, near, result_fault, tolerance
from .report import Note, Report
from .run import LIMIT, Answer, Outcome, attempt, on_our_side, run

# Whether the last answer to an exercise passed, in this session.
SESSION: dict[str, bool] = {}

KEPT = 4  # sets of cases kept in memory for each exercise

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


@dataclass(frozen=True)
class Exercise:
    """One exercise of the course.

    Args:
        id: Its name.
        parameters: The names of the arguments.
        results: The names of the results; more than one means a tuple.
        task: One or two sentences with shapes.
        section: The part of the course that it belongs to.
        difficulty: 1 to 3.
        minutes: How long it takes.
        hints: From an idea to pseudocode.
        right_answer: A right answer, shown to learners.
        reference: The right answer in float64 loops, on CPU tensors.
        make_cases: Makes the cases; the first two are the general ones.
        properties: What every right answer has.
        misconceptions: The catalogue.
    """

    id: str
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    task: str
    section: str
    difficulty: int
    minutes: int
    hints: tuple[str, ...]
    right_answer: Answer
    reference: Answer
    make_cases: Callable[[Draw], list[Case]]
    properties: tuple[Property, ...]
    misconceptions: Sequence[Misconception]
    _shown: list[int] = field(default_factory=list, repr=False, compare=False)
    _made: dict[Any, list[Case]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def __repr__(self) -> str:
        return f"<Exercise {self.id}: check(answer), hint(), solution()>"

    # Cases --------------------------------------------------------------------

    def cases(
        self, seed: int = 0, device: Any = None, dtype: torch.dtype | None = None
    ) -> list[Case]:
        """Every call that a check makes, the same for the same seed."""
        device = torch.get_default_device() if device is None else device
        key = (seed, str(device), dtype)
        if key not in self._made:
            if len(self._made) == KEPT:
                self._made.pop(next(iter(self._made)))
            with on_our_side():
                self._made[key] = self._make(seed, device, dtype)
        return self._made[key]

    def _make(self, seed: int, device: Any, dtype: torch.dtype | None) -> list[Case]:
        own = self.make_cases(Draw(seed))
        found = list(own)
        for each in self.properties:
            found += each.cases(own[0])
        found += [mistake.case() for mistake in self.misconceptions]
        for case in own[:2]:
            for kind in self._kinds(case, device):
                found.append(replace(case, kind=kind, name=f"{case.name}, {kind}"))
        found.append(replace(own[0], kind="again", name=f"{own[0].name}, again"))
        if dtype in HALVES:  # too coarse for scores of 10,000
            found = [case for case in found if case.kind != "large"]
        return [place(case, device, dtype) for case in found]

    def _kinds(self, case: Case, device: Any) -> list[str]:
        """The further ways in which a general case is called."""
        tensors = [a for a in case.arguments if isinstance(a, Tensor)]
        kinds = ["strided"] if tensors else []
        if any(a.is_floating_point() for a in tensors):
            kinds.append("gradient")
            if has_float64(device):
                kinds.append("double")
        return kinds

    def expected(self, case: Case) -> Outcome:
        """The reference's outcome, in float64 on the CPU."""
        if "reference" not in case.memo:
            outcome = attempt(self.reference, on_cpu(case, double=True))
            if outcome.error:
                raise RuntimeError(f"reference of {self.id} failed: {outcome.error}")
            case.memo["reference"] = outcome
        found: Outcome = case.memo["reference"]
        return found

    # Verdict ------------------------------------------------------------------

    def fault(self, case: Case, got: Outcome, want: Outcome) -> str:
        """What is wrong with one outcome; "" when nothing is."""
        if got.error:
            return f"your code raised {got.error}."
        names = ", ".join(self.results)
        if got.results == (None,):
            return f"your function gives None instead of {names}: is a return missing?"
        if len(self.results) > 1 and len(got.results) != len(self.results):
            return f"your function should return ({names}), and gave {_what(got)}."
        if len(self.results) == 1 and got.listed:
            return f"your function should return {names} alone, and gave {_what(got)}."
        trio = list(zip(self.results, got.results, want.results, strict=True))
        problems = [result_fault(case, *each) for each in trio]
        if not any(problems) and got.changed:
            inputs = ", ".join(self.parameters[i] for i in got.changed)
            problems.append(
                f"your code changes its input {inputs} in place. The caller may still "
                "need it: make a new tensor."
            )
        floats = [
            name
            for name, argument in zip(self.parameters, case.arguments, strict=False)
            if isinstance(argument, Tensor) and argument.is_floating_point()
        ]
        for result, mine, right in zip(
            self.results, got.gradients, want.gradients, strict=False
        ):
            for each in zip(floats, mine, right, strict=True):
                problems.append(gradient_fault(result, *each))
        return next((problem for problem in problems if problem), "")

    def judge(self, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Report:
        """Give the verdict on the outcomes of the cases."""
        with on_our_side():
            return self._judge(cases, outcomes)

    def _judge(self, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Report:
        printed = outcomes[0].printed
        stop = outcomes[-1].raised
        if outcomes[0].raised == "NotImplementedError":
            said = "Nothing to check yet: write the body of the function."
            return Report(self.id, "not_attempted", said, printed=printed)
        if stop == "TimedOut":
            said = (
                f"Your code did not come to an end within {LIMIT:.0f} seconds, for "
                f"{self._say(cases[len(outcomes) - 1])}. Does a loop go on for ever?"
            )
            return Report(self.id, "timed_out", said, printed=printed)
        if stop == "PrintFlood":
            said = "Your code prints without end. Take the print out of the loop."
            return Report(self.id, "error", said, printed=printed)
        trials = []
        for case, got in zip(cases, outcomes, strict=True):
            want = self.expected(case)
            trials.append(Trial(case, got, want, self.fault(case, got, want)))
        if not any(trial.fault for trial in trials):
            return Report(self.id, "passed", "Right on every input that was tried.")
        found = diagnose(self.misconceptions, trials, self.fault)
        return self._diagnosed(found) if found else self._described(trials)

    def _diagnosed(self, found: Diagnosis) -> Report:
        """Name a known mistake."""
        sentence = found.mistake.sentence
        if found.beside:
            where = self._say(found.beside.case)
            sentence += f" Another thing, for {where}: {found.beside.fault}"
        return Report(
            self.id,
            "wrong",
            sentence,
            found.mistake.id,
            self._numbers(found.shown)
            or f"For {self._say(found.shown.case)}: {found.shown.fault}",
            found.mistake.section,
            found.shown.got.printed,
            found.mistake.convention,
        )

    def _described(self, trials: Sequence[Trial]) -> Report:
        """Say what is certain about a fault that is not in the catalogue."""
        faulty = [trial for trial in trials if trial.fault]
        printed = trials[0].got.printed
        if all(trial.got.error for trial in trials):
            said = f"Your code raised {trials[0].got.error}."
            said += f" This was for {self._say(trials[0].case)}."
            return Report(self.id, "error", said, printed=printed)
        kinds = {trial.case.kind for trial in faulty}
        name = GENERAL.get(next(iter(kinds))) if len(kinds) == 1 else None
        if all(" in place." in trial.fault for trial in faulty):
            name = "input-changed"
        if all(trial.got.results == (None,) for trial in trials):
            name = "nothing-returned"
        ordinary = [trial for trial in faulty if trial.case.kind == "numbers"]
        worst = min(ordinary or faulty, key=lambda trial: trial.case.size)
        said = f"For {self._say(worst.case)}: {worst.fault}"
        shapes = all(_same_shapes(trial.got, trial.want) for trial in trials)
        broken = self._broken(trials) if ordinary and shapes else ""
        return Report(
            self.id,
            "wrong",
            f"{broken} {said}".strip(),
            name,
            self._numbers(worst) if worst.case.size > 3 else "",
            self.section,
            printed,
        )

    def _broken(self, trials: Sequence[Trial]) -> str:
        """The first property that does not hold."""
        records = {t.case.name: (t.case, t.got) for t in trials}
        for each in self.properties:
            broken = each.test(records)
            if broken:
                return broken
        return ""

    def _say(self, case: Case) -> str:
        return describe(case, self.parameters)

    def _numbers(self, trial: Trial) -> str:
        """Right and wrong numbers side by side, where they are few."""
        case, got, want = trial.case, trial.got, trial.want
        given = zip(self.parameters, case.arguments, strict=False)
        rows = [(name, show(argument)) for name, argument in given]
        for name, mine, right in zip(
            self.results, got.results, want.results, strict=False
        ):
            if not near(mine, right, tolerance(case)):
                rows.append((f"right {name}", show(right)))
                rows.append((f"your {name}", show(mine)))
        if got.error:
            rows.append(("your code", f"raises {got.error}"))
        for number in got.changed:
            rows.append(("your code", f"changes {self.parameters[number]}"))
        shown = len(rows) > len(case.arguments)
        if not shown or case.size > 40 or any(len(text) > 400 for _, text in rows):
            return ""
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:{width}} = {text}" for name, text in rows)

    # What learners call -------------------------------------------------------

    def check(
        self,
        answer: Answer,
        device: Any = None,
        dtype: torch.dtype | None = None,
        *,
        seed: int = 0,
    ) -> Report:
        """Check an answer: numbers, properties, known mistakes.

        Args:
            answer: The learner's function; a module or a lambda is as good.
            device: Where the inputs live, the default device if not given.
            dtype: The dtype of float inputs, float32 if not given.
            seed: Another number gives other random inputs.

        Returns:
            A report, whatever the answer does.
        """
        if callable(answer):
            cases = self.cases(seed, device, dtype)
            report = self.judge(cases, run(answer, cases))
        else:
            said = f"Hand over the function itself, not what it returns: {self.id}"
            said += f".check(my_function). This is of type {type(answer).__name__}."
            report = Report(self.id, "not_attempted", said)
        SESSION[self.id] = report.passed
        return report

    def hint(self) -> Note:
        """Give the next hint; after the last one, the last one again."""
        number = min(len(self._shown), len(self.hints) - 1)
        self._shown.append(number)
        head = f"Hint {number + 1} of {len(self.hints)}"
        text = self.hints[number]
        return Note(f"{head}: {text}", f"**{head}.** {text}")

    def solution(self) -> Note:
        """Give a right answer, highlighted."""
        source = inspect.getsource(self.right_answer).rstrip()
        return Note(source, f"```python\n{source}\n```")


def _same_shapes(got: Outcome, want: Outcome) -> bool:
    """Whether the results can be compared number by number."""
    if len(got.results) != len(want.results):
        return False
    return all(
        isinstance(mine, Tensor)
        and mine.shape == right.shape
        and (mine.dtype == torch.bool) == (right.dtype == torch.bool)
        for mine, right in zip(got.results, want.results, strict=True)
    )


def _what(got: Outcome) -> str:
    """What an answer gave, in words."""
    if got.listed:
        return f"{len(got.results)} results"
    only = got.results[0]
    return "one tensor" if isinstance(only, Tensor) else f"a {only.type}"
