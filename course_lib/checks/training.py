"""Exercises of chapter 9: what a decoder learns from, its loss, and its rate."""

import math

import torch
from torch import Tensor

from . import solutions
from .cases import Case, Draw, tensor
from .exercise import Exercise
from .language import mark as N_
from .mistakes import masked_loss as masked_loss_mistakes
from .mistakes import noam_rate as noam_rate_mistakes
from .mistakes import teacher_forcing as teacher_forcing_mistakes
from .properties.training import (
    a_constant_changes_nothing,
    climbs_evenly,
    every_real_word_counts_the_same,
    highest_at_the_end_of_the_warm_up,
    labels_come_one_later,
    labels_never_seen,
    padded_places_ignored,
    padding_never_counts,
    wider_means_smaller,
)

# teacher_forcing --------------------------------------------------------------


def forcing_reference(target: Tensor, bos: int) -> tuple[Tensor, Tensor]:
    """Write bos, and then each word one place later, until the row is full."""
    inputs = torch.zeros_like(target)
    for b in range(len(target)):
        for t in range(target.shape[1]):
            inputs[b, t] = bos if t == 0 else target[b, t - 1]
    return inputs, target.clone()


def forcing_cases(draw: Draw) -> list[Case]:
    """Rows of words, some padded; every axis once as 1; bos among the words."""

    def case(name: str, B: int, T: int, bos: int) -> Case:
        return Case(name, (draw.integers(2, 60, B, T), bos))

    padded = tensor([[5, 6, 7, 2], [8, 2, 0, 0], [9, 5, 2, 0]], torch.int64)
    return [
        case("two sentences", 2, 5, 1),
        case("three sentences", 3, 4, 61),
        case("one sentence", 1, 3, 1),
        case("one word", 4, 1, 1),
        case("one word of one sentence", 1, 1, 7),
        case("two words", 3, 2, 1),
        case("as many sentences as words", 3, 3, 1),
        case("bos is 0", 2, 3, 0),
        case("a large vocabulary", 2, 3, 50_000),
        case("long", 2, 300, 1),
        Case("padded sentences", (padded, 1)),
        Case("large words", (draw.integers(2, 60, 2, 4) * 2 + 2**24 + 1, 1)),
        Case("bos among the words", (padded, 5)),
        Case("one word again and again", (torch.full((2, 4), 6), 1)),
    ]


teacher_forcing = Exercise(
    id="teacher_forcing",
    parameters=("target", "bos"),
    results=("decoder_input", "labels"),
    task=N_(
        "Split a target (B, T) int64, which has no bos, into (decoder_input, labels), "
        "both (B, T): the input is bos and then the target without its last word, the "
        "labels are the target."
    ),
    section=N_("chapter 9, Teacher forcing"),
    difficulty=1,
    minutes=8,
    hints=(
        N_(
            "Write a sentence of three words and eos on paper. Under each word, write "
            "what the decoder has read when it is to say it. What stands under the "
            "first one?"
        ),
        N_(
            "Every word moves one place to the right, the last one drops out, and bos "
            "takes the place that has become free."
        ),
        N_(
            "first = a column (B, 1) full of bos, of the target's dtype and device; "
            "decoder_input = first and target[:, :-1] side by side: torch.cat(…, "
            "dim=1). The labels need no change."
        ),
    ),
    right_answer=solutions.teacher_forcing,
    reference=forcing_reference,
    make_cases=forcing_cases,
    properties=(labels_never_seen(), labels_come_one_later()),
    misconceptions=teacher_forcing_mistakes.MISTAKES,
)

# masked_loss ------------------------------------------------------------------


def loss_reference(logits: Tensor, labels: Tensor, pad: int) -> Tensor:
    """Loop over the places, and skip those whose label is pad."""
    losses = []
    for b in range(labels.shape[0]):
        for t in range(labels.shape[1]):
            if int(labels[b, t]) != pad:
                row = logits[b, t]
                losses.append(torch.logsumexp(row, dim=0) - row[labels[b, t]])
    return torch.stack(losses).mean()


def loss_cases(draw: Draw) -> list[Case]:
    """Padding of every number and at every place; large logits."""

    def drawn(lengths: list[int], T: int, V: int, pad: int) -> tuple[Tensor, Tensor]:
        """Logits and labels; no real label is pad."""
        words = tensor([word for word in range(V) if word != pad], torch.int64)
        labels = words[draw.integers(0, len(words), len(lengths), T)]
        for row, length in zip(labels, lengths, strict=True):
            row[length:] = pad
        return draw.normal(len(lengths), T, V) * 2, labels

    def case(name: str, lengths: list[int], T: int, V: int, pad: int) -> Case:
        return Case(name, (*drawn(lengths, T, V, pad), pad))

    def scattered(name: str, pad: int, padding: list[list[int]]) -> Case:
        hidden = tensor(padding, torch.bool)
        logits, labels = drawn([hidden.shape[1]] * len(hidden), hidden.shape[1], 7, pad)
        return Case(name, (logits, labels.masked_fill(hidden, pad), pad))

    def large(
        name: str, rows: list[list[list[float]]], labels: list[list[int]]
    ) -> Case:
        return Case(name, (tensor(rows), tensor(labels, torch.int64), 0), "large", 1e-3)

    return [
        case("padded with 0", [5, 2, 3], 5, 7, 0),
        case("padded with -100", [1, 4], 4, 6, -100),
        case("padded with the last word", [3, 1, 2, 2], 3, 5, 4),
        case("padded beyond the vocabulary", [2, 1], 3, 5, 8),
        case("padded with -1", [5, 3], 5, 4, -1),
        case("padded with V", [2, 4, 1], 4, 3, 3),
        case("nothing padded", [3, 3], 3, 6, 0),
        case("nothing to pad with", [4, 4, 4], 4, 5, -100),
        case("a sentence of padding", [0, 3], 3, 4, 0),
        case("one real word", [1, 0, 0], 2, 5, 0),
        case("one sentence", [2], 4, 5, 0),
        case("one place", [1, 0, 1], 1, 4, 0),
        case("one word in the vocabulary", [2, 1], 3, 1, 1),
        case("as many words as places", [4, 2, 3], 4, 4, 0),
        case("as many of everything", [3, 1, 2], 3, 3, 0),
        case("a long sentence and a short one", [60, 2], 60, 9, 0),
        case("long", [130, 70], 130, 3, 0),
        case("a large vocabulary", [3, 2], 3, 400, 0),
        scattered("padded on the left", 0, [[0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0]]),
        scattered("padded in the middle", 9, [[0, 1, 0, 0, 0], [0, 1, 1, 0, 1]]),
        large("sure and right", [[[0, 1e4, 0], [9, 0, 0]]], [[1, 0]]),
        large("sure and right once", [[[0, 1e4, 0], [0, 2, 1]]], [[1, 2]]),
        large("sure and wrong", [[[1e4, 0, -1e4], [0, 2, 1]]], [[2, 1]]),
        large("large at padding", [[[0, 1, 2], [1e4, 0, -1e4]]], [[1, 0]]),
        large("all of them large", [[[1e4, 1e4, 1e4]], [[-1e4, 5, 0]]], [[1], [2]]),
    ]


