"""Exercises of chapter 3: softmax and scaled dot-product attention."""

import itertools
import math

import torch
from torch import Tensor

from . import solutions
from .exercise import Catalogue, Draw, Exercise, tensor
from .properties import (
    alone_in_the_batch,
    every_key_counts,
    keys_in_any_order,
    rows_sum_to_one,
    shift_changes_nothing,
    slices_sum_to_one,
)
from .run import Case

SOFTMAX_SECTION = "chapter 3, A softmax that survives large scores"
SCALE_SECTION = "chapter 3, Why divide by √d_k?"
STEPS_SECTION = "chapter 3, In code: all three queries at once"
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
        Case("dim left out", (draw.normal(2, 3, 4),)),
        Case("negative dim", (draw.normal(2, 4, 3), -2)),
        Case("one dimension", (draw.normal(4),)),
        Case("square", (draw.normal(3, 3), -1)),
        Case("square along the first", (draw.normal(3, 3), 0)),
        Case("one number a row", (draw.normal(4, 1), -1)),
        Case("one row", (draw.normal(1, 4), -1)),
        Case("four dimensions", (draw.normal(2, 3, 2, 4), 2)),
        Case("long", (draw.normal(2, 90), -1)),
        Case("scores of 10,000", (large, -1), "large", 1e-3),
        Case("rows far apart", (apart, -1), "large", 1e-3),
        Case("columns far apart", (apart.T.contiguous(), 0), "large", 1e-3),
        Case("all very small", (tensor([[-200.0, -201.0]]), -1), "large", 1e-5),
    ]


SOFTMAX = Catalogue()
TWO_SCORES = (tensor([2.0, 0.0]), -1)


@SOFTMAX.add(
    "The exponentials overflow: e^89 is more than float32 holds, and inf / inf is "
    "nan. Subtract the largest score first; the weights stay the same.",
    (tensor([100.0, 99.0]), -1),
    SOFTMAX_SECTION,
    "classroom: the textbook formula, typed in",
    kind="large",
)
def overflow(x, dim=-1):
    return x.exp() / x.exp().sum(dim=dim, keepdim=True)


@SOFTMAX.add(
    "The argument dim is not used: the softmax always runs along the last axis.",
    (tensor([[2.0, 0.0], [0.0, 0.0]]), 0),
    SOFTMAX_SECTION,
    "classroom: tested with the default only",
)
def dim_ignored(x, dim=-1):
    return x.softmax(dim=-1)


@SOFTMAX.add(
    "The softmax always runs along the first axis.",
    (tensor([[2.0, 0.0]]), -1),
    SOFTMAX_SECTION,
    "https://github.com/PetrochukM/PyTorch-NLP/issues/2",
)
def first_axis(x, dim=-1):
    return x.softmax(dim=0)


@SOFTMAX.add(
    "All entries together sum to 1. Each slice along dim is to sum to 1: divide by "
    "the sum along dim, with keepdim=True.",
    (tensor([[0.0, 0.0], [0.0, 0.0]]), -1),
    SOFTMAX_SECTION,
    "classroom: x.sum() without dim",
)
def whole_tensor(x, dim=-1):
    return x.flatten().softmax(dim=0).reshape(x.shape)


@SOFTMAX.add(
    "One largest entry of the whole tensor is subtracted. A row far below it becomes "
    "0 / 0: take the largest entry along dim.",
    (tensor([[0.0, 0.0], [200.0, 200.0]]), -1),
    SOFTMAX_SECTION,
    "classroom: x.max() without dim",
    kind="large",
)
def one_maximum_for_all(x, dim=-1):
    powers = (x - x.max()).exp()
    return powers / powers.sum(dim=dim, keepdim=True)


@SOFTMAX.add(
    "These are logarithms of the weights: a log-softmax. Weights lie between 0 and 1.",
    TWO_SCORES,
    SOFTMAX_SECTION,
    "classroom: log_softmax stands beside softmax in the documentation",
)
def log_softmax(x, dim=-1):
    return x.log_softmax(dim=dim)


@SOFTMAX.add(
    "The exponentials are not divided by their sum, so the weights do not sum to 1.",
    TWO_SCORES,
    SOFTMAX_SECTION,
    "classroom: the second half of the formula forgotten",
)
def not_normalised(x, dim=-1):
    return (x - x.amax(dim=dim, keepdim=True)).exp()


@SOFTMAX.add(
    "The scores are divided by their sum, without an exponential. Negative scores "
    "give negative weights.",
    TWO_SCORES,
    SOFTMAX_SECTION,
    "classroom: 'normalise' read as 'divide by the sum'",
)
def divided_by_the_sum(x, dim=-1):
    return x / x.sum(dim=dim, keepdim=True)


