"""Benchmark: print ratios of speed and memory, all measured in one run.

    python tools/bench.py                 everything
    python tools/bench.py speed memory    some of it: speed, memory, corpus, checks,
                                          notebooks, book

Times are the best of several runs, taken in turn with what they are compared with, so
that both meet the same machine. No test asserts them.
"""

import json
import math
import multiprocessing
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib import checks, corpus
from course_lib.attention import MultiHeadAttention, merge_heads, split_heads
from course_lib.masks import causal_mask, padding_mask

ROOT = Path(__file__).parent.parent
D_MODEL, HEADS = 256, 8
LENGTHS = (64, 256, 1024, 4096)


class Plain(nn.Module):
    """Four projections and the fused kernel, nothing else: the least there can be."""

    def __init__(self, ours: MultiHeadAttention) -> None:
        super().__init__()
        self.ours = ours

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = (
            split_heads(project(x), HEADS)
            for project in (self.ours.to_query, self.ours.to_key, self.ours.to_value)
        )
        output = F.scaled_dot_product_attention(q, k, v, mask)
        return self.ours.to_output(merge_heads(output))


def best_times(runs: dict[str, Callable[[], object]], seconds: float = 2.0) -> list:
    """Best time of each, taken in turn for `seconds` or at least five rounds."""
    best = dict.fromkeys(runs, math.inf)
    start, rounds = time.perf_counter(), 0
    while rounds < 6 or time.perf_counter() - start < seconds * len(runs):
        for name, run in runs.items():
            before = time.perf_counter()
            run()
            if rounds:  # the first round warms up
                best[name] = min(best[name], time.perf_counter() - before)
        rounds += 1
    return list(best.values())


def speed() -> None:
    """Our multi-head attention against PyTorch's and against the least there can be."""
    print(
        f"\nSpeed: d_model {D_MODEL}, {HEADS} heads, {torch.get_num_threads()} threads"
    )
    print("ours / other, below 1 = ours is faster; batch so that B * T = 4096\n")
    print("     T  mode       weights   ours ms   / nn.MultiheadAttention   / plain")
    for length in LENGTHS:
        for training in (False, True):
            for weights in (False, True):
                compare(length, training, weights)
    print("\nCausal with padding, without weights, against the kernel with a full mask")
    print("     T  mode       ours ms   / full mask")
    for length in LENGTHS[1:]:
        for training in (False, True):
            compare_padded(length, training)


