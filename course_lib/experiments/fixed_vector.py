"""Chapter 1's experiment: one fixed vector against attention, by sentence length.

Three translators from Korean to English see the same sentences in the same order, have
the same state size and make the same number of updates. Only the context differs.
"""

from collections.abc import Sequence
from typing import Literal

import torch

from course_lib.corpus import BOS, Pair, batches, generate, vocabulary
from course_lib.recurrent import RecurrentEncoderDecoder
from course_lib.training import evaluating, exact_match, get_device, set_seed, train

Kind = Literal["additive", "dot"] | None
KINDS: dict[str, Kind] = {"fixed vector": None, "additive": "additive", "dot": "dot"}
LENGTHS = [6, 12, 18, 24]  # Korean tokens, the full stop included
HIDDEN, BATCH, EPOCHS, RATE, WARMUP = 64, 64, 3, 0.02, 50
SEEDS = [0, 1, 2]


def data(count: int = 13_000) -> tuple[list[Pair], dict[int, list[Pair]]]:
    """Pairs of every length to train on, and 200 unseen ones of each test length."""
    tests = {n: generate(200, seed=1, min_length=n, max_length=n) for n in LENGTHS}
    held_out = {pair.korean for pairs in tests.values() for pair in pairs}
    pairs = [pair for pair in generate(count) if pair.korean not in held_out]
    return pairs, tests


def trained(
    kind: Kind, pairs: Sequence[Pair], seed: int = 0, epochs: int = EPOCHS
) -> RecurrentEncoderDecoder:
    """Train one translator; the rate climbs for 50 updates, then falls to zero."""
    set_seed(seed)
    device = get_device()
    words = len(vocabulary(None, "korean"))
    targets = len(vocabulary(None, "english"))
    model = RecurrentEncoderDecoder(
        words, HIDDEN, attention=kind, target_vocab_size=targets
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    all_batches = [
        batch
        for epoch in range(epochs)
        for batch in batches(pairs, BATCH, seed=100 * seed + epoch, device=device)
    ]
    updates = len(all_batches)

    def rate(step: int) -> float:
        return RATE * min(step / WARMUP, 1 - step / (updates + 1))

    train(model, all_batches, optimizer, rate=rate)
    return model


def by_length(
    model: RecurrentEncoderDecoder, tests: dict[int, list[Pair]]
) -> dict[int, float]:
    """Share of sentences of each length that are translated without a mistake."""
    device = next(model.parameters()).device
    return {
        length: exact_match(model, batches(pairs, 100, device=device))
        for length, pairs in tests.items()
    }


def run(seed: int = 0) -> dict[str, dict[int, float]]:
    """Exact match of the three translators, by length."""
    pairs, tests = data()
    return {
        name: by_length(trained(kind, pairs, seed), tests)
        for name, kind in KINDS.items()
    }
