"""Known mistakes in `context_vector`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import torch

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

SECTION = N_("chapter 1, Attention in an RNN: a weighted sum")

MISTAKES = Catalogue()
SMALL_CONTEXT = (tensor([[0.75, 0.25]]), tensor([[[4.0], [8.0]]]))
NOT_ONE = (tensor([[0.5, 0.25]]), tensor([[[4.0], [8.0]]]))


@MISTAKES.add(
    "All values count the same: the weights are not used.",
    SMALL_CONTEXT,
    SECTION,
    "classroom: the context vector taken for an average of the states",
)
def unweighted_mean(weights, values):
    return values.mean(dim=1)


@MISTAKES.add(
    "A softmax is applied to weights that are weights already. It makes them more "
    "even.",
    SMALL_CONTEXT,
    SECTION,
    "https://github.com/zyy-2001/DisKT/issues/6",
)
def softmax_again(weights, values):
    return (weights.softmax(dim=-1)[:, :, None] * values).sum(dim=1)


@MISTAKES.add(
    "The weights are divided by their sum. They are to be used as they are: a row "
    "that sees little, or nothing, keeps its small sum.",
    NOT_ONE,
    SECTION,
    "classroom: an average is the usual weighted sum",
)
def weights_renormalised(weights, values):
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return (weights[:, :, None] * values).sum(dim=1)


@MISTAKES.add(
    "The sum is divided by the length once more: a mean over the time instead of a "
    "sum. The weights say already how much each value counts.",
    SMALL_CONTEXT,
    SECTION,
    "classroom: mean and sum exchanged",
)
def mean_of_the_products(weights, values):
    return (weights[:, :, None] * values).mean(dim=1)


@MISTAKES.add(
    "The sum runs over the width of the values, so that one number a token is left. "
    "It should run over the time: one vector a sentence, (B, Dv).",
    (tensor([[0.75, 0.25]]), tensor([[[4.0, 0.0], [8.0, 4.0]]])),
    SECTION,
    "classroom: dim=-1 by habit",
)
def sum_over_the_width(weights, values):
    return (weights[:, :, None] * values).sum(dim=-1)


@MISTAKES.add(
    "The sum runs over the batch: sentences are mixed. It should run over the time.",
    (tensor([[0.75, 0.25], [0.5, 0.5]]), tensor([[[4.0], [8.0]], [[0.0], [2.0]]])),
    SECTION,
    "time-first recurrent code, where axis 0 is the time",
)
def sum_over_the_batch(weights, values):
    return (weights[:, :, None] * values).sum(dim=0)


@MISTAKES.add(
    "Only the value with the largest weight is taken. That is a hard choice; it has "
    "no gradient in the weights.",
    SMALL_CONTEXT,
    SECTION,
    "classroom: attention said to 'pick' a word",
)
def largest_weight_only(weights, values):
    return values[torch.arange(len(values)), weights.argmax(dim=-1)]


@MISTAKES.add(
    "weights @ values multiplies the weights of every sentence with the values of "
    "every sentence, (B, B, Dv). The weights need an axis: weights[:, None, :].",
    (tensor([[1.0], [2.0]]), tensor([[[3.0]], [[4.0]]])),
    SECTION,
    "classroom: right for two dimensions, wrong for a batch",
)
def every_sentence_with_every_other(weights, values):
    return weights @ values


@MISTAKES.add(
    "Every sentence is mixed with the weights of the first one. Sentence b has its "
    "own row of weights.",
    (tensor([[1.0], [2.0]]), tensor([[[3.0]], [[4.0]]])),
    SECTION,
    "classroom: tried with a batch of one, where it is right",
)
def weights_of_the_first_sentence(weights, values):
    return (weights[:1, :, None] * values).sum(dim=1)


@MISTAKES.add(
    "The axis of the time is still there, with size 1: (B, 1, Dv). Sum it away: "
    "sum(dim=1), or squeeze(1) after a matrix product.",
    SMALL_CONTEXT,
    SECTION,
    "classroom: bmm keeps three axes",
)
def time_axis_kept(weights, values):
    return weights[:, None, :] @ values
