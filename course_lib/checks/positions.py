"""Exercises of chapter 5: an encoding, adding it, and a shift as a rotation."""

import math

import torch
from torch import Tensor

from . import solutions
from .exercise import Catalogue, Draw, Exercise, tensor
from .properties import (
    alone_in_the_batch,
    bounded_encoding,
    every_sentence_the_same,
    longer_table_begins_alike,
    rotation,
)
from .run import Case

ENCODING_SECTION = "chapter 5, Sine and cosine"
ADD_SECTION = "chapter 5, Adding positions"
SHIFT_SECTION = "chapter 5, A shift is a rotation"
VASWANI = "https://arxiv.org/abs/1706.03762, section 3.5"

# sinusoidal_encoding ------------------------------------------------------------


def encoding_reference(length: int, d_model: int) -> Tensor:
    """One sine or cosine at a time."""
    rows = []
    for position in range(length):
        row = []
        for column in range(d_model):
            angle = position / 10000 ** (2 * (column // 2) / d_model)
            row.append(math.sin(angle) if column % 2 == 0 else math.cos(angle))
        rows.append(row)
    return tensor(rows, torch.float64)


def encoding_cases(draw: Draw) -> list[Case]:
    """Even and odd widths, one, few and many positions."""
    sizes = [(5, 8), (7, 6), (3, 2), (1, 4), (6, 6), (4, 5), (6, 7), (5, 1), (70, 6)]
    cases = [Case(f"{n} positions, width {d}", (n, d)) for n, d in sizes]
    return [*cases, Case("500 positions", (500, 6), "large", 1e-4)]


ENCODING = Catalogue()


def _angles(positions: Tensor, d_model: int) -> Tensor:
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    return positions.double()[:, None] / 10000 ** (even / d_model)


def _woven(angles: Tensor, d_model: int) -> Tensor:
    """Sines and cosines of angles, woven together: from here wrong ones are made."""
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(start_dim=1)[:, :d_model].float()


@ENCODING.add(
    "Positions are counted from 1. Here the first row is position 0, whose sines are "
    "0 and cosines 1.",
    (1, 2),
    ENCODING_SECTION,
    "classroom: counting from 1",
)
def positions_from_one(length, d_model):
    return _woven(_angles(torch.arange(1, length + 1), d_model), d_model)


@ENCODING.add(
    "All sines stand first, all cosines after them. That is a convention of its own, "
    "as good as the other (tensor2tensor has it); here they alternate: columns 2i and "
    "2i + 1 are a pair.",
    (2, 4),
    ENCODING_SECTION,
    "the encoding of tensor2tensor",
    convention=True,
)
def sines_then_cosines(length, d_model):
    angles = _angles(torch.arange(length), d_model)
    return torch.cat([angles.sin(), angles.cos()], dim=1)[:, :d_model].float()


@ENCODING.add(
    "The exponent is i / d_model, with i the number of the pair. It is 2i / d_model, "
    "so that the slowest hand turns about once in 2π · 10000 steps.",
    (2, 4),
    ENCODING_SECTION,
    VASWANI,
)
def exponent_without_the_two(length, d_model):
    pair = torch.arange((d_model + 1) // 2, dtype=torch.float64)
    angles = torch.arange(length).double()[:, None] / 10000 ** (pair / d_model)
    return _woven(angles, d_model)


@ENCODING.add(
    "The exponent is doubled: the index already runs 0, 2, 4, … and is multiplied by "
    "2 once more.",
    (2, 4),
    ENCODING_SECTION,
    "classroom: the 2i of the formula meets arange(0, d, 2)",
)
def exponent_doubled(length, d_model):
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = torch.arange(length).double()[:, None] / 10000 ** (2 * even / d_model)
    return _woven(angles, d_model)


@ENCODING.add(
    "Sine and cosine of a pair turn at different speeds: the cosine in column 2i + 1 "
    "uses the exponent (2i + 1) / d_model. Both use 2i / d_model; only then is a "
    "shift a rotation.",
    (2, 2),
    ENCODING_SECTION,
    VASWANI,
)
def every_column_its_own_speed(length, d_model):
    column = torch.arange(d_model, dtype=torch.float64)
    angles = torch.arange(length).double()[:, None] / 10000 ** (column / d_model)
    return torch.where(column % 2 == 0, angles.sin(), angles.cos()).float()


@ENCODING.add(
    "The angles are taken for degrees. torch.sin takes radians, and the formula is in "
    "radians.",
    (2, 2),
    ENCODING_SECTION,
    "classroom: clock hands suggest degrees",
)
def degrees(length, d_model):
    angles = torch.deg2rad(_angles(torch.arange(length), d_model))
    return _woven(angles, d_model)


@ENCODING.add(
    "Every column is a sine. With the cosine beside it a pair is a hand of a clock; "
    "a sine alone cannot tell two angles apart.",
    (1, 2),
    ENCODING_SECTION,
    "classroom: the second line of the formula forgotten",
)
def sines_only(length, d_model):
    angles = _angles(torch.arange(length), d_model)
    return torch.stack([angles.sin(), angles.sin()], -1).flatten(1)[:, :d_model].float()


@ENCODING.add(
    "Cosines stand in the even columns, sines in the odd ones. Here the sine comes "
    "first. Either order would do, if kept everywhere.",
    (1, 2),
    ENCODING_SECTION,
    "classroom: cosine and sine exchanged",
    convention=True,
)
def cosine_first(length, d_model):
    angles = _angles(torch.arange(length), d_model)
    pairs = torch.stack([angles.cos(), angles.sin()], dim=-1)
    return pairs.flatten(1)[:, :d_model].float()


@ENCODING.add(
    "An odd width does not work: there is one sine more than there are cosines. Drop "
    "the last cosine.",
    (2, 3),
    ENCODING_SECTION,
    "https://github.com/codertimo/BERT-pytorch/issues/78",
)
def odd_width_fails(length, d_model):
    angles = _angles(torch.arange(length), d_model)
    encoding = torch.zeros(length, d_model)
    encoding[:, 0::2] = angles.sin().float()
    encoding[:, 1::2] = angles.cos().float()
    return encoding


@ENCODING.add(
    "The angles are multiplied by 10000**(2i/d_model) instead of divided: the hands "
    "turn faster and faster, and neighbours look unrelated.",
    (2, 4),
    ENCODING_SECTION,
    "classroom: the minus of exp(-…) forgotten",
)
def multiplied_instead_of_divided(length, d_model):
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = torch.arange(length).double()[:, None] * 10000 ** (even / d_model)
    return _woven(angles, d_model)


@ENCODING.add(
    "The base is not 10000.",
    (2, 4),
    ENCODING_SECTION,
    "classroom: 1000 and 10000 look alike",
)
def base_1000(length, d_model):
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = torch.arange(length).double()[:, None] / 1000 ** (even / d_model)
    return _woven(angles, d_model)


sinusoidal_encoding = Exercise(
    id="sinusoidal_encoding",
    parameters=("length", "d_model"),
    results=("encoding",),
    task=(
        "Give every position its vector: length and d_model to (length, d_model). "
        "Columns 2i and 2i + 1 are sin and cos of pos / 10000**(2i/d_model); the "
        "first row is position 0; an odd d_model drops the last cosine."
    ),
    section=ENCODING_SECTION,
    difficulty=2,
    minutes=15,
    hints=(
        "Think of d_model / 2 clocks. Each has one hand, and each turns more slowly "
        "than the one before. A hand is written as two numbers, sine and cosine.",
        "A column of positions divided by a row of 10000**(2i/d_model) gives all the "
        "angles, (length, number of pairs).",
        "Start from zeros (length, d_model). Write the sines into columns 0::2 and the "
        "cosines into columns 1::2.",
        "With an odd width there are fewer odd columns than angles: take only the first "
        "d_model // 2 columns of the cosines.",
    ),
    right_answer=solutions.sinusoidal_encoding,
    reference=encoding_reference,
    make_cases=encoding_cases,
    properties=(bounded_encoding(), longer_table_begins_alike()),
    misconceptions=tuple(ENCODING),
)

# add_positions ----------------------------------------------------------------


def add_reference(x: Tensor, encoding: Tensor) -> Tensor:
    """Token t of every sentence gets row t."""
    rows = []
    for sentence in x:
        rows.append(torch.stack([s + encoding[t] for t, s in enumerate(sentence)]))
    return torch.stack(rows)


def add_cases(draw: Draw) -> list[Case]:
    """Sizes: batch, length, width, rows of the table."""

    def case(name: str, B: int, T: int, D: int, L: int) -> Case:
        return Case(name, (draw.normal(B, T, D), draw.normal(L, D)))

    zeros = (torch.zeros(3, 4, 2), draw.normal(6, 2))
    return [
        case("a longer table", 2, 3, 4, 7),
        case("another", 3, 2, 5, 6),
        case("a table of the same length", 2, 4, 3, 4),
        case("batch as long as the sentence", 4, 4, 3, 6),
        case("all sizes equal", 3, 3, 3, 3),
        case("batch of one", 1, 3, 4, 5),
        case("one token", 2, 1, 4, 5),
        case("one token, one row", 2, 1, 4, 1),
        case("width one", 2, 3, 1, 4),
        case("more sentences than rows", 5, 2, 3, 3),
        case("long", 2, 90, 3, 120),
        Case("zeros", zeros),
    ]


ADD = Catalogue()
SMALL_ADD = (tensor([[[1.0], [2.0]]]), tensor([[10.0], [20.0], [30.0]]))


@ADD.add(
    "All tokens of a sentence get the same position: it is counted along the batch. "
    "Sentence b gets row b; token t should get row t.",
    (tensor([[[0.0], [0.0]]]), tensor([[10.0], [20.0]])),
    ADD_SECTION,
    "https://github.com/pytorch/tutorials/issues/1547",
)
def by_batch_index(x, encoding):
    return x + encoding[: x.shape[0]][:, None]


@ADD.add(
    "The encoding is appended to the tokens, which makes them wider. It is added: the "
    "shape stays (B, T, D).",
    SMALL_ADD,
    ADD_SECTION,
    "classroom: 'add' read as 'put beside'",
)
def concatenated(x, encoding):
    rows = encoding[: x.shape[1]].expand(x.shape[0], -1, -1)
    return torch.cat([x, rows], dim=-1)


@ADD.add(
    "Tokens and encoding are multiplied. They are added.",
    SMALL_ADD,
    ADD_SECTION,
    "classroom: mixed up with rotary positions, which turn the vectors",
)
def multiplied(x, encoding):
    return x * encoding[: x.shape[1]]


@ADD.add(
    "The whole table is added, which works only when it is as long as the sentence. "
    "Take its first T rows. (With one token nothing fails: the result becomes as long "
    "as the table.)",
    (tensor([[[1.0]]]), tensor([[10.0], [20.0]])),
    ADD_SECTION,
    "https://github.com/facebookresearch/esm/issues/49",
)
def whole_table(x, encoding):
    return x + encoding


@ADD.add(
    "The last rows of the table are added. The first token is at position 0, so it "
    "gets the first row.",
    SMALL_ADD,
    ADD_SECTION,
    "classroom: a slice with a minus",
)
def last_rows(x, encoding):
    return x + encoding[-x.shape[1] :]


@ADD.add(
    "The tokens are multiplied by √D first. The transformer paper does that in its "
    "embedding; here only the encoding is added.",
    (tensor([[[1.0, 1.0]]]), tensor([[10.0, 20.0]])),
    ADD_SECTION,
    "https://arxiv.org/abs/1706.03762, section 3.4",
    convention=True,
)
def tokens_scaled(x, encoding):
    return x * math.sqrt(x.shape[-1]) + encoding[: x.shape[1]]


@ADD.add(
    "The first row of the table is added to every token, so no token has a place of "
    "its own.",
    SMALL_ADD,
    ADD_SECTION,
    "https://github.com/lucidrains/phenaki-pytorch/issues/25",
)
def first_row_for_all(x, encoding):
    return x + encoding[0]


@ADD.add(
    "Positions run on from one sentence to the next. Every sentence begins at 0.",
    (tensor([[[0.0]], [[0.0]]]), tensor([[10.0], [20.0]])),
    ADD_SECTION,
    "classroom: the batch flattened before positions are counted",
)
def positions_run_on(x, encoding):
    batch, length, _ = x.shape
    places = torch.arange(batch * length, device=x.device).reshape(batch, length)
    return x + encoding[places % len(encoding)]


@ADD.add(
    "The numbers are right, but x is changed in place (+=). The caller still needs "
    "the old one: x + encoding makes a new tensor.",
    SMALL_ADD,
    ADD_SECTION,
    "classroom: += taken for a shorter way to write the same",
)
def in_place(x, encoding):
    x += encoding[: x.shape[1]]
    return x


add_positions = Exercise(
    id="add_positions",
    parameters=("x", "encoding"),
    results=("placed",),
    task=(
        "Tell tokens their places: x (B, T, D) and a table encoding (L, D), L >= T, to "
        "(B, T, D). Token t of every sentence gets row t."
    ),
    section=ADD_SECTION,
    difficulty=1,
    minutes=5,
    hints=(
        "The table has a row for every position, more than the sentence needs. Which "
        "rows does a sentence of T tokens use?",
        "The first T rows have the shape (T, D). Broadcasting adds them to every "
        "sentence of x (B, T, D): axes are lined up from the right.",
        "T = length of axis 1 of x; result = x + first T rows of the table.",
    ),
    right_answer=solutions.add_positions,
    reference=add_reference,
    make_cases=add_cases,
    properties=(alone_in_the_batch(1), every_sentence_the_same()),
    misconceptions=tuple(ADD),
)

# shift_matrix -----------------------------------------------------------------


def shift_reference(k: int, d_model: int) -> Tensor:
    """One small rotation for each pair of columns."""
    rows = [[0.0] * d_model for _ in range(d_model)]
    for i in range(d_model // 2):
        angle = k / 10000 ** (2 * i / d_model)
        rows[2 * i][2 * i] = math.cos(angle)
        rows[2 * i][2 * i + 1] = math.sin(angle)
        rows[2 * i + 1][2 * i] = -math.sin(angle)
        rows[2 * i + 1][2 * i + 1] = math.cos(angle)
    return tensor(rows, torch.float64)


def shift_cases(draw: Draw) -> list[Case]:
    """Steps and even widths; no step at all."""
    sizes = [(3, 4), (2, 6), (1, 2), (0, 4), (5, 8), (7, 2), (4, 4), (100, 6), (9, 16)]
    return [Case(f"{k} steps, width {d}", (k, d)) for k, d in sizes]


SHIFT = Catalogue()


def _blocks(angles: list[float], signs: tuple[int, int] = (1, -1)) -> Tensor:
    """A matrix of 2 x 2 blocks, one for each angle."""
    matrix = torch.zeros(2 * len(angles), 2 * len(angles))
    for i, angle in enumerate(angles):
        a = 2 * i
        matrix[a, a] = matrix[a + 1, a + 1] = math.cos(angle)
        matrix[a, a + 1] = signs[0] * math.sin(angle)
        matrix[a + 1, a] = signs[1] * math.sin(angle)
    return matrix


def _turns(k: int, d_model: int) -> list[float]:
    return [k / 10000 ** (2 * i / d_model) for i in range(d_model // 2)]


@SHIFT.add(
    "The rotation turns backwards: this is the transposed matrix, which leads from "
    "pos + k to pos. The encoding has the sine first, so sin stands above the "
    "diagonal with a plus.",
    (1, 2),
    SHIFT_SECTION,
    "classroom: the rotation matrix of school has cosine first",
)
def turned_backwards(k, d_model):
    return _blocks(_turns(k, d_model), (-1, 1))


@SHIFT.add(
    "The matrix belongs to an encoding with all sines first, then all cosines. That "
    "is a convention of its own; here columns 2i and 2i + 1 are a pair, so the blocks "
    "are 2 x 2 along the diagonal.",
    (1, 4),
    SHIFT_SECTION,
    "the encoding of tensor2tensor",
    convention=True,
)
def halves_instead_of_pairs(k, d_model):
    angles = torch.tensor(_turns(k, d_model))
    cos, sin = torch.diag(angles.cos()), torch.diag(angles.sin())
    return torch.cat([torch.cat([cos, sin], 1), torch.cat([-sin, cos], 1)], 0)


@SHIFT.add(
    "Pair i turns by k · i. Its speed is 1 / 10000**(2i/d_model), so it turns by k "
    "times that.",
    (1, 4),
    SHIFT_SECTION,
    "classroom: the number of the pair taken for its speed",
)
def angle_is_k_times_i(k, d_model):
    return _blocks([float(k * i) for i in range(d_model // 2)])


@SHIFT.add(
    "All pairs turn by the same angle k. Each has its own speed, "
    "1 / 10000**(2i/d_model).",
    (1, 4),
    SHIFT_SECTION,
    "classroom: one clock instead of many",
)
def one_speed_for_all(k, d_model):
    return _blocks([float(k)] * (d_model // 2))


@SHIFT.add(
    "The exponent is i / d_model, with i the number of the pair. It is 2i / d_model, "
    "as in the encoding.",
    (1, 4),
    SHIFT_SECTION,
    VASWANI,
)
def exponent_without_the_two(k, d_model):
    return _blocks([k / 10000 ** (i / d_model) for i in range(d_model // 2)])


@SHIFT.add(
    "Both sines have a plus. One of them has a minus, or lengths would not be kept.",
    (1, 2),
    SHIFT_SECTION,
    "classroom: the sign in the addition theorem of the cosine",
)
def minus_forgotten(k, d_model):
    return _blocks(_turns(k, d_model), (1, 1))


@SHIFT.add(
    "The matrix moves the columns of the vector. A shift of the position turns each "
    "pair instead.",
    (1, 2),
    SHIFT_SECTION,
    "classroom: 'shift' read as 'move along'",
)
def columns_moved(k, d_model):
    return torch.roll(torch.eye(d_model), k, dims=1)


@SHIFT.add(
    "The matrix shifts by one step, whatever k is.",
    (2, 2),
    SHIFT_SECTION,
    "classroom: tested with k = 1",
)
def one_step_only(k, d_model):
    return _blocks(_turns(1, d_model))


@SHIFT.add(
    "The angles are taken for degrees. math.cos and torch.cos take radians.",
    (1, 2),
    SHIFT_SECTION,
    "classroom: clock hands suggest degrees",
)
def degrees(k, d_model):
    return _blocks([math.radians(angle) for angle in _turns(k, d_model)])


shift_matrix = Exercise(
    id="shift_matrix",
    parameters=("k", "d_model"),
    results=("matrix",),
    task=(
        "Find the matrix M (d_model, d_model), d_model even, with "
        "encoding[pos + k] == M @ encoding[pos] for every pos."
    ),
    section=SHIFT_SECTION,
    difficulty=3,
    minutes=20,
    hints=(
        "One pair of columns is one hand of a clock. Walking k steps turns the hand by "
        "a fixed angle, wherever it stands.",
        "sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b - "
        "sin a sin b. Here a is the old angle and b the turn: write both lines as a "
        "2 x 2 matrix times (sin a, cos a).",
        "The block of a pair is [[cos b, sin b], [-sin b, cos b]], with "
        "b = k / 10000**(2i/d_model).",
        "Start from zeros; for every pair i put its block at rows and columns 2i and "
        "2i + 1.",
    ),
    right_answer=solutions.shift_matrix,
    reference=shift_reference,
    make_cases=shift_cases,
    properties=(rotation(),),
    misconceptions=tuple(SHIFT),
)