def compare(length: int, training: bool, weights: bool) -> None:
    """Print one line: self-attention of all tokens, no mask."""
    theirs = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True).train(training)
    ours = MultiHeadAttention.from_torch(theirs)
    plain = Plain(ours)
    x = torch.randn(4096 // length, length, D_MODEL)
    wrap = trained if training else without_grad
    runs = {
        "ours": wrap(lambda: ours(x, need_weights=weights)[0]),
        "theirs": wrap(lambda: theirs(x, x, x, need_weights=weights)[0]),
        "plain": wrap(lambda: plain(x)),
    }
    mine, other, least = best_times(runs)
    mode, answer = ("inference", "training")[training], ("no", "yes")[weights]
    print(
        f"{length:6}  {mode:9}  {answer:7}"
        f"{1000 * mine:10.1f}{mine / other:21.2f}{mine / least:18.2f}"
    )


def compare_padded(length: int, training: bool) -> None:
    """Print one line: causal self-attention of padded sentences."""
    ours = MultiHeadAttention(D_MODEL, HEADS)
    plain = Plain(ours)
    x = torch.randn(4096 // length, length, D_MODEL)
    padding = padding_mask(torch.full((len(x),), length - 9), length)[:, None, None, :]
    full = padding & causal_mask(length)
    wrap = trained if training else without_grad
    runs = {
        "ours": wrap(lambda: ours(x, mask=padding, causal=True)[0]),
        "full": wrap(lambda: plain(x, full)),
    }
    mine, other = best_times(runs)
    mode = ("inference", "training")[training]
    print(f"{length:6}  {mode:9}{1000 * mine:10.1f}{mine / other:14.2f}")


def trained(run: Callable[[], Tensor]) -> Callable[[], None]:
    """The forward and the backward pass."""

    def both() -> None:
        run().sum().backward()

    return both


def without_grad(run: Callable[[], Tensor]) -> Callable[[], Tensor]:
    """The forward pass alone."""
    return torch.no_grad()(run)


def peak_memory(length: int, kind: str) -> float:
    """MB that attention needs at its peak, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_peak_memory, (length, kind))


def _peak_memory(length: int, kind: str) -> float:
    torch.set_num_threads(2)
    module = MultiHeadAttention(64, 8)
    x = torch.randn(1, length, 64)
    small = torch.randn(1, 64, 64)
    options: dict[str, object] = {"need_weights": kind == "weights"}
    if kind in ("causal", "padding"):
        options["causal"] = True
    if kind == "padding":
        options["mask"] = padding_mask(torch.tensor([length - 9]), length)[
            :, None, None
        ]
    with torch.no_grad():
        module(small, need_weights=kind == "weights")
        before = high_water()
        module(x, **options)
    return (high_water() - before) / 1e6


def high_water() -> int:
    """Most bytes that this process has held at a time."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux; there getrusage counts the parent's memory, too
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def memory() -> None:
    """Peak memory by length, and the exponent of the line through it."""
    lengths = (2048, 4096, 8192, 16384)
    print("\nMemory: MB above the idle process, d_model 64, 8 heads, inference")
    print("  kind      " + "".join(f"{n:>9}" for n in lengths) + "   exponent")
    for kind in ("weights", "fused", "causal", "padding"):
        ran = lengths[:3] if kind == "weights" else lengths
        used = [peak_memory(length, kind) for length in ran]
        cells = "".join(f"{mb:9.0f}" for mb in used) + "        –" * (4 - len(ran))
        print(f"  {kind:10}{cells}{fitted_exponent(ran, used):11.2f}")


def fitted_exponent(x: tuple[int, ...], y: list[float]) -> float:
    """Slope of log y over log x, by least squares."""
    a = [math.log(value) for value in x]
    b = [math.log(max(value, 1e-9)) for value in y]
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    top = sum((p - mean_a) * (q - mean_b) for p, q in zip(a, b, strict=True))
    return top / sum((p - mean_a) ** 2 for p in a)


def notebooks() -> None:
    """Seconds to execute each lesson, in a copy."""
    print("\nNotebooks: seconds to execute, and the seconds that the page states")
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((ROOT / "chapters").glob("*.ipynb")):
            copy = Path(shutil.copy(path, folder))
            start = time.perf_counter()
            tool = ROOT / "tools" / "execute.py"
            subprocess.run(
                [sys.executable, str(tool), str(copy)], check=True, capture_output=True
            )
            seconds = time.perf_counter() - start
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            stated = "".join(cells[0]["source"]).rsplit(" seconds to run", 1)[0]
            print(f"  {path.stem:34}{seconds:6.1f}{stated.split()[-1]:>6}")


def pairs() -> None:
    """Seconds of CPU to generate the corpus."""
    before = time.process_time()
    count = len(corpus.generate())
    print(f"\nCorpus: {time.process_time() - before:.1f} s of CPU for {count} pairs")


def exercises() -> None:
    """Seconds of CPU that a check takes, for a right and for a wrong answer."""
    seconds = []
    for exercise in checks.EXERCISES.values():
        for answer in (exercise.right_answer, exercise.misconceptions[0].wrong):
            before = time.process_time()
            exercise.check(answer)
            seconds.append(time.process_time() - before)
    print(
        f"\nChecks: {statistics.median(seconds):.2f} s of CPU in the middle, "
        f"{max(seconds):.2f} s at most, of {len(seconds)}"
    )


def book() -> None:
    """Seconds of CPU to build the book from nothing."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            str(Path(sys.executable).parent / "jupyter-book"),
            "build",
            str(ROOT),
        ]
        before = os.times()
        subprocess.run(
            [*command, "--all", "--path-output", folder],
            check=True,
            capture_output=True,
        )
        after = os.times()
    user, system = (after[i] - before[i] for i in (2, 3))
    print(f"\nBook: {user + system:.1f} s of CPU to build it from nothing")


def main(names: list[str]) -> None:
    """Run the parts that are named, or all."""
    parts = {
        "speed": speed,
        "memory": memory,
        "corpus": pairs,
        "checks": exercises,
        "notebooks": notebooks,
        "book": book,
    }
    unknown = set(names) - set(parts)
    if unknown:
        sys.exit(f"no part {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    print(f"{platform.platform()}, {os.cpu_count()} cores, torch {torch.__version__}")
    for name in names or parts:
        parts[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
