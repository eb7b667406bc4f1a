"""Run an answer on its cases, protected from whatever it does.

The answer runs in a thread of its own. A call that takes longer than `LIMIT`
seconds is stopped by an exception that the interpreter raises inside that thread
(`PyThreadState_SetAsyncExc`), which needs no signal and so works in Jupyter and on
Windows; one call that hangs inside C code cannot be stopped and is left behind.
Nothing here judges: cases go in, outcomes come out, and both can be pickled, so
that an answer may run in another process.
"""

import contextlib
import ctypes
import io
import linecache
import queue
import random
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from .cases import Case, strided

LIMIT = 10.0  # seconds for one call
PRINT_LIMIT = 20_000  # characters printed in one call
STACK = 64 * 1024 * 1024  # bytes: deep recursion must raise, not crash

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
    """

    results: tuple[Any, ...] = ()
    gradients: tuple[tuple[Tensor | None, ...], ...] = ()
    changed: tuple[int, ...] = ()
    error: str = ""
    raised: str = ""
    printed: str = ""
    listed: bool = False


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
    """What is noted of a result: a tensor's numbers, another object's type."""
    if isinstance(result, Tensor):
        return result.detach().cpu().clone()
    return None if result is None else Other(type(result).__name__)


def call(answer: Answer, case: Case) -> Outcome:
    """Call an answer once on copies of the arguments, and note what it did."""

    def copy(argument: Any) -> Any:
        if not isinstance(argument, Tensor):
            return argument
        argument = argument.detach().clone()
        if case.kind == "strided":
            argument = strided(argument)
        if case.kind == "gradient" and argument.is_floating_point():
            argument.requires_grad_()
        return argument

    arguments = tuple(map(copy, case.arguments))
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
    return Outcome(tuple(map(keep, results)), grads, changed, listed=is_many)


def explain(error: BaseException) -> str:
    """Say what was raised, and in which line of the learner's own code."""
    text = " ".join(str(error).split())
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    own = None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename != __file__ and "site-packages" not in frame.filename:
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


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """Put back random states, default dtype and streams, whatever happens."""
    numpy = sys.modules.get("numpy")
    torch_state, state = torch.get_rng_state(), random.getstate()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    numpy_state = numpy.random.get_state() if numpy else None
    dtype, streams = torch.get_default_dtype(), (sys.stdout, sys.stderr)
    limit = sys.getrecursionlimit()
    try:
        torch.set_default_dtype(torch.float32)
        torch.manual_seed(0)
        random.seed(0)
        if numpy:
            numpy.random.seed(0)
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_rng_state(torch_state)
        random.setstate(state)
        if cuda:
            torch.cuda.set_rng_state_all(cuda)
        if numpy:
            numpy.random.set_state(numpy_state)
        sys.stdout, sys.stderr = streams
        sys.setrecursionlimit(limit)


@contextlib.contextmanager
def on_our_side() -> Iterator[None]:
    """Make cases and judge by the same defaults, whatever the learner has set."""
    default = torch.get_default_device()
    on_cpu = torch.device("cpu")
    with (
        restored(),
        warnings.catch_warnings(),
        contextlib.nullcontext() if default.type == "cpu" else on_cpu,
    ):
        warnings.simplefilter("ignore")
        yield


def _stop(thread: threading.Thread) -> None:
    """Raise `TimedOut` inside a thread until it ends, for a second at most."""
    for _ in range(20):
        if not thread.is_alive():
            return
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(TimedOut)
        )
        thread.join(0.05)


def run(answer: Answer, cases: Sequence[Case]) -> list[Outcome]:
    """Call an answer on every case, in a thread that is stopped when it hangs.

    Args:
        answer: The learner's function, module or lambda.
        cases: The calls to make, in this order.

    Returns:
        One outcome for each case; after one that ran too long, no more.
    """
    outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
    device = torch.get_default_device()  # a new thread does not inherit it
    on_device = contextlib.nullcontext() if device.type == "cpu" else device

    given_up = threading.Event()

    def work() -> None:
        with contextlib.suppress(TimedOut), on_device:
            for case in cases:
                if given_up.is_set():
                    return
                outcomes.put(attempt(answer, case))

    found: list[Outcome] = []
    with restored():
        size = threading.stack_size(STACK)
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        threading.stack_size(size)
        try:
            for _ in cases:
                found.append(outcomes.get(timeout=LIMIT))
                if found[-1].raised == "PrintFlood":
                    break
        except queue.Empty:
            found.append(Outcome(error="no end in sight", raised="TimedOut"))
        finally:
            given_up.set()
            _stop(thread)
    return found
