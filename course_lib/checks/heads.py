"""Exercises of chapter 6: split, merge, and multi-head attention."""

import math

import torch
from torch import Tensor

from . import solutions
from .exercise import Catalogue, Draw, Exercise, tensor
from .properties import (
    alone_in_the_batch,
    later_tokens_change_nothing,
    merge_undoes_split,
    more_tokens_hidden_change_nothing,
    tokens_in_any_order,
    tokens_stay_apart,
)
from .run import Case

SPLIT_SECTION = "chapter 6, Split"
MERGE_SECTION = "chapter 6, Merge"
MULTI_SECTION = "chapter 6, All of it"

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
        case("long", 2, 90, 2, 3),
    ]


SPLIT = Catalogue()
# Two tokens of four numbers, to be cut into two heads.
SMALL_SPLIT = (tensor([[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]]), 2)


@SPLIT.add(
    "The head axis stands after the time, (B, T, H, d). Swap the two, so that each "
    "head holds a sentence of its own: (B, H, T, d).",
    SMALL_SPLIT,
    SPLIT_SECTION,
    "https://github.com/jsbaan/transformer-from-scratch/issues/4",
)
def not_swapped(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, num_heads, width // num_heads)


@SPLIT.add(
    "Heads and tokens are mixed: one reshape to (B, H, T, d) fills head 0 with the "
    "first tokens. Cut the last axis first, (B, T, H, d), then swap.",
    SMALL_SPLIT,
    SPLIT_SECTION,
    "https://github.com/ajhalthor/Transformer-Neural-Network/issues/1",
)
def heads_and_tokens_mixed(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, num_heads, length, width // num_heads)


@SPLIT.add(
    "The numbers are dealt out like cards: head h gets every H-th number. Each head "
    "gets a piece of neighbours; the two are the same up to the order of columns in "
    "the projections, a convention, but the library keeps pieces.",
    SMALL_SPLIT,
    SPLIT_SECTION,
    "classroom: (d, H) and (H, d) exchanged",
    convention=True,
)
def dealt_out(x, num_heads):
    batch, length, width = x.shape
    parts = x.reshape(batch, length, width // num_heads, num_heads)
    return parts.permute(0, 3, 1, 2)


@SPLIT.add(
    "The heads stand before the batch, (H, B, T, d). The batch comes first.",
    (tensor([[[0.0, 1.0]]]), 2),
    SPLIT_SECTION,
    "https://github.com/hackiey/QAnet-pytorch/issues/2",
)
def heads_first(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1))


@SPLIT.add(
    "Time and head width are swapped as well, (B, H, d, T). That is how keys look "
    "once they are transposed for the scores, not here.",
    SMALL_SPLIT,
    SPLIT_SECTION,
    "public code that prepares keys for the product",
)
def width_before_time(x, num_heads):
    batch, length, width = x.shape
    parts = x.reshape(batch, length, num_heads, width // num_heads)
    return parts.permute(0, 2, 3, 1)


@SPLIT.add(
    "Batch and heads are joined into one axis, (B·H, T, d). Keep four axes.",
    SMALL_SPLIT,
    SPLIT_SECTION,
    "attention code written for torch.bmm",
)
def batch_and_heads_joined(x, num_heads):
    batch, length, width = x.shape
    parts = x.reshape(batch, length, num_heads, width // num_heads)
    return parts.transpose(1, 2).reshape(-1, length, width // num_heads)


@SPLIT.add(
    "num_heads is taken for the width of a head. It is the number of heads; a head is "
    "D / num_heads wide.",
    (tensor([[[0.0, 1.0, 2.0, 3.0]]]), 1),
    SPLIT_SECTION,
    "classroom: chunk and split take different numbers",
)
def number_taken_for_width(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, width // num_heads, num_heads).transpose(1, 2)


@SPLIT.add(
    "Every head gets the whole vector, not its piece.",
    (tensor([[[0.0, 1.0]]]), 2),
    SPLIT_SECTION,
    "classroom: heads said to 'look at the same word'",
)
def whole_vector_for_every_head(x, num_heads):
    return x[:, None].expand(-1, num_heads, -1, -1)


split_heads = Exercise(
    id="split_heads",
    parameters=("x", "num_heads"),
    results=("heads",),
    task="Cut tokens into heads: x (B, T, D) and num_heads to (B, H, T, D/H).",
    section=SPLIT_SECTION,
    difficulty=2,
    minutes=8,
    hints=(
        "A token of 8 numbers and 2 heads: the first 4 numbers go to head 0, the other "
        "4 to head 1. Nothing moves from one token to another.",
        "Cutting the last axis is a reshape that leaves the others alone: "
        "(B, T, D) to (B, T, H, D/H).",
        "Now swap the axes of time and head, 1 and 2. A swap moves numbers; a reshape "
        "to the same shape would not.",
        "parts = x.reshape(B, T, H, D // H); return parts with axes 1 and 2 swapped.",
    ),
    right_answer=solutions.split_heads,
    reference=split_reference,
    make_cases=split_cases,
    properties=(alone_in_the_batch(1), tokens_stay_apart()),
    misconceptions=tuple(SPLIT),
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
        case("long", 2, 2, 90, 3),
    ]


MERGE = Catalogue()
# Values 0 to 7 as two heads of two tokens of two numbers.
SMALL_MERGE = (tensor([[[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]]),)


@MERGE.add(
    "Token 0 contains pieces of token 1: head and time are not swapped back before "
    "the heads are joined. If view complains after the swap, use reshape; do not "
    "leave the swap out.",
    SMALL_MERGE,
    MERGE_SECTION,
    "https://github.com/jsbaan/transformer-from-scratch/issues/4",
)
def not_swapped_back(x):
    batch, heads, length, width = x.shape
    return x.reshape(batch, length, heads * width)


@MERGE.add(
    "The wrong axes are swapped: head width and time. Swap head and time, axes 1 and "
    "2.",
    SMALL_MERGE,
    MERGE_SECTION,
    "classroom: transpose(-2, -1) by habit",
)
def wrong_axes_swapped(x):
    batch, heads, length, width = x.shape
    return x.transpose(-2, -1).reshape(batch, length, heads * width)


@MERGE.add(
    "The heads are woven together number by number. Whole pieces stand one after the "
    "other: first head 0, then head 1.",
    SMALL_MERGE,
    MERGE_SECTION,
    "classroom: (d, H) and (H, d) exchanged",
)
def woven_together(x):
    batch, heads, length, width = x.shape
    return x.permute(0, 2, 3, 1).reshape(batch, length, heads * width)


@MERGE.add(
    "The heads are averaged. They are joined, so that each keeps what it found: "
    "(B, T, H·d).",
    SMALL_MERGE,
    MERGE_SECTION,
    "classroom: nn.MultiheadAttention averages the weights it returns",
)
def averaged(x):
    return x.mean(dim=1)


@MERGE.add(
    "The heads are added up. They are joined, so that each keeps what it found: "
    "(B, T, H·d).",
    SMALL_MERGE,
    MERGE_SECTION,
    "classroom: merge read as sum",
)
def added_up(x):
    return x.sum(dim=1)


@MERGE.add(
    "The head axis is still there, (B, T, H, d): join the last two axes.",
    SMALL_MERGE,
    MERGE_SECTION,
    "classroom: the swap done, the join forgotten",
)
def not_joined(x):
    return x.transpose(1, 2)


@MERGE.add(
    "The time stands before the batch: (T, B, H·d). The batch comes first.",
    SMALL_MERGE,
    MERGE_SECTION,
    "time-first attention code",
)
def time_first(x):
    return x.permute(2, 0, 1, 3).flatten(start_dim=2)


@MERGE.add(
    "Sentences are mixed: the result is right for a batch of one only, for the batch "
    "was taken for the heads. Head and time are axes 1 and 2.",
    (
        tensor(
            [
                [[[0.0], [1.0]]],
                [[[2.0], [3.0]]],
            ]
        ),
    ),
    MERGE_SECTION,
    "https://github.com/gazelle93/Transformer-Various-Positional-Encoding/issues/1",
)
def sentences_mixed(x):
    batch, heads, length, width = x.shape
    return x.permute(2, 0, 1, 3).reshape(batch, length, heads * width)


@MERGE.add(
    "The heads stand in the reverse order.",
    SMALL_MERGE,
    MERGE_SECTION,
    "classroom: a list of heads built from the end",
)
def heads_reversed(x):
    return x.flip(1).transpose(1, 2).flatten(start_dim=2)


merge_heads = Exercise(
    id="merge_heads",
    parameters=("x",),
    results=("merged",),
    task="Join the heads again: x (B, H, T, d) to (B, T, H·d), undoing split_heads.",
    section=MERGE_SECTION,
    difficulty=2,
    minutes=8,
    hints=(
        "Undo the two steps of split_heads, the last one first.",
        "split_heads cut, then swapped. So swap head and time back, (B, T, H, d), and "
        "only then join the last two axes.",
        "swapped = x with axes 1 and 2 swapped; return swapped with its last two axes "
        "flattened into one (reshape, for view refuses a swapped tensor).",
    ),
    right_answer=solutions.merge_heads,
    reference=merge_reference,
    make_cases=merge_cases,
    properties=(alone_in_the_batch(1), merge_undoes_split()),
    misconceptions=tuple(MERGE),
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
                    weights = powers / powers.sum()
                    for weight, j in zip(weights, visible, strict=True):
                        piece = piece + weight * v[j, part]
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
        case("long", 1, 70, 2, 2, causal(70)),
        Case("width one", (one, *[tensor([[2.0]])] * 4, 1, None)),
        Case("scores of 10,000", large, "large", 1e-3),
    ]


def replace_arguments(case: Case, arguments: tuple[object, ...]) -> Case:
    """The same case with other arguments."""
    return Case(case.name, arguments, case.kind, case.tolerance)


MULTI = Catalogue()
ONE = tensor([[1.0, 0.0], [0.0, 1.0]])
# Two tokens, two heads of width 1.
SMALL_MULTI = (tensor([[[2.0, 0.0], [0.0, 1.0]]]), ONE, ONE, ONE, ONE, 2, None)
SKEW = tensor([[0.0, 1.0], [2.0, 0.0]])
SMALL_SKEW = (tensor([[[2.0, 0.0], [0.0, 1.0]]]), SKEW, ONE, ONE, SKEW, 2, None)
CAUSAL_MASK = tensor([[1, 0], [1, 1]], torch.bool)
SMALL_MASKED = (*SMALL_MULTI[:-1], CAUSAL_MASK)
NOTHING = tensor([[0, 0], [1, 1]], torch.bool)
SMALL_EMPTY = (*SMALL_MULTI[:-1], NOTHING)


def _split(x: Tensor, num_heads: int) -> Tensor:
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def _merge(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(start_dim=2)


def _weights(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return scores.softmax(dim=-1)
    empty = ~mask.any(dim=-1, keepdim=True)
    filled = scores.masked_fill(~mask, -math.inf).masked_fill(empty, 0.0)
    return filled.softmax(dim=-1).masked_fill(empty, 0.0)


def _heads(x: Tensor, num_heads: int, *matrices: Tensor) -> list[Tensor]:
    return [_split(x @ matrix, num_heads) for matrix in matrices]


def _scores(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


@MULTI.add(
    "The scores are divided by the root of the model width. Divide by √d_k, the width "
    "of ONE head: with H heads the scores are smaller than they should be by √H.",
    SMALL_MULTI,
    MULTI_SECTION,
    "https://github.com/lucidrains/vit-pytorch/issues/65",
)
def scaled_by_model_width(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    scores = q @ k.transpose(-2, -1) / math.sqrt(x.shape[-1])
    return _merge(_weights(scores, mask) @ v) @ W_o


@MULTI.add(
    "The scores are not divided by √d_k, the width of one head.",
    (
        tensor([[[1.0, 1.0], [0.0, 0.0]]]),
        ONE,
        ONE,
        ONE,
        ONE,
        1,
        None,
    ),
    MULTI_SECTION,
    "https://arxiv.org/abs/1706.03762, section 3.2.1",
)
def no_scale(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    return _merge(_weights(q @ k.transpose(-2, -1), mask) @ v) @ W_o


@MULTI.add(
    "The heads are merged without swapping head and time back: token 0 contains "
    "pieces of token 1.",
    SMALL_MULTI,
    MERGE_SECTION,
    "https://github.com/jsbaan/transformer-from-scratch/issues/4",
)
def merged_without_swap(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    return (_weights(_scores(q, k), mask) @ v).reshape(x.shape) @ W_o


@MULTI.add(
    "Heads and tokens are mixed when they are split, by one reshape to (B, H, T, d), "
    "and mixed back in the end. Cut the last axis, then swap.",
    SMALL_MULTI,
    SPLIT_SECTION,
    "https://github.com/ajhalthor/Transformer-Neural-Network/issues/1",
)
def split_without_swap(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    batch, length, width = x.shape
    shape = (batch, num_heads, length, width // num_heads)
    q, k, v = ((x @ W).reshape(shape) for W in (W_q, W_k, W_v))
    return (_weights(_scores(q, k), mask) @ v).reshape(x.shape) @ W_o


@MULTI.add(
    "W_o is missing. It lets the heads talk to each other: without it each head "
    "writes into its own columns only.",
    SMALL_SKEW,
    MULTI_SECTION,
    "classroom: the last line of the formula forgotten",
)
def no_output_projection(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    return _merge(_weights(_scores(q, k), mask) @ v)


@MULTI.add(
    "The softmax runs over the heads. It runs over the keys, the last axis.",
    SMALL_MULTI,
    MULTI_SECTION,
    "https://github.com/PetrochukM/PyTorch-NLP/issues/2",
)
def softmax_over_heads(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    scores = _scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return _merge(scores.softmax(dim=1).nan_to_num(0.0) @ v) @ W_o


@MULTI.add(
    "The softmax runs over the queries. It runs over the keys, the last axis.",
    SMALL_MULTI,
    MULTI_SECTION,
    "https://github.com/labmlai/annotated_deep_learning_paper_implementations/"
    "issues/146",
)
def softmax_over_queries(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    scores = _scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return _merge(scores.softmax(dim=-2).nan_to_num(0.0) @ v) @ W_o


@MULTI.add(
    "Every head uses the columns of the first one. Head h has its own columns of the "
    "projections.",
    SMALL_MULTI,
    MULTI_SECTION,
    "classroom: a loop over heads whose index is not used",
)
def first_head_repeated(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    output = _weights(_scores(q, k), mask) @ v
    return _merge(output[:, :1].expand_as(output)) @ W_o


@MULTI.add(
    "There is only one head, as wide as the model: the vectors are not split.",
    SMALL_MULTI,
    SPLIT_SECTION,
    "classroom: num_heads not used",
)
def one_wide_head(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, 1, W_q, W_k, W_v)
    return _merge(_weights(_scores(q, k), mask) @ v) @ W_o


@MULTI.add(
    "The matrices are transposed, x @ W.T. Here tokens are rows: x @ W. The other "
    "convention belongs to nn.Linear, which stores its weight as (out, in).",
    SMALL_SKEW,
    MULTI_SECTION,
    "nn.Linear keeps its weight as (out, in)",
    convention=True,
)
def transposed_matrices(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q.T, W_k.T, W_v.T)
    return _merge(_weights(_scores(q, k), mask) @ v) @ W_o.T


@MULTI.add(
    "The mask is not used.",
    SMALL_MASKED,
    "chapter 4, Before the softmax, not after",
    "classroom: an argument passed on and forgotten",
)
def mask_ignored(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    return _merge(_weights(_scores(q, k), None) @ v) @ W_o


@MULTI.add(
    "The mask comes after the softmax, so hidden tokens have taken their share. Mask "
    "the scores, before the softmax.",
    SMALL_MASKED,
    "chapter 4, Before the softmax, not after",
    "https://github.com/lucidrains/memory-compressed-attention/issues/2",
)
def mask_after_the_softmax(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    weights = _scores(q, k).softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return _merge(weights @ v) @ W_o


@MULTI.add(
    "The mask is read the other way round: True is hidden. Here True means may "
    "attend; in nn.MultiheadAttention True means hidden, by another convention.",
    SMALL_MASKED,
    "chapter 4, True means may attend",
    "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
    convention=True,
)
def mask_inverted(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    scores = _scores(q, k)
    if mask is not None:
        mask = ~mask.expand_as(scores)
    return _merge(_weights(scores, mask) @ v) @ W_o


@MULTI.add(
    "A query that sees nothing becomes a flat average over hidden tokens. Here it "
    "gets zeros, before W_o.",
    SMALL_EMPTY,
    "chapter 4, A row with nothing to see",
    "https://github.com/harvardnlp/annotated-transformer/issues/37",
)
def flat_average_on_an_empty_row(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    scores = _scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return _merge(scores.softmax(dim=-1) @ v) @ W_o


@MULTI.add(
    "A query that sees nothing becomes nan: the softmax over nothing is 0 / 0. Here "
    "it gets zeros, before W_o.",
    SMALL_EMPTY,
    "chapter 4, A row with nothing to see",
    "https://github.com/pytorch/pytorch/issues/41508",
)
def nan_on_an_empty_row(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    scores = _scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return _merge(scores.softmax(dim=-1) @ v) @ W_o


@MULTI.add(
    "Attention runs across the sentences of the batch: time and batch are exchanged. "
    "Sentence 0 changes when sentence 1 does.",
    (tensor([[[2.0, 0.0]], [[0.0, 1.0]]]), ONE, ONE, ONE, ONE, 2, None),
    MULTI_SECTION,
    "https://github.com/JusperLee/TDANet/issues/3",
)
def across_the_batch(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x.transpose(0, 1), num_heads, W_q, W_k, W_v)
    output = _merge(_weights(_scores(q, k), mask) @ v)
    return output.transpose(0, 1) @ W_o


@MULTI.add(
    "The input is added to the output. That residual connection belongs to the layer "
    "around the attention.",
    SMALL_MULTI,
    MULTI_SECTION,
    "classroom: the figure of the whole layer",
)
def input_added(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    return x + _merge(_weights(_scores(q, k), mask) @ v) @ W_o


multi_head_attention = Exercise(
    id="multi_head_attention",
    parameters=("x", "W_q", "W_k", "W_v", "W_o", "num_heads", "mask"),
    results=("output",),
    task=(
        "Attend in several heads at once: x (B, T, D), four matrices (D, D), num_heads "
        "and an optional bool mask that broadcasts to (B, H, T, T), True = may attend, "
        "to (B, T, D)."
    ),
    section=MULTI_SECTION,
    difficulty=3,
    minutes=25,
    hints=(
        "Five steps, four of which you have written: project, split, attend, merge, "
        "project once more.",
        "After the split the shapes are (B, H, T, d). masked attention takes any "
        "leading dimensions, so that all heads are one call.",
        "The width under the root is the one of a head, D / H. With no mask, every "
        "token sees every token.",
        "q, k, v = split_heads(x @ W) for the three matrices; output = masked "
        "attention of them; return merge_heads(output) @ W_o.",
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
    misconceptions=tuple(MULTI),
)
