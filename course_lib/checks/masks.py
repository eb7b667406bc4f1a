"""Exercises of chapter 4: two masks, and attention that obeys them."""

import itertools
import math
from dataclasses import replace

import torch
from torch import Tensor

from . import solutions
from .cases import Case, Draw, tensor
from .exercise import Exercise
from .language import mark as N_
from .mistakes import causal_mask as causal_mask_mistakes
from .mistakes import masked_attention as masked_attention_mistakes
from .mistakes import padding_mask as padding_mask_mistakes
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

PADDING_SECTION = N_("chapter 4, Padding")
CAUSAL_SECTION = N_("chapter 4, The causal mask")
WHERE_SECTION = N_("chapter 4, Before the softmax, not after")
EMPTY_SECTION = N_("chapter 4, A row with nothing to see")
CONVENTIONS_SECTION = N_("chapter 4, True means may attend")

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
        case("long", [70, 3, 519], 520),
        Case("drawn lengths", (longer, 9)),
    ]


padding_mask = Exercise(
    id="padding_mask",
    parameters=("lengths", "max_len"),
    results=("mask",),
    task=N_(
        "Mark the real tokens: lengths (B,) int64 and max_len to a bool mask "
        "(B, max_len), True at real tokens."
    ),
    section=PADDING_SECTION,
    difficulty=1,
    minutes=8,
    hints=(
        N_(
            "Write the numbers of the places under a sentence: 0, 1, 2, … Which of "
            "them belong to a sentence of length 3?"
        ),
        N_(
            "A place is real when it is smaller than the length. Compare all places "
            "with all lengths in one go: broadcasting."
        ),
        N_(
            "places = arange(max_len) as a row; lengths as a column, lengths[:, None]; "
            "mask = places < lengths."
        ),
    ),
    right_answer=solutions.padding_mask,
    reference=padding_reference,
    make_cases=padding_cases,
    properties=(rows_of_a_padding_mask(),),
    misconceptions=padding_mask_mistakes.MISTAKES,
)

# causal_mask ------------------------------------------------------------------


def causal_reference(length: int) -> Tensor:
    """A row sees every column up to its own."""
    rows = [[column <= row for column in range(length)] for row in range(length)]
    return tensor(rows, torch.bool)


def causal_cases(draw: Draw) -> list[Case]:
    """Short, long and one."""
    return [Case(f"length {n}", (n,)) for n in (4, 5, 1, 2, 3, 7, 65, 300)]


causal_mask = Exercise(
    id="causal_mask",
    parameters=("length",),
    results=("mask",),
    task=N_(
        "Hide the future: length to a bool mask (length, length), True where the row "
        "may attend to the column."
    ),
    section=CAUSAL_SECTION,
    difficulty=1,
    minutes=5,
    hints=(
        N_(
            "Write the mask for a sentence of three words on paper. Row: who looks. "
            "Column: at whom. How many entries of the first row are True?"
        ),
        N_(
            "Row i sees the columns 0 to i, itself included. That is the lower "
            "triangle with the diagonal."
        ),
        N_(
            "A square of True, of which only the lower triangle is kept: tril. Or "
            "compare a column of positions with a row of positions."
        ),
    ),
    right_answer=solutions.causal_mask,
    reference=causal_reference,
    make_cases=causal_cases,
    properties=(rows_of_a_causal_mask(),),
    misconceptions=causal_mask_mistakes.MISTAKES,
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
        places = torch.arange(max_len, device="cpu")
        return places[None, :] < tensor(lengths, torch.int64)[:, None]

    def extreme(name: str, *rows: list[int]) -> Case:
        return Case(name, (*large, tensor(rows, torch.bool)), "large", 1e-3)

    nothing_in_row = some(3, 4)
    nothing_in_row[1] = False
    of_heads = some(2, 3, 4, 5)
    of_heads[1, 2, 0] = of_heads[0, 0, 3] = False
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
        case("many keys", some(2, 300), (), 2, 300, 3, 1),
        case("any square", some(4, 4), (3,), 4, 4, 5, 2),
        heads := case("a head with a blind query", of_heads, (2, 3), 4, 5, 6, 2),
        replace(heads, name="heads, strided", kind="strided"),
        extreme("scores of 10,000", [1, 1, 1], [1, 0, 1]),
        extreme("rows far apart", [1, 1, 0], [1, 1, 0]),
        extreme("the large scores are hidden", [0, 0, 1], [1, 1, 0]),
    ]


masked_attention = Exercise(
    id="masked_attention",
    parameters=("q", "k", "v", "mask"),
    results=("output", "weights"),
    task=N_(
        "Attend to visible keys only: q (..., Tq, d_k), k (..., Tk, d_k), "
        "v (..., Tk, d_v) and a bool mask that broadcasts to (..., Tq, Tk), True = may "
        "attend, to (output, weights). A row with nothing to attend to gives zeros in "
        "both."
    ),
    section=WHERE_SECTION,
    difficulty=3,
    minutes=20,
    hints=(
        N_(
            "A hidden key should weigh exactly 0, and the visible ones should share "
            "the whole 1. Which score has e^score = 0?"
        ),
        N_(
            "Fill the hidden scores with -inf before the softmax: "
            "scores.masked_fill(~mask, -inf)."
        ),
        N_(
            "A row of nothing but -inf becomes nan. Find such rows with "
            "mask.any(dim=-1, keepdim=True), and decide before the softmax."
        ),
        N_(
            "scores, filled with -inf where hidden, and with 0 in empty rows; weights "
            "= softmax; weights filled with 0 in empty rows; return weights @ v, "
            "weights."
        ),
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
    misconceptions=masked_attention_mistakes.MISTAKES,
)
