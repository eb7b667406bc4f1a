"""Exercises of chapter 3: softmax and scaled dot-product attention."""

import itertools
import math
from dataclasses import replace

import torch
from torch import Tensor

from . import solutions
from .cases import Case, Draw, tensor
from .exercise import Exercise
from .language import mark as N_
from .mistakes import (
    scaled_dot_product_attention as scaled_dot_product_attention_mistakes,
)
from .mistakes import softmax as softmax_mistakes
from .properties import (
    alone_in_the_batch,
    every_key_counts,
    keys_in_any_order,
    rows_sum_to_one,
    shift_changes_nothing,
    slices_sum_to_one,
)

SOFTMAX_SECTION = N_("chapter 3, A softmax that survives large scores")
SCALE_SECTION = N_("chapter 3, Why divide by √d_k?")
STEPS_SECTION = N_("chapter 3, In code: all three queries at once")
VASWANI = "https://arxiv.org/abs/1706.03762, section 3.2.1"

# softmax ----------------------------------------------------------------------


def softmax_reference(x: Tensor, dim: int = -1) -> Tensor:
    """Walk along `dim` for every other index, one exponential at a time."""
    moved = x.movedim(dim, -1)
    rows = []
    for row in moved.reshape(-1, moved.shape[-1]):
        top = max(float(score) for score in row)
        powers = torch.exp(row - top)
        rows.append(powers / sum(power for power in powers))
    return torch.stack(rows).reshape(moved.shape).movedim(-1, dim)


def softmax_cases(draw: Draw) -> list[Case]:
    """Sizes and dims; large numbers, and rows that lie far apart."""
    large = tensor([[1e4, 9_999.0, -1e4], [-1e4, -9_999.0, -9_998.0]])
    apart = tensor([[1e4, 9_999.0], [0.0, 1.0], [-1e4, -9_998.0]])
    return [
        Case("two dimensions", (draw.normal(3, 5), -1)),
        Case("along the middle", (draw.normal(2, 5, 3), 1)),
        Case("along the first of three", (draw.normal(4, 2, 3), 0)),
        Case("along the first", (draw.normal(4, 3), 0)),
        left_out := Case("dim left out", (draw.normal(2, 3, 4),)),
        replace(left_out, name="left out, strided", kind="strided"),
        Case("negative dim", (draw.normal(2, 4, 3), -2)),
        Case("one dimension", (draw.normal(4),)),
        Case("square", (draw.normal(3, 3), -1)),
        Case("square along the first", (draw.normal(3, 3), 0)),
        Case("one number a row", (draw.normal(4, 1), -1)),
        Case("one row", (draw.normal(1, 4), -1)),
        Case("four dimensions", (draw.normal(2, 3, 2, 4), 2)),
        Case("long", (draw.normal(2, 300), -1)),
        Case("scores of 10,000", (large, -1), "large", 1e-3),
        Case("rows far apart", (apart, -1), "large", 1e-3),
        Case("columns far apart", (apart.T.contiguous(), 0), "large", 1e-3),
        Case("one far above", (tensor([[1000.0, 0.0]]), -1), "large", 1e-5),
        Case("all very small", (tensor([[-200.0, -201.0]]), -1), "large", 1e-5),
    ]


softmax = Exercise(
    id="softmax",
    parameters=("x", "dim"),
    results=("weights",),
    task=N_(
        "Turn scores into weights that sum to 1 along dim: x of any shape to the same "
        "shape, finite for entries up to ±10,000."
    ),
    section=SOFTMAX_SECTION,
    difficulty=1,
    minutes=10,
    hints=(
        N_(
            "e to the score is positive. Divide by the sum of all of them along dim, "
            "and they sum to 1."
        ),
        N_(
            "e^89 does not fit into float32. Any number subtracted from all scores of "
            "a slice cancels out; which one keeps every exponential at most 1?"
        ),
        N_(
            "top = largest entry along dim, keepdim; powers = exp(x - top); result = "
            "powers / their sum along dim, keepdim."
        ),
    ),
    right_answer=solutions.softmax,
    reference=softmax_reference,
    make_cases=softmax_cases,
    properties=(slices_sum_to_one(), shift_changes_nothing()),
    misconceptions=softmax_mistakes.MISTAKES,
)

# scaled_dot_product_attention ---------------------------------------------------


