"""Call an answer once, and note what it did.

Nothing here judges: a case goes in, an outcome comes out, and both can be pickled, so
that an answer may run in another process.
"""

import contextlib
import io
import linecache
import numbers
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from . import script
from .cases import Case, strided
from .work import Counter

OURS = (__file__, script.__file__)  # files whose lines are not the learner's
PRINT_LIMIT = 20_000  # characters printed in one call

Answer = Callable[..., Any]


class TimedOut(BaseException):
    """Raised inside an answer that runs for too long."""


class PrintFlood(BaseException):
    """Raised inside an answer that prints without end."""


@dataclass(frozen=True)
class Outcome:
    """What one call did.

    Args:
        results: The tensors it gave, on the CPU; of other objects the type.
        gradients: For each result, its gradient in each float argument.
        changed: The positions of the arguments that the call changed in place.
        error: What it raised: type, text and the line of the learner's code.
        raised: The name of the type of what it raised.
        printed: What it printed, shortened.
        listed: Whether it gave a tuple or a list.
        asked: What it asked of an argument that is a function.
        largest: How many scores it held at once, where that has a limit.
        operations: How many numbers it computed, where that has a limit.
        over: Whether it went beyond the limit.
        replaced: The functions of others that it replaced; they were put back.
        left: How many threads it left running.
    """

    results: tuple[Any, ...] = ()
    gradients: tuple[tuple[Tensor | None, ...], ...] = ()
    changed: tuple[int, ...] = ()
    error: str = ""
    raised: str = ""
    printed: str = ""
    listed: bool = False
    asked: tuple[Any, ...] = ()
    largest: int = 0
    operations: int = 0
    over: bool = False
    replaced: tuple[str, ...] = ()
    left: int = 0


class _Printed(io.StringIO):
    """Collects what is printed, and stops a flood."""

    def write(self, text: str) -> int:
        if self.tell() + len(text) > PRINT_LIMIT:
            raise PrintFlood
        return super().write(text)


def cotangent(result: Tensor) -> Tensor:
    """Fixed factors, no two alike, that make one number of a result."""
    steps = torch.arange(result.numel(), dtype=torch.float32, device="cpu")
    factors = torch.cos(1.7 * steps + 0.5).reshape(result.shape)
    return factors.to(device=result.device, dtype=result.dtype)


def gradients(
    results: Sequence[Any], inputs: Sequence[Tensor]
) -> tuple[tuple[Tensor | None, ...], ...]:
    """Gradient of each float result in each input; `None` where it does not reach."""
    found: list[tuple[Tensor | None, ...]] = []
    for result in results:
        if not isinstance(result, Tensor) or not result.requires_grad:
            found.append((None,) * len(inputs))
            continue
        total = (result * cotangent(result)).sum()
        parts = torch.autograd.grad(total, inputs, retain_graph=True, allow_unused=True)
        found.append(tuple(p if p is None else p.detach().cpu() for p in parts))
    return tuple(found)


@dataclass(frozen=True)
class Other:
    """A result that is no tensor, by its type alone."""

    type: str


def keep(result: Any) -> Any:
    """What is noted of a result: numbers, and of another object its type."""
    if isinstance(result, Tensor):
        return result.detach().cpu().clone()
    if isinstance(result, numbers.Integral) and not isinstance(result, bool):
        with contextlib.suppress(OverflowError, RuntimeError):
            return torch.tensor(int(result), dtype=torch.int64, device="cpu")
    if isinstance(result, numbers.Real) and not isinstance(result, numbers.Integral):
        return torch.tensor(float(result), dtype=torch.float64, device="cpu")
    return None if result is None else Other(type(result).__name__)


def call(answer: Answer, case: Case) -> Outcome:
    """Call an answer once on copies of the arguments, and note what it did."""

    def copy(argument: Any) -> Any:
        if hasattr(argument, "fresh"):
            return argument.fresh()
        if not isinstance(argument, Tensor):
            return argument
        argument = argument.detach().clone()
        if case.kind == "strided":
            argument = strided(argument)
        if case.kind == "gradient" and argument.is_floating_point():
            argument.requires_grad_()
        return argument

    arguments = tuple(map(copy, case.arguments))
    with Counter(arguments) if case.limit else contextlib.nullcontext() as work:
        returned = answer(*arguments)
    is_many = isinstance(returned, (tuple, list))
    results = tuple(returned) if is_many else (returned,)
    grads: tuple[tuple[Tensor | None, ...], ...] = ()
    if case.kind == "gradient":
        inputs = [a for a in arguments if isinstance(a, Tensor) and a.requires_grad]
        grads = gradients(results, inputs)
    changed = tuple(
        i
        for i, (before, after) in enumerate(zip(case.arguments, arguments, strict=True))
        if isinstance(before, Tensor)
        and (before.shape != after.shape or not torch.equal(before, after.detach()))
    )
    asked = [tuple(a.asked) for a in arguments if hasattr(a, "asked")]
    done = Outcome(tuple(map(keep, results)), grads, changed, listed=is_many)
    done = replace(done, asked=asked[0] if asked else ())
    if work is None or case.limit is None:
        return done
    largest = work.born if case.limit.single else work.largest
    over = case.limit.exceeded(largest, work.operations)
    return replace(done, largest=largest, operations=work.operations, over=over)


def explain(error: BaseException) -> str:
    """Say what was raised, and in which line of the learner's own code."""
    text = " ".join(str(error).split())
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    own = None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename not in OURS and "site-packages" not in frame.filename:
            own = frame
    if own is None:
        return said
    line = linecache.getline(own.filename, own.lineno or 0).strip()
    return f"{said}, in `{line}`" if line else said


def attempt(answer: Answer, case: Case) -> Outcome:
    """Call an answer once; whatever it raises becomes an outcome."""
    printed = _Printed()
    try:
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            outcome = call(answer, case)
    except TimedOut:
        raise
    except BaseException as error:  # an answer may raise anything, SystemExit too
        outcome = Outcome(error=explain(error), raised=type(error).__name__)
    return replace(outcome, printed=printed.getvalue()[:400])
