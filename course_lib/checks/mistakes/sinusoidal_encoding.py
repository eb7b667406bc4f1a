"""Known mistakes in `sinusoidal_encoding`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import torch
from torch import Tensor

from ..catalogue import Catalogue
from ..language import mark as N_

ENCODING_SECTION = N_("chapter 5, Sine and cosine")
VASWANI = "https://arxiv.org/abs/1706.03762, section 3.5"

MISTAKES = Catalogue()


def _angles(positions: Tensor, d_model: int) -> Tensor:
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    return positions.double()[:, None] / 10000 ** (even / d_model)


def _woven(angles: Tensor, d_model: int) -> Tensor:
    """Sines and cosines of angles, woven together: from here wrong ones are made."""
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(start_dim=1)[:, :d_model].float()


@MISTAKES.add(
    "Positions are counted from 1. Here the first row is position 0, whose sines are "
    "0 and cosines 1.",
    (1, 2),
    ENCODING_SECTION,
    "classroom: counting from 1",
)
def positions_from_one(length, d_model):
    return _woven(_angles(torch.arange(1, length + 1), d_model), d_model)


@MISTAKES.add(
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


@MISTAKES.add(
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


@MISTAKES.add(
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


@MISTAKES.add(
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


@MISTAKES.add(
    "The angles are taken for degrees. torch.sin takes radians, and the formula is in "
    "radians.",
    (2, 2),
    ENCODING_SECTION,
    "classroom: clock hands suggest degrees",
)
def degrees(length, d_model):
    angles = torch.deg2rad(_angles(torch.arange(length), d_model))
    return _woven(angles, d_model)


@MISTAKES.add(
    "Every column is a sine. With the cosine beside it a pair is a hand of a clock; "
    "a sine alone cannot tell two angles apart.",
    (1, 2),
    ENCODING_SECTION,
    "classroom: the second line of the formula forgotten",
)
def sines_only(length, d_model):
    angles = _angles(torch.arange(length), d_model)
    return torch.stack([angles.sin(), angles.sin()], -1).flatten(1)[:, :d_model].float()


@MISTAKES.add(
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


@MISTAKES.add(
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


@MISTAKES.add(
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


@MISTAKES.add(
    "The angles are multiplied by 10000**(2i/d_model) instead of divided: the hands "
    "turn faster and faster, and neighbours look unrelated.",
    (2, 4),
    ENCODING_SECTION,
    "classroom: * and / confused",
    id="multiplied-instead-of-divided",
)
def multiplied_by_float32_powers(length, d_model):
    powers = 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return _woven(torch.arange(length).double()[:, None] * powers, d_model)


@MISTAKES.add(
    "The base is not 10000.",
    (2, 4),
    ENCODING_SECTION,
    "classroom: 1000 and 10000 look alike",
)
def base_1000(length, d_model):
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = torch.arange(length).double()[:, None] / 1000 ** (even / d_model)
    return _woven(angles, d_model)


@MISTAKES.add(
    "The positions are counted in half precision, which cannot tell 256 from 257: "
    "neighbours get the same row. Make the angles in float32 or float64, and round the "
    "finished table.",
    (258, 2),
    ENCODING_SECTION,
    "https://github.com/huggingface/transformers/issues/25681",
)
def positions_in_half_precision(length, d_model):
    return _woven(_angles(torch.arange(length).bfloat16(), d_model), d_model)


@MISTAKES.add(
    "The number of the column stands where i, the number of the pair, should: the "
    "exponent is 2c / d_model. Columns 2i and 2i + 1 both use 2i / d_model.",
    (2, 2),
    ENCODING_SECTION,
    "classroom: i taken for the column",
)
def column_doubled(length, d_model):
    column = torch.arange(d_model, dtype=torch.float64)
    angles = torch.arange(length).double()[:, None] / 10000 ** (2 * column / d_model)
    return torch.where(column % 2 == 0, angles.sin(), angles.cos()).float()


@MISTAKES.add(
    "2i // d_model is a whole division and always 0, so every pair turns at the same "
    "speed. Divide with /.",
    (2, 4),
    ENCODING_SECTION,
    "classroom: / and // confused",
)
def whole_division(length, d_model):
    angles = torch.arange(length).double()[:, None].expand(-1, (d_model + 1) // 2)
    return _woven(angles, d_model)


@MISTAKES.add(
    "The last pair has the speed 1 / 10000: the exponent is i / (number of pairs - 1), "
    "as in tensor2tensor. That is a convention of its own; here it is 2i / d_model, as "
    "in the paper.",
    (2, 4),
    ENCODING_SECTION,
    "the encoding of tensor2tensor",
    convention=True,
)
def speeds_of_tensor2tensor(length, d_model):
    pair = torch.arange((d_model + 1) // 2, dtype=torch.float64)
    angles = torch.arange(length).double()[:, None]
    return _woven(angles / 10000 ** (pair / max(len(pair) - 1, 1)), d_model)


@MISTAKES.add(
    "exp and the logarithm of base 10 do not belong together: e^(-a · log10(10000)) is "
    "not 10000^-a. Use the natural logarithm, math.log.",
    (2, 4),
    ENCODING_SECTION,
    "classroom: log10 seems to fit a base of 10000",
)
def logarithm_of_base_ten(length, d_model):
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    speeds = torch.exp(-4 * even / d_model)
    return _woven(torch.arange(length).double()[:, None] * speeds, d_model)


@MISTAKES.add(
    "The result has one axis too many, a batch of 1. Here it is (length, d_model); "
    "broadcasting adds the batch when it is needed.",
    (1, 2),
    ENCODING_SECTION,
    "https://github.com/harvardnlp/annotated-transformer, class PositionalEncoding",
    convention=True,
)
def batch_axis_in_front(length, d_model):
    return _woven(_angles(torch.arange(length), d_model), d_model)[None]


@MISTAKES.add(
    "The positions run from 0 to 1. Here they are 0, 1, 2, …: with shares of the "
    "length the same position gets another vector in a longer sentence.",
    (3, 2),
    ENCODING_SECTION,
    "classroom: 'normalise your inputs'",
)
def positions_from_zero_to_one(length, d_model):
    positions = torch.arange(length, dtype=torch.float64) / max(length - 1, 1)
    return _woven(_angles(positions, d_model), d_model)


@MISTAKES.add(
    "The encoding is multiplied by √d_model. That factor belongs to the embedding of "
    "the words, before the encoding is added.",
    (1, 4),
    ENCODING_SECTION,
    "https://arxiv.org/abs/1706.03762, section 3.4",
)
def multiplied_by_root_of_width(length, d_model):
    return _woven(_angles(torch.arange(length), d_model), d_model) * d_model**0.5


@MISTAKES.add(
    "An odd width is rounded up before it divides the exponent, so the hands turn at "
    "the speeds of another width. Only the last cosine is dropped; d_model stays.",
    (2, 3),
    ENCODING_SECTION,
    "classroom: the table of d_model + 1 columns, cut off",
)
def odd_width_rounded_up(length, d_model):
    even = d_model + d_model % 2
    return _woven(_angles(torch.arange(length), even), even)[:, :d_model]


@MISTAKES.add(
    "Of an odd width the last column stays 0. It is a sine: only the last cosine is "
    "dropped.",
    (2, 3),
    ENCODING_SECTION,
    "classroom: as many sines as cosines, and the rest left over",
)
def last_sine_left_out(length, d_model):
    encoding = _woven(_angles(torch.arange(length), d_model), d_model)
    encoding[:, d_model - d_model % 2 :] = 0.0
    return encoding
