"""The clock of chapter 1: how long one layer takes to read a sentence, by length.

A recurrent layer takes one step after the other, attention takes one step in all. A
step of attention is a large one, though: n words look at n words. So the count of
steps and the clock need not agree, and on a CPU they do not.
"""

import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from course_lib.attention import MultiHeadAttention
from course_lib.training import set_seed, threads

LENGTHS = [16, 64, 256, 1024, 4096]  # words
WIDTH, BATCH = 128, 1


def layers() -> dict[str, Callable[[Tensor], object]]:
    """One layer of each kind, all of the same width, ready to read (B, T, D)."""
    attention = MultiHeadAttention(WIDTH, num_heads=1)
    return {
        "RNN": nn.RNN(WIDTH, WIDTH, batch_first=True),
        "GRU": nn.GRU(WIDTH, WIDTH, batch_first=True),
        "LSTM": nn.LSTM(WIDTH, WIDTH, batch_first=True),
        "attention": attention,
    }


@torch.no_grad()
def milliseconds(
    layer: Callable[[Tensor], object], length: int, patience: float
) -> float:
    """Shortest forward pass in `patience` seconds: other programs only add time."""
    words = torch.randn(BATCH, length, WIDTH)  # (B, T, D)
    layer(words)
    seconds: list[float] = []
    end = time.perf_counter() + patience
    while not seconds or time.perf_counter() < end:
        start = time.perf_counter()
        layer(words)
        seconds.append(time.perf_counter() - start)
    return 1000 * min(seconds)


def run(
    seed: int = 0,
    lengths: Sequence[int] = (64, 1024),
    cores: int = 1,
    patience: float = 0.2,
) -> dict[str, list[float]]:
    """Milliseconds of each layer at each length, on one CPU core or more."""
    set_seed(seed)
    with threads(cores):
        return {
            name: [milliseconds(layer, length, patience) for length in lengths]
            for name, layer in layers().items()
        }


def measure() -> dict[str, object]:
    """The same on one CPU core and on two, at all lengths.

    On CPUs PyTorch hands a whole LSTM to Intel's library oneDNN, but an RNN and a GRU
    go step by step. So the LSTM is timed once more without that library.
    """
    results: dict[str, object] = {"lengths": LENGTHS, "width": WIDTH, "batch": BATCH}
    for name, cores in (("1 core", 1), ("2 cores", 2)):
        results[name] = _rounded(run(lengths=LENGTHS, cores=cores, patience=0.3))
        with torch.backends.mkldnn.flags(enabled=False):
            without = run(lengths=LENGTHS, cores=cores, patience=0.3)
        results[f"{name}, without oneDNN"] = _rounded({"LSTM": without["LSTM"]})
    return results


def _rounded(times: dict[str, list[float]]) -> dict[str, list[float]]:
    """Three digits are more than a clock can promise."""
    return {
        name: [float(f"{value:.3g}") for value in row] for name, row in times.items()
    }
