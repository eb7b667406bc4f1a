"""Exercises of chapter 2: projections, and a look-up made soft."""

import math

import torch
from torch import Tensor

from . import solutions
from .exercise import Catalogue, Draw, Exercise, tensor
from .properties import alone_in_the_batch, keys_in_any_order, token_by_token
from .run import Case

PROJECT_SECTION = "chapter 2, One vector, three roles"
LOOKUP_SECTION = "chapter 2, A look-up made soft"

# project_qkv ------------------------------------------------------------------


def project_reference(
    x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor
) -> tuple[Tensor, ...]:
    """Loop over sentences and tokens, one row times one matrix each."""
    results = []
    for matrix in (W_q, W_k, W_v):
        rows = [torch.stack([token @ matrix for token in sentence]) for sentence in x]
        results.append(torch.stack(rows))
    return tuple(results)


def project_cases(draw: Draw) -> list[Case]:
    """Sizes: batch, length, width, key width, value width."""

    def case(name: str, B: int, T: int, D: int, d_k: int, d_v: int) -> Case:
        return Case(
            name,
            (
                draw.normal(B, T, D),
                draw.normal(D, d_k),
                draw.normal(D, d_k),
                draw.normal(D, d_v),
            ),
        )

    return [
        case("all sizes different", 2, 3, 4, 5, 6),
        case("another", 3, 2, 6, 5, 4),
        case("square matrices", 2, 3, 4, 4, 4),
        case("all sizes equal", 3, 3, 3, 3, 3),
        case("equal key and value width", 2, 3, 4, 5, 5),
        case("batch of one", 1, 3, 4, 2, 5),
        case("one token", 2, 1, 4, 3, 5),
        case("width one", 2, 3, 1, 4, 5),
        case("key width one", 2, 3, 4, 1, 5),
        case("value width one", 2, 3, 4, 5, 1),
        case("long", 2, 80, 3, 4, 2),
    ]


PROJECT = Catalogue()
SMALL_PROJECT = (
    tensor([[[1.0, 2.0]]]),
    tensor([[1.0, 1.0], [0.0, 1.0]]),
    tensor([[1.0, 0.0], [3.0, 1.0]]),
    tensor([[2.0, 1.0], [0.0, 4.0]]),
)


