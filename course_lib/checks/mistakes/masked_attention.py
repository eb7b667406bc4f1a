"""Known mistakes in `masked_attention`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import torch
from torch import Tensor

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

CONVENTIONS_SECTION = N_("chapter 4, True means may attend")
EMPTY_SECTION = N_("chapter 4, A row with nothing to see")
WHERE_SECTION = N_("chapter 4, Before the softmax, not after")

MISTAKES = Catalogue()
# Zero scores for one query and two keys; the second key is hidden.
HIDE_SECOND = (
    tensor([[0.0]]),
    tensor([[0.0], [0.0]]),
    tensor([[1.0], [3.0]]),
    tensor([[1, 0]], torch.bool),
)
HIDE_ALL = (
    tensor([[1.0]]),
    tensor([[0.0], [1.0]]),
    tensor([[1.0], [3.0]]),
    tensor([[0, 0]], torch.bool),
)
HIDE_WITH_SCORES = (
    tensor([[2.0]]),
    tensor([[1.0], [-1.0], [0.0]]),
    tensor([[1.0], [3.0], [0.0]]),
    tensor([[1, 0, 1]], torch.bool),
)


def _scores(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


def _finish(scores: Tensor, mask: Tensor) -> Tensor:
    """The right weights from any scores: from here wrong answers are made."""
    empty = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~mask, -math.inf).masked_fill(empty, 0.0)
    return scores.softmax(dim=-1).masked_fill(empty, 0.0)


@MISTAKES.add(
    "The mask comes after the softmax, so hidden keys have taken their share and the "
    "rows sum to less than 1. Mask the scores, before the softmax.",
    HIDE_SECOND,
    WHERE_SECTION,
    "https://github.com/lucidrains/memory-compressed-attention/issues/2",
)
def after_the_softmax(q, k, v, mask):
    weights = _scores(q, k).softmax(dim=-1) * mask
    return weights @ v, weights


@MISTAKES.add(
    "The mask comes after the softmax, and the rows are divided by their sum again. "
    "On paper that is right; with large scores the visible keys have already become "
    "0, and it is 0 / 0. Mask the scores, before the softmax.",
    (
        tensor([[1.0]]),
        tensor([[0.0], [200.0]]),
        tensor([[1.0], [3.0]]),
        tensor([[1, 0]], torch.bool),
    ),
    WHERE_SECTION,
    "https://github.com/hyunwoongko/transformer/issues/10",
    kind="large",
)
def renormalised_after_the_softmax(q, k, v, mask):
    weights = _scores(q, k).softmax(dim=-1) * mask
    total = weights.sum(dim=-1, keepdim=True)
    empty = ~mask.any(dim=-1, keepdim=True)
    weights = weights / total.masked_fill(empty, 1.0)
    return weights @ v, weights


@MISTAKES.add(
    "Hidden scores become 0, or a tiny negative number, which hides nothing: a score "
    "of 0 is a score like any other, e^0 = 1. It has to be a huge negative number, "
    "best -inf.",
    HIDE_WITH_SCORES,
    WHERE_SECTION,
    "https://github.com/hyunwoongko/transformer/issues/10",
)
def hidden_scores_near_zero(q, k, v, mask):
    weights = _scores(q, k).masked_fill(~mask, -1e-9).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "A row that sees nothing becomes a flat average over hidden keys: all its scores "
    "are the same huge negative number. Here it is to give zeros.",
    HIDE_ALL,
    EMPTY_SECTION,
    "https://github.com/harvardnlp/annotated-transformer/issues/37",
)
def flat_average_on_an_empty_row(q, k, v, mask):
    weights = _scores(q, k).masked_fill(~mask, -1e9).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "A row that sees nothing becomes nan: the softmax over nothing is 0 / 0. Decide "
    "what the row should mean before the softmax; here it gives zeros.",
    HIDE_ALL,
    EMPTY_SECTION,
    "https://github.com/pytorch/pytorch/issues/41508",
)
def nan_on_an_empty_row(q, k, v, mask):
    weights = _scores(q, k).masked_fill(~mask, -math.inf).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The output of a row that sees nothing is zero, but its weights are not. Both are "
    "to be zeros.",
    HIDE_ALL,
    EMPTY_SECTION,
    "classroom: the output repaired, the weights forgotten",
)
def weights_of_an_empty_row_left(q, k, v, mask):
    weights = _scores(q, k).masked_fill(~mask, -1e9).softmax(dim=-1)
    return (weights * mask) @ v, weights


@MISTAKES.add(
    "The output of a row that sees nothing is repaired, but its weights are still nan. "
    "Both are to be zeros: decide before the softmax.",
    HIDE_ALL,
    EMPTY_SECTION,
    "classroom: the output repaired, the weights forgotten",
)
def weights_of_an_empty_row_nan(q, k, v, mask):
    weights = _scores(q, k).masked_fill(~mask, -math.inf).softmax(dim=-1)
    return (weights @ v).nan_to_num(0.0), weights


@MISTAKES.add(
    "The mask is read the other way round: True is hidden. Here True means may "
    "attend, as in F.scaled_dot_product_attention; in nn.MultiheadAttention True "
    "means hidden. That is a convention, and one has to know which one holds.",
    HIDE_SECOND,
    CONVENTIONS_SECTION,
    "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
    convention=True,
)
def inverted(q, k, v, mask):
    weights = _finish(_scores(q, k), ~mask.expand(*q.shape[:-1], k.shape[-2]))
    return weights @ v, weights


@MISTAKES.add(
    "The mask is added to the scores: True counts as 1, so a visible key gets one "
    "more, and nothing is hidden. Fill hidden scores with -inf.",
    HIDE_SECOND,
    WHERE_SECTION,
    "https://github.com/pytorch/pytorch/issues/21518",
)
def mask_added_to_the_scores(q, k, v, mask):
    weights = (_scores(q, k) + mask).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The mask is turned on its side: it hides queries (rows) instead of keys "
    "(columns). The last axis of a mask is the key.",
    (
        tensor([[0.0], [0.0]]),
        tensor([[0.0], [0.0]]),
        tensor([[1.0], [3.0]]),
        tensor([[1, 0]], torch.bool),
    ),
    CONVENTIONS_SECTION,
    "https://github.com/bentrevett/pytorch-seq2seq/issues/119",
)
def query_rows_masked(q, k, v, mask):
    weights = _finish(
        _scores(q, k), mask.transpose(-2, -1).expand(*q.shape[:-1], k.shape[-2])
    )
    return weights @ v, weights


@MISTAKES.add(
    "The softmax is applied twice. The second one gives hidden keys, now at 0, a "
    "weight again: e^0 = 1.",
    HIDE_SECOND,
    WHERE_SECTION,
    "https://github.com/zyy-2001/DisKT/issues/6",
)
def softmax_twice(q, k, v, mask):
    weights = _finish(_scores(q, k), mask).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The mask is not used.",
    HIDE_SECOND,
    WHERE_SECTION,
    "classroom: an argument passed on and forgotten",
)
def mask_ignored(q, k, v, mask):
    weights = _scores(q, k).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "Hidden values are set to zero, but the hidden keys keep their weights, so the "
    "rows of what is left sum to less than 1. Mask the scores, before the softmax.",
    HIDE_SECOND,
    WHERE_SECTION,
    "classroom: 'hidden' read as 'its value is zero'",
)
def hidden_values_set_to_zero(q, k, v, mask):
    weights = _scores(q, k).softmax(dim=-1)
    return (weights * mask) @ v, weights


@MISTAKES.add(
    "The mask is right, but the scores are not divided by √d_k.",
    (
        tensor([[2.0, 0.0, 0.0, 0.0]]),
        tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
        tensor([[1.0], [0.0]]),
        tensor([[1, 1]], torch.bool),
    ),
    N_("chapter 3, Why divide by √d_k?"),
    "https://arxiv.org/abs/1706.03762, section 3.2.1",
)
def no_scale(q, k, v, mask):
    weights = _finish(q @ k.transpose(-2, -1), mask)
    return weights @ v, weights


@MISTAKES.add(
    "Hidden scores are set to -10,000, which is not low enough: a visible score of "
    "-10,000 ties with them. Use -inf.",
    (
        tensor([[1.0]]),
        tensor([[-10_000.0], [0.0]]),
        tensor([[1.0], [3.0]]),
        tensor([[1, 0]], torch.bool),
    ),
    WHERE_SECTION,
    "https://github.com/NVIDIA/apex/issues/1052",
    kind="large",
)
def not_low_enough(q, k, v, mask):
    empty = ~mask.any(dim=-1, keepdim=True)
    scores = _scores(q, k).masked_fill(~mask, -1e4)
    weights = scores.softmax(dim=-1).masked_fill(empty, 0.0)
    return weights @ v, weights


@MISTAKES.add(
    "Hidden scores are set to -100, which is not low enough: a visible score may be "
    "lower still. Use -inf.",
    (
        tensor([[1.0]]),
        tensor([[-100.0], [0.0]]),
        tensor([[1.0], [3.0]]),
        tensor([[1, 0]], torch.bool),
    ),
    WHERE_SECTION,
    "https://github.com/NVIDIA/apex/issues/1052",
    kind="large",
    id="not-low-enough",
)
def not_lower_than_minus_100(q, k, v, mask):
    empty = ~mask.any(dim=-1, keepdim=True)
    scores = _scores(q, k).masked_fill(~mask, -100.0)
    weights = scores.softmax(dim=-1).masked_fill(empty, 0.0)
    return weights @ v, weights


@MISTAKES.add(
    "The softmax runs over the queries: the columns of your weights sum to 1. It runs "
    "over the keys, dim=-1.",
    (
        tensor([[2.0], [0.0]]),
        tensor([[1.0], [0.0]]),
        tensor([[1.0], [0.0]]),
        tensor([[1, 1]], torch.bool),
    ),
    N_("chapter 3, In code: all three queries at once"),
    "https://github.com/labmlai/annotated_deep_learning_paper_implementations/"
    "issues/146",
)
def softmax_over_queries(q, k, v, mask):
    scores = _scores(q, k).masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-2).nan_to_num(0.0)
    return weights @ v, weights


@MISTAKES.add(
    "The mask is not used; the future is hidden instead. Which keys a query may see "
    "comes from the mask alone.",
    (
        tensor([[0.0]]),
        tensor([[0.0], [0.0]]),
        tensor([[0.0], [1.0]]),
        tensor([[1, 1]], torch.bool),
    ),
    WHERE_SECTION,
    "classroom: 'masked' taken for 'causal'",
)
def always_causal(q, k, v, mask):
    scores = _scores(q, k)
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, -math.inf).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The mask is right, but the scores are divided by d_k. Divide by its root.",
    (
        tensor([[2.0, 0.0, 0.0, 0.0]]),
        tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
        tensor([[1.0], [0.0]]),
        tensor([[1, 1]], torch.bool),
    ),
    N_("chapter 3, Why divide by √d_k?"),
    "https://arxiv.org/abs/1706.03762, section 3.2.1",
)
def divided_by_key_width(q, k, v, mask):
    weights = _finish(q @ k.transpose(-2, -1) / q.shape[-1], mask)
    return weights @ v, weights


@MISTAKES.add(
    "The results are exchanged: first the output, then the weights.",
    HIDE_SECOND,
    WHERE_SECTION,
    "classroom: weights are computed first, so they are returned first",
)
def weights_before_output(q, k, v, mask):
    weights = _finish(_scores(q, k), mask)
    return weights, weights @ v


@MISTAKES.add(
    "The exponentials overflow: e^89 is more than float32 holds. Subtract the largest "
    "visible score first, or use softmax, which does it.",
    (
        tensor([[1.0]]),
        tensor([[100.0], [99.0]]),
        tensor([[1.0], [3.0]]),
        tensor([[1, 1]], torch.bool),
    ),
    N_("chapter 3, A softmax that survives large scores"),
    "classroom: the formula as it stands on paper",
    kind="large",
)
def exponentials_overflow(q, k, v, mask):
    powers = _scores(q, k).exp() * mask
    weights = powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-12)
    return weights @ v, weights


@MISTAKES.add(
    "The largest score is sought among hidden keys too. Beside a large hidden one the "
    "visible keys become 0 before they are divided by their sum. Mask the scores "
    "first, and seek the largest after that.",
    (
        tensor([[1.0]]),
        tensor([[0.0], [200.0]]),
        tensor([[1.0], [3.0]]),
        tensor([[1, 0]], torch.bool),
    ),
    WHERE_SECTION,
    "classroom: the safe softmax, with the mask added later",
    kind="large",
)
def largest_of_hidden_scores_subtracted(q, k, v, mask):
    scores = _scores(q, k)
    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp() * mask
    weights = powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-12)
    return weights @ v, weights


@MISTAKES.add(
    "The mask of the first query serves all of them. That is right for padding alone: "
    "in general each query has a row of its own.",
    (
        tensor([[0.0], [0.0]]),
        tensor([[0.0], [0.0]]),
        tensor([[1.0], [3.0]]),
        tensor([[1, 0], [1, 1]], torch.bool),
    ),
    WHERE_SECTION,
    "classroom: every mask taken for a padding mask",
)
def one_row_for_all_queries(q, k, v, mask):
    scores = _scores(q, k)
    first = mask.expand(scores.shape)[..., :1, :]
    weights = _finish(scores, first.expand(scores.shape))
    return weights @ v, weights


@MISTAKES.add(
    "A square mask is turned on its side: a causal one shows the future and hides the "
    "past. Rows are queries, columns are keys.",
    (
        tensor([[0.0], [0.0]]),
        tensor([[0.0], [0.0]]),
        tensor([[1.0], [3.0]]),
        tensor([[1, 0], [1, 1]], torch.bool),
    ),
    CONVENTIONS_SECTION,
    "classroom: a mask of [key, query], which fits whenever it is square",
)
def square_mask_transposed(q, k, v, mask):
    if mask.dim() > 1 and mask.shape[-1] == mask.shape[-2]:
        mask = mask.transpose(-2, -1)
    weights = _finish(_scores(q, k), mask)
    return weights @ v, weights


@MISTAKES.add(
    "Hidden scores are set to -10,000, and hidden weights to 0 afterwards. Beside a "
    "visible score of -10,000 they have taken a share by then, and the row sums to "
    "less than 1. Use -inf.",
    (
        tensor([[1.0]]),
        tensor([[-10_000.0], [0.0]]),
        tensor([[1.0], [3.0]]),
        tensor([[1, 0]], torch.bool),
    ),
    WHERE_SECTION,
    "https://github.com/NVIDIA/apex/issues/1052",
    kind="large",
    id="not-low-enough",
)
def not_low_enough_and_set_to_zero(q, k, v, mask):
    weights = _scores(q, k).masked_fill(~mask, -1e4).softmax(dim=-1) * mask
    return weights @ v, weights


@MISTAKES.add(
    "The weights of a row that sees nothing are zero, but its output is an average: it "
    "was computed from the weights before they were repaired. Both are to be zeros.",
    HIDE_ALL,
    EMPTY_SECTION,
    "classroom: the weights repaired after the output is made",
)
def output_of_an_empty_row_left(q, k, v, mask):
    weights = _scores(q, k).masked_fill(~mask, -1e9).softmax(dim=-1)
    return weights @ v, weights * mask
