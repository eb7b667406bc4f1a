"""An exercise: its cases, its verdict, its catalogue of misconceptions.

The *cases* are made from a seed, and the *verdict* looks at outcomes alone, so that
an answer may run elsewhere: `cases` -> `run.run` -> `judge` are the three halves of
`check`, and the middle one may be another process.

A diagnosis is no guess. An answer has a misconception when it gives what the wrong
code of that misconception gives, on every ordinary case, and on at least two cases
where that wrong code is wrong.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from .report import Note, Report
from .run import Answer, Case, Outcome, attempt, cotangent, prepare, run, restored

# What passed in this session: exercise id -> whether the last answer passed.
SESSION: dict[str, bool] = {}


class Draw:
    """Random inputs from a seed, the same on every machine and by every default."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator(device="cpu").manual_seed(seed)

    def normal(self, *shape: int) -> Tensor:
        """Standard normal float32 numbers."""
        return torch.randn(
            shape, generator=self.generator, dtype=torch.float32, device="cpu"
        )

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Whole numbers, int64, from `low` up to `high - 1`."""
        return torch.randint(low, high, shape, generator=self.generator, device="cpu")


@dataclass(frozen=True)
class Misconception:
    """One known mistake.

    Args:
        id: Its name, said in the report.
        sentence: What went wrong, in one or two sentences.
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


class Catalogue(list[Misconception]):
    """The misconceptions of an exercise, each the wrong code with a comment."""

    def add(
        self,
        sentence: str,
        example: tuple[Any, ...],
        section: str,
        source: str,
        convention: bool = False,
        kind: str = "numbers",
    ) -> Callable[[Answer], Answer]:
        """Take a wrong answer into the catalogue, under the name of the function."""

        def keep(wrong: Answer) -> Answer:
            name = wrong.__name__.strip("_").replace("_", "-")
            self.append(
                Misconception(
                    name, sentence, wrong, example, section, source, convention, kind
                )
            )
            return wrong

        return keep


def tensor(values: Any, dtype: torch.dtype = torch.float32) -> Tensor:
    """Make a small tensor, float32 unless said, on the CPU."""
    return torch.tensor(values, dtype=dtype, device="cpu")


def _family(result: Tensor) -> tuple[bool, bool]:
    """Whether a tensor holds bools, and whether it holds floats."""
    return result.dtype == torch.bool, result.is_floating_point()


def near(got: Any, want: Any, tolerance: float) -> bool:
    """Whether two results agree: same shape, same kind, same numbers, NaN as NaN."""
    if not isinstance(got, Tensor) or not isinstance(want, Tensor):
        return type(got) is type(want) and bool(got == want)
    if got.shape != want.shape or _family(got) != _family(want):
        return False
    if got.dtype == torch.bool:
        return torch.equal(got, want)
    return torch.allclose(
        got.double(), want.double(), rtol=tolerance, atol=tolerance, equal_nan=True
    )


def same(a: Outcome, b: Outcome, tolerance: float) -> bool:
    """Whether two answers did the same in one call."""
    if (a.error == "") != (b.error == "") or a.changed != b.changed:
        return False
    if len(a.results) != len(b.results):
        return False
    pairs = zip(a.results, b.results, strict=True)
    if not all(near(x, y, tolerance) for x, y in pairs):
        return False
    return _same_gradients(a, b)


def _same_gradients(a: Outcome, b: Outcome) -> bool:
    for mine, yours in zip(a.gradients, b.gradients, strict=False):
        for x, y in zip(mine, yours, strict=False):
            if not _near_gradients(x, y):
                return False
    return True


def _near_gradients(x: Tensor | None, y: Tensor | None) -> bool:
    """Whether two gradients agree; none at all is as good as zeros."""
    if x is None or y is None:
        some = x if y is None else y
        return some is None or bool((some.abs() < 1e-6).all())
    return near(x, y, 1e-4)


def _gradient_problem(
    result: str, name: str, x: Tensor | None, y: Tensor | None
) -> str:
    if _near_gradients(x, y):
        return ""
    if x is None:
        return (
            f"no gradient flows from {result} to {name}: something on the way leaves "
            "the graph, like .detach(), .item(), .data, no_grad or NumPy."
        )
    if not bool(x.isfinite().all()):
        return f"the gradient of {result} in {name} is not finite."
    return (
        f"{result} has the right numbers, but not the right gradient in {name}: part "
        "of the computation leaves the graph."
    )


