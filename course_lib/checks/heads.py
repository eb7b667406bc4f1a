"""Exercises of chapter 6: split the heads, and merge them."""

import torch
from torch import Tensor

from . import solutions
from .cases import Case, Draw
from .exercise import Exercise
from .language import mark as N_
from .mistakes import merge_heads as merge_heads_mistakes
from .mistakes import split_heads as split_heads_mistakes
from .properties import alone_in_the_batch, merge_undoes_split, tokens_stay_apart

SPLIT_SECTION = N_("chapter 6, Split")
MERGE_SECTION = N_("chapter 6, Merge")

# split_heads ------------------------------------------------------------------


def split_reference(x: Tensor, num_heads: int) -> Tensor:
    """Head h of a token is its h-th piece."""
    width = x.shape[-1] // num_heads
    heads = [
        [
            torch.stack([token[h * width : (h + 1) * width] for token in sentence])
            for h in range(num_heads)
        ]
        for sentence in x
    ]
    return torch.stack([torch.stack(sentence) for sentence in heads])


def split_cases(draw: Draw) -> list[Case]:
    """Sizes: batch, length, heads, head width."""

    def case(name: str, B: int, T: int, H: int, d: int) -> Case:
        return Case(name, (draw.normal(B, T, H * d), H))

    return [
        case("all sizes different", 2, 5, 3, 4),
        case("another", 3, 4, 2, 5),
        case("as many heads as tokens", 2, 3, 3, 4),
        case("as many heads as sentences", 3, 2, 3, 4),
        case("as many heads as numbers in a head", 2, 4, 3, 3),
        case("all sizes equal", 3, 3, 3, 3),
        case("one head", 2, 3, 1, 4),
        case("heads of width one", 2, 3, 4, 1),
        case("batch of one", 1, 3, 2, 4),
        case("one token", 2, 1, 3, 4),
        case("long", 2, 300, 2, 3),
    ]


split_heads = Exercise(
    id="split_heads",
    parameters=("x", "num_heads"),
    results=("heads",),
    task=N_("Cut tokens into heads: x (B, T, D) and num_heads to (B, H, T, D/H)."),
    section=SPLIT_SECTION,
    difficulty=2,
    minutes=8,
    hints=(
        N_(
            "A token of 8 numbers and 2 heads: the first 4 numbers go to head 0, the "
            "other 4 to head 1. Nothing moves from one token to another."
        ),
        N_(
            "Cutting the last axis is a reshape that leaves the others alone: "
            "(B, T, D) to (B, T, H, D/H)."
        ),
        N_(
            "Now swap the axes of time and head, 1 and 2. A swap moves numbers; a "
            "reshape to the same shape would not."
        ),
        N_(
            "parts = x.reshape(B, T, H, D // H); return parts with axes 1 and 2 "
            "swapped."
        ),
    ),
    right_answer=solutions.split_heads,
    reference=split_reference,
    make_cases=split_cases,
    properties=(alone_in_the_batch(1), tokens_stay_apart()),
    misconceptions=split_heads_mistakes.MISTAKES,
)

# merge_heads ------------------------------------------------------------------


def merge_reference(x: Tensor) -> Tensor:
    """A token is the pieces of all heads, one after the other."""
    batch, heads, length, _ = x.shape
    return torch.stack(
        [
            torch.stack(
                [torch.cat([x[b, h, t] for h in range(heads)]) for t in range(length)]
            )
            for b in range(batch)
        ]
    )


def merge_cases(draw: Draw) -> list[Case]:
    """Sizes: batch, heads, length, head width."""

    def case(name: str, *sizes: int) -> Case:
        return Case(name, (draw.normal(*sizes),))

    return [
        case("all sizes different", 2, 3, 5, 4),
        case("another", 3, 2, 4, 5),
        case("as many heads as tokens", 2, 3, 3, 4),
        case("as many heads as sentences", 3, 3, 2, 4),
        case("all sizes equal", 3, 3, 3, 3),
        case("one head", 2, 1, 3, 4),
        case("heads of width one", 2, 4, 3, 1),
        case("batch of one", 1, 2, 3, 4),
        case("one token", 2, 3, 1, 4),
        case("long", 2, 2, 300, 3),
    ]


merge_heads = Exercise(
    id="merge_heads",
    parameters=("x",),
    results=("merged",),
    task=N_(
        "Join the heads again: x (B, H, T, d) to (B, T, H·d), undoing split_heads."
    ),
    section=MERGE_SECTION,
    difficulty=2,
    minutes=8,
    hints=(
        N_("Undo the two steps of split_heads, the last one first."),
        N_(
            "split_heads cut, then swapped. So swap head and time back, (B, T, H, d), "
            "and only then join the last two axes."
        ),
        N_(
            "swapped = x with axes 1 and 2 swapped; return swapped with its last two "
            "axes flattened into one (reshape, for view refuses a swapped tensor)."
        ),
    ),
    right_answer=solutions.merge_heads,
    reference=merge_reference,
    make_cases=merge_cases,
    properties=(alone_in_the_batch(1), merge_undoes_split()),
    misconceptions=merge_heads_mistakes.MISTAKES,
)
