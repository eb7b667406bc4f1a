"""Known mistakes in `scaled_dot_product_attention`: each the wrong code, and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import torch

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

SCALE_SECTION = N_("chapter 3, Why divide by √d_k?")
SOFTMAX_SECTION = N_("chapter 3, A softmax that survives large scores")
STEPS_SECTION = N_("chapter 3, In code: all three queries at once")
VASWANI = "https://arxiv.org/abs/1706.03762, section 3.2.1"

MISTAKES = Catalogue()
# One query, two keys, width 4: the scores are 4 and 0, divided by 2 they are 2 and 0.
SMALL = (
    tensor([[2.0, 0.0, 0.0, 0.0]]),
    tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
    tensor([[1.0], [0.0]]),
)
TWO_QUERIES = (
    tensor([[2.0], [1.0]]),
    tensor([[1.0], [0.0]]),
    tensor([[1.0], [0.0]]),
)


@MISTAKES.add(
    "The scores are not divided by √d_k, so the weights are too sharp, and sharper "
    "the wider the vectors.",
    SMALL,
    SCALE_SECTION,
    VASWANI,
)
def no_scale(q, k, v):
    weights = (q @ k.transpose(-2, -1)).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The scores are divided by d_k: the root is missing. The weights are too even.",
    SMALL,
    SCALE_SECTION,
    VASWANI,
)
def divide_by_d_k(q, k, v):
    weights = (q @ k.transpose(-2, -1) / q.shape[-1]).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The scores are divided by the root of the number of keys. It is the width of a "
    "key that makes scores large: √d_k.",
    SMALL,
    SCALE_SECTION,
    "classroom: shape[-2] and shape[-1] exchanged",
)
def divide_by_root_of_key_count(q, k, v):
    weights = (q @ k.transpose(-2, -1) / k.shape[-2] ** 0.5).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The scores are divided by the root of the number of queries. It is the width of "
    "a key that makes scores large: √d_k.",
    SMALL,
    SCALE_SECTION,
    "classroom: shape[-2] and shape[-1] exchanged",
)
def divide_by_root_of_query_count(q, k, v):
    weights = (q @ k.transpose(-2, -1) / q.shape[-2] ** 0.5).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The scores are divided by the root of the width of the values. The scores are "
    "made from queries and keys: √d_k.",
    SMALL,
    SCALE_SECTION,
    "classroom: tested with d_k = d_v only",
)
def divide_by_root_of_d_v(q, k, v):
    weights = (q @ k.transpose(-2, -1) / v.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The scores are multiplied by √d_k. They are to be divided by it; d_k**-0.5 is "
    "the factor, not the divisor.",
    SMALL,
    SCALE_SECTION,
    "https://github.com/lucidrains/vit-pytorch/issues/65",
)
def multiply_by_root(q, k, v):
    weights = (q @ k.transpose(-2, -1) * q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The scores are divided by d_k squared. Divide by its root.",
    SMALL,
    SCALE_SECTION,
    "classroom: root and square exchanged",
)
def divide_by_square(q, k, v):
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 2).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The scores are divided by 8, whatever the width. That is √d_k for 64 only, the "
    "width of the paper's heads.",
    SMALL,
    SCALE_SECTION,
    VASWANI,
)
def divide_by_eight(q, k, v):
    weights = (q @ k.transpose(-2, -1) / 8).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "Queries and keys are brought to length 1 first: a cosine. The plain dot product, "
    "divided by √d_k, is asked for.",
    SMALL,
    SCALE_SECTION,
    "classroom: vector search uses the cosine",
    convention=True,
)
def cosine_similarity(q, k, v):
    q, k = (torch.nn.functional.normalize(x, dim=-1) for x in (q, k))
    weights = (q @ k.transpose(-2, -1)).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "One largest score of all is subtracted before the exponential. A row far below it "
    "becomes 0 / 0: take the largest score of each row.",
    (tensor([[1.0], [-1.0]]), tensor([[1e3], [1e3]]), tensor([[1.0], [0.0]])),
    SOFTMAX_SECTION,
    "classroom: scores.max() without dim",
    kind="large",
)
def one_maximum_for_all(q, k, v):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    powers = (scores - scores.max()).exp()
    weights = powers / powers.sum(dim=-1, keepdim=True)
    return weights @ v, weights


@MISTAKES.add(
    "The weights are scaled, not the scores: each row sums to 1/√d_k. Divide before "
    "the softmax.",
    SMALL,
    SCALE_SECTION,
    "classroom: the order of the steps",
)
def scale_after_softmax(q, k, v):
    weights = (q @ k.transpose(-2, -1)).softmax(dim=-1) / q.shape[-1] ** 0.5
    return weights @ v, weights


@MISTAKES.add(
    "The columns of your weights sum to 1, the rows do not: the softmax runs over "
    "the queries. Each query shares out its own attention, over the keys: dim=-1.",
    TWO_QUERIES,
    STEPS_SECTION,
    "https://github.com/labmlai/annotated_deep_learning_paper_implementations/"
    "issues/146",
)
def softmax_over_queries(q, k, v):
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-2)
    return weights @ v, weights


@MISTAKES.add(
    "Each weight is a sigmoid of its own score, so a row does not sum to 1. The "
    "softmax makes the keys compete.",
    SMALL,
    STEPS_SECTION,
    "classroom: both turn scores into numbers between 0 and 1",
)
def sigmoid_weights(q, k, v):
    weights = torch.sigmoid(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5)
    return weights @ v, weights


@MISTAKES.add(
    "Each query takes the one key with the largest score. The softmax gives every key "
    "a share, and a gradient.",
    SMALL,
    STEPS_SECTION,
    "classroom: attention said to 'pick' a word",
)
def hard_choice(q, k, v):
    scores = q @ k.transpose(-2, -1)
    weights = torch.zeros_like(scores)
    weights.scatter_(-1, scores.argmax(dim=-1, keepdim=True), 1.0)
    return weights @ v, weights


@MISTAKES.add(
    "The keys are mixed. They only decide the weights; the output is a mix of the "
    "values.",
    SMALL,
    STEPS_SECTION,
    "classroom: key and value used as one word",
)
def keys_mixed(q, k, v):
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ k, weights


@MISTAKES.add(
    "The queries are compared with the values. They are compared with the keys.",
    (tensor([[2.0]]), tensor([[1.0], [0.0]]), tensor([[0.0], [2.0]])),
    STEPS_SECTION,
    "classroom: three arguments of the same shape",
)
def key_and_value_exchanged(q, k, v):
    weights = (q @ v.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ k, weights


@MISTAKES.add(
    "The scores are k @ q^T: the keys look at the queries, and the weights lie on "
    "their side. A row belongs to a query: q @ k^T.",
    TWO_QUERIES,
    STEPS_SECTION,
    "classroom: tested with as many queries as keys",
)
def keys_as_queries(q, k, v):
    weights = (k @ q.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The second result holds the scores, before the softmax. The weights are asked "
    "for.",
    SMALL,
    STEPS_SECTION,
    "classroom: score and weight used as one word",
)
def scores_returned(q, k, v):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return scores.softmax(dim=-1) @ v, scores


@MISTAKES.add(
    "The results are exchanged: first the output, then the weights.",
    SMALL,
    STEPS_SECTION,
    "classroom: weights are computed first, so they are returned first",
)
def weights_before_output(q, k, v):
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights, weights @ v


@MISTAKES.add(
    "Keys after the query's own place are hidden. This exercise has no mask: every "
    "query sees every key.",
    (tensor([[0.0]]), tensor([[0.0], [0.0]]), tensor([[0.0], [1.0]])),
    STEPS_SECTION,
    "classroom: the causal code of a language model, copied",
)
def causal_unasked(q, k, v):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(hidden, -math.inf).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The exponentials overflow: e^89 is more than float32 holds, and inf / inf is "
    "nan. Subtract the largest score first, or use softmax, which does.",
    (tensor([[10.0]]), tensor([[10.0], [9.0]]), tensor([[1.0], [0.0]])),
    SOFTMAX_SECTION,
    "classroom: the textbook formula of the softmax",
    kind="large",
)
def overflow(q, k, v):
    powers = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).exp()
    weights = powers / powers.sum(dim=-1, keepdim=True)
    return weights @ v, weights


@MISTAKES.add(
    "The softmax runs along axis 1: the keys in two dimensions, the queries in three, "
    "the heads in four. Count from the end: dim=-1.",
    (tensor([[[2.0], [1.0]]]), tensor([[[1.0], [0.0]]]), tensor([[[1.0], [0.0]]])),
    STEPS_SECTION,
    "classroom: written for two dimensions, used for a batch",
)
def softmax_along_axis_one(q, k, v):
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=1)
    return weights @ v, weights


@MISTAKES.add(
    "k.transpose(1, 2) swaps the last two axes only when there are three. Any number "
    "of leading dimensions is allowed: count from the end, transpose(-2, -1).",
    (tensor([[2.0]]), tensor([[1.0], [0.0]]), tensor([[1.0], [0.0]])),
    STEPS_SECTION,
    "classroom: written for one batch axis, used with heads",
)
def axes_counted_from_the_front(q, k, v):
    weights = (q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ v, weights


@MISTAKES.add(
    "The output is the values as they came in: the weights are not used. Each output "
    "row is a mix, weights @ v.",
    (tensor([[2.0]]), tensor([[1.0], [0.0]]), tensor([[1.0], [0.0]])),
    STEPS_SECTION,
    "classroom: the last of the four steps forgotten",
)
def values_not_mixed(q, k, v):
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return v, weights
