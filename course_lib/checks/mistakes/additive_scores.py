"""Known mistakes in `additive_scores`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import torch

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

BAHDANAU = "https://arxiv.org/abs/1409.0473"
SECTION = N_("chapter 1, Attention in an RNN: a weighted sum")

MISTAKES = Catalogue()
# One query (1, 2), two keys (1, 0) and (0, 1), everything small.
SMALL_ADDITIVE = (
    tensor([[1.0, 2.0]]),
    tensor([[[1.0, 0.0], [0.0, 1.0]]]),
    tensor([[1.0, 0.0], [0.0, 0.5]]),
    tensor([[1.0, -1.0], [0.5, 1.0]]),
    tensor([1.0, 2.0]),
)


@MISTAKES.add(
    "There is no tanh. Without it the query adds the same number to every score of "
    "its row, which the softmax does not see: the query would have no say.",
    SMALL_ADDITIVE,
    SECTION,
    BAHDANAU,
)
def tanh_forgotten(query, keys, W_q, W_k, v):
    return ((query @ W_q.T)[:, None, :] + keys @ W_k.T) @ v


@MISTAKES.add(
    "The projections are swapped: W_q belongs to the query, W_k to the keys. With "
    "equal widths nothing raises an error.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: two matrices of the same shape are easily exchanged",
)
def swapped_projections(query, keys, W_q, W_k, v):
    return torch.tanh((query @ W_k.T)[:, None, :] + keys @ W_q.T) @ v


@MISTAKES.add(
    "The hidden numbers are added up as they are. The score is their dot product "
    "with v, which says how much each of them counts.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: v looks like a detail of the formula",
)
def sum_instead_of_v(query, keys, W_q, W_k, v):
    return torch.tanh((query @ W_q.T)[:, None, :] + keys @ W_k.T).sum(dim=-1)


@MISTAKES.add(
    "The two projections are multiplied. Additive attention adds them before the tanh.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: mixed up with the dot-product score",
)
def multiplied_projections(query, keys, W_q, W_k, v):
    return torch.tanh((query @ W_q.T)[:, None, :] * (keys @ W_k.T)) @ v


@MISTAKES.add(
    "A softmax has been applied. The exercise asks for the scores; the weights come "
    "one step later.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: score and weight used as one word",
)
def weights_instead_of_scores(query, keys, W_q, W_k, v):
    hidden = torch.tanh((query @ W_q.T)[:, None, :] + keys @ W_k.T)
    return (hidden @ v).softmax(dim=-1)


@MISTAKES.add(
    "The tanh comes last, so every score lies between -1 and 1. It belongs around the "
    "sum of the projections, inside the product with v.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: the brackets of the formula misread",
)
def tanh_last(query, keys, W_q, W_k, v):
    return torch.tanh(((query @ W_q.T)[:, None, :] + keys @ W_k.T) @ v)


@MISTAKES.add(
    "The tanh is taken of each projection on its own. It belongs around their sum: "
    "only there do query and key meet.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: the brackets of the formula misread",
)
def tanh_of_each(query, keys, W_q, W_k, v):
    return (torch.tanh(query @ W_q.T)[:, None, :] + torch.tanh(keys @ W_k.T)) @ v


@MISTAKES.add(
    "The scores use a sigmoid. The formula says tanh, whose values may be negative.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: the gates of an LSTM use a sigmoid",
)
def sigmoid_instead_of_tanh(query, keys, W_q, W_k, v):
    return torch.sigmoid((query @ W_q.T)[:, None, :] + keys @ W_k.T) @ v


@MISTAKES.add(
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


@MISTAKES.add(
    "The result lies on its side: one row for each key. It should have one row for "
    "each sentence and one column for each key, (B, T).",
    SMALL_ADDITIVE,
    SECTION,
    "https://arxiv.org/abs/1409.0473 and time-first recurrent code",
)
def time_first(query, keys, W_q, W_k, v):
    hidden = torch.tanh((query @ W_q.T)[:, None, :] + keys @ W_k.T)
    return (hidden @ v).T


@MISTAKES.add(
    "The matrices are not transposed: query @ W_q. Here they are (A, Dq) and (A, Dk), "
    "written for a vector as a column, W_q q; for vectors as rows that is "
    "query @ W_q.T.",
    (
        tensor([[1.0, 2.0]]),
        tensor([[[1.0, 0.0]]]),
        tensor([[1.0, 1.0], [0.0, 1.0]]),
        tensor([[1.0, 0.0], [2.0, 1.0]]),
        tensor([1.0, 0.0]),
    ),
    SECTION,
    "classroom: W q on paper, rows in code",
)
def matrices_not_transposed(query, keys, W_q, W_k, v):
    return torch.tanh((query @ W_q)[:, None, :] + keys @ W_k) @ v


@MISTAKES.add(
    "The scores use a relu. The formula says tanh, whose values may be negative and "
    "never exceed 1.",
    SMALL_ADDITIVE,
    SECTION,
    "classroom: the usual activation of other networks",
)
def relu_instead_of_tanh(query, keys, W_q, W_k, v):
    return torch.relu((query @ W_q.T)[:, None, :] + keys @ W_k.T) @ v