@SOFTMAX.add(
    "The scores are divided by the largest one. Subtract it: only a difference "
    "cancels out of the softmax.",
    TWO_SCORES,
    SOFTMAX_SECTION,
    "classroom: the safe softmax half remembered",
)
def divided_by_the_maximum(x, dim=-1):
    return (x / x.amax(dim=dim, keepdim=True)).softmax(dim=dim)


@SOFTMAX.add(
    "Large scores are cut off, so two that lie beyond the limit become equal. "
    "Subtract the largest score instead.",
    (tensor([200.0, 100.0]), -1),
    SOFTMAX_SECTION,
    "classroom: a quick repair of the overflow",
    kind="large",
)
def large_scores_cut_off(x, dim=-1):
    powers = x.clamp(-80, 80).exp()
    return powers / powers.sum(dim=dim, keepdim=True)


softmax = Exercise(
    id="softmax",
    parameters=("x", "dim"),
    results=("weights",),
    task=(
        "Turn scores into weights that sum to 1 along dim: x of any shape to the same "
        "shape, finite for entries up to ±10,000."
    ),
    section=SOFTMAX_SECTION,
    difficulty=1,
    minutes=10,
    hints=(
        "e to the score is positive. Divide by the sum of all of them along dim, and "
        "they sum to 1.",
        "e^89 does not fit into float32. Any number subtracted from all scores of a "
        "slice cancels out; which one keeps every exponential at most 1?",
        "top = largest entry along dim, keepdim; powers = exp(x - top); result = "
        "powers / their sum along dim, keepdim.",
    ),
    right_answer=solutions.softmax,
    reference=softmax_reference,
    make_cases=softmax_cases,
    properties=(slices_sum_to_one(), shift_changes_nothing()),
    misconceptions=tuple(SOFTMAX),
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
    low = tuple(part.clone() for part in (large[0][1:], large[1][:2], large[2][:2]))
    return [
        case("a batch", (2,), 3, 5, 9, 4),
        case("another", (3,), 4, 2, 5, 6),
        case("no batch", (), 3, 4, 5, 2),
        case("batch and heads", (2, 3), 4, 5, 6, 2),
        case("three leading dimensions", (2, 1, 3), 2, 4, 3, 5),
        case("one query", (2,), 1, 4, 3, 5),
        case("one key", (2,), 3, 1, 4, 5),
        case("key width one", (2,), 3, 4, 1, 5),
        case("value width one", (2,), 3, 4, 5, 1),
        case("batch of one", (1,), 3, 4, 5, 2),
        case("as many queries as keys", (2,), 4, 4, 3, 5),
        case("equal widths", (2,), 3, 4, 5, 5),
        case("all sizes equal", (3,), 3, 3, 3, 3),
        case("many keys", (), 2, 90, 4, 3),
        case("many queries", (), 70, 2, 4, 3),
        case("wide", (), 2, 3, 100, 3),
        Case("scores of 10,000", large, "large", 1e-3),
        Case("scores of -10,000", low, "large", 1e-3),
    ]


ATTENTION = Catalogue()
# One query, two keys, width 4: the scores are 4 and 0, divided by 2 they are 2 and 0.
SMALL = (
    tensor([[2.0, 0.0, 0.0, 0.0]]),
    tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
    tensor([[1.0], [0.0]]),
)
TWO_QUERIES = (
    tensor([[2.0], [0.0]]),
    tensor([[1.0], [0.0]]),
    tensor([[1.0], [0.0]]),
)


@ATTENTION.add(
    "The scores are not divided by √d_k, so the weights are too sharp, and sharper "
    "the wider the vectors.",
    SMALL,
    SCALE_SECTION,
    VASWANI,
)
def no_scale(q, k, v):
    weights = (q @ k.transpose(-2, -1)).softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.add(
    "The scores are divided by d_k: the root is missing. The weights are too even.",
    SMALL,
    SCALE_SECTION,
    VASWANI,
)
def divide_by_d_k(q, k, v):
    weights = (q @ k.transpose(-2, -1) / q.shape[-1]).softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.add(
    "The scores are divided by the root of the number of keys. It is the width of a "
    "key that makes scores large: √d_k.",
    SMALL,
    SCALE_SECTION,
    "classroom: shape[-2] and shape[-1] exchanged",
)
def divide_by_root_of_key_count(q, k, v):
    weights = (q @ k.transpose(-2, -1) / k.shape[-2] ** 0.5).softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.add(
    "The scores are divided by the root of the number of queries. It is the width of "
    "a key that makes scores large: √d_k.",
    SMALL,
    SCALE_SECTION,
    "classroom: shape[-2] and shape[-1] exchanged",
)
def divide_by_root_of_query_count(q, k, v):
    weights = (q @ k.transpose(-2, -1) / q.shape[-2] ** 0.5).softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.add(
    "The scores are divided by the root of the width of the values. The scores are "
    "made from queries and keys: √d_k.",
    SMALL,
    SCALE_SECTION,
    "classroom: tested with d_k = d_v only",
)
def divide_by_root_of_d_v(q, k, v):
    weights = (q @ k.transpose(-2, -1) / v.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.add(
    "The scores are multiplied by √d_k. They are to be divided by it; d_k**-0.5 is "
    "the factor, not the divisor.",
    SMALL,
    SCALE_SECTION,
    "https://github.com/lucidrains/vit-pytorch/issues/65",
)
def multiply_by_root(q, k, v):
    weights = (q @ k.transpose(-2, -1) * q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.add(
    "The weights are scaled, not the scores: each row sums to 1/√d_k. Divide before "
    "the softmax.",
    SMALL,
    SCALE_SECTION,
    "classroom: the order of the steps",
)
def scale_after_softmax(q, k, v):
    weights = (q @ k.transpose(-2, -1)).softmax(dim=-1) / q.shape[-1] ** 0.5
    return weights @ v, weights


@ATTENTION.add(
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


@ATTENTION.add(
    "Each weight is a sigmoid of its own score, so a row does not sum to 1. The "
    "softmax makes the keys compete.",
    SMALL,
    STEPS_SECTION,
    "classroom: both turn scores into numbers between 0 and 1",
)
def sigmoid_weights(q, k, v):
    weights = torch.sigmoid(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5)
    return weights @ v, weights


@ATTENTION.add(
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


@ATTENTION.add(
    "The keys are mixed. They only decide the weights; the output is a mix of the "
    "values.",
    SMALL,
    STEPS_SECTION,
    "classroom: key and value used as one word",
)
def keys_mixed(q, k, v):
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ k, weights


@ATTENTION.add(
    "The queries are compared with the values. They are compared with the keys.",
    (tensor([[2.0]]), tensor([[1.0], [0.0]]), tensor([[0.0], [2.0]])),
    STEPS_SECTION,
    "classroom: three arguments of the same shape",
)
def key_and_value_exchanged(q, k, v):
    weights = (q @ v.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ k, weights


@ATTENTION.add(
    "The scores are k @ q^T: the keys look at the queries, and the weights lie on "
    "their side. A row belongs to a query: q @ k^T.",
    TWO_QUERIES,
    STEPS_SECTION,
    "classroom: tested with as many queries as keys",
)
def keys_as_queries(q, k, v):
    weights = (k @ q.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.add(
    "The second result holds the scores, before the softmax. The weights are asked "
    "for.",
    SMALL,
    STEPS_SECTION,
    "classroom: score and weight used as one word",
)
def scores_returned(q, k, v):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return scores.softmax(dim=-1) @ v, scores


@ATTENTION.add(
    "The results are exchanged: first the output, then the weights.",
    SMALL,
    STEPS_SECTION,
    "classroom: weights are computed first, so they are returned first",
)
def weights_before_output(q, k, v):
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights, weights @ v


@ATTENTION.add(
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


@ATTENTION.add(
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


scaled_dot_product_attention = Exercise(
    id="scaled_dot_product_attention",
    parameters=("q", "k", "v"),
    results=("output", "weights"),
    task=(
        "Attend: q (..., Tq, d_k), k (..., Tk, d_k), v (..., Tk, d_v) to the tuple "
        "(output (..., Tq, d_v), weights (..., Tq, Tk))."
    ),
    section=STEPS_SECTION,
    difficulty=2,
    minutes=15,
    hints=(
        "Four steps: score, scale, softmax, mix. Say for each what goes in and what "
        "comes out, with shapes, before you write it.",
        "One product gives all the scores: q @ k.transpose(-2, -1), of shape "
        "(..., Tq, Tk). Divide by the root of the width of a key.",
        "A row of scores belongs to one query; the softmax runs along it, dim=-1. "
        "weights @ v mixes the values.",
        "scores = q times k transposed / sqrt(d_k); weights = softmax(scores, last "
        "axis); return weights times v, weights.",
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
    misconceptions=tuple(ATTENTION),
)
