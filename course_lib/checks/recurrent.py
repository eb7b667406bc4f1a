"""Exercises of chapter 1: additive scores and the context vector."""

import torch
from torch import Tensor

from . import solutions
from .exercise import Catalogue, Draw, Exercise, tensor
from .properties import alone_in_the_batch, linear_in_values, one_key_one_score
from .run import Case

SECTION = "chapter 1, Attention in an RNN"
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
        case("long", 2, 70, 3, 4, 5),
    ]


ADDITIVE = Catalogue()
# One query (1, 2), two keys (1, 0) and (0, 1), everything small.
SMALL_ADDITIVE = (
    tensor([[1.0, 2.0]]),
    tensor([[[1.0, 0.0], [0.0, 1.0]]]),
    tensor([[1.0, 0.0], [0.0, 0.5]]),
    tensor([[1.0, -1.0], [0.5, 1.0]]),
    tensor([1.0, 2.0]),
)


@ADDITIVE.add(
    "There is no tanh. Without it the query adds the same number to every score of "
    "its row, which the softmax does not see: the query would have no say.",
    SMALL_ADDITIVE,
    SECTION,
    BAHDANAU,
)
def tanh_forgotten(query, keys, W_q, W_k, v):
    return ((query @ W_q.T)[:, None, :] + keys @ W_k.T) @ v


@ADDITIVE.add(
    "The projections are swapped: W_q belongs to the query, W_k to the keys. With "
    "equal widths nothing raises an error.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: two matrices of the same shape are easily exchanged",
)
def swapped_projections(query, keys, W_q, W_k, v):
    return torch.tanh((query @ W_k.T)[:, None, :] + keys @ W_q.T) @ v


@ADDITIVE.add(
    "The hidden numbers are added up as they are. The score is their dot product "
    "with v, which says how much each of them counts.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: v looks like a detail of the formula",
)
def sum_instead_of_v(query, keys, W_q, W_k, v):
    return torch.tanh((query @ W_q.T)[:, None, :] + keys @ W_k.T).sum(dim=-1)


@ADDITIVE.add(
    "The two projections are multiplied. Additive attention adds them before the tanh.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: mixed up with the dot-product score",
)
def multiplied_projections(query, keys, W_q, W_k, v):
    return torch.tanh((query @ W_q.T)[:, None, :] * (keys @ W_k.T)) @ v


@ADDITIVE.add(
    "A softmax has been applied. The exercise asks for the scores; the weights come "
    "one step later.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: score and weight used as one word",
)
def weights_instead_of_scores(query, keys, W_q, W_k, v):
    hidden = torch.tanh((query @ W_q.T)[:, None, :] + keys @ W_k.T)
    return (hidden @ v).softmax(dim=-1)


@ADDITIVE.add(
    "The tanh comes last, so every score lies between -1 and 1. It belongs around the "
    "sum of the projections, inside the product with v.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: the brackets of the formula misread",
)
def tanh_last(query, keys, W_q, W_k, v):
    return torch.tanh(((query @ W_q.T)[:, None, :] + keys @ W_k.T) @ v)


@ADDITIVE.add(
    "The tanh is taken of each projection on its own. It belongs around their sum: "
    "only there do query and key meet.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: the brackets of the formula misread",
)
def tanh_of_each(query, keys, W_q, W_k, v):
    return (torch.tanh(query @ W_q.T)[:, None, :] + torch.tanh(keys @ W_k.T)) @ v


@ADDITIVE.add(
    "The scores use a sigmoid. The formula says tanh, whose values may be negative.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: the gates of an LSTM use a sigmoid",
)
def sigmoid_instead_of_tanh(query, keys, W_q, W_k, v):
    return torch.sigmoid((query @ W_q.T)[:, None, :] + keys @ W_k.T) @ v


@ADDITIVE.add(
    "Every sentence is scored with the query of the first one. Sentence b needs "
    "query b.",
    (
        tensor([[1.0], [-1.0]]),
        tensor([[[0.0]], [[0.0]]]),
        tensor([[1.0]]),
        tensor([[1.0]]),
        tensor([1.0]),
    ),
    SECTION,
    "classroom: tried with a batch of one, where it is right",
)
def query_of_the_first_sentence(query, keys, W_q, W_k, v):
    return torch.tanh((query[:1] @ W_q.T)[:, None, :] + keys @ W_k.T) @ v


@ADDITIVE.add(
    "The result lies on its side: one row for each key. It should have one row for "
    "each sentence and one column for each key, (B, T).",
    SMALL_ADDITIVE,
    SECTION,
    "https://arxiv.org/abs/1409.0473 and time-first recurrent code",
)
def time_first(query, keys, W_q, W_k, v):
    hidden = torch.tanh((query @ W_q.T)[:, None, :] + keys @ W_k.T)
    return (hidden @ v).T


