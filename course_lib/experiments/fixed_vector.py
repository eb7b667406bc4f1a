"""Chapter 1's experiment: one fixed vector against attention, by sentence length.

Three translators from Korean to English see the same sentences in the same order, have
the same state size and make the same number of updates. Only the context differs. A
fourth, whose dot products are divided by the root of the width, looks ahead to
chapter 3.
"""

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from course_lib.corpus import Pair, batches, generate, vocabulary
from course_lib.recurrent import RecurrentEncoderDecoder, dot_scores
from course_lib.training import (
    exact_match,
    get_device,
    set_seed,
    teacher_forcing,
    threads,
    train,
)

Kind = Literal["additive", "dot", "scaled dot"] | None
KINDS: dict[str, Kind] = {
    "fixed vector": None,
    "additive": "additive",
    "dot": "dot",
    "scaled dot": "scaled dot",
}
LENGTHS = [6, 12, 18, 24]  # Korean tokens, the full stop included
HIDDEN, BATCH, EPOCHS, RATE, WARMUP = 64, 64, 3, 0.02, 50
SEEDS = [0, 1, 2]


class ScaledDot(RecurrentEncoderDecoder):
    """Dot-product attention whose scores are divided by the root of the width."""

    def scores(self, query: Tensor, keys: Tensor) -> Tensor:
        return dot_scores(query, keys) / math.sqrt(keys.shape[-1])  # (B, T, S)


def build(kind: Kind) -> RecurrentEncoderDecoder:
    """An untrained translator for the words of the whole grammar."""
    words, targets = len(vocabulary(None, "korean")), len(vocabulary(None, "english"))
    if kind == "scaled dot":
        return ScaledDot(words, HIDDEN, attention="dot", target_vocab_size=targets)
    return RecurrentEncoderDecoder(
        words, HIDDEN, attention=kind, target_vocab_size=targets
    )


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
    model = build(kind).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    all_batches = [
        batch
        for epoch in range(epochs)
        for batch in batches(pairs, BATCH, seed=100 * seed + epoch, device=device)
    ]
    updates = len(all_batches)

    def rate(step: int) -> float:
        return RATE * min(step / WARMUP, 1 - step / (updates + 1))

    with threads(1):
        train(model, all_batches, optimizer, rate=rate)
    return model


def by_length(
    model: RecurrentEncoderDecoder, tests: dict[int, list[Pair]]
) -> dict[int, float]:
    """Share of sentences of each length that are translated without a mistake."""
    device = next(model.parameters()).device
    with threads(1):
        return {
            length: exact_match(model, batches(pairs, 100, device=device))
            for length, pairs in tests.items()
        }


def run(seed: int = 0) -> dict[str, dict[int, float]]:
    """Exact match of the four translators, by length."""
    pairs, tests = data()
    return {
        name: by_length(trained(kind, pairs, seed), tests)
        for name, kind in KINDS.items()
    }


@torch.no_grad()
def aligned_share(
    model: RecurrentEncoderDecoder,
    pairs: Sequence[Pair],
    *,
    late: int = 0,
    reach: int = 0,
) -> float:
    """Share of English words whose largest weight lies on a Korean gold partner.

    Words without a partner and the full stop are left out.

    Args:
        model: a translator with attention.
        pairs: the sentences to look at.
        late: read the row this many steps later than the one that writes the word; 1
            is the row that is given the word.
        reach: count the `reach` Korean tokens after the partner as well.
    """
    device = next(model.parameters()).device
    hits = words = 0
    for pair in pairs:
        source, target = next(batches([pair], 1, device=device))
        _, weights = model(source, teacher_forcing(target)[0])  # (1, T, S)
        top = weights[0].argmax(dim=-1).tolist()  # (T,)
        for j in range(len(pair.english) - 1):
            partners = [i for i, k in pair.alignment if k == j]
            words += bool(partners)
            hits += any(0 <= top[j + late] - i <= reach for i in partners)
    return hits / words


def measure() -> dict[str, object]:
    """Three seeds of each translator, the gold test, and four times the updates."""
    pairs, tests = data()
    sentences = [pair for n in LENGTHS for pair in tests[n][:50]]
    match: dict[str, list[list[float]]] = {name: [] for name in KINDS}
    gold: dict[str, list[dict[str, float]]] = {
        name: [] for name in KINDS if KINDS[name]
    }
    for seed in SEEDS:
        for name, kind in KINDS.items():
            model = trained(kind, pairs, seed)
            match[name].append(list(by_length(model, tests).values()))
            if kind:
                gold[name].append(
                    {
                        "on the partner": aligned_share(model, sentences),
                        "one token after too": aligned_share(model, sentences, reach=1),
                        "row given the word": aligned_share(model, sentences, late=1),
                    }
                )
    longer = {
        name: list(by_length(trained(kind, pairs, 0, 4 * EPOCHS), tests).values())
        for name, kind in KINDS.items()
        if name in ("fixed vector", "dot")
    }
    return {
        "lengths": LENGTHS,
        "seeds": SEEDS,
        "hidden": HIDDEN,
        "updates": EPOCHS * -(-len(pairs) // BATCH),
        "exact match": match,
        "four times the updates": longer,
        "gold": gold,
    }