def _tolerance(case: Case, *results: Any) -> float:
    """The tolerance of a case; half precision gets what it can hold."""
    halves = (torch.float16, torch.bfloat16)
    if any(getattr(r, "dtype", None) in halves for r in results):
        return max(case.tolerance, 0.05)
    return case.tolerance


def _has_float64(device: Any) -> bool:
    """Whether a device knows float64 (the one of Apple does not)."""
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (TypeError, RuntimeError):
        return False
    return True


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _kind(got: Outcome) -> str:
    """What an answer gave that should have been a tuple."""
    first = got.results[0]
    if first is None:
        return "None: is a `return` missing?"
    return "one tensor" if isinstance(first, Tensor) else f"a {type(first).__name__}"


def show(value: Any) -> str:
    """Write a number or a small tensor, rounded, for a message."""
    if isinstance(value, Tensor):
        return show(value.tolist())
    if isinstance(value, list):
        return "[" + ", ".join(map(show, value)) + "]"
    if isinstance(value, float):
        if value == round(value, 0) and abs(value) < 1e6:
            return str(int(value))
        return f"{value:.4f}" if 0.001 < abs(value) < 1000 else f"{value:.3g}"
    return str(value)


@dataclass(frozen=True)
class Exercise:
    """One exercise of the course.

    Args:
        id: Its name.
        parameters: The names of the arguments.
        results: The names of the results; more than one means a tuple.
        task: One sentence with shapes.
        section: The part of the course that it belongs to.
        difficulty: 1 to 3.
        minutes: How long it takes.
        hints: From an idea to pseudocode.
        right_answer: A right answer, shown to learners.
        reference: The right answer in float64 loops, on CPU tensors.
        make_cases: Makes the cases; the first two are the general ones.
        properties: What every right answer has.
        misconceptions: The catalogue.
        boolean: Whether the result is a bool tensor.
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
    misconceptions: tuple[Misconception, ...]
    boolean: bool = False
    _shown: list[int] = field(default_factory=list, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<Exercise {self.id}: check, hint, solution>"

    # Cases -------------------------------------------------------------------

    def cases(
        self, seed: int = 0, device: Any = None, dtype: torch.dtype | None = None
    ) -> list[Case]:
        """Every call that a check makes, the same for the same seed."""
        own = self.make_cases(Draw(seed))
        found = list(own)
        for each in self.properties:
            found += each.cases(own[0])
        for mistake in self.misconceptions:
            name, kind = f"example of {mistake.id}", mistake.kind
            tolerance = 1e-3 if kind == "large" else 1e-5
            found.append(Case(name, mistake.example, kind, tolerance))
        device = torch.get_default_device() if device is None else device
        for case in own[:2]:
            for kind in self._kinds(case, device):
                found.append(replace(case, kind=kind, name=f"{case.name}, {kind}"))
        found.append(replace(own[0], kind="repeat", name=f"{own[0].name}, again"))
        return [prepare(case, device, dtype) for case in found]

    def _kinds(self, case: Case, device: Any) -> list[str]:
        """The further ways in which a general case is called."""
        tensors = [a for a in case.arguments if isinstance(a, Tensor)]
        kinds = ["strided"] if tensors else []
        if any(a.is_floating_point() for a in tensors):
            kinds.append("gradient")
            if _has_float64(device):
                kinds.append("double")
        return kinds

    def expected(self, case: Case) -> Outcome:
        """The reference's outcome, in float64 on the CPU."""

        def lift(argument: Any) -> Any:
            if not isinstance(argument, Tensor):
                return argument
            argument = argument.detach().cpu()
            if argument.is_floating_point():
                argument = argument.to(torch.float64)
            return argument

        lifted = replace(case, arguments=tuple(map(lift, case.arguments)))
        outcome = attempt(self.reference, lifted)
        if outcome.error:
            raise RuntimeError(f"the reference of {self.id} failed: {outcome.error}")
        return outcome

    # Verdict -----------------------------------------------------------------

    def fault(self, case: Case, got: Outcome, want: Outcome) -> str:
        """What is wrong with one outcome; "" when nothing is."""
        if got.error:
            return f"your code raised {got.error}."
        if got.changed:
            names = ", ".join(self.parameters[i] for i in got.changed)
            return (
                f"your code changes its input {names} in place. Work on a new tensor, "
                "for the caller still needs the old one."
            )
        if len(self.results) > 1 and (
            not got.listed or len(got.results) != len(self.results)
        ):
            names = ", ".join(self.results)
            count = f"{len(got.results)} results" if got.listed else _kind(got)
            return f"your function should return a tuple ({names}), and gave {count}."
        if len(self.results) == 1 and got.listed:
            return (
                f"your function should return one tensor, {self.results[0]}, and gave "
                f"a tuple or list of {len(got.results)}."
            )
        for name, mine, right in zip(
            self.results, got.results, want.results, strict=True
        ):
            problem = self._result_fault(case, name, mine, right)
            if problem:
                return problem
        return self._gradient_fault(case, got, want)

    def _result_fault(self, case: Case, name: str, mine: Any, right: Tensor) -> str:
        if mine is None:
            return f"{name} is None: is a `return` missing?"
        if not isinstance(mine, Tensor):
            return f"{name} should be a tensor, and is of type {type(mine).__name__}."
        if mine.shape != right.shape:
            return (
                f"{name} should have the shape {tuple(right.shape)}, "
                f"and has {tuple(mine.shape)}."
            )
        if self.boolean != (mine.dtype == torch.bool):
            wanted = "bool" if self.boolean else "floating-point numbers"
            return f"{name} should hold {wanted}, and holds {_word(mine.dtype)}."
        if not self.boolean:
            if not mine.is_floating_point():
                return (
                    f"{name} should hold floating-point numbers, and holds "
                    f"{_word(mine.dtype)}."
                )
            if case.kind == "double" and mine.dtype != torch.float64:
                return (
                    f"for float64 inputs {name} should be float64, and is "
                    f"{_word(mine.dtype)}. Make new tensors with the dtype of the "
                    "inputs."
                )
        if near(mine, right, _tolerance(case, mine)):
            return ""
        if not self.boolean and bool((~mine.isfinite()).any()):
            where = (~mine.isfinite()).nonzero()[0].tolist()
            return (
                f"{name}{where} is {show(mine[tuple(where)])}, and should be "
                f"{show(right[tuple(where)])}."
            )
        off = (mine != right) if self.boolean else (mine.double() - right).abs()
        where = torch.unravel_index(off.to(torch.float64).argmax(), off.shape)
        index = [int(i) for i in where]
        return (
            f"{name}{index or ''} should be {show(right[where])}, "
            f"and is {show(mine[where])}."
        )

    def _gradient_fault(self, case: Case, got: Outcome, want: Outcome) -> str:
        if case.kind != "gradient":
            return ""
        floats = [
            name
            for name, argument in zip(self.parameters, case.arguments, strict=False)
            if isinstance(argument, Tensor) and argument.is_floating_point()
        ]
        for result, mine, right in zip(
            self.results, got.gradients, want.gradients, strict=True
        ):
            for name, x, y in zip(floats, mine, right, strict=True):
                problem = _gradient_problem(result, name, x, y)
                if problem:
                    return problem
        return ""

    def judge(self, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Report:
        """Give the verdict on the outcomes of the cases."""

        def report(status: Any, message: str, **more: str) -> Report:
            printed = outcomes[0].printed if status != "passed" else ""
            more.setdefault("section", "" if status == "passed" else self.section)
            return Report(self.id, status, message, printed=printed, **more)

        last = outcomes[-1]
        if outcomes[0].raised == "NotImplementedError":
            return report("not_attempted", "Write the body of the function first.")
        if last.raised == "TimedOut":
            return report(
                "timed_out",
                "Your code did not come to an end within 10 seconds, "
                f"{self._say(cases[len(outcomes) - 1])}. Does a loop go on for ever?",
            )
        if last.raised == "PrintFlood":
            return report("error", "Your code prints without end: take the print out.")
        wanted = [self.expected(case) for case in cases]
        triples = list(zip(cases, outcomes, wanted, strict=True))
        faults = [
            (case, got, problem)
            for case, got, want in triples
            if (problem := self.fault(case, got, want))
        ]
        if not faults:
            return report(
                "passed",
                f"Right on {len(cases)} inputs, with everything that belongs to it.",
            )
        found = self._diagnose(triples)
        if found is not None:
            mistake, example = found
            return report(
                "wrong",
                mistake.sentence,
                diagnosis=mistake.id,
                example=example,
                section=mistake.section,
            )
        if all(got.error for got in outcomes):
            said = self._say(cases[0])
            return report("error", f"Your code raised {outcomes[0].error}, {said}.")
        return report("wrong", self._describe(faults, triples))

    def _describe(
        self,
        faults: list[tuple[Case, Outcome, str]],
        triples: list[tuple[Case, Outcome, Outcome]],
    ) -> str:
        by_kind = [f for f in faults if f[0].kind == "numbers"] or faults
        case, _, problem = min(by_kind, key=lambda f: f[0].size)
        said = f"{self._say(case).capitalize()}: {problem}"
        if any(got.error for _, got, _ in triples):
            return said
        records = {
            case.name: (case, got) for case, got, _ in triples if case.kind == "numbers"
        }
        for each in self.properties:
            try:
                broken = each.test(records)
            except (RuntimeError, IndexError, AttributeError, TypeError):
                continue  # the shapes do not even allow the comparison
            if broken:
                return f"{broken} {said}"
        return said

    def _say(self, case: Case) -> str:
        """Name a case by its arguments: small ones by their numbers."""
        small = case.size <= 14
        words = []
        for name, argument in zip(self.parameters, case.arguments, strict=False):
            if not isinstance(argument, Tensor):
                words.append(f"{name} = {argument}")
            elif small:
                words.append(f"{name} = {show(argument)}")
            else:
                words.append(f"{name} of shape {tuple(argument.shape)}")
        kinds = {
            "gradient": " that require gradients",
            "double": " in float64",
            "strided": " that are not contiguous in memory",
            "repeat": " on a second call",
        }
        return "for " + ", ".join(words) + kinds.get(case.kind, "")

    def _diagnose(
        self, triples: list[tuple[Case, Outcome, Outcome]]
    ) -> tuple[Misconception, str] | None:
        matches = [m for m in self.misconceptions if self._has(m, triples)]
        if len(matches) != 1:
            return None
        mistake = matches[0]
        name = f"example of {mistake.id}"
        case, got, want = next(t for t in triples if t[0].name == name)
        return mistake, self._example(case, got, want)

    def _has(
        self, mistake: Misconception, triples: list[tuple[Case, Outcome, Outcome]]
    ) -> bool:
        ordinary, elsewhere = 0, []
        with restored():
            for case, got, want in triples:
                theirs = attempt(mistake.wrong, case)
                agrees = same(got, theirs, _tolerance(case, *got.results))
                if case.kind == "numbers" and not agrees:
                    return False
                if self.fault(case, theirs, want):
                    if case.kind == "numbers":
                        ordinary += 1
                    else:
                        elsewhere.append(agrees)
        return ordinary >= 2 or (
            ordinary + len(elsewhere) >= 2 and all(elsewhere) and bool(elsewhere)
        )

    def _example(self, case: Case, got: Outcome, want: Outcome) -> str:
        lines = [
            f"{name} = {show(argument)}"
            for name, argument in zip(self.parameters, case.arguments, strict=False)
        ]
        if got.error:
            return "\n".join([*lines, f"your code raises {got.error}"])
        for name, mine, right in zip(
            self.results, got.results, want.results, strict=False
        ):
            if not near(mine, right, case.tolerance):
                lines.append(f"right {name} = {show(right)}")
                lines.append(f"your {name} = {show(mine)}")
        return "\n".join(lines)

    # What learners call --------------------------------------------------------

    def check(
        self,
        answer: Answer,
        device: Any = None,
        dtype: torch.dtype | None = None,
        *,
        seed: int = 0,
    ) -> Report:
        """Check an answer: numbers, properties, known misconceptions.

        Args:
            answer: The learner's function; a module or a lambda is as good.
            device: Where the inputs live, the default device if not given.
            dtype: The dtype of float inputs, float32 if not given.
            seed: Another number gives other random inputs.

        Returns:
            A report, whatever the answer does.
        """
        if not callable(answer):
            kind = type(answer).__name__
            said = f"Hand over the function itself: {self.id}, without brackets."
            report = Report(self.id, "not_attempted", f"{said} This is a {kind}.")
        else:
            cases = self.cases(seed, device, dtype)
            outcomes = run(answer, cases)
            report = self.judge(cases, outcomes)
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
