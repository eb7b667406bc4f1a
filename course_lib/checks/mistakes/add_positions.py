"""Known mistakes in `add_positions`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import torch

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

ADD_SECTION = N_("chapter 5, Adding positions")

MISTAKES = Catalogue()
SMALL_ADD = (tensor([[[1.0], [2.0]]]), tensor([[10.0], [20.0], [30.0]]))


@MISTAKES.add(
    "All tokens of a sentence get the same position: it is counted along the batch. "
    "Sentence b gets row b; token t should get row t.",
    (tensor([[[0.0], [0.0]]]), tensor([[10.0], [20.0]])),
    ADD_SECTION,
    "https://github.com/pytorch/tutorials/issues/1547",
)
def by_batch_index(x, encoding):
    return x + encoding[: x.shape[0]][:, None]


@MISTAKES.add(
    "The encoding is appended to the tokens, which makes them wider. It is added: the "
    "shape stays (B, T, D).",
    SMALL_ADD,
    ADD_SECTION,
    "classroom: 'add' read as 'put beside'",
)
def concatenated(x, encoding):
    rows = encoding[: x.shape[1]].expand(x.shape[0], -1, -1)
    return torch.cat([x, rows], dim=-1)


@MISTAKES.add(
    "Tokens and encoding are multiplied. They are added.",
    SMALL_ADD,
    ADD_SECTION,
    "classroom: mixed up with rotary positions, which turn the vectors",
)
def multiplied(x, encoding):
    return x * encoding[: x.shape[1]]


@MISTAKES.add(
    "The whole table is added, which works only when it is as long as the sentence. "
    "Take its first T rows. With one token nothing fails: the result becomes as long "
    "as the table.",
    (tensor([[[1.0]]]), tensor([[10.0], [20.0]])),
    ADD_SECTION,
    "https://github.com/facebookresearch/esm/issues/49",
)
def whole_table(x, encoding):
    return x + encoding


@MISTAKES.add(
    "The last rows of the table are added. The first token is at position 0, so it "
    "gets the first row.",
    SMALL_ADD,
    ADD_SECTION,
    "classroom: a slice with a minus",
)
def last_rows(x, encoding):
    return x + encoding[-x.shape[1] :]


@MISTAKES.add(
    "The tokens are multiplied by √D first. The transformer paper does that in its "
    "embedding; here only the encoding is added.",
    (tensor([[[1.0, 1.0]]]), tensor([[10.0, 20.0]])),
    ADD_SECTION,
    "https://arxiv.org/abs/1706.03762, section 3.4",
    convention=True,
)
def tokens_scaled(x, encoding):
    return x * math.sqrt(x.shape[-1]) + encoding[: x.shape[1]]


@MISTAKES.add(
    "The first row of the table is added to every token, so no token has a place of "
    "its own.",
    SMALL_ADD,
    ADD_SECTION,
    "https://github.com/lucidrains/phenaki-pytorch/issues/25",
)
def first_row_for_all(x, encoding):
    return x + encoding[0]


@MISTAKES.add(
    "Positions run on from one sentence to the next. Every sentence begins at 0.",
    (tensor([[[0.0]], [[0.0]]]), tensor([[10.0], [20.0]])),
    ADD_SECTION,
    "classroom: the batch flattened before positions are counted",
)
def positions_run_on(x, encoding):
    batch, length, _ = x.shape
    places = torch.arange(batch * length, device=x.device).reshape(batch, length)
    return x + encoding[places % len(encoding)]


@MISTAKES.add(
    "The numbers are right, but x is changed in place (+=). The caller still needs "
    "the old one: x + encoding makes a new tensor.",
    SMALL_ADD,
    ADD_SECTION,
    "classroom: += taken for a shorter way to write the same",
)
def in_place(x, encoding):
    x += encoding[: x.shape[1]]
    return x


@MISTAKES.add(
    "Positions are counted from 1: token 0 gets row 1. It gets row 0, and a table as "
    "long as the sentence is long enough.",
    SMALL_ADD,
    ADD_SECTION,
    "classroom: counting from 1",
)
def positions_from_one(x, encoding):
    return x + encoding[1 : x.shape[1] + 1]