@PROJECT.add(
    "One matrix makes query, key and value, so all three are the same vector. Each "
    "role has its own matrix.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "classroom: copied lines with W_q left in",
)
def one_matrix_for_all(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_q, x @ W_q


@PROJECT.add(
    "Query and key share one matrix. Then a word's score with another equals the "
    "score the other way round.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "classroom: copied lines with W_q left in",
)
def one_matrix_for_query_and_key(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_q, x @ W_v


@PROJECT.add(
    "The matrices are transposed. Here tokens are rows and the matrices are (D, d): "
    "x @ W. The convention x @ W.T belongs to nn.Linear, which stores (d, D).",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "nn.Linear keeps its weight as (out, in)",
    convention=True,
)
def transposed_matrices(x, W_q, W_k, W_v):
    return x @ W_q.T, x @ W_k.T, x @ W_v.T


@PROJECT.add(
    "The order is key, query, value. The exercise asks for query, key, value.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "classroom: the three come in any order in public code",
)
def key_before_query(x, W_q, W_k, W_v):
    return x @ W_k, x @ W_q, x @ W_v


@PROJECT.add(
    "Key and value are exchanged. The exercise asks for query, key, value.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "classroom: the three come in any order in public code",
)
def value_before_key(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_v, x @ W_k


@PROJECT.add(
    "The value is the word itself, not projected. W_v chooses what a word hands over.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "classroom: the look-up example has values that are given",
)
def value_not_projected(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_k, x


@PROJECT.add(
    "The query is divided by the root of its width already. The exercise asks for the "
    "plain projections; the scale comes with the scores.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "public attention code that scales the query early",
)
def query_scaled(x, W_q, W_k, W_v):
    return x @ W_q / math.sqrt(W_q.shape[1]), x @ W_k, x @ W_v


@PROJECT.add(
    "The projections are chained: the key is made from the query. All three start "
    "from x.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "classroom: x overwritten, x = x @ W_q",
)
def chained_projections(x, W_q, W_k, W_v):
    q = x @ W_q
    k = q @ W_k
    return q, k, k @ W_v


@PROJECT.add(
    "A relu follows the projections. They are plain products: a score must be able to "
    "be negative.",
    (
        tensor([[[1.0]]]),
        tensor([[-2.0]]),
        tensor([[1.0]]),
        tensor([[-3.0]]),
    ),
    PROJECT_SECTION,
    "classroom: a layer is thought to need an activation",
)
def activation_added(x, W_q, W_k, W_v):
    return torch.relu(x @ W_q), torch.relu(x @ W_k), torch.relu(x @ W_v)


project_qkv = Exercise(
    id="project_qkv",
    parameters=("x", "W_q", "W_k", "W_v"),
    results=("q", "k", "v"),
    task=(
        "Project every token: x (B, T, D), W_q (D, d_k), W_k (D, d_k), W_v (D, d_v) "
        "to the tuple (q, k, v), each x @ W."
    ),
    section=PROJECT_SECTION,
    difficulty=1,
    minutes=5,
    hints=(
        "Every token plays three roles. For each role there is one matrix that turns "
        "the token into the vector of that role.",
        "x @ W multiplies the last axis of x with the first axis of W. The axes before "
        "it, batch and time, are left alone.",
        "q = x @ W_q; k and v in the same way, each from x with its own matrix. Return "
        "the three in this order.",
    ),
    right_answer=solutions.project_qkv,
    reference=project_reference,
    make_cases=project_cases,
    properties=(alone_in_the_batch(1), token_by_token()),
    misconceptions=tuple(PROJECT),
)

# soft_lookup ------------------------------------------------------------------


def lookup_reference(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Loop over the keys; subtract the largest score before the exponential."""
    scores = [query @ key for key in keys]
    top = max(float(score) for score in scores)
    powers = [torch.exp(score - top) for score in scores]
    total = torch.stack(powers).sum()
    mixed = torch.zeros_like(values[0])
    for power, value in zip(powers, values, strict=True):
        mixed = mixed + power / total * value
    return mixed


def lookup_cases(draw: Draw) -> list[Case]:
    """Sizes: number of keys, width, value width."""

    def case(name: str, n: int, d: int, d_v: int) -> Case:
        return Case(name, (draw.normal(d), draw.normal(n, d), draw.normal(n, d_v)))

    large = (
        tensor([100.0, 1.0]),
        tensor([[100.0, 0.0], [100.0, -1.0], [-100.0, 0.0]]),
        tensor([[1.0, 0.0], [0.0, 1.0], [7.0, 7.0]]),
    )
    low = (tensor([-100.0, 1.0]), large[1][:2].clone(), large[2][:2].clone())
    return [
        case("all sizes different", 4, 3, 5),
        case("another", 3, 5, 2),
        case("equal widths", 4, 3, 3),
        case("all sizes equal", 3, 3, 3),
        case("one key", 1, 3, 4),
        case("width one", 4, 1, 3),
        case("value width one", 4, 3, 1),
        case("many keys", 90, 4, 3),
        case("wide", 3, 66, 2),
        Case("scores of 10,000", large, "large", 1e-3),
        Case("scores of -10,000", low, "large", 1e-3),
    ]


LOOKUP = Catalogue()
# Scores 2 and 0: the weights are 0.88 and 0.12.
SMALL_LOOKUP = (
    tensor([2.0, 0.0]),
    tensor([[1.0, 0.0], [0.0, 1.0]]),
    tensor([[10.0, 0.0], [0.0, 20.0]]),
)


@LOOKUP.add(
    "Only the value of the best key is returned. A soft look-up mixes all values, "
    "the best one most.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: a dictionary gives one answer",
)
def hard_choice(query, keys, values):
    return values[(keys @ query).argmax()]


@LOOKUP.add(
    "The scores are divided by √d. This exercise asks for the unscaled dot products; "
    "the scale comes in chapter 3.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "https://arxiv.org/abs/1706.03762, section 3.2.1",
    convention=True,
)
def scores_scaled(query, keys, values):
    return (keys @ query / math.sqrt(len(query))).softmax(dim=0) @ values


@LOOKUP.add(
    "The query is compared with the values. It is compared with the keys, and the "
    "values are mixed.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: search engines match the text itself",
)
def values_as_keys(query, keys, values):
    return (values @ query).softmax(dim=0) @ values


@LOOKUP.add(
    "The keys are mixed. They only decide the weights; what comes back is a mix of "
    "the values.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: key and value used as one word",
)
def keys_mixed(query, keys, values):
    return (keys @ query).softmax(dim=0) @ keys


@LOOKUP.add(
    "There is no softmax: the scores themselves multiply the values. Weights must be "
    "positive and sum to 1.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: the matrix product looks complete",
)
def no_softmax(query, keys, values):
    return (keys @ query) @ values


@LOOKUP.add(
    "The scores are divided by their sum. With negative scores such weights are "
    "negative or without bound; a softmax exponentiates first.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: 'normalise' read as 'divide by the sum'",
)
def divided_by_the_sum(query, keys, values):
    scores = keys @ query
    return (scores / scores.sum()) @ values


@LOOKUP.add(
    "Query and keys are brought to length 1 first. The plain dot product is asked "
    "for: a longer key matches more strongly.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: vector search uses the cosine",
    convention=True,
)
def cosine_similarity(query, keys, values):
    return torch.cosine_similarity(keys, query[None], dim=-1).softmax(dim=0) @ values


@LOOKUP.add(
    "The scores are distances with a minus. The dot product is asked for.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: nearest means smallest distance",
    convention=True,
)
def negative_distance(query, keys, values):
    return (-(keys - query).norm(dim=-1)).softmax(dim=0) @ values


@LOOKUP.add(
    "The softmax runs over an axis of size 1, so that every weight is 1 and the "
    "values are only added up. It runs over the keys.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "https://github.com/PetrochukM/PyTorch-NLP/issues/2",
)
def softmax_over_one(query, keys, values):
    weights = (keys @ query)[:, None].softmax(dim=-1)
    return (weights * values).sum(dim=0)


@LOOKUP.add(
    "The exponentials overflow: e^89 is more than float32 holds. Subtract the "
    "largest score first, or use softmax, which does.",
    (tensor([10.0]), tensor([[10.0], [9.0]]), tensor([[1.0], [2.0]])),
    LOOKUP_SECTION,
    "classroom: the textbook formula of the softmax",
    kind="large",
)
def overflow(query, keys, values):
    powers = (keys @ query).exp()
    return (powers / powers.sum()) @ values


soft_lookup = Exercise(
    id="soft_lookup",
    parameters=("query", "keys", "values"),
    results=("mixed",),
    task=(
        "Look a query up: query (d,), keys (n, d), values (n, d_v) to (d_v,), the "
        "values weighted by the softmax of the unscaled dot products."
    ),
    section=LOOKUP_SECTION,
    difficulty=1,
    minutes=8,
    hints=(
        "A dictionary compares the query with each key and gives back one value. Here "
        "each key matches more or less, and every value comes back in that measure.",
        "keys @ query gives all n dot products at once. The softmax over them gives n "
        "weights that sum to 1.",
        "scores = keys @ query; weights = softmax of scores over the keys; result = "
        "weights @ values.",
    ),
    right_answer=solutions.soft_lookup,
    reference=lookup_reference,
    make_cases=lookup_cases,
    properties=(keys_in_any_order((1, 2), axis=0),),
    misconceptions=tuple(LOOKUP),
)
