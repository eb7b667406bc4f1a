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
from course_lib.training import set_seed

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
    seed: int = 0, lengths: Sequence[int] = (64, 1024), patience: float = 0.2
) -> dict[str, list[float]]:
    """Milliseconds of each layer at each length, on the threads there are."""
    set_seed(seed)
    return {
        name: [milliseconds(layer, length, patience) for length in lengths]
        for name, layer in layers().items()
    }


def measure() -> dict[str, object]:
    """The same on one CPU core and on two, at all lengths.

    On CPUs PyTorch hands a whole LSTM to Intel's library oneDNN, but an RNN and a GRU
    go step by step. So the LSTM is timed once more without that library.
    """
    before = torch.get_num_threads()
    results: dict[str, object] = {"lengths": LENGTHS, "width": WIDTH, "batch": BATCH}
    without: dict[str, list[float]] = {}
    for cores in (1, 2):
        torch.set_num_threads(cores)
        times = run(lengths=LENGTHS, patience=0.3)
        results[name_of(cores)] = {
            name: [float(f"{value:.3g}") for value in row]
            for name, row in times.items()
        }
        with torch.backends.mkldnn.flags(enabled=False):
            lstm = [milliseconds(layers()["LSTM"], length, 0.3) for length in LENGTHS]
        without[name_of(cores)] = [float(f"{value:.3g}") for value in lstm]
    torch.set_num_threads(before)
    results["LSTM without oneDNN"] = without
    return results


def name_of(cores: int) -> str:
    return "1 core" if cores == 1 else f"{cores} cores"
