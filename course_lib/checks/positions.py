"""Exercises of chapter 5: an encoding, adding it, and a shift as a rotation."""

import math

import torch
from torch import Tensor

from . import solutions
from .cases import Case, Draw, tensor
from .exercise import Exercise
from .language import mark as N_
from .mistakes import add_positions as add_positions_mistakes
from .mistakes import shift_matrix as shift_matrix_mistakes
from .mistakes import sinusoidal_encoding as sinusoidal_encoding_mistakes
from .properties import (
    alone_in_the_batch,
    bounded_encoding,
    every_sentence_the_same,
    longer_table_begins_alike,
    rotation,
)

ENCODING_SECTION = N_("chapter 5, Sine and cosine")
ADD_SECTION = N_("chapter 5, Adding positions")
SHIFT_SECTION = N_("chapter 5, A shift is a rotation")
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
    sizes += [(40, 128), (300, 4), (500, 6)]
    return [
        Case(f"{n} positions, width {d}", (n, d), "numbers", 1e-4) for n, d in sizes
    ]


sinusoidal_encoding = Exercise(
    id="sinusoidal_encoding",
    parameters=("length", "d_model"),
    results=("encoding",),
    task=N_(
        "Give every position its vector: length and d_model to (length, d_model). "
        "Columns 2i and 2i + 1 are sin and cos of pos / 10000**(2i/d_model); the "
        "first row is position 0; an odd d_model drops the last cosine."
    ),
    section=ENCODING_SECTION,
    difficulty=2,
    minutes=15,
    hints=(
        N_(
            "Think of d_model / 2 clocks. Each has one hand, and each turns more "
            "slowly than the one before. A hand is written as two numbers, sine and "
            "cosine."
        ),
        N_(
            "A column of positions divided by a row of 10000**(2i/d_model) gives all "
            "the angles, (length, number of pairs)."
        ),
        N_(
            "Start from zeros (length, d_model). Write the sines into columns 0::2 and "
            "the cosines into columns 1::2."
        ),
        N_(
            "With an odd width there is one odd column less than angles: take the "
            "first d_model // 2 columns of the cosines."
        ),
    ),
    right_answer=solutions.sinusoidal_encoding,
    reference=encoding_reference,
    make_cases=encoding_cases,
    properties=(bounded_encoding(), longer_table_begins_alike()),
    misconceptions=sinusoidal_encoding_mistakes.MISTAKES,
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
        case("long", 2, 300, 3, 520),
        Case("zeros", zeros),
    ]


add_positions = Exercise(
    id="add_positions",
    parameters=("x", "encoding"),
    results=("placed",),
    task=N_(
        "Tell tokens their places: x (B, T, D) and a table encoding (L, D), L >= T, to "
        "(B, T, D). Token t of every sentence gets row t."
    ),
    section=ADD_SECTION,
    difficulty=1,
    minutes=5,
    hints=(
        N_(
            "The table has a row for every position, more than the sentence needs. "
            "Which rows does a sentence of T tokens use?"
        ),
        N_(
            "The first T rows have the shape (T, D). Broadcasting adds them to every "
            "sentence of x (B, T, D): axes are lined up from the right."
        ),
        N_("T = length of axis 1 of x; result = x + first T rows of the table."),
    ),
    right_answer=solutions.add_positions,
    reference=add_reference,
    make_cases=add_cases,
    properties=(alone_in_the_batch(1), every_sentence_the_same()),
    misconceptions=add_positions_mistakes.MISTAKES,
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
    sizes = [(3, 4), (2, 6), (1, 2), (0, 4), (5, 8), (7, 2), (4, 4), (100, 6), (9, 64)]
    return [Case(f"{k} steps, width {d}", (k, d), "numbers", 1e-4) for k, d in sizes]


shift_matrix = Exercise(
    id="shift_matrix",
    parameters=("k", "d_model"),
    results=("matrix",),
    task=N_(
        "Find the matrix M (d_model, d_model), d_model even, with "
        "encoding[pos + k] == M @ encoding[pos] for every pos."
    ),
    section=SHIFT_SECTION,
    difficulty=3,
    minutes=20,
    hints=(
        N_(
            "One pair of columns is one hand of a clock. Walking k steps turns the "
            "hand by a fixed angle, wherever it stands."
        ),
        N_(
            "sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b - "
            "sin a sin b. Here a is the old angle and b the turn: write both lines as "
            "a 2 x 2 matrix times (sin a, cos a)."
        ),
        N_(
            "The block of a pair is [[cos b, sin b], [-sin b, cos b]], with "
            "b = k / 10000**(2i/d_model)."
        ),
        N_(
            "Start from zeros; for every pair i put its block at rows and columns 2i "
            "and 2i + 1."
        ),
    ),
    right_answer=solutions.shift_matrix,
    reference=shift_reference,
    make_cases=shift_cases,
    properties=(rotation(),),
    misconceptions=shift_matrix_mistakes.MISTAKES,
)
