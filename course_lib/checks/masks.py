"""Exercises of chapter 4: two masks, and attention that obeys them."""

import itertools
import math

import torch
from torch import Tensor

from . import solutions
from .exercise import Catalogue, Draw, Exercise, tensor
from .properties import (
    alone_in_the_batch,
    empty_rows_are_zero,
    hidden_content_ignored,
    hidden_weigh_nothing,
    keys_in_any_order,
    more_padding_changes_nothing,
    rows_of_a_causal_mask,
    rows_of_a_padding_mask,
    rows_sum_to_one,
)
from .run import Case

PADDING_SECTION = "chapter 4, Padding"
CAUSAL_SECTION = "chapter 4, The causal mask"
WHERE_SECTION = "chapter 4, Before the softmax, not after"
EMPTY_SECTION = "chapter 4, A row with nothing to see"
CONVENTIONS_SECTION = "chapter 4, True means may attend"

# padding_mask -----------------------------------------------------------------


def padding_reference(lengths: Tensor, max_len: int) -> Tensor:
    """One row a sentence, one entry a place."""
    rows = [[place < int(length) for place in range(max_len)] for length in lengths]
    return tensor(rows, torch.bool)


def padding_cases(draw: Draw) -> list[Case]:
    """Unsorted lengths, a row of 0, a row that is full, none that is full."""

    def case(name: str, lengths: list[int], max_len: int) -> Case:
        return Case(name, (tensor(lengths, torch.int64), max_len))

    longer = draw.integers(0, 8, 6)
    return [
        case("three sentences", [2, 4, 1], 5),
        case("another", [3, 0, 6, 2], 6),
        case("one sentence", [2], 3),
        case("an empty sentence", [0, 2], 3),
        case("a full sentence", [3, 1], 3),
        case("one place", [1, 0], 1),
        case("as many sentences as places", [1, 3, 2], 3),
        case("falling lengths", [4, 2, 1], 4),
        case("equal lengths", [2, 2], 4),
        case("long", [70, 3, 89], 90),
        Case("drawn lengths", (longer, 9)),
    ]


PADDING = Catalogue()
ONE_OF_THREE = (tensor([1], torch.int64), 3)
TWO_SENTENCES = (tensor([1, 2], torch.int64), 3)


def _real(lengths: Tensor, max_len: int) -> Tensor:
    """The right mask, from which wrong ones are made."""
    places = torch.arange(max_len, device=lengths.device)
    return places[None, :] < lengths[:, None]