def attention_reference(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Loop over leading dimensions, queries and keys."""
    lead = q.shape[:-2]
    outputs, maps = [], []
    for index in itertools.product(*map(range, lead)):
        rows = []
        for query in q[index]:
            scores = [(query * key).sum() / math.sqrt(q.shape[-1]) for key in k[index]]
            top = max(float(score) for score in scores)
            powers = torch.stack([torch.exp(score - top) for score in scores])
            rows.append(powers / powers.sum())
        maps.append(torch.stack(rows))
        outputs.append(
            torch.stack(
                [sum(w * x for w, x in zip(r, v[index], strict=True)) for r in rows]
            )
        )
    output, weights = torch.stack(outputs), torch.stack(maps)
    return output.reshape(*lead, *output.shape[1:]), weights.reshape(
        *lead, *weights.shape[1:]
    )


def attention_cases(draw: Draw) -> list[Case]:
    """Sizes: leading dimensions, queries, keys, key width, value width."""

    def case(name: str, lead: tuple[int, ...], *sizes: int) -> Case:
        Tq, Tk, d_k, d_v = sizes
        arguments = (
            draw.normal(*lead, Tq, d_k),
            draw.normal(*lead, Tk, d_k),
            draw.normal(*lead, Tk, d_v),
        )
        return Case(name, arguments)

    # d_k is 4, so that the division by 2 is exact; scores 10000, 9999, -10000.
    large = (
        tensor([[200.0, 2.0, 0.0, 0.0], [-200.0, 2.0, 0.0, 0.0]]),
        tensor([[100.0, 0, 0, 0], [100.0, -1.0, 0, 0], [-100.0, 0, 0, 0]]),
        tensor([[1.0, 0.0], [0.0, 1.0], [7.0, 7.0]]),
    )
    apart = tuple(part.clone() for part in (large[0], large[1][:2], large[2][:2]))
    low = tuple(part.clone() for part in (large[0][1:], large[1][:2], large[2][:2]))
    return [
        case("a batch", (2,), 3, 5, 9, 4),
        case("another", (3,), 4, 2, 5, 6),
        case("no batch", (), 3, 4, 5, 2),
        heads := case("batch and heads", (2, 3), 4, 5, 6, 2),
        replace(heads, name="heads, strided", kind="strided"),
        case("three leading dimensions", (2, 1, 3), 2, 4, 3, 5),
        case("one query", (2,), 1, 4, 3, 5),
        case("one key", (2,), 3, 1, 4, 5),
        case("key width one", (2,), 3, 4, 1, 5),
        case("value width one", (2,), 3, 4, 5, 1),
        case("batch of one", (1,), 3, 4, 5, 2),
        case("as many queries as keys", (2,), 4, 4, 3, 5),
        case("equal widths", (2,), 3, 4, 5, 5),
        case("all sizes equal", (3,), 3, 3, 3, 3),
        case("many keys", (), 2, 300, 3, 4),
        case("many queries", (), 300, 2, 4, 3),
        case("wide", (), 2, 3, 300, 4),
        Case("scores of 10,000", large, "large", 1e-3),
        Case("scores of -10,000", low, "large", 1e-3),
        Case("rows far apart", apart, "large", 1e-3),
    ]


scaled_dot_product_attention = Exercise(
    id="scaled_dot_product_attention",
    parameters=("q", "k", "v"),
    results=("output", "weights"),
    task=N_(
        "Attend: q (..., Tq, d_k), k (..., Tk, d_k), v (..., Tk, d_v) to the tuple "
        "(output (..., Tq, d_v), weights (..., Tq, Tk))."
    ),
    section=STEPS_SECTION,
    difficulty=2,
    minutes=15,
    hints=(
        N_(
            "Four steps: score, scale, softmax, mix. Say for each what goes in and "
            "what comes out, with shapes, before you write it."
        ),
        N_(
            "One product gives all the scores: q @ k.transpose(-2, -1), of shape "
            "(..., Tq, Tk). Divide by the root of the width of a key."
        ),
        N_(
            "A row of scores belongs to one query; the softmax runs along it, dim=-1. "
            "weights @ v mixes the values."
        ),
        N_(
            "scores = q times k transposed / sqrt(d_k); weights = softmax(scores, last "
            "axis); return weights times v, weights."
        ),
    ),
    right_answer=solutions.scaled_dot_product_attention,
    reference=attention_reference,
    make_cases=attention_cases,
    properties=(
        rows_sum_to_one(),
        alone_in_the_batch(3),
        keys_in_any_order((1, 2), axis=-2),
        every_key_counts(),
    ),
    misconceptions=scaled_dot_product_attention_mistakes.MISTAKES,
)
