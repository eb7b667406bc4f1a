"""Known mistakes in `shift_matrix`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import torch
from torch import Tensor

from ..catalogue import Catalogue
from ..language import mark as N_

SHIFT_SECTION = N_("chapter 5, A shift is a rotation")
VASWANI = "https://arxiv.org/abs/1706.03762, section 3.5"

MISTAKES = Catalogue()


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


@MISTAKES.add(
    "The rotation turns backwards: this is the transposed matrix, which leads from "
    "pos + k to pos. The encoding has the sine first, so sin stands above the "
    "diagonal with a plus.",
    (1, 2),
    SHIFT_SECTION,
    "classroom: the rotation matrix of school has cosine first",
)
def turned_backwards(k, d_model):
    return _blocks(_turns(k, d_model), (-1, 1))


@MISTAKES.add(
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


@MISTAKES.add(
    "Pair i turns by k · i. Its speed is 1 / 10000**(2i/d_model), so it turns by k "
    "times that.",
    (1, 4),
    SHIFT_SECTION,
    "classroom: the number of the pair taken for its speed",
)
def angle_is_k_times_i(k, d_model):
    return _blocks([float(k * i) for i in range(d_model // 2)])


@MISTAKES.add(
    "All pairs turn by the same angle k. Each has its own speed, "
    "1 / 10000**(2i/d_model).",
    (1, 4),
    SHIFT_SECTION,
    "classroom: one clock instead of many",
)
def one_speed_for_all(k, d_model):
    return _blocks([float(k)] * (d_model // 2))


@MISTAKES.add(
    "The exponent is i / d_model, with i the number of the pair. It is 2i / d_model, "
    "as in the encoding.",
    (1, 4),
    SHIFT_SECTION,
    VASWANI,
)
def exponent_without_the_two(k, d_model):
    return _blocks([k / 10000 ** (i / d_model) for i in range(d_model // 2)])


@MISTAKES.add(
    "Both sines have a plus. One of them has a minus, or lengths would not be kept.",
    (1, 2),
    SHIFT_SECTION,
    "classroom: the sign in the addition theorem of the cosine",
)
def minus_forgotten(k, d_model):
    return _blocks(_turns(k, d_model), (1, 1))


@MISTAKES.add(
    "The matrix moves the columns of the vector. A shift of the position turns each "
    "pair instead.",
    (1, 2),
    SHIFT_SECTION,
    "classroom: 'shift' read as 'move along'",
)
def columns_moved(k, d_model):
    return torch.roll(torch.eye(d_model), k, dims=1)


@MISTAKES.add(
    "The matrix shifts by one step, whatever k is.",
    (2, 2),
    SHIFT_SECTION,
    "classroom: tested with k = 1",
)
def one_step_only(k, d_model):
    return _blocks(_turns(1, d_model))


@MISTAKES.add(
    "The angles are taken for degrees. math.cos and torch.cos take radians.",
    (1, 2),
    SHIFT_SECTION,
    "classroom: clock hands suggest degrees",
)
def degrees(k, d_model):
    return _blocks([math.radians(angle) for angle in _turns(k, d_model)])
