"""Known mistakes in `causal_mask`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import torch

from ..catalogue import Catalogue
from ..language import mark as N_

CAUSAL_SECTION = N_("chapter 4, The causal mask")
CONVENTIONS_SECTION = N_("chapter 4, True means may attend")

MISTAKES = Catalogue()


@MISTAKES.add(
    "The mask is inverted: True stands on what comes later. Here True means may "
    "attend. In nn.MultiheadAttention True means hidden; that is a convention, and "
    "one has to know which one a function follows.",
    (2,),
    CONVENTIONS_SECTION,
    "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
    convention=True,
)
def inverted(length):
    return torch.ones(length, length, dtype=torch.bool).triu(1)


@MISTAKES.add(
    "The diagonal is hidden: no token sees itself, and the first one sees nothing at "
    "all.",
    (1,),
    CAUSAL_SECTION,
    "https://github.com/pbloem/former/issues/10",
)
def diagonal_hidden(length):
    return torch.ones(length, length, dtype=torch.bool).tril(-1)


@MISTAKES.add(
    "The diagonal is one too high: each token sees the next one, which it is to "
    "predict.",
    (2,),
    CAUSAL_SECTION,
    "https://github.com/RVC-Boss/GPT-SoVITS/issues/965",
)
def one_too_high(length):
    return torch.ones(length, length, dtype=torch.bool).tril(1)


@MISTAKES.add(
    "The mask is transposed: each token sees itself and what comes later. The row is "
    "the one that looks.",
    (2,),
    CAUSAL_SECTION,
    "classroom: tril and triu exchanged",
)
def transposed(length):
    return torch.ones(length, length, dtype=torch.bool).triu()


@MISTAKES.add(
    "The mask holds 0 and 1 as floats. Such a mask would be added to the scores and "
    "hide nothing: make it bool.",
    (2,),
    CONVENTIONS_SECTION,
    "https://github.com/pytorch/pytorch/issues/21518",
)
def float_mask(length):
    return torch.ones(length, length).tril()


@MISTAKES.add(
    "The mask holds 0 and -inf, to be added to scores. That is another convention; "
    "here a mask is bool.",
    (2,),
    CONVENTIONS_SECTION,
    "nn.Transformer.generate_square_subsequent_mask",
    convention=True,
)
def additive_mask(length):
    return torch.full((length, length), -math.inf).triu(1)


@MISTAKES.add(
    "The mask holds 1 and -inf, to be added to scores. It hides the same as 0 and "
    "-inf, for the softmax ignores a constant in a row; but here a mask is bool.",
    (2,),
    CONVENTIONS_SECTION,
    "https://github.com/karpathy/nanoGPT/issues/170",
    convention=True,
)
def one_and_minus_infinity(length):
    mask = torch.ones(length, length).tril()
    return mask.masked_fill(mask == 0, -math.inf)


@MISTAKES.add(
    "The mask holds whole numbers. The ~ of a bool mask means something else for them "
    "(~1 is -2): make it bool.",
    (2,),
    CONVENTIONS_SECTION,
    "https://github.com/pytorch/pytorch/issues/92554",
)
def integer_mask(length):
    return torch.ones(length, length, dtype=torch.int64).tril()


@MISTAKES.add(
    "Every token sees every other: nothing is hidden.",
    (2,),
    CAUSAL_SECTION,
    "classroom: the lower triangle forgotten",
)
def nothing_hidden(length):
    return torch.ones(length, length, dtype=torch.bool)


@MISTAKES.add(
    "Each token sees itself only. It sees all that stands before it as well.",
    (2,),
    CAUSAL_SECTION,
    "classroom: == instead of <=",
)
def only_itself(length):
    return torch.eye(length, dtype=torch.bool)
