"""Exercises of chapter 7: a window, blocks of keys, and running sums."""

import math
from dataclasses import replace

import torch
from torch import Tensor

from . import solutions
from .cases import Case, Draw, tensor
from .exercise import Exercise
from .language import mark as N_
from .mistakes import blockwise_attention as blockwise_attention_mistakes
from .mistakes import linear_attention as linear_attention_mistakes
from .mistakes import sliding_window_mask as sliding_window_mask_mistakes
from .mistakes.blockwise_attention import at_once, memory
from .mistakes.linear_attention import work
from .properties import every_key_counts, keys_in_any_order
from .properties.cost import (
    any_block_size,
    equal_values_come_through,
    later_tokens_leave_no_trace,
    rows_of_a_window,
    the_first_token_is_remembered,
)

WINDOW_SECTION = N_("chapter 7, A sliding window")
BLOCK_SECTION = N_("chapter 7, Exact attention, block by block")
LINEAR_SECTION = N_("chapter 7, Linear attention")

# sliding_window_mask ----------------------------------------------------------


def window_reference(length: int, window: int) -> Tensor:
    """A row sees its own column, and the window - 1 before it."""
    rows = [
        [0 <= row - column < window for column in range(length)]
        for row in range(length)
    ]
    return tensor(rows, torch.bool)


def window_cases(draw: Draw) -> list[Case]:
    """Windows shorter than the length, as long, longer; odd, even, 1."""
    sizes = [(6, 3), (7, 4), (5, 1), (1, 1), (1, 3), (4, 4), (4, 3), (3, 8), (5, 2)]
    sizes += [(8, 2), (9, 5), (300, 70), (65, 64), (2, 1)]
    sizes.append((20, int(draw.integers(2, 19, 1))))
    return [Case(f"length {n}, window {w}", (n, w)) for n, w in sizes]


sliding_window_mask = Exercise(
    id="sliding_window_mask",
    parameters=("length", "window"),
    results=("mask",),
    task=N_(
        "Let each token see itself and the window - 1 tokens before it: length and "
        "window (at least 1) to a bool mask (length, length), True where the row may "
        "attend to the column."
    ),
    section=WINDOW_SECTION,
    difficulty=2,
    minutes=10,
    hints=(
        N_(
            "Draw the mask for 5 tokens and a window of 2. How many entries of each "
            "row are True, and which is the last?"
        ),
        N_(
            "Two conditions, both of which must hold: the column is not later than the "
            "row, and it is less than `window` steps before it."
        ),
        N_(
            "ago = rows - columns, a column of positions minus a row of positions; "
            "mask = (ago >= 0) & (ago < window). Or the lower triangle, without the "
            "lower triangle that begins `window` diagonals further down."
        ),
    ),
    right_answer=solutions.sliding_window_mask,
    reference=window_reference,
    make_cases=window_cases,
    properties=(rows_of_a_window(),),
    misconceptions=sliding_window_mask_mistakes.MISTAKES,
)

# blockwise_attention ----------------------------------------------------------


def blockwise_reference(q: Tensor, k: Tensor, v: Tensor, block_size: int) -> Tensor:
    """Softmax attention, one query at a time, without any blocks."""
    outputs = []
    for query in q:
        scores = (k * query).sum(dim=1) / math.sqrt(len(query))
        powers = torch.exp(scores - scores.max().detach())
        outputs.append((powers[:, None] * v).sum(dim=0) / powers.sum())
    return torch.stack(outputs)


def blockwise_cases(draw: Draw) -> list[Case]:
    """Blocks that fit and that do not; growing scores; large ones; many keys."""

    def case(name: str, Tq: int, Tk: int, d_k: int, d_v: int, block: int) -> Case:
        q, k, v = draw.normal(Tq, d_k), draw.normal(Tk, d_k), draw.normal(Tk, d_v)
        return Case(name, (q, k, v, block))

    def large(name: str, q: Tensor, k: Tensor) -> Case:
        values = draw.normal(len(k), 3)
        return Case(name, (q, k, values, 2), "large", 1e-3)

    def long(name: str, queries: int, keys: int, block: int) -> Case:
        found = case(name, queries, keys, 2, 1, block)
        return replace(found, limit=memory(queries, keys))

    def narrow(block: int) -> Case:
        found = case(f"{block} of 40 keys", 3, 40, 1, 2, block)
        return replace(found, limit=at_once(3, block))

    steps = torch.arange(7.0, device="cpu")[:, None]  # (7, 1)
    up, both = steps * 2000 - 4000, tensor([[1.0], [-1.0]])
    return [
        case("the last block is shorter", 4, 7, 5, 3, 3),
        case("the blocks fit", 3, 8, 2, 5, 4),
        case("blocks of one key", 3, 6, 4, 2, 1),
        case("one block for all", 4, 5, 3, 2, 9),
        case("one block that fits", 2, 6, 5, 3, 6),
        case("one query", 1, 7, 3, 4, 2),
        case("one key", 3, 1, 4, 2, 2),
        case("key width one", 4, 6, 1, 3, 4),
        case("value width one", 2, 5, 3, 1, 2),
        case("equal sizes", 4, 4, 4, 4, 4),
        case("more queries than keys", 9, 4, 3, 2, 3),
        case("a hundred keys", 2, 100, 4, 3, 32),
        Case("growing scores", (tensor([[2.0]]), steps, draw.normal(7, 2), 2)),
        Case("falling scores", (tensor([[-2.0]]), steps, draw.normal(7, 2), 2)),
        large("scores up to 8,000", both, up),
        large("scores of -8,000 and below", tensor([[1.0]]), -2000 - up.abs()),
        large("rows far apart", tensor([[1.0], [0.0]]), up),
        large("close together, and large", tensor([[1.0], [2.0]]), 4000 + steps),
        long("many keys", 3, 200, 16),
        long("many keys, small blocks", 3, 200, 9),
        narrow(2),
        narrow(4),
        narrow(8),
        long("many keys, more queries than a block", 20, 80, 8),
    ]