@PADDING.add(
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


@PADDING.add(
    "One place too many is marked: <= instead of <. Places count from 0, so a "
    "sentence of 3 tokens has the places 0, 1, 2.",
    ONE_OF_THREE,
    PADDING_SECTION,
    "classroom: counting from 0",
)
def one_too_many(lengths, max_len):
    return torch.arange(max_len, device=lengths.device)[None] <= lengths[:, None]


@PADDING.add(
    "One place too few is marked: the last token of each sentence is hidden.",
    ONE_OF_THREE,
    PADDING_SECTION,
    "classroom: counting from 1",
)
def one_too_few(lengths, max_len):
    return torch.arange(max_len, device=lengths.device)[None] < lengths[:, None] - 1


@PADDING.add(
    "The mask lies on its side: one row for each place. It has one row for each "
    "sentence, (B, max_len).",
    TWO_SENTENCES,
    PADDING_SECTION,
    "https://github.com/bentrevett/pytorch-seq2seq/issues/119",
)
def places_as_rows(lengths, max_len):
    return _real(lengths, max_len).T


@PADDING.add(
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


@PADDING.add(
    "The mask holds the numbers 0 and 1 as floats. Such a mask would be added to the "
    "scores and hide nothing: make it bool.",
    ONE_OF_THREE,
    CONVENTIONS_SECTION,
    "https://github.com/pytorch/pytorch/issues/21518",
)
def float_mask(lengths, max_len):
    return _real(lengths, max_len).float()


@PADDING.add(
    "The mask holds whole numbers. The indexing and ~ of a bool mask mean something "
    "else for them (~1 is -2): make it bool.",
    ONE_OF_THREE,
    CONVENTIONS_SECTION,
    "https://github.com/pytorch/pytorch/issues/92554",
)
def integer_mask(lengths, max_len):
    return _real(lengths, max_len).long()


@PADDING.add(
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


@PADDING.add(
    "The mask is as wide as the longest sentence of the batch. It should have max_len "
    "columns, whatever the lengths.",
    ONE_OF_THREE,
    PADDING_SECTION,
    "classroom: tested with one full sentence only",
)
def width_of_the_longest(lengths, max_len):
    return _real(lengths, int(lengths.max()))


@PADDING.add(
    "Every sentence gets the mask of the first one. Row b follows length b.",
    TWO_SENTENCES,
    PADDING_SECTION,
    "classroom: tested with one sentence only",
)
def first_length_for_all(lengths, max_len):
    return _real(lengths[:1].expand(len(lengths)), max_len)


@PADDING.add(
    "Rows are masked too: a padded place sees nothing. A padding mask hides keys "
    "only, one row a sentence, (B, max_len).",
    ONE_OF_THREE,
    PADDING_SECTION,
    "https://github.com/harvardnlp/annotated-transformer/issues/137",
)
def pairs_of_places(lengths, max_len):
    mask = _real(lengths, max_len)
    return mask[:, :, None] & mask[:, None, :]


padding_mask = Exercise(
    id="padding_mask",
    parameters=("lengths", "max_len"),
    results=("mask",),
    task=(
        "Mark the real tokens: lengths (B,) int64 and max_len to a bool mask "
        "(B, max_len), True at real tokens."
    ),
    section=PADDING_SECTION,
    difficulty=1,
    minutes=8,
    hints=(
        "Write the numbers of the places under a sentence: 0, 1, 2, … Which of them "
        "belong to a sentence of length 3?",
        "A place is real when it is smaller than the length. Compare all places with "
        "all lengths in one go: broadcasting.",
        "places = arange(max_len) as a row; lengths as a column, lengths[:, None]; "
        "mask = places < lengths.",
    ),
    right_answer=solutions.padding_mask,
    reference=padding_reference,
    make_cases=padding_cases,
    properties=(rows_of_a_padding_mask(),),
    misconceptions=tuple(PADDING),
    boolean=True,
)

# causal_mask ------------------------------------------------------------------


def causal_reference(length: int) -> Tensor:
    """A row sees every column up to its own."""
    rows = [[column <= row for column in range(length)] for row in range(length)]
    return tensor(rows, torch.bool)


def causal_cases(draw: Draw) -> list[Case]:
    """Short, long and one."""
    return [Case(f"length {n}", (n,)) for n in (4, 5, 1, 2, 3, 7, 65, 130)]


CAUSAL = Catalogue()


@CAUSAL.add(
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


@CAUSAL.add(
    "The diagonal is hidden: no token sees itself, and the first one sees nothing at "
    "all.",
    (1,),
    CAUSAL_SECTION,
    "https://github.com/pbloem/former/issues/10",
)
def diagonal_hidden(length):
    return torch.ones(length, length, dtype=torch.bool).tril(-1)


@CAUSAL.add(
    "The diagonal is one too high: each token sees the next one, which it is to "
    "predict.",
    (2,),
    CAUSAL_SECTION,
    "https://github.com/RVC-Boss/GPT-SoVITS/issues/965",
)
def one_too_high(length):
    return torch.ones(length, length, dtype=torch.bool).tril(1)


@CAUSAL.add(
    "The mask is transposed: each token sees itself and what comes later. The row is "
    "the one that looks.",
    (2,),
    CAUSAL_SECTION,
    "classroom: tril and triu exchanged",
)
def transposed(length):
    return torch.ones(length, length, dtype=torch.bool).triu()


@CAUSAL.add(
    "The mask holds 0 and 1 as floats. Such a mask would be added to the scores and "
    "hide nothing: make it bool.",
    (2,),
    CONVENTIONS_SECTION,
    "https://github.com/pytorch/pytorch/issues/21518",
)
def float_mask(length):
    return torch.ones(length, length).tril()


@CAUSAL.add(
    "The mask holds 0 and -inf, to be added to scores. That is another convention; "
    "here a mask is bool.",
    (2,),
    CONVENTIONS_SECTION,
    "nn.Transformer.generate_square_subsequent_mask",
    convention=True,
)
def additive_mask(length):
    return torch.full((length, length), -math.inf).triu(1)


@CAUSAL.add(
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


@CAUSAL.add(
    "The mask holds whole numbers. The ~ of a bool mask means something else for them "
    "(~1 is -2): make it bool.",
    (2,),
    CONVENTIONS_SECTION,
    "https://github.com/pytorch/pytorch/issues/92554",
)
def integer_mask(length):
    return torch.ones(length, length, dtype=torch.int64).tril()


@CAUSAL.add(
    "Every token sees every other: nothing is hidden.",
    (2,),
    CAUSAL_SECTION,
    "classroom: the lower triangle forgotten",
)
def nothing_hidden(length):
    return torch.ones(length, length, dtype=torch.bool)


@CAUSAL.add(
    "Each token sees itself only. It sees all that stands before it as well.",
    (2,),
    CAUSAL_SECTION,
    "classroom: == instead of <=",
)
def only_itself(length):
    return torch.eye(length, dtype=torch.bool)


causal_mask = Exercise(
    id="causal_mask",
    parameters=("length",),
    results=("mask",),
    task=(
        "Hide the future: length to a bool mask (length, length), True where the row "
        "may attend to the column."
    ),
    section=CAUSAL_SECTION,
    difficulty=1,
    minutes=5,
    hints=(
        "Write the mask for a sentence of three words on paper. Row: who looks. "
        "Column: at whom. How many entries of the first row are True?",
        "Row i sees the columns 0 to i, itself included. That is the lower triangle "
        "with the diagonal.",
        "A square of True, of which only the lower triangle is kept: tril. Or compare "
        "a column of positions with a row of positions.",
    ),
    right_answer=solutions.causal_mask,
    reference=causal_reference,
    make_cases=causal_cases,
    properties=(rows_of_a_causal_mask(),),
    misconceptions=tuple(CAUSAL),
    boolean=True,
)

# masked_attention -------------------------------------------------------------


def masked_reference(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor
) -> tuple[Tensor, Tensor]:
    """Loop over everything, and skip hidden keys; an empty row stays zero."""
    lead, (Tq, d_k), Tk = q.shape[:-2], q.shape[-2:], k.shape[-2]
    mask = mask.expand(*lead, Tq, Tk)
    outputs, maps = [], []
    for index in itertools.product(*map(range, (*lead, Tq))):
        query, keys, values = q[index], k[index[:-1]], v[index[:-1]]
        visible = [j for j in range(Tk) if mask[index][j]]
        weights = torch.zeros(Tk, dtype=q.dtype)
        if visible:
            scores = torch.stack([query @ keys[j] / math.sqrt(d_k) for j in visible])
            powers = torch.exp(scores - scores.max().detach())
            weights = weights.index_put((tensor(visible, torch.int64),), powers)
            weights = weights / powers.sum()
        maps.append(weights)
        outputs.append(
            sum((weights[j] * values[j] for j in visible), torch.zeros_like(values[0]))
        )
    output = torch.stack(outputs).reshape(*lead, Tq, v.shape[-1])
    return output, torch.stack(maps).reshape(*lead, Tq, Tk)


def masked_cases(draw: Draw) -> list[Case]:
    """Masks of every shape that broadcasts; rows that see nothing; large scores."""

    def case(name: str, mask: Tensor, lead: tuple[int, ...], *sizes: int) -> Case:
        Tq, Tk, d_k, d_v = sizes
        arguments = (
            draw.normal(*lead, Tq, d_k),
            draw.normal(*lead, Tk, d_k),
            draw.normal(*lead, Tk, d_v),
            mask,
        )
        return Case(name, arguments)

    def some(*shape: int) -> Tensor:
        """About half of the entries, and at least one in every row."""
        mask = draw.integers(0, 2, *shape).bool()
        first = draw.integers(0, shape[-1], *shape[:-1], 1)
        return mask.scatter(-1, first, True)

    def padding(lengths: list[int], max_len: int) -> Tensor:
        return _real(tensor(lengths, torch.int64), max_len)

    nothing_in_row = some(3, 4)
    nothing_in_row[1] = False
    nothing = torch.zeros(2, 3, dtype=torch.bool)
    square = torch.ones(4, 4, dtype=torch.bool).tril()
    large = (
        tensor([[200.0, 2.0, 0.0, 0.0], [-200.0, 2.0, 0.0, 0.0]]),
        tensor([[100.0, 0, 0, 0], [100.0, -1.0, 0, 0], [-100.0, 0, 0, 0]]),
        tensor([[1.0, 0.0], [0.0, 1.0], [7.0, 7.0]]),
    )
    return [
        case("a mask for each sentence", some(2, 3, 5), (2,), 3, 5, 9, 4),
        case("one mask for all", some(4, 6), (3,), 4, 6, 5, 2),
        case("no batch", some(3, 4), (), 3, 4, 5, 2),
        case("batch and heads", padding([3, 5], 6)[:, None, None], (2, 3), 4, 6, 5, 2),
        case("padding", padding([2, 1, 3], 4)[:, None], (3,), 2, 4, 3, 5),
        case("padding of a square", padding([2, 4], 4)[:, None], (2,), 4, 4, 3, 5),
        case("causal", square, (2,), 4, 4, 3, 5),
        case("all visible", torch.ones(1, 1, dtype=torch.bool), (2,), 3, 4, 5, 2),
        case("a row that sees nothing", nothing_in_row, (2,), 3, 4, 5, 2),
        case("a sentence of length 0", padding([0, 2], 3)[:, None], (2,), 2, 3, 4, 5),
        case("nothing to see at all", nothing, (), 2, 3, 4, 2),
        case("hidden queries", some(3, 1), (2,), 3, 4, 5, 2),
        case("one key", some(3, 1), (2,), 3, 1, 4, 2),
        case("one query", some(1, 4), (2,), 1, 4, 3, 2),
        case("key width one", some(3, 4), (2,), 3, 4, 1, 2),
        case("value width one", some(3, 4), (2,), 3, 4, 2, 1),
        case("many keys", some(2, 90), (), 2, 90, 4, 3),
        Case(
            "scores of 10,000",
            (*large, tensor([[1, 1, 1], [1, 0, 1]], torch.bool)),
            "large",
            1e-3,
        ),
        Case(
            "the large scores are hidden",
            (*large, tensor([[0, 0, 1], [1, 1, 0]], torch.bool)),
            "large",
            1e-3,
        ),
    ]


MASKED = Catalogue()
# Zero scores for one query and two keys; the second key is hidden.
HIDE_SECOND = (
    tensor([[0.0]]),
    tensor([[0.0], [0.0]]),
    tensor([[1.0], [3.0]]),
    tensor([[1, 0]], torch.bool),
)
HIDE_ALL = (
    tensor([[1.0]]),
    tensor([[0.0], [1.0]]),
    tensor([[1.0], [3.0]]),
    tensor([[0, 0]], torch.bool),
)
HIDE_WITH_SCORES = (
    tensor([[2.0]]),
    tensor([[1.0], [-1.0], [0.0]]),
    tensor([[1.0], [3.0], [0.0]]),
    tensor([[1, 0, 1]], torch.bool),
)


def _scores(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


def _finish(scores: Tensor, mask: Tensor) -> Tensor:
    """The right weights from any scores: from here wrong answers are made."""
    empty = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~mask, -math.inf).masked_fill(empty, 0.0)
    return scores.softmax(dim=-1).masked_fill(empty, 0.0)


@MASKED.add(
    "The mask comes after the softmax, so hidden keys have taken their share and the "
    "rows sum to less than 1. Mask the scores, before the softmax.",
    HIDE_SECOND,
    WHERE_SECTION,
    "https://github.com/lucidrains/memory-compressed-attention/issues/2",
)
def after_the_softmax(q, k, v, mask):
    weights = _scores(q, k).softmax(dim=-1) * mask
    return weights @ v, weights


@MASKED.add(
    "The mask comes after the softmax, and the rows are divided by their sum again. "
    "On paper that is right; with large scores the visible keys have already become "
    "0, and it is 0 / 0. Mask the scores, before the softmax.",
    (
        tensor([[1.0]]),
        tensor([[0.0], [200.0]]),
        tensor([[1.0], [3.0]]),
        tensor([[1, 0]], torch.bool),
    ),
    WHERE_SECTION,
    "https://github.com/hyunwoongko/transformer/issues/10",
    kind="large",
)
def renormalised_after_the_softmax(q, k, v, mask):
    weights = _scores(q, k).softmax(dim=-1) * mask
    total = weights.sum(dim=-1, keepdim=True)
    empty = ~mask.any(dim=-1, keepdim=True)
    weights = weights / total.masked_fill(empty, 1.0)
    return weights @ v, weights


@MASKED.add(
    "Hidden scores become 0, or a tiny negative number, which hides nothing: a score "
    "of 0 is a score like any other, e^0 = 1. It has to be a huge negative number, "
    "best -inf.",
    HIDE_WITH_SCORES,
    WHERE_SECTION,
    "https://github.com/hyunwoongko/transformer/issues/10",
)
def hidden_scores_near_zero(q, k, v, mask):
    weights = _scores(q, k).masked_fill(~mask, -1e-9).softmax(dim=-1)
    return weights @ v, weights


@MASKED.add(
    "A row that sees nothing becomes a flat average over hidden keys: all its scores "
    "are the same huge negative number. Here it is to give zeros.",
    HIDE_ALL,
    EMPTY_SECTION,
    "https://github.com/harvardnlp/annotated-transformer/issues/37",
)
def flat_average_on_an_empty_row(q, k, v, mask):
    weights = _scores(q, k).masked_fill(~mask, -1e9).softmax(dim=-1)
    return weights @ v, weights


@MASKED.add(
    "A row that sees nothing becomes nan: the softmax over nothing is 0 / 0. Decide "
    "what the row should mean before the softmax; here it gives zeros.",
    HIDE_ALL,
    EMPTY_SECTION,
    "https://github.com/pytorch/pytorch/issues/41508",
)
def nan_on_an_empty_row(q, k, v, mask):
    weights = _scores(q, k).masked_fill(~mask, -math.inf).softmax(dim=-1)
    return weights @ v, weights


@MASKED.add(
    "The output of a row that sees nothing is zero, but its weights are not. Both are "
    "to be zeros.",
    HIDE_ALL,
    EMPTY_SECTION,
    "classroom: the output repaired, the weights forgotten",
)
def weights_of_an_empty_row_left(q, k, v, mask):
    weights = _scores(q, k).masked_fill(~mask, -1e9).softmax(dim=-1)
    return (weights * mask) @ v, weights


@MASKED.add(
    "The mask is read the other way round: True is hidden. Here True means may "
    "attend, as in F.scaled_dot_product_attention; in nn.MultiheadAttention True "
    "means hidden. That is a convention, and one has to know which one holds.",
    HIDE_SECOND,
    CONVENTIONS_SECTION,
    "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
    convention=True,
)
def inverted(q, k, v, mask):
    weights = _finish(_scores(q, k), ~mask.expand(*q.shape[:-1], k.shape[-2]))
    return weights @ v, weights


@MASKED.add(
    "The mask is added to the scores: True counts as 1, so a visible key gets one "
    "more, and nothing is hidden. Fill hidden scores with -inf.",
    HIDE_SECOND,
    WHERE_SECTION,
    "https://github.com/pytorch/pytorch/issues/21518",
)
def mask_added_to_the_scores(q, k, v, mask):
    weights = (_scores(q, k) + mask).softmax(dim=-1)
    return weights @ v, weights


@MASKED.add(
    "The mask is turned on its side: it hides queries (rows) instead of keys "
    "(columns). The last axis of a mask is the key.",
    (
        tensor([[0.0], [0.0]]),
        tensor([[0.0], [0.0]]),
        tensor([[1.0], [3.0]]),
        tensor([[1, 0]], torch.bool),
    ),
    CONVENTIONS_SECTION,
    "https://github.com/bentrevett/pytorch-seq2seq/issues/119",
)
def query_rows_masked(q, k, v, mask):
    weights = _finish(
        _scores(q, k), mask.transpose(-2, -1).expand(*q.shape[:-1], k.shape[-2])
    )
    return weights @ v, weights


@MASKED.add(
    "The softmax is applied twice. The second one gives hidden keys, now at 0, a "
    "weight again: e^0 = 1.",
    HIDE_SECOND,
    WHERE_SECTION,
    "https://github.com/zyy-2001/DisKT/issues/6",
)
def softmax_twice(q, k, v, mask):
    weights = _finish(_scores(q, k), mask).softmax(dim=-1)
    return weights @ v, weights


@MASKED.add(
    "The mask is not used.",
    HIDE_SECOND,
    WHERE_SECTION,
    "classroom: an argument passed on and forgotten",
)
def mask_ignored(q, k, v, mask):
    weights = _scores(q, k).softmax(dim=-1)
    return weights @ v, weights


@MASKED.add(
    "Hidden values are set to zero, but the hidden keys keep their weights, so the "
    "rows of what is left sum to less than 1. Mask the scores, before the softmax.",
    HIDE_SECOND,
    WHERE_SECTION,
    "classroom: 'hidden' read as 'its value is zero'",
)
def hidden_values_set_to_zero(q, k, v, mask):
    weights = _scores(q, k).softmax(dim=-1)
    return (weights * mask) @ v, weights


@MASKED.add(
    "The mask is right, but the scores are not divided by √d_k.",
    (
        tensor([[2.0, 0.0, 0.0, 0.0]]),
        tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
        tensor([[1.0], [0.0]]),
        tensor([[1, 1]], torch.bool),
    ),
    "chapter 3, Why divide by √d_k?",
    "https://arxiv.org/abs/1706.03762, section 3.2.1",
)
def no_scale(q, k, v, mask):
    weights = _finish(q @ k.transpose(-2, -1), mask)
    return weights @ v, weights


@MASKED.add(
    "Hidden scores are set to -10,000, which is not low enough: a visible score of "
    "-10,000 ties with them. Use -inf.",
    (
        tensor([[1.0]]),
        tensor([[-10_000.0], [0.0]]),
        tensor([[1.0], [3.0]]),
        tensor([[1, 0]], torch.bool),
    ),
    WHERE_SECTION,
    "https://github.com/NVIDIA/apex/issues/1052",
    kind="large",
)
def not_low_enough(q, k, v, mask):
    empty = ~mask.any(dim=-1, keepdim=True)
    scores = _scores(q, k).masked_fill(~mask, -1e4)
    weights = scores.softmax(dim=-1).masked_fill(empty, 0.0)
    return weights @ v, weights


masked_attention = Exercise(
    id="masked_attention",
    parameters=("q", "k", "v", "mask"),
    results=("output", "weights"),
    task=(
        "Attend to visible keys only: q (..., Tq, d_k), k (..., Tk, d_k), "
        "v (..., Tk, d_v) and a bool mask that broadcasts to (..., Tq, Tk), True = may "
        "attend, to (output, weights). A row with nothing to attend to gives zeros in "
        "both."
    ),
    section=WHERE_SECTION,
    difficulty=3,
    minutes=20,
    hints=(
        "A hidden key should weigh exactly 0, and the visible ones should share the "
        "whole 1. Which score has e^score = 0?",
        "Fill the hidden scores with -inf before the softmax: "
        "scores.masked_fill(~mask, -inf).",
        "A row of nothing but -inf becomes nan. Find such rows with "
        "mask.any(dim=-1, keepdim=True), and decide before the softmax.",
        "scores, filled with -inf where hidden, and with 0 in empty rows; weights = "
        "softmax; weights filled with 0 in empty rows; return weights @ v, weights.",
    ),
    right_answer=solutions.masked_attention,
    reference=masked_reference,
    make_cases=masked_cases,
    properties=(
        empty_rows_are_zero(),
        hidden_weigh_nothing(),
        rows_sum_to_one(),
        hidden_content_ignored(),
        more_padding_changes_nothing(),
        alone_in_the_batch(4),
        keys_in_any_order((1, 2), axis=-2, mask=3),
    ),
    misconceptions=tuple(MASKED),
)
