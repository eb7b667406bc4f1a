"""Exercises of chapter 6: split, merge, and multi-head attention."""

import math

import torch
from torch import Tensor

from . import solutions
from .cases import Case, Draw, tensor
from .exercise import Exercise
from .language import mark as N_
from .mistakes import merge_heads as merge_heads_mistakes
from .mistakes import multi_head_attention as multi_head_attention_mistakes
from .mistakes import split_heads as split_heads_mistakes
from .properties import (
    alone_in_the_batch,
    later_tokens_change_nothing,
    merge_undoes_split,
    more_tokens_hidden_change_nothing,
    tokens_in_any_order,
    tokens_stay_apart,
)

SPLIT_SECTION = N_("chapter 6, Split")
MERGE_SECTION = N_("chapter 6, Merge")
MULTI_SECTION = N_("chapter 6, All of it")

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

# multi_head_attention -----------------------------------------------------------


def multi_reference(
    x: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    num_heads: int,
    mask: Tensor | None = None,
) -> Tensor:
    """Loop over sentences, heads and queries; skip hidden keys."""
    batch, length, width = x.shape
    d = width // num_heads
    if mask is None:
        mask = torch.ones(length, length, dtype=torch.bool)
    mask = mask.expand(batch, num_heads, length, length)
    sentences = []
    for b in range(batch):
        q, k, v = x[b] @ W_q, x[b] @ W_k, x[b] @ W_v
        tokens = []
        for i in range(length):
            pieces = []
            for h in range(num_heads):
                part = slice(h * d, (h + 1) * d)
                visible = [j for j in range(length) if mask[b, h, i, j]]
                piece = torch.zeros(d, dtype=x.dtype)
                if visible:
                    scores = k[visible][:, part] @ q[i, part] / math.sqrt(d)
                    powers = torch.exp(scores - scores.max().detach())
                    piece = powers / powers.sum() @ v[visible][:, part]
                pieces.append(piece)
            tokens.append(torch.cat(pieces) @ W_o)
        sentences.append(torch.stack(tokens))
    return torch.stack(sentences)


def multi_cases(draw: Draw) -> list[Case]:
    """Sizes: batch, length, heads, head width; with and without masks."""

    def case(name: str, B: int, T: int, H: int, d: int, mask: Tensor | None) -> Case:
        D = H * d
        x = draw.normal(B, T, D)
        matrices = tuple(draw.normal(D, D) * 0.5 for _ in range(4))
        return Case(name, (x, *matrices, H, mask))

    def causal(T: int) -> Tensor:
        return torch.ones(T, T, dtype=torch.bool).tril()

    def padding(lengths: list[int], T: int) -> Tensor:
        places = torch.arange(T, device="cpu")
        return (places < tensor(lengths, torch.int64)[:, None])[:, None, None]

    heads = draw.integers(0, 2, 2, 3, 4, 4).bool() | torch.eye(4).bool()
    empty = causal(4).clone()
    empty[1] = False
    whole = case("mask left out", 2, 3, 2, 4, None)
    one = tensor([[[1.0]], [[2.0]]])
    large = (
        tensor([[[1.0, 0.0], [1.0, 1.0], [-1.0, 0.0]]]),
        tensor([[1e4, 0.0], [1.0, 0.0]]),
        tensor([[1.0, 0.0], [0.0, 0.0]]),
        tensor([[1.0, 0.0], [0.0, 1.0]]),
        tensor([[1.0, 0.0], [0.0, 1.0]]),
        2,
        None,
    )
    apart = tensor([[1, 1, 0], [1, 1, 0], [1, 1, 0]], torch.bool)
    return [
        case("no mask", 2, 5, 3, 4, None),
        case("causal", 3, 4, 2, 3, causal(4)),
        replace_arguments(whole, whole.arguments[:-1]),
        case("padding", 2, 5, 2, 3, padding([2, 5], 5)),
        case("padding and causal", 2, 4, 3, 2, padding([3, 4], 4) & causal(4)),
        case("a mask for each head", 2, 4, 3, 2, heads),
        case("a mask for each head, shared", 2, 4, 3, 2, heads[:1]),
        case("a query that sees nothing", 2, 4, 2, 3, empty),
        case("a sentence of length 0", 2, 3, 2, 3, padding([0, 2], 3)),
        case("one head", 2, 4, 1, 3, None),
        case("heads of width one", 2, 3, 4, 1, None),
        case("batch of one", 1, 4, 2, 3, causal(4)),
        case("one token", 2, 1, 2, 3, None),
        case("as many heads as tokens", 2, 3, 3, 2, None),
        case("as many heads as sentences", 3, 4, 3, 2, None),
        case("all sizes equal", 3, 3, 3, 3, causal(3)),
        case("as many tokens as numbers", 2, 6, 3, 2, None),
        case("long", 1, 130, 2, 1, causal(130)),
        Case("width one", (one, *[tensor([[2.0]])] * 4, 1, None)),
        Case("scores of 10,000", large, "large", 1e-3),
        Case("rows far apart", (*large[:-1], apart), "large", 1e-3),
    ]


def replace_arguments(case: Case, arguments: tuple[object, ...]) -> Case:
    """The same case with other arguments."""
    return Case(case.name, arguments, case.kind, case.tolerance)


multi_head_attention = Exercise(
    id="multi_head_attention",
    parameters=("x", "W_q", "W_k", "W_v", "W_o", "num_heads", "mask"),
    results=("output",),
    task=N_(
        "Attend in several heads at once: x (B, T, D), four matrices (D, D), num_heads "
        "and an optional bool mask that broadcasts to (B, H, T, T), True = may attend, "
        "to (B, T, D)."
    ),
    section=MULTI_SECTION,
    difficulty=3,
    minutes=25,
    hints=(
        N_(
            "Five steps, four of which you have written: project, split, attend, "
            "merge, project once more."
        ),
        N_(
            "After the split the shapes are (B, H, T, d). masked attention takes any "
            "leading dimensions, so that all heads are one call."
        ),
        N_(
            "The width under the root is the one of a head, D / H. With no mask, every "
            "token sees every token."
        ),
        N_(
            "q, k, v = split_heads(x @ W) for the three matrices; output = masked "
            "attention of them; return merge_heads(output) @ W_o."
        ),
    ),
    right_answer=solutions.multi_head_attention,
    reference=multi_reference,
    make_cases=multi_cases,
    properties=(
        alone_in_the_batch(1),
        later_tokens_change_nothing(),
        more_tokens_hidden_change_nothing(),
        tokens_in_any_order(),
    ),
    misconceptions=multi_head_attention_mistakes.MISTAKES,
)
