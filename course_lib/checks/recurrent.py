"""Exercises of chapter 1: additive scores and the context vector."""

import torch
from torch import Tensor

from . import solutions
from .cases import Case, Draw, tensor
from .exercise import Exercise
from .language import mark as N_
from .mistakes import additive_scores as additive_scores_mistakes
from .mistakes import context_vector as context_vector_mistakes
from .properties import alone_in_the_batch, linear_in_values, one_key_one_score

SECTION = N_("chapter 1, Attention in an RNN: a weighted sum")
BAHDANAU = "https://arxiv.org/abs/1409.0473"

# additive_scores --------------------------------------------------------------


def additive_reference(
    query: Tensor, keys: Tensor, W_q: Tensor, W_k: Tensor, v: Tensor
) -> Tensor:
    """Loop over every sentence and every key."""
    rows = []
    for b in range(keys.shape[0]):
        row = [v @ torch.tanh(W_q @ query[b] + W_k @ key) for key in keys[b]]
        rows.append(torch.stack(row))
    return torch.stack(rows)


def additive_cases(draw: Draw) -> list[Case]:
    """Sizes: batch, length, query width, key width, attention width."""

    def case(name: str, *sizes: int) -> Case:
        B, T, Dq, Dk, A = sizes
        arguments = (
            draw.normal(B, Dq),
            draw.normal(B, T, Dk),
            draw.normal(A, Dq),
            draw.normal(A, Dk),
            draw.normal(A),
        )
        return Case(name, arguments)

    return [
        case("all sizes different", 2, 4, 3, 5, 6),
        case("another", 3, 2, 6, 4, 5),
        case("equal widths", 2, 4, 3, 3, 5),
        case("all widths equal", 3, 2, 4, 4, 4),
        case("batch of one", 1, 4, 3, 5, 2),
        case("one key", 2, 1, 3, 5, 4),
        case("width one", 2, 3, 1, 1, 4),
        case("attention width one", 2, 3, 4, 2, 1),
        case("batch as long as the sentence", 3, 3, 3, 3, 3),
        case("long", 2, 300, 1, 2, 3),
    ]


additive_scores = Exercise(
    id="additive_scores",
    parameters=("query", "keys", "W_q", "W_k", "v"),
    results=("scores",),
    task=N_(
        "Score each key of a sentence for its query: query (B, Dq), keys (B, T, Dk), "
        "W_q (A, Dq), W_k (A, Dk), v (A,) to scores (B, T), "
        "v · tanh(W_q query + W_k key)."
    ),
    section=SECTION,
    difficulty=2,
    minutes=10,
    hints=(
        N_(
            "A small network looks at one query and one key together, and gives one "
            "number. First bring both to the same width A, then they can be added."
        ),
        N_(
            "With one vector a row, W_q applied to every row is query @ W_q.T, of "
            "shape (B, A). The keys become (B, T, A). To add the two, the query needs "
            "an axis for the time: (B, 1, A)."
        ),
        N_(
            "hidden = tanh(projected query with a time axis + projected keys), (B, T, "
            "A); scores = hidden @ v, which takes the last axis away."
        ),
    ),
    right_answer=solutions.additive_scores,
    reference=additive_reference,
    make_cases=additive_cases,
    properties=(alone_in_the_batch(2), one_key_one_score()),
    misconceptions=additive_scores_mistakes.MISTAKES,
)

# context_vector ---------------------------------------------------------------


def context_reference(weights: Tensor, values: Tensor) -> Tensor:
    """Loop over every sentence; add up its values one by one."""
    rows = []
    for b in range(values.shape[0]):
        row = torch.zeros_like(values[b, 0])
        for t in range(values.shape[1]):
            row = row + weights[b, t] * values[b, t]
        rows.append(row)
    return torch.stack(rows)


def context_cases(draw: Draw) -> list[Case]:
    """Sizes: batch, length, width; weights that sum to 1 and weights that do not."""

    def case(name: str, B: int, T: int, D: int, normalised: bool = True) -> Case:
        weights = draw.normal(B, T)
        weights = weights.softmax(dim=-1) if normalised else weights
        return Case(name, (weights, draw.normal(B, T, D)))

    zero = Case("no weight at all", (tensor([[0.0] * 3] * 2), draw.normal(2, 3, 4)))
    return [
        case("weights that sum to 1", 2, 4, 5),
        case("another", 3, 5, 4),
        case("weights that do not sum to 1", 2, 5, 3, False),
        case("batch of one", 1, 4, 3),
        case("one value", 3, 1, 2, False),
        case("width one", 2, 3, 1),
        case("all sizes equal", 3, 3, 3),
        case("batch as long as the sentence", 4, 4, 2),
        case("length equal to the width", 2, 4, 4, False),
        case("long", 2, 300, 3),
        zero,
    ]


context_vector = Exercise(
    id="context_vector",
    parameters=("weights", "values"),
    results=("context",),
    task=N_(
        "Mix the values of each sentence by its weights: weights (B, T) and values "
        "(B, T, Dv) to (B, Dv). The weights are used as they are."
    ),
    section=SECTION,
    difficulty=1,
    minutes=5,
    hints=(
        N_(
            "Each value is a vector. Multiply it by one number, its weight, and add "
            "all of them up: one vector is left for each sentence."
        ),
        N_(
            "The weights need an axis of size 1 at the end, (B, T, 1), so that one "
            "weight meets all the numbers of one value."
        ),
        N_("context = sum over the time axis of weights with that axis * values."),
    ),
    right_answer=solutions.context_vector,
    reference=context_reference,
    make_cases=context_cases,
    properties=(alone_in_the_batch(2), linear_in_values()),
    misconceptions=context_vector_mistakes.MISTAKES,
)