additive_scores = Exercise(
    id="additive_scores",
    parameters=("query", "keys", "W_q", "W_k", "v"),
    results=("scores",),
    task=(
        "Score each key of a sentence for its query: query (B, Dq), keys (B, T, Dk), "
        "W_q (A, Dq), W_k (A, Dk), v (A,) to scores (B, T), "
        "v · tanh(W_q query + W_k key)."
    ),
    section=SECTION,
    difficulty=2,
    minutes=10,
    hints=(
        "A small network looks at one query and one key together, and gives one "
        "number. First bring both to the same width A, then they can be added.",
        "With one vector a row, W_q applied to every row is query @ W_q.T, of shape "
        "(B, A). The keys become (B, T, A). To add the two, the query needs an axis "
        "for the time: (B, 1, A).",
        "hidden = tanh(projected query with a time axis + projected keys), (B, T, A); "
        "scores = hidden @ v, which takes the last axis away.",
    ),
    right_answer=solutions.additive_scores,
    reference=additive_reference,
    make_cases=additive_cases,
    properties=(alone_in_the_batch(2), one_key_one_score()),
    misconceptions=tuple(ADDITIVE),
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

    zero = Case("no weight at all", (torch.zeros(2, 3), draw.normal(2, 3, 4)))
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
        case("long", 2, 90, 3),
        zero,
    ]


CONTEXT = Catalogue()
SMALL_CONTEXT = (tensor([[0.75, 0.25]]), tensor([[[4.0], [8.0]]]))
NOT_ONE = (tensor([[0.5, 0.25]]), tensor([[[4.0], [8.0]]]))


@CONTEXT.add(
    "All values count the same: the weights are not used.",
    SMALL_CONTEXT,
    SECTION,
    "classroom: the context vector taken for an average of the states",
)
def unweighted_mean(weights, values):
    return values.mean(dim=1)


@CONTEXT.add(
    "A softmax is applied to weights that are weights already. It makes them more "
    "even.",
    SMALL_CONTEXT,
    SECTION,
    "https://github.com/zyy-2001/DisKT/issues/6",
)
def softmax_again(weights, values):
    return (weights.softmax(dim=-1)[:, :, None] * values).sum(dim=1)


@CONTEXT.add(
    "The weights are divided by their sum. They are to be used as they are: a row "
    "that sees little, or nothing, keeps its small sum.",
    NOT_ONE,
    SECTION,
    "classroom: an average is the usual weighted sum",
)
def weights_renormalised(weights, values):
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return (weights[:, :, None] * values).sum(dim=1)


@CONTEXT.add(
    "The sum is divided by the length once more: a mean over the time instead of a "
    "sum. The weights say already how much each value counts.",
    SMALL_CONTEXT,
    SECTION,
    "classroom: mean and sum exchanged",
)
def mean_of_the_products(weights, values):
    return (weights[:, :, None] * values).mean(dim=1)


@CONTEXT.add(
    "The sum runs over the width of the values, so that one number a token is left. "
    "It should run over the time: one vector a sentence, (B, Dv).",
    (tensor([[0.75, 0.25]]), tensor([[[4.0, 0.0], [8.0, 4.0]]])),
    SECTION,
    "classroom: dim=-1 by habit",
)
def sum_over_the_width(weights, values):
    return (weights[:, :, None] * values).sum(dim=-1)


@CONTEXT.add(
    "The sum runs over the batch: sentences are mixed. It should run over the time.",
    (tensor([[0.75, 0.25], [0.5, 0.5]]), tensor([[[4.0], [8.0]], [[0.0], [2.0]]])),
    SECTION,
    "time-first recurrent code, where axis 0 is the time",
)
def sum_over_the_batch(weights, values):
    return (weights[:, :, None] * values).sum(dim=0)


@CONTEXT.add(
    "Only the value with the largest weight is taken. That is a hard choice; it has "
    "no gradient in the weights.",
    SMALL_CONTEXT,
    SECTION,
    "classroom: attention said to 'pick' a word",
)
def largest_weight_only(weights, values):
    return values[torch.arange(len(values)), weights.argmax(dim=-1)]


@CONTEXT.add(
    "weights @ values multiplies the weights of every sentence with the values of "
    "every sentence, (B, B, Dv). The weights need an axis: weights[:, None, :].",
    (tensor([[1.0], [2.0]]), tensor([[[3.0]], [[4.0]]])),
    SECTION,
    "classroom: right for two dimensions, wrong for a batch",
)
def every_sentence_with_every_other(weights, values):
    return weights @ values


@CONTEXT.add(
    "Every sentence is mixed with the weights of the first one. Sentence b has its "
    "own row of weights.",
    (tensor([[1.0], [2.0]]), tensor([[[3.0]], [[4.0]]])),
    SECTION,
    "classroom: tried with a batch of one, where it is right",
)
def weights_of_the_first_sentence(weights, values):
    return (weights[:1, :, None] * values).sum(dim=1)


context_vector = Exercise(
    id="context_vector",
    parameters=("weights", "values"),
    results=("context",),
    task=(
        "Mix the values of each sentence by its weights: weights (B, T) and values "
        "(B, T, Dv) to (B, Dv). The weights are used as they are."
    ),
    section=SECTION,
    difficulty=1,
    minutes=5,
    hints=(
        "Each value is a vector. Multiply it by one number, its weight, and add all "
        "of them up: one vector is left for each sentence.",
        "The weights need an axis of size 1 at the end, (B, T, 1), so that one weight "
        "meets all the numbers of one value.",
        "context = sum over the time axis of weights with that axis * values.",
    ),
    right_answer=solutions.context_vector,
    reference=context_reference,
    make_cases=context_cases,
    properties=(alone_in_the_batch(2), linear_in_values()),
    misconceptions=tuple(CONTEXT),
)
