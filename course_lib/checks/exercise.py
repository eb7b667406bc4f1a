"""An exercise: its parts, and what learners call.

The *cases* are made from a seed and the *verdict* looks at outcomes alone, so that an
answer may run elsewhere: `check` is `cases`, then `run.run`, then `judge`, and the
middle one may be another process.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from . import faults, verdict
from .call import Answer, Outcome, attempt
from .cases import Case, Draw, has_float64, on_cpu, place
from .catalogue import Misconception
from .compare import HALVES
from .language import translate as _
from .report import Note, Report, folded
from .run import on_our_side, run
from .store import record
from .verdict import Property

KEPT = 4  # sets of cases kept in memory for each exercise


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
        sequence: Whether the one result is a list of whole numbers.
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
    sequence: bool = False
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
            found += [replace(c, perturbed=True) for c in each.cases(own[0])]
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
            free = replace(on_cpu(case, double=True), limit=None)
            outcome = attempt(self.reference, free)
            if outcome.error:
                raise RuntimeError(f"reference of {self.id} failed: {outcome.error}")
            case.memo["reference"] = outcome
        found: Outcome = case.memo["reference"]
        return found

    # Verdict ------------------------------------------------------------------

    def fault(self, case: Case, got: Outcome, want: Outcome) -> str:
        """What is wrong with one outcome; "" when nothing is."""
        return faults.fault(self, case, got, want)

    def judge(self, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Report:
        """Give the verdict on the outcomes of the cases."""
        with on_our_side():
            return verdict.judge(self, cases, outcomes)

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
            said = _(
                "Hand over the function itself, not what it returns: "
                "{exercise}.check(my_function). This is of type {type}."
            ).format(exercise=self.id, type=type(answer).__name__)
            report = Report(self.id, "not_attempted", said)
        record(self.id, report.passed)
        return report

    def hint(self) -> Note:
        """Give the next hint; after the last one, the last one again."""
        number = min(len(self._shown), len(self.hints) - 1)
        self._shown.append(number)
        head = _("Hint {number} of {count}").format(
            number=number + 1, count=len(self.hints)
        )
        text = _(self.hints[number])
        return Note(f"{head}: {text}", folded(head, text))

    def solution(self) -> Note:
        """Give a right answer, highlighted; a notebook folds it."""
        source = inspect.getsource(self.right_answer).rstrip()
        title = _("A solution: open it when you have tried")
        return Note(source, folded(title, f"```python\n{source}\n```"))
