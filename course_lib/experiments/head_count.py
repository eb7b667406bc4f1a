"""How many heads? Chapter 6 asks what 1 to 32 heads of one width cost and can do.

The cost is the CPU time of one layer over 4,000 tokens. What they can do is measured on
the fetching task, made harder: 32 slots, and four words to bring back.
"""

import time
from typing import Any

import torch
from torch import Tensor

from course_lib.attention import MultiHeadAttention
from course_lib.experiments.fetch_two import Fetch, judge, train
from course_lib.training import set_seed, threads

HEADS = [1, 2, 4, 8, 16, 32]
D_MODEL, LENGTH = 256, 4000
TASK = {"slots": 32, "asked": 4}
# The narrow model is cheap, so it trains for longer and from three seeds.
TRAINING = {256: {"steps": 400, "batch": 64}, 64: {"steps": 800, "batch": 128}}
SEEDS = {256: 1, 64: 3}
REPEATS = 3


def run(seed: int = 0, num_heads: int = 8, d_model: int = 64) -> dict[str, Any]:
    """Train and judge one model that fetches four words."""
    set_seed(seed)
    model = Fetch(num_heads, d_model=d_model, **TASK)
    return judge(train(model, seed, **TRAINING[d_model], **TASK), **TASK)


@torch.no_grad()
def milliseconds(layer: MultiHeadAttention, x: Tensor, need_weights: bool) -> int:
    """Least CPU time of several forward passes, other programs left out."""
    layer(x, need_weights=need_weights)
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        layer(x, need_weights=need_weights)
        seconds.append(time.process_time() - start)
    return round(1000 * min(seconds))


@threads(1)
def measure() -> dict[str, Any]:
    """CPU time with and without the weights; share of questions with all four right."""
    results: dict[str, Any] = {"heads": HEADS, "d_model": D_MODEL, "length": LENGTH}
    x = torch.randn(1, LENGTH, D_MODEL)  # (B, T, D)
    layers = [MultiHeadAttention(D_MODEL, heads) for heads in HEADS]
    results["explicit_ms"] = [milliseconds(layer, x, True) for layer in layers]
    results["fused_ms"] = [milliseconds(layer, x, False) for layer in layers]
    for d_model in TRAINING:
        results[f"fetch_four_{d_model}"] = [
            [
                round(run(seed, heads, d_model)["all"], 3)
                for seed in range(SEEDS[d_model])
            ]
            for heads in HEADS
        ]
    return results
