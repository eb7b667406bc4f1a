"""Known mistakes in `soft_lookup`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import torch

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

LOOKUP_SECTION = N_("chapter 2, A look-up made soft")

MISTAKES = Catalogue()
# Scores 2 and 0: the weights are 0.88 and 0.12.
SMALL_LOOKUP = (
    tensor([2.0, 0.0]),
    tensor([[1.0, 0.0], [0.0, 1.0]]),
    tensor([[10.0, 0.0], [0.0, 20.0]]),
)


@MISTAKES.add(
    "Only the value of the best key is returned. A soft look-up mixes all values, "
    "the best one most.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: a dictionary gives one answer",
)
def hard_choice(query, keys, values):
    return values[(keys @ query).argmax()]


@MISTAKES.add(
    "The scores are divided by √d. This exercise asks for the unscaled dot products; "
    "the scale comes in chapter 3.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "https://arxiv.org/abs/1706.03762, section 3.2.1",
    convention=True,
)
def scores_scaled(query, keys, values):
    return (keys @ query / math.sqrt(len(query))).softmax(dim=0) @ values


@MISTAKES.add(
    "The query is compared with the values. It is compared with the keys, and the "
    "values are mixed.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: search engines match the text itself",
)
def values_as_keys(query, keys, values):
    return (values @ query).softmax(dim=0) @ values


@MISTAKES.add(
    "The keys are mixed. They only decide the weights; what comes back is a mix of "
    "the values.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: key and value used as one word",
)
def keys_mixed(query, keys, values):
    return (keys @ query).softmax(dim=0) @ keys


@MISTAKES.add(
    "There is no softmax: the scores themselves multiply the values. Weights must be "
    "positive and sum to 1.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: the matrix product looks complete",
)
def no_softmax(query, keys, values):
    return (keys @ query) @ values


@MISTAKES.add(
    "The scores are divided by their sum. With negative scores such weights are "
    "negative or without bound; a softmax exponentiates first.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: 'normalise' read as 'divide by the sum'",
)
def divided_by_the_sum(query, keys, values):
    scores = keys @ query
    return (scores / scores.sum()) @ values


@MISTAKES.add(
    "Query and keys are brought to length 1 first. The plain dot product is asked "
    "for: a longer key matches more strongly.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: vector search uses the cosine",
    convention=True,
)
def cosine_similarity(query, keys, values):
    return torch.cosine_similarity(keys, query[None], dim=-1).softmax(dim=0) @ values


@MISTAKES.add(
    "The scores are distances with a minus. The dot product is asked for.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "classroom: nearest means smallest distance",
    convention=True,
)
def negative_distance(query, keys, values):
    return (-(keys - query).norm(dim=-1)).softmax(dim=0) @ values


@MISTAKES.add(
    "The softmax runs over an axis of size 1, so that every weight is 1 and the "
    "values are only added up. It runs over the keys.",
    SMALL_LOOKUP,
    LOOKUP_SECTION,
    "https://github.com/PetrochukM/PyTorch-NLP/issues/2",
)
def softmax_over_one(query, keys, values):
    weights = (keys @ query)[:, None].softmax(dim=-1)
    return (weights * values).sum(dim=0)


@MISTAKES.add(
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