blockwise_attention = Exercise(
    id="blockwise_attention",
    parameters=("q", "k", "v", "block_size"),
    results=("output",),
    task=N_(
        "Compute exact softmax attention, scaled by 1/√d_k and not causal, one block "
        "of keys at a time: q (Tq, d_k), k (Tk, d_k), v (Tk, d_v) and block_size to "
        "(Tq, d_v). Never hold scores of more than block_size keys at once."
    ),
    section=BLOCK_SECTION,
    difficulty=3,
    minutes=30,
    hints=(
        N_(
            "Softmax attention is a fraction: the sum of e^score · value, over the sum "
            "of e^score. Both sums can be added up block by block. What is to be done "
            "about large scores?"
        ),
        N_(
            "Take the largest score so far away from the scores. When a block brings a "
            "larger one, the sums so far were made with the old one: multiply both by "
            "e^(old - new)."
        ),
        N_(
            "top = -inf, total = 0, output = 0. For each block: new = max(top, the "
            "block's largest score), for each query its own; keep = e^(top - new)."
        ),
        N_(
            "powers = e^(scores - new); total = keep · total + powers' sum; output = "
            "keep · output + powers @ values; top = new. After the last block: output "
            "/ total."
        ),
    ),
    right_answer=solutions.blockwise_attention,
    reference=blockwise_reference,
    make_cases=blockwise_cases,
    properties=(
        any_block_size(),
        equal_values_come_through(),
        every_key_counts(),
        keys_in_any_order((1, 2), axis=-2),
    ),
    misconceptions=blockwise_attention_mistakes.MISTAKES,
)

# linear_attention -------------------------------------------------------------


def linear_reference(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Look at every pair of tokens, the present and the past of each."""

    def feature(x: Tensor) -> Tensor:
        return torch.where(x > 0, x + 1, x.clamp(max=0).exp())

    query, key = feature(q), feature(k)
    outputs = []
    for t in range(len(q)):
        weights = key[: t + 1] @ query[t]  # (t + 1,)
        outputs.append((weights[:, None] * v[: t + 1]).sum(dim=0) / weights.sum())
    return torch.stack(outputs)


def linear_cases(draw: Draw) -> list[Case]:
    """All sizes different, and each once as 1; entries up to 6; a long sentence.

    Ordinary entries are at least -1.5. At -6 a denominator is 0.000006, and float32
    rounds elu before 1 is added, which a tolerance of 1e-3 forgives.
    """

    def features(*shape: int) -> Tensor:
        return draw.normal(*shape).clamp(min=-1.5)

    def case(name: str, T: int, d: int, d_v: int) -> Case:
        return Case(name, (features(T, d), features(T, d), draw.normal(T, d_v)))

    signs = tensor([[6.0, -6.0], [-6.0, 6.0], [6.0, 6.0], [6.0, -6.0], [-6.0, 6.0]])
    low = (tensor([[-6.0]]), tensor([[-6.0]]), tensor([[3.0, 5.0]]))
    many = (torch.full((4, 1), -6.0, device="cpu"),) * 2
    wide = (signs, signs.flip(0), draw.normal(5, 3))
    return [
        case("six tokens", 6, 3, 4),
        case("five tokens", 5, 4, 2),
        case("one token", 1, 3, 2),
        case("two tokens", 2, 3, 5),
        case("width one", 6, 1, 3),
        case("value width one", 5, 3, 1),
        case("equal sizes", 4, 4, 4),
        case("more width than tokens", 3, 8, 6),
        case("70 tokens", 70, 3, 2),
        Case("entries of 6 and -6", wide, "large", 1e-3),
        Case("entries of -6", low, "large", 1e-3),
        Case("many entries of -6", (*many[:2], draw.normal(4, 2)), "large", 1e-3),
        replace(case("500 tokens", 500, 4, 1), limit=work(500)),
    ]


linear_attention = Exercise(
    id="linear_attention",
    parameters=("q", "k", "v"),
    results=("output",),
    task=N_(
        "Compute causal linear attention in time linear in T: q (T, d), k (T, d) and "
        "v (T, d_v) to (T, d_v). The weight of token j for token i is φ(q_i) · φ(k_j), "
        "divided by the sum of these over all j up to i, with φ(x) = elu(x) + 1."
    ),
    section=LINEAR_SECTION,
    difficulty=3,
    minutes=25,
    hints=(
        N_(
            "Write output i as a fraction of two sums over j. What does not depend on "
            "j can be taken out of them."
        ),
        N_(
            "φ(q_i) comes out of both sums. What is left is a sum of φ(k_j) times v_j, "
            "a (d, d_v) matrix, and a sum of φ(k_j), a vector of width d. Both grow by "
            "one term a token."
        ),
        N_(
            "query, key = elu(q) + 1, elu(k) + 1. pairs = running sum (cumsum over the "
            "tokens) of key[:, :, None] · v[:, None, :]; sums = running sum of key."
        ),
        N_(
            "above = (query[:, :, None] · pairs) summed over d; below = (query · sums) "
            "summed over d; output = above / below. A loop that carries both sums does "
            "as well."
        ),
    ),
    right_answer=solutions.linear_attention,
    reference=linear_reference,
    make_cases=linear_cases,
    properties=(
        later_tokens_leave_no_trace(),
        equal_values_come_through(),
        the_first_token_is_remembered(),
    ),
    misconceptions=linear_attention_mistakes.MISTAKES,
)
