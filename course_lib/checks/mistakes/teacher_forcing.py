"""Known mistakes in `teacher_forcing`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import torch

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

SECTION = N_("chapter 9, Teacher forcing")

MISTAKES = Catalogue()
# bos is 1; one sentence of two words, and two of them.
TWO_WORDS = (tensor([[5, 6]], torch.int64), 1)
THREE_WORDS = (tensor([[5, 6, 7]], torch.int64), 1)
LARGE = (tensor([[2**24 + 1, 2]], torch.int64), 1)
TWO_SENTENCES = (tensor([[5, 6], [7, 8]], torch.int64), 1)


def _first(target, bos):
    return torch.full_like(target[:, :1], bos)


def _shifted(target, bos):
    return torch.cat([_first(target, bos), target[:, :-1]], dim=1)


@MISTAKES.add(
    N_(
        "The decoder reads the very word that it is to write: nothing is shifted. The "
        "loss falls to 0 and nothing is learnt. Put bos in front and leave out the "
        "last word."
    ),
    TWO_WORDS,
    SECTION,
    "https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/19",
)
def not_shifted(target, bos):
    return target.clone(), target


@MISTAKES.add(
    N_(
        "Input and labels are cut as if the target began with bos. Here it does not: "
        "its first word is dropped from the labels, and bos stands nowhere. Where the "
        "data holds bos this is right; that is a convention, and one has to know "
        "which one holds."
    ),
    TWO_WORDS,
    SECTION,
    "https://github.com/pytorch/tutorials/issues/719",
    convention=True,
)
def as_if_bos_were_there(target, bos):
    return target[:, :-1], target[:, 1:]


@MISTAKES.add(
    N_(
        "Input and labels are both shifted, so the label lies two places after the "
        "last word that the decoder has read. One shift is enough: the labels are the "
        "target as it is."
    ),
    TWO_WORDS,
    SECTION,
    "https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/123",
)
def labels_shifted_too(target, bos):
    return _shifted(target, bos), target[:, 1:]


@MISTAKES.add(
    N_(
        "The input is shifted by two places: the decoder never reads the word just "
        "before the one that it is to write. Shift by one."
    ),
    TWO_WORDS,
    SECTION,
    "classroom: shifted once in the data and once more in the model",
)
def shifted_twice(target, bos):
    return _shifted(_shifted(target, bos), bos), target


@MISTAKES.add(
    N_(
        "The shift goes the wrong way: the input holds the word after the one that is "
        "to be written, with bos at the end. bos comes first."
    ),
    TWO_WORDS,
    SECTION,
    "classroom: target[:, 1:] and target[:, :-1] exchanged",
)
def shifted_to_the_left(target, bos):
    return torch.cat([target[:, 1:], _first(target, bos)], dim=1), target


@MISTAKES.add(
    N_(
        "The last word wraps round to the front: roll moves it to where bos should "
        "stand. Set the first place to bos afterwards."
    ),
    TWO_WORDS,
    SECTION,
    "classroom: torch.roll taken for a shift",
)
def rolled_round(target, bos):
    return target.roll(1, dims=1), target


@MISTAKES.add(
    N_(
        "bos replaces the first word instead of standing before it: the other words "
        "have not moved, and the decoder reads what it is to write."
    ),
    TWO_WORDS,
    SECTION,
    "classroom: 'begins with bos' read as 'set the first place to bos'",
)
def bos_over_the_first_word(target, bos):
    return torch.cat([_first(target, bos), target[:, 1:]], dim=1), target


@MISTAKES.add(
    N_(
        "bos was put in front, but the last word was not left out: the input is one "
        "longer than the labels."
    ),
    TWO_WORDS,
    SECTION,
    "https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/76",
)
def last_word_kept(target, bos):
    return torch.cat([_first(target, bos), target], dim=1), target


@MISTAKES.add(
    N_(
        "The last word was left out, but bos was not put in front: the input is one "
        "shorter than the labels, and its first word is the first label."
    ),
    TWO_WORDS,
    SECTION,
    "classroom: half of the shift",
)
def bos_missing(target, bos):
    return target[:, :-1], target


@MISTAKES.add(
    N_(
        "The labels lack the last word, which is eos: the decoder would never learn "
        "to stop. Only the input leaves it out."
    ),
    TWO_WORDS,
    SECTION,
    "classroom: both cut to the same words",
)
def labels_without_the_last_word(target, bos):
    return _shifted(target, bos), target[:, :-1]


@MISTAKES.add(
    N_(
        "The labels are the shifted input: the decoder is to write what it reads. The "
        "labels are the target as it is."
    ),
    TWO_WORDS,
    SECTION,
    "classroom: the shifted tensor under the name of the old one",
)
def labels_are_the_input(target, bos):
    return _shifted(target, bos), _shifted(target, bos)


@MISTAKES.add(
    N_("The two results are exchanged: first the decoder's input, then the labels."),
    TWO_WORDS,
    SECTION,
    "classroom: two tensors of one shape",
)
def exchanged(target, bos):
    return target, _shifted(target, bos)


@MISTAKES.add(
    N_(
        "The target is overwritten: input and labels are one tensor, so both come out "
        "shifted, and the caller's target too. Make a new tensor for the input."
    ),
    TWO_WORDS,
    SECTION,
    "classroom: b = a copies nothing",
)
def target_overwritten(target, bos):
    decoder_input = target
    decoder_input[:, 1:] = target[:, :-1].clone()
    decoder_input[:, 0] = bos
    return decoder_input, target


@MISTAKES.add(
    N_(
        "All words are shifted as one long row: a sentence begins with the last word "
        "of the sentence before it. Each sentence begins with bos."
    ),
    TWO_SENTENCES,
    SECTION,
    "classroom: flattened and cut up again",
)
def shifted_across_sentences(target, bos):
    row = target.flatten().roll(1)
    row[0] = bos
    return row.reshape(target.shape), target


@MISTAKES.add(
    N_(
        "The shift runs along the batch: sentence b reads sentence b - 1. It runs "
        "along the words, dim=1."
    ),
    TWO_SENTENCES,
    SECTION,
    "classroom: dim=0 is the default of torch.cat",
)
def shifted_along_the_batch(target, bos):
    first = torch.full_like(target[:1], bos)
    return torch.cat([first, target[:-1]]), target


@MISTAKES.add(
    N_(
        "The input begins with 0 instead of bos. The number of bos is an argument: "
        "use it."
    ),
    TWO_WORDS,
    SECTION,
    "classroom: F.pad and new_zeros fill with 0 unless told otherwise",
)
def zero_instead_of_bos(target, bos):
    return _shifted(target, 0), target


@MISTAKES.add(
    N_(
        "The words have become floating-point numbers: bos was made as a float, and "
        "cat takes the wider type. An embedding looks up whole numbers only."
    ),
    TWO_WORDS,
    SECTION,
    "classroom: torch.ones and torch.zeros make floats",
)
def words_as_floats(target, bos):
    first = bos * torch.ones(len(target), 1, device=target.device)
    return torch.cat([first, target[:, :-1]], dim=1), target


@MISTAKES.add(
    N_(
        "bos stands at the end, in the place of the last word, and nothing has moved: "
        "the decoder reads what it is to write. bos comes first, and the words follow."
    ),
    TWO_WORDS,
    SECTION,
    "classroom: the order of the two parts in torch.cat",
)
def bos_at_the_end(target, bos):
    return torch.cat([target[:, :-1], _first(target, bos)], dim=1), target


@MISTAKES.add(
    N_(
        "The labels are one long row. A loss may need that; here they keep the shape "
        "of the target, (B, T)."
    ),
    TWO_SENTENCES,
    SECTION,
    "classroom: the reshape that F.cross_entropy asks for, done too early",
)
def labels_in_one_row(target, bos):
    return _shifted(target, bos), target.flatten()


@MISTAKES.add(
    N_(
        "The first word spreads over the whole row: each place is copied from a place "
        "that has been overwritten already. Read from the target, not from the tensor "
        "that is being written."
    ),
    THREE_WORDS,
    SECTION,
    "classroom: a loop that shifts in place, from left to right",
)
def first_word_spreads(target, bos):
    decoder_input = target.clone()
    for t in range(1, target.shape[1]):
        decoder_input[:, t] = decoder_input[:, t - 1]
    decoder_input[:, 0] = bos
    return decoder_input, target


@MISTAKES.add(
    N_(
        "The words that the decoder reads have become int32. Keep int64, as the target "
        "has it: where one reads them as labels, F.cross_entropy refuses int32."
    ),
    TWO_WORDS,
    SECTION,
    "classroom: .int(), which is int32, taken for 'whole number'",
)
def words_as_int32(target, bos):
    return _shifted(target, bos).int(), target


@MISTAKES.add(
    N_(
        "Large words change: on the way they were float32, which does not hold every "
        "whole number above 2**24. Keep to int64 all the way."
    ),
    LARGE,
    SECTION,
    "classroom: floats made by torch.ones, and .long() at the end",
)
def through_float32(target, bos):
    first = bos * torch.ones(len(target), 1, device=target.device)
    return torch.cat([first, target[:, :-1].float()], dim=1).long(), target