masked_loss = Exercise(
    id="masked_loss",
    parameters=("logits", "labels", "pad"),
    results=("loss",),
    task=N_(
        "Average the cross-entropy over the real labels: logits (B, T, V), labels "
        "(B, T) and the number pad to one number. pad may be any number, also none of "
        "the vocabulary, and at least one label is not pad."
    ),
    section=N_("chapter 9, A loss that skips the padding"),
    difficulty=2,
    minutes=12,
    hints=(
        N_(
            "How many words did the model have to write in this batch? That is what "
            "the sum of the losses is divided by; padding is in neither."
        ),
        N_(
            "The loss of one word is -log p(word), with p = softmax(logits). "
            "log_softmax does both in one step, and stays finite."
        ),
        N_(
            "real = labels != pad chooses places: logits[real] is (N, V), labels[real] "
            "is (N,). What is left is an ordinary mean over N words."
        ),
        N_(
            "real = labels != pad; return F.cross_entropy(logits[real], labels[real]). "
            "Or by hand: log_softmax, gather the labels' entries, minus, mean."
        ),
    ),
    right_answer=solutions.masked_loss,
    reference=loss_reference,
    make_cases=loss_cases,
    properties=(
        padded_places_ignored(),
        padding_never_counts(),
        every_real_word_counts_the_same(),
        a_constant_changes_nothing(),
    ),
    misconceptions=masked_loss_mistakes.MISTAKES,
)

# noam_rate --------------------------------------------------------------------


def rate_reference(step: int, d_model: int, warmup: int) -> float:
    """Climb to the peak in equal steps, then fall with the root of the step."""
    peak = 1 / math.sqrt(d_model * warmup)
    return peak * (step / warmup if step < warmup else math.sqrt(warmup / step))


def rate_cases(draw: Draw) -> list[Case]:
    """Before, at and after the peak; each number once as 1; the paper's numbers."""

    def case(name: str, *numbers: int, tolerance: float = 1e-6) -> Case:
        return Case(name, numbers, tolerance=tolerance)

    def some(low: int, high: int) -> int:
        return int(draw.integers(low, high))

    return [
        case("climbing", 3, 16, 8),
        case("falling", 20, 9, 5),
        case("the first step", 1, 16, 4),
        case("one before the peak", 3, 16, 4),
        case("the peak", 4, 16, 4),
        case("one after the peak", 5, 16, 4),
        case("all ones", 1, 1, 1),
        case("no time to climb", 7, 8, 1),
        case("width one", 2, 1, 6),
        case("drawn, climbing", some(2, 30), some(2, 90), some(40, 80)),
        case("drawn, falling", some(90, 400), some(2, 90), some(40, 80)),
        case("the paper's first step", 1, 512, 4000, tolerance=1e-10),
        case("the paper's peak", 4000, 512, 4000, tolerance=1e-8),
        case("the paper's end", 100_000, 512, 4000, tolerance=1e-8),
    ]


noam_rate = Exercise(
    id="noam_rate",
    parameters=("step", "d_model", "warmup"),
    results=("rate",),
    task=N_(
        "Give the learning rate of an update: step (the first one is 1), d_model and "
        "warmup, all whole numbers, to one number, "
        "d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)."
    ),
    section=N_("chapter 9, Warm-up"),
    difficulty=1,
    minutes=6,
    hints=(
        N_(
            "Two curves: one climbs in a straight line, one falls. The rate follows "
            "the lower of the two. At which step do they meet?"
        ),
        N_(
            "step^-0.5 is 1 / √step. warmup^-1.5 is 1 / (warmup * √warmup). In Python, "
            "** is the power, and binds tighter than * and /."
        ),
        N_(
            "falling = step ** -0.5; climbing = step * warmup ** -1.5; the smaller of "
            "the two, times d_model ** -0.5."
        ),
    ),
    right_answer=solutions.noam_rate,
    reference=rate_reference,
    make_cases=rate_cases,
    properties=(
        highest_at_the_end_of_the_warm_up(),
        climbs_evenly(),
        wider_means_smaller(),
    ),
    misconceptions=noam_rate_mistakes.MISTAKES,
)
