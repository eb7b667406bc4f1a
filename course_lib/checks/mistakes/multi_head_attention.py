"""Known mistakes in `multi_head_attention`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import torch
from torch import Tensor

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

MERGE_SECTION = N_("chapter 6, Merge")
MULTI_SECTION = N_("chapter 6, All of it")
SPLIT_SECTION = N_("chapter 6, Split")

MISTAKES = Catalogue()
ONE = tensor([[1.0, 0.0], [0.0, 1.0]])
# Two tokens, two heads of width 1.
SMALL_MULTI = (tensor([[[2.0, 0.0], [1.0, 1.0]]]), ONE, ONE, ONE, ONE, 2, None)
SKEW = tensor([[0.0, 1.0], [2.0, 0.0]])
SMALL_SKEW = (tensor([[[2.0, 0.0], [0.0, 1.0]]]), SKEW, ONE, ONE, SKEW, 2, None)
CAUSAL_MASK = tensor([[1, 0], [1, 1]], torch.bool)
SMALL_MASKED = (*SMALL_MULTI[:-1], CAUSAL_MASK)
NOTHING = tensor([[0, 0], [1, 1]], torch.bool)
SMALL_EMPTY = (*SMALL_MULTI[:-1], NOTHING)


def _split(x: Tensor, num_heads: int) -> Tensor:
    return x.reshape(*x.shape[:2], num_heads, -1).transpose(1, 2)


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


@MISTAKES.add(
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


@MISTAKES.add(
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


@MISTAKES.add(
    "The scores are divided by the root of the number of heads. Divide by √d_k, the "
    "width of one head.",
    SMALL_MULTI,
    MULTI_SECTION,
    "classroom: D / H and H exchanged",
)
def scaled_by_number_of_heads(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    scores = q @ k.transpose(-2, -1) / math.sqrt(num_heads)
    return _merge(_weights(scores, mask) @ v) @ W_o


@MISTAKES.add(
    "The scores are divided by the width of a head: the root is missing.",
    (tensor([[[1.0, 1.0], [0.0, 0.0]]]), ONE, ONE, ONE, ONE, 1, None),
    MULTI_SECTION,
    "https://arxiv.org/abs/1706.03762, section 3.2.1",
)
def divided_by_head_width(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    scores = q @ k.transpose(-2, -1) / q.shape[-1]
    return _merge(_weights(scores, mask) @ v) @ W_o


@MISTAKES.add(
    "Query and key share one matrix. Each role has its own.",
    SMALL_SKEW,
    N_("chapter 2, One vector, three roles"),
    "classroom: copied lines with W_q left in",
)
def one_matrix_for_query_and_key(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_q, W_v)
    return _merge(_weights(_scores(q, k), mask) @ v) @ W_o


@MISTAKES.add(
    "Keys and values are exchanged: the values are compared, the keys are mixed.",
    (*SMALL_SKEW[:2], SKEW, ONE, *SMALL_SKEW[4:]),
    N_("chapter 2, One vector, three roles"),
    "classroom: the three come in any order in public code",
)
def key_and_value_exchanged(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_v, W_k)
    return _merge(_weights(_scores(q, k), mask) @ v) @ W_o


@MISTAKES.add(
    "The numbers of a token are dealt out to the heads like cards. Each head gets a "
    "piece of neighbours. With learned matrices either would do, but one has to keep "
    "to the order that the weights were made for.",
    (
        tensor([[[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]]),
        *[tensor([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])] * 4,
        2,
        None,
    ),
    SPLIT_SECTION,
    "classroom: (d, H) and (H, d) exchanged",
    convention=True,
)
def dealt_out_to_heads(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    batch, length, width = x.shape
    shape = (batch, length, width // num_heads, num_heads)
    q, k, v = ((x @ W).reshape(shape).permute(0, 3, 1, 2) for W in (W_q, W_k, W_v))
    output = _weights(_scores(q, k), mask) @ v
    return output.permute(0, 2, 3, 1).reshape(x.shape) @ W_o


@MISTAKES.add(
    "The heads are merged without swapping head and time back: token 0 contains "
    "pieces of token 1.",
    SMALL_MULTI,
    MERGE_SECTION,
    "https://github.com/jsbaan/transformer-from-scratch/issues/4",
)
def merged_without_swap(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    return (_weights(_scores(q, k), mask) @ v).reshape(x.shape) @ W_o


@MISTAKES.add(
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


@MISTAKES.add(
    "W_o is missing. It lets the heads talk to each other: without it each head "
    "writes into its own columns only.",
    SMALL_SKEW,
    MULTI_SECTION,
    "classroom: the last line of the formula forgotten",
)
def no_output_projection(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    return _merge(_weights(_scores(q, k), mask) @ v)


@MISTAKES.add(
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


@MISTAKES.add(
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


@MISTAKES.add(
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


@MISTAKES.add(
    "There is only one head, as wide as the model: the vectors are not split.",
    SMALL_MULTI,
    SPLIT_SECTION,
    "classroom: num_heads not used",
)
def one_wide_head(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, 1, W_q, W_k, W_v)
    return _merge(_weights(_scores(q, k), mask) @ v) @ W_o


@MISTAKES.add(
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


@MISTAKES.add(
    "The mask is not used.",
    SMALL_MASKED,
    N_("chapter 4, Before the softmax, not after"),
    "classroom: an argument passed on and forgotten",
)
def mask_ignored(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    return _merge(_weights(_scores(q, k), None) @ v) @ W_o


@MISTAKES.add(
    "The mask comes after the softmax, so hidden tokens have taken their share. Mask "
    "the scores, before the softmax.",
    SMALL_MASKED,
    N_("chapter 4, Before the softmax, not after"),
    "https://github.com/lucidrains/memory-compressed-attention/issues/2",
)
def mask_after_the_softmax(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    weights = _scores(q, k).softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return _merge(weights @ v) @ W_o


@MISTAKES.add(
    "The mask is read the other way round: True is hidden. Here True means may "
    "attend; in nn.MultiheadAttention True means hidden, by another convention.",
    SMALL_MASKED,
    N_("chapter 4, True means may attend"),
    "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
    convention=True,
)
def mask_inverted(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    scores = _scores(q, k)
    if mask is not None:
        mask = ~mask.expand_as(scores)
    return _merge(_weights(scores, mask) @ v) @ W_o


@MISTAKES.add(
    "A query that sees nothing becomes a flat average over hidden tokens. Here it "
    "gets zeros, before W_o.",
    SMALL_EMPTY,
    N_("chapter 4, A row with nothing to see"),
    "https://github.com/harvardnlp/annotated-transformer/issues/37",
)
def flat_average_on_an_empty_row(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    scores = _scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return _merge(scores.softmax(dim=-1) @ v) @ W_o


@MISTAKES.add(
    "A query that sees nothing becomes nan: the softmax over nothing is 0 / 0. Here "
    "it gets zeros, before W_o.",
    SMALL_EMPTY,
    N_("chapter 4, A row with nothing to see"),
    "https://github.com/pytorch/pytorch/issues/41508",
)
def nan_on_an_empty_row(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    scores = _scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return _merge(scores.softmax(dim=-1) @ v) @ W_o


@MISTAKES.add(
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


@MISTAKES.add(
    "The input is added to the output. That residual connection belongs to the layer "
    "around the attention.",
    SMALL_MULTI,
    MULTI_SECTION,
    "classroom: the figure of the whole layer",
)
def input_added(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    return x + _merge(_weights(_scores(q, k), mask) @ v) @ W_o


@MISTAKES.add(
    "Heads and tokens are mixed when they are split: a reshape to (B, H, T, d) cuts "
    "the rows in the wrong order, and the merge does not mend it. Cut the last axis, "
    "then swap.",
    SMALL_MULTI,
    SPLIT_SECTION,
    "https://github.com/ajhalthor/Transformer-Neural-Network/issues/1",
    id="split-without-swap",
)
def split_without_swap_but_merged_with(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    batch, length, width = x.shape
    shape = (batch, num_heads, length, width // num_heads)
    q, k, v = ((x @ W).reshape(shape) for W in (W_q, W_k, W_v))
    return _merge(_weights(_scores(q, k), mask) @ v) @ W_o


@MISTAKES.add(
    "Later tokens are hidden whatever the mask says. Without a mask every token sees "
    "every token.",
    SMALL_MULTI,
    MULTI_SECTION,
    "classroom: the causal code of a language model, copied",
)
def causal_unasked(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    causal = causal.to(x.device)
    mask = causal if mask is None else mask & causal
    return _merge(_weights(_scores(q, k), mask) @ v) @ W_o


@MISTAKES.add(
    "A square mask is turned on its side: a causal one shows the future and hides the "
    "past. Rows are queries, columns are keys.",
    SMALL_MASKED,
    N_("chapter 4, True means may attend"),
    "classroom: a mask of [key, query], which fits whenever it is square",
)
def mask_transposed(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    if mask is not None and mask.dim() > 1 and mask.shape[-1] == mask.shape[-2]:
        mask = mask.transpose(-2, -1)
    return _merge(_weights(_scores(q, k), mask) @ v) @ W_o


@MISTAKES.add(
    "The heads are averaged. They are joined side by side: each keeps its own columns "
    "until W_o mixes them.",
    SMALL_MULTI,
    MERGE_SECTION,
    "classroom: several heads taken for several opinions",
)
def heads_averaged(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    output = _weights(_scores(q, k), mask) @ v
    return _merge(output.mean(dim=1, keepdim=True).expand_as(output)) @ W_o


@MISTAKES.add(
    "Queries and keys are exchanged: each token is compared by its key with the "
    "queries of the others. Queries come of W_q, keys of W_k.",
    SMALL_SKEW,
    N_("chapter 2, One vector, three roles"),
    "classroom: the three come in any order in public code",
)
def query_and_key_exchanged(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_k, W_q, W_v)
    return _merge(_weights(_scores(q, k), mask) @ v) @ W_o


@MISTAKES.add(
    "The first axis of a mask of three axes is taken for the batch. A mask broadcasts "
    "to (B, H, T, T), from the right, so that axis is the head.",
    (
        tensor([[[2.0, 0.0], [1.0, 1.0]]]),
        *[ONE] * 4,
        2,
        tensor([[[1, 0]], [[1, 1]]], torch.bool),
    ),
    MULTI_SECTION,
    "classroom: a mask for each sentence, unsqueezed at 1 to make room for the heads",
)
def three_axes_taken_for_the_batch(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    if mask is not None and mask.dim() == 3:
        mask = mask[:, None]
    return _merge(_weights(_scores(q, k), mask) @ v) @ W_o


@MISTAKES.add(
    "A mask that shows nothing is treated like none at all. No mask means that every "
    "token sees every token; all False, that none sees any, which gives zeros.",
    (*SMALL_MULTI[:-1], tensor([[0, 0], [0, 0]], torch.bool)),
    N_("chapter 4, A row with nothing to see"),
    "classroom: `if mask.any()` written for `if mask is not None`",
)
def all_hidden_taken_for_no_mask(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    if mask is not None and not mask.any():
        mask = None
    return _merge(_weights(_scores(q, k), mask) @ v) @ W_o


@MISTAKES.add(
    "W_o alone is transposed, as nn.Linear or F.linear would do. Here tokens are "
    "rows: output @ W_o.",
    SMALL_SKEW,
    MULTI_SECTION,
    "nn.Linear keeps its weight as (out, in)",
    convention=True,
)
def output_matrix_transposed(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    return _merge(_weights(_scores(q, k), mask) @ v) @ W_o.T


@MISTAKES.add(
    "Hidden scores are set to -10,000, which is not low enough: a visible score of "
    "-10,000 ties with them. Use -inf.",
    (
        tensor([[[1.0], [0.0]]]),
        tensor([[10_000.0]]),
        tensor([[-1.0]]),
        tensor([[1.0]]),
        tensor([[1.0]]),
        1,
        CAUSAL_MASK,
    ),
    N_("chapter 4, Before the softmax, not after"),
    "https://github.com/NVIDIA/apex/issues/1052",
    kind="large",
)
def not_low_enough(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = _heads(x, num_heads, W_q, W_k, W_v)
    scores = _scores(q, k)
    if mask is None:
        return _merge(scores.softmax(dim=-1) @ v) @ W_o
    weights = scores.masked_fill(~mask, -1e4).softmax(dim=-1) * mask
    return _merge(weights @ v) @ W_o
