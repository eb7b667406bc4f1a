"""Exercises of chapter 2: projections, and a look-up made soft."""

import torch
from torch import Tensor

from . import solutions
from .cases import Case, Draw, tensor
from .exercise import Exercise
from .language import mark as N_
from .mistakes import project_qkv as project_qkv_mistakes
from .mistakes import soft_lookup as soft_lookup_mistakes
from .properties import alone_in_the_batch, keys_in_any_order, token_by_token

PROJECT_SECTION = N_("chapter 2, One vector, three roles")
LOOKUP_SECTION = N_("chapter 2, A look-up made soft")

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
        case("long", 2, 300, 3, 4, 2),
    ]


project_qkv = Exercise(
    id="project_qkv",
    parameters=("x", "W_q", "W_k", "W_v"),
    results=("q", "k", "v"),
    task=N_(
        "Project every token: x (B, T, D), W_q (D, d_k), W_k (D, d_k), W_v (D, d_v) "
        "to the tuple (q, k, v), each x @ W."
    ),
    section=PROJECT_SECTION,
    difficulty=1,
    minutes=5,
    hints=(
        N_(
            "Every token plays three roles. For each role there is one matrix that "
            "turns the token into the vector of that role."
        ),
        N_(
            "x @ W multiplies the last axis of x with the first axis of W. The axes "
            "before it, batch and time, are left alone."
        ),
        N_(
            "q = x @ W_q; k and v in the same way, each from x with its own matrix. "
            "Return the three in this order."
        ),
    ),
    right_answer=solutions.project_qkv,
    reference=project_reference,
    make_cases=project_cases,
    properties=(alone_in_the_batch(1), token_by_token()),
    misconceptions=project_qkv_mistakes.MISTAKES,
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
        case("many keys", 300, 4, 3),
        case("wide", 3, 300, 2),
        Case("scores of 10,000", large, "large", 1e-3),
        Case("scores of -10,000", low, "large", 1e-3),
    ]


soft_lookup = Exercise(
    id="soft_lookup",
    parameters=("query", "keys", "values"),
    results=("mixed",),
    task=N_(
        "Look a query up: query (d,), keys (n, d), values (n, d_v) to (d_v,), the "
        "values weighted by the softmax of the unscaled dot products."
    ),
    section=LOOKUP_SECTION,
    difficulty=1,
    minutes=8,
    hints=(
        N_(
            "A dictionary compares the query with each key and gives back one value. "
            "Here each key matches more or less, and every value comes back in that "
            "measure."
        ),
        N_(
            "keys @ query gives all n dot products at once. The softmax over them "
            "gives n weights that sum to 1."
        ),
        N_(
            "scores = keys @ query; weights = softmax of scores over the keys; result "
            "= weights @ values."
        ),
    ),
    right_answer=solutions.soft_lookup,
    reference=lookup_reference,
    make_cases=lookup_cases,
    properties=(keys_in_any_order((1, 2), axis=0),),
    misconceptions=soft_lookup_mistakes.MISTAKES,
)
