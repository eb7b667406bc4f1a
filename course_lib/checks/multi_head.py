"""Exercise of chapter 6: multi-head attention."""

import math
from dataclasses import replace

import torch
from torch import Tensor

from . import solutions
from .cases import Case, Draw, tensor
from .exercise import Exercise
from .language import mark as N_
from .mistakes import multi_head_attention as multi_head_attention_mistakes
from .properties import (
    alone_in_the_batch,
    later_tokens_change_nothing,
    more_tokens_hidden_change_nothing,
    tokens_in_any_order,
)

MULTI_SECTION = N_("chapter 6, All of it")


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
    blind = heads.clone()  # no head sees anything, or only one of them does not
    blind[0, :, 1] = blind[1, 2, 3] = False
    nothing = torch.zeros(4, 4, dtype=torch.bool)
    empty = causal(4).clone()
    empty[1] = False
    sentences = padding([3, 1, 2], 3)
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
        replace(whole, arguments=whole.arguments[:-1]),
        case("padding", 2, 5, 2, 3, padding([2, 5], 5)),
        case("padding and causal", 2, 4, 3, 2, padding([3, 4], 4) & causal(4)),
        case("a mask for each head", 2, 4, 3, 2, heads),
        case("a mask for each head, shared", 2, 4, 3, 2, heads[:1]),
        case("three axes", 2, 4, 3, 2, heads[1]),
        case("three axes, as many heads as sentences", 3, 4, 3, 2, heads[0]),
        case("any square", 2, 4, 2, 3, heads[0, 1]),
        case("a mask for each of as many sentences", 3, 3, 3, 2, sentences),
        case("a query that sees nothing", 2, 4, 2, 3, empty),
        case("nothing to see at all", 2, 4, 3, 2, nothing),
        case("a head with a blind query", 2, 4, 3, 2, blind),
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
