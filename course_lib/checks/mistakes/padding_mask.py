"""Known mistakes in `padding_mask`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import torch
from torch import Tensor

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

CONVENTIONS_SECTION = N_("chapter 4, True means may attend")
PADDING_SECTION = N_("chapter 4, Padding")

MISTAKES = Catalogue()
ONE_OF_THREE = (tensor([1], torch.int64), 3)
FULL_OF_TWO = (tensor([2], torch.int64), 2)
ZERO_OF_TWO = (tensor([0], torch.int64), 2)
TWO_SENTENCES = (tensor([1, 2], torch.int64), 3)


def _real(lengths: Tensor, max_len: int) -> Tensor:
    """The right mask, from which wrong ones are made."""
    places = torch.arange(max_len, device=lengths.device)
    return places[None, :] < lengths[:, None]


@MISTAKES.add(
    "The mask is inverted: it is True at the padding. Here True means may attend. "
    "nn.MultiheadAttention's key_padding_mask has it the other way round; that is a "
    "convention, and one has to know which one a function follows.",
    ONE_OF_THREE,
    CONVENTIONS_SECTION,
    "https://github.com/pytorch/pytorch/pull/120668",
    convention=True,
)
def inverted(lengths, max_len):
    return ~_real(lengths, max_len)


@MISTAKES.add(
    "One place too many is marked: <= instead of <. Places count from 0, so a "
    "sentence of 3 tokens has the places 0, 1, 2.",
    ONE_OF_THREE,
    PADDING_SECTION,
    "classroom: counting from 0",
)
def one_too_many(lengths, max_len):
    return torch.arange(max_len, device=lengths.device)[None] <= lengths[:, None]


@MISTAKES.add(
    "One place too few is marked: the last token of each sentence is hidden.",
    ONE_OF_THREE,
    PADDING_SECTION,
    "classroom: counting from 1",
)
def one_too_few(lengths, max_len):
    return torch.arange(max_len, device=lengths.device)[None] < lengths[:, None] - 1


@MISTAKES.add(
    "The mask lies on its side: one row for each place. It has one row for each "
    "sentence, (B, max_len).",
    TWO_SENTENCES,
    PADDING_SECTION,
    "https://github.com/bentrevett/pytorch-seq2seq/issues/119",
)
def places_as_rows(lengths, max_len):
    return _real(lengths, max_len).T


@MISTAKES.add(
    "The padding stands on the left, the tokens on the right. Here sentences begin at "
    "place 0; padding on the left is a convention of some code that generates text.",
    ONE_OF_THREE,
    PADDING_SECTION,
    "classroom: tokenizers of decoders pad on the left",
    convention=True,
)
def left_padding(lengths, max_len):
    places = torch.arange(max_len, device=lengths.device)
    return places[None, :] >= max_len - lengths[:, None]


@MISTAKES.add(
    "The mask holds the numbers 0 and 1 as floats. Such a mask would be added to the "
    "scores and hide nothing: make it bool.",
    ONE_OF_THREE,
    CONVENTIONS_SECTION,
    "https://github.com/pytorch/pytorch/issues/21518",
)
def float_mask(lengths, max_len):
    return _real(lengths, max_len).float()


@MISTAKES.add(
    "The mask holds whole numbers. The indexing and ~ of a bool mask mean something "
    "else for them (~1 is -2): make it bool.",
    ONE_OF_THREE,
    CONVENTIONS_SECTION,
    "https://github.com/pytorch/pytorch/issues/92554",
)
def integer_mask(lengths, max_len):
    return _real(lengths, max_len).long()


@MISTAKES.add(
    "The mask holds 0 at tokens and -inf at padding, to be added to scores. That is "
    "another convention; here a mask is bool.",
    ONE_OF_THREE,
    CONVENTIONS_SECTION,
    "https://github.com/pytorch/pytorch/issues/92554",
    convention=True,
)
def additive_mask(lengths, max_len):
    zeros = torch.zeros(len(lengths), max_len, device=lengths.device)
    return zeros.masked_fill(~_real(lengths, max_len), -math.inf)


@MISTAKES.add(
    "The mask is as wide as the longest sentence of the batch. It should have max_len "
    "columns, whatever the lengths.",
    ONE_OF_THREE,
    PADDING_SECTION,
    "classroom: tested with one full sentence only",
)
def width_of_the_longest(lengths, max_len):
    return _real(lengths, int(lengths.max()))


@MISTAKES.add(
    "Every sentence gets the mask of the first one. Row b follows length b.",
    TWO_SENTENCES,
    PADDING_SECTION,
    "classroom: tested with one sentence only",
)
def first_length_for_all(lengths, max_len):
    return _real(lengths[:1].expand(len(lengths)), max_len)


@MISTAKES.add(
    "Rows are masked too: a padded place sees nothing. A padding mask hides keys "
    "only, one row a sentence, (B, max_len).",
    ONE_OF_THREE,
    PADDING_SECTION,
    "https://github.com/harvardnlp/annotated-transformer/issues/137",
)
def pairs_of_places(lengths, max_len):
    mask = _real(lengths, max_len)
    return mask[:, :, None] & mask[:, None, :]


@MISTAKES.add(
    "The mask has two further axes, (B, 1, 1, max_len), as heads and queries need "
    "them. Here it is (B, max_len); the axes are added where scores are masked.",
    ONE_OF_THREE,
    PADDING_SECTION,
    "classroom: the mask of a whole transformer, where this is the convention",
    convention=True,
)
def axes_for_broadcasting(lengths, max_len):
    return _real(lengths, max_len)[:, None, None]


@MISTAKES.add(
    "A sentence of length 0 gets one token: its row should be all False. Lengths are "
    "used as they are.",
    ZERO_OF_TWO,
    PADDING_SECTION,
    "classroom: clamp(min=1) against empty rows, which pack_padded_sequence refuses",
)
def an_empty_sentence_gets_a_token(lengths, max_len):
    return _real(lengths.clamp(min=1), max_len)


@MISTAKES.add(
    "Only the last token of each sentence is marked. All places before the length "
    "are real: < instead of ==.",
    (tensor([2], torch.int64), 3),
    PADDING_SECTION,
    "classroom: the place of the last token, as in gathering the last state",
)
def last_token_only(lengths, max_len):
    return torch.arange(max_len, device=lengths.device) == lengths[:, None] - 1


@MISTAKES.add(
    "The mask is causal as well: sentence b shows its first b + 1 places at most. Rows "
    "are sentences here, not queries; causality is another mask.",
    (tensor([2, 1], torch.int64), 3),
    PADDING_SECTION,
    "classroom: tril over (B, max_len)",
)
def causal_too(lengths, max_len):
    return _real(lengths, max_len).tril()


@MISTAKES.add(
    "Lengths are taken for tokens: a row is all True unless its length is 0. Compare "
    "places with lengths.",
    ONE_OF_THREE,
    PADDING_SECTION,
    "classroom: ids != pad, the mask that is made of tokens",
)
def lengths_taken_for_tokens(lengths, max_len):
    return (lengths != 0)[:, None].repeat(1, max_len)


@MISTAKES.add(
    "A sentence that fills its row gets no token at all: its row should be all True. "
    "A negative index that comes out as 0, or a remainder, turns it into length 0.",
    FULL_OF_TWO,
    PADDING_SECTION,
    "classroom: mask[b, -(max_len - n):] = False, where -0 is 0",
)
def full_row_emptied(lengths, max_len):
    return _real(lengths % max_len, max_len)


@MISTAKES.add(
    "All sentences have the row of the longest one: they share one row. "
    "[[False] * max_len] * B holds one list B times, and what is written to one is "
    "written to all.",
    TWO_SENTENCES,
    PADDING_SECTION,
    "classroom: * with a list of lists copies nothing",
)
def one_row_shared(lengths, max_len):
    return _real(lengths.max().expand(len(lengths)), max_len)


@MISTAKES.add(
    "The lengths are sorted first, so rows and sentences no longer belong together. "
    "Row b follows length b.",
    (tensor([1, 2], torch.int64), 3),
    PADDING_SECTION,
    "classroom: pack_padded_sequence, which asks for sorted sentences",
)
def lengths_sorted(lengths, max_len):
    return _real(lengths.sort(descending=True).values, max_len)


@MISTAKES.add(
    "The mask is a list of lists. Make a tensor of it: torch.tensor(rows).",
    ONE_OF_THREE,
    PADDING_SECTION,
    "classroom: rows made by two loops",
)
def a_list_of_lists(lengths, max_len):
    return _real(lengths, max_len).tolist()
