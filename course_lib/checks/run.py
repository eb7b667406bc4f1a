"""Run an answer on its cases, protected from whatever it does.

The answer runs in a thread of its own. A call that takes longer than `LIMIT`
seconds is stopped by an exception that the interpreter raises inside that thread
(`PyThreadState_SetAsyncExc`), which needs no signal and so works in Jupyter and on
Windows; one call that hangs inside C code cannot be stopped and is left behind.
"""

import builtins
import contextlib
import ctypes
import math
import os
import queue
import random
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from .call import Answer, Outcome, TimedOut, attempt
from .cases import Case

LIMIT = 10.0  # seconds for one call
STACK = 64 * 1024 * 1024  # bytes: deep recursion must raise, not crash

# What an answer may use, and must leave as it found it.
SHARED: tuple[Any, ...] = (
    builtins,
    math,
    torch,
    torch.linalg,
    torch.nn.functional,
    torch.Tensor,
)
TORCH = os.path.dirname(torch.__file__)
Contents = list[dict[str, Any]]


def contents() -> Contents:
    """The functions of Python and PyTorch that answers share with everyone."""
    return [
        {
            name: it
            for name, it in vars(shared).items()
            if callable(it) and not isinstance(it, type) and name != "_"
        }
        for shared in SHARED
    ]


ORIGINAL = contents()  # as they were when the checks were imported


def put_back(before: Contents) -> tuple[str, ...]:
    """Undo every replacement of a shared function; give the names of them."""
    replaced = []
    for shared, old in zip(SHARED, before, strict=True):
        now = vars(shared)
        changed = [
            name
            for name, it in old.items()
            if now.get(name) is not it and not _wraps(now.get(name), it)
        ]
        hiding = []  # methods put over those that PyTorch wrote in C
        if isinstance(shared, type):
            new = [name for name, it in now.items() if callable(it)]
            hiding = [
                name
                for name in new
                if name not in old and hasattr(shared.__base__, name)
            ]
        for name in hiding:
            delattr(shared, name)
        for name in changed:
            setattr(shared, name, old[name])
        replaced += [f"{shared.__name__}.{name}" for name in changed + hiding]
    return tuple(replaced)


def _wraps(new: Any, old: Any) -> bool:
    """Whether PyTorch itself put a function around one of its own, as its compiler."""
    code = getattr(new, "__code__", None)
    ours = code is not None and code.co_filename.startswith(TORCH)
    return ours and getattr(new, "__wrapped__", None) is old


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
def untouched() -> Iterator[None]:
    """Use the functions of PyTorch as they were, whatever the learner replaced."""
    replaced = contents()
    put_back(ORIGINAL)
    try:
        yield
    finally:
        put_back(replaced)


@contextlib.contextmanager
def on_our_side() -> Iterator[None]:
    """Make cases and judge by the same defaults, whatever the learner has set."""
    default = torch.get_default_device()
    on_cpu = torch.device("cpu")
    with (
        untouched(),
        restored(),
        warnings.catch_warnings(),
        contextlib.nullcontext() if default.type == "cpu" else on_cpu,
    ):
        warnings.simplefilter("ignore")
        yield


def _stop(threads: Sequence[threading.Thread], how: type[BaseException]) -> None:
    """Raise an exception inside threads until they end, for a second at most."""
    for _ in range(4):
        alive = [thread for thread in threads if thread.is_alive()]
        for thread in alive:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident or 0), ctypes.py_object(how)
            )
        until = time.monotonic() + 0.25
        for thread in alive:
            thread.join(max(0.0, until - time.monotonic()))


def _left_behind(before: Sequence[threading.Thread]) -> list[threading.Thread]:
    """The threads that an answer started and that run on; libraries keep some."""
    ours = [thread for thread in threading.enumerate() if thread not in before]
    return [thread for thread in ours if type(thread).__module__ != "tqdm._monitor"]


def run(answer: Answer, cases: Sequence[Case]) -> list[Outcome]:
    """Call an answer on every case, in a thread that is stopped when it hangs.

    Args:
        answer: The learner's function, module or lambda.
        cases: The calls to make, in this order.

    Returns:
        One outcome for each case; after one that ran too long, no more. The last one
        says too what the answer replaced and which threads it left running.
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
    shared, threads = contents(), threading.enumerate()
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
            replaced = put_back(shared)
            given_up.set()
            _stop([thread], TimedOut)
            left = [each for each in _left_behind(threads) if each is not thread]
            _stop(left, SystemExit)  # which ends a thread without a word
    found[-1] = replace(found[-1], replaced=replaced, left=len(left))
    return found
