"""Known mistakes in `blockwise_attention`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import torch
import torch.nn.functional as F

from ..cases import Limit, tensor
from ..catalogue import Catalogue
from ..language import mark as N_

BLOCK_SECTION = N_("chapter 7, Exact attention, block by block")
SCALE_SECTION = N_("chapter 3, Why divide by √d_k?")
SAFE_SECTION = N_("chapter 3, A softmax that survives large scores")

MISTAKES = Catalogue()
ZERO = tensor([[0.0]])
# Three keys of score 0 in blocks of two: the weights are 1/3 each.
THREE_KEYS = (ZERO, tensor([[0.0], [0.0], [0.0]]), tensor([[0.0], [0.0], [3.0]]), 2)
# Scores 0 and ln 3 in blocks of one: the weights are 1/4 and 3/4.
GROWING = (tensor([[1.0]]), tensor([[0.0], [math.log(3)]]), tensor([[4.0], [0.0]]), 1)
HUGE_LAST = (tensor([[1.0]]), tensor([[0.0], [2000.0]]), tensor([[1.0], [3.0]]), 1)
ALL_LOW = (tensor([[1.0]]), tensor([[-2000.0], [-2000.0]]), tensor([[1.0], [3.0]]), 1)
FAR_APART = (
    tensor([[0.0], [1.0]]),
    tensor([[2000.0], [2000.0]]),
    tensor([[1.0], [3.0]]),
    1,
)
# One query of width 2 and 200 keys, in blocks of 16.
LONG = (
    tensor([[1.0, 2.0]]),
    tensor([[math.sin(i), math.cos(i)] for i in range(200)]),
    tensor([[float(i % 7)] for i in range(200)]),
    16,
)
SIX_KEYS = (
    tensor([[1.0]]),
    tensor([[0.0], [1.0], [2.0], [0.0], [1.0], [2.0]]),
    tensor([[1.0], [0.0], [3.0], [1.0], [2.0], [0.0]]),
    2,
)


def memory(queries: int, keys: int) -> Limit:
    """Fewer numbers than all scores; blocks as long as the root of `keys` need half."""
    return Limit(
        largest=queries * keys * 9 // 10,
        sentence=N_(
            "the numbers are right, but your code holds {largest} scores (and numbers "
            "made of scores) at once. Block by block, {most} are more than enough."
        ),
    )


def at_once(queries: int, block_size: int) -> Limit:
    """The scores of one block in one operation, where keys have width 1."""
    return Limit(
        largest=queries * block_size,
        sentence=N_(
            "the numbers are right, but your code computes {largest} scores in one "
            "step. Blocks of block_size keys have {most}."
        ),
        single=True,
    )


def _parts(q, k, v, block_size):
    """Scores and values of each block."""
    for start in range(0, len(k), block_size):
        keys = k[start : start + block_size]
        yield q @ keys.T / math.sqrt(q.shape[1]), v[start : start + block_size]


def _sums(parts):
    """The running sums over all blocks: from here wrong answers are made."""
    top, total, output = torch.tensor(-math.inf), 0.0, 0.0
    for scores, values in parts:
        new_top = torch.maximum(top, scores.amax(dim=1, keepdim=True))
        powers, keep = (scores - new_top).exp(), (top - new_top).exp()
        total = keep * total + powers.sum(dim=1, keepdim=True)
        output = keep * output + powers @ values
        top = new_top
    return output / total


def _all_at_once(q, k, v):
    return (q @ k.T / math.sqrt(q.shape[1])).softmax(dim=1) @ v


@MISTAKES.add(
    N_(
        "Every block has a softmax of its own, and the results are averaged. A block "
        "whose scores are all low then counts as much as the one that holds the best "
        "key. Keep the sums, and divide once, at the end."
    ),
    THREE_KEYS,
    BLOCK_SECTION,
    "https://arxiv.org/abs/1805.02867, section 3",
)
def softmax_per_block_averaged(q, k, v, block_size):
    parts = [s.softmax(dim=1) @ values for s, values in _parts(q, k, v, block_size)]
    return torch.stack(parts).mean(dim=0)


@MISTAKES.add(
    N_(
        "Every block has a softmax of its own, and the results are averaged by the "
        "number of keys. How much a block counts depends on its scores: by the sum of "
        "its e^score."
    ),
    GROWING,
    BLOCK_SECTION,
    "https://arxiv.org/abs/1805.02867, section 3",
)
def averaged_by_number_of_keys(q, k, v, block_size):
    parts = _parts(q, k, v, block_size)
    return sum(s.softmax(1) @ values * len(values) / len(k) for s, values in parts)


@MISTAKES.add(
    N_(
        "Every block has a softmax of its own, and the results are added: the weights "
        "sum to the number of blocks. Keep the sums, and divide once, at the end."
    ),
    THREE_KEYS,
    BLOCK_SECTION,
    "https://arxiv.org/abs/1805.02867, section 3",
)
def softmax_per_block_added(q, k, v, block_size):
    return sum(s.softmax(dim=1) @ values for s, values in _parts(q, k, v, block_size))


@MISTAKES.add(
    N_(
        "When a block brings a larger maximum, the sums so far still belong to the old "
        "one. Multiply both, output and denominator, by e^(old maximum - new maximum)."
    ),
    GROWING,
    BLOCK_SECTION,
    "https://arxiv.org/abs/2205.14135, section 3.1",
)
def sums_not_rescaled(q, k, v, block_size):
    top, total, output = torch.tensor(-math.inf), 0.0, 0.0
    for scores, values in _parts(q, k, v, block_size):
        top = torch.maximum(top, scores.amax(dim=1, keepdim=True))
        powers = (scores - top).exp()
        total = total + powers.sum(dim=1, keepdim=True)
        output = output + powers @ values
    return output / total


@MISTAKES.add(
    N_(
        "When a block brings a larger maximum, the denominator is corrected, and the "
        "output is not. Multiply both by e^(old maximum - new maximum)."
    ),
    GROWING,
    BLOCK_SECTION,
    "https://arxiv.org/abs/2205.14135, section 3.1",
)
def output_not_rescaled(q, k, v, block_size):
    top, total, output = torch.tensor(-math.inf), 0.0, 0.0
    for scores, values in _parts(q, k, v, block_size):
        new_top = torch.maximum(top, scores.amax(dim=1, keepdim=True))
        powers, keep = (scores - new_top).exp(), (top - new_top).exp()
        total = keep * total + powers.sum(dim=1, keepdim=True)
        output = output + powers @ values
        top = new_top
    return output / total


@MISTAKES.add(
    N_(
        "When a block brings a larger maximum, the output is corrected, and the "
        "denominator is not. Multiply both by e^(old maximum - new maximum)."
    ),
    GROWING,
    BLOCK_SECTION,
    "https://arxiv.org/abs/2205.14135, section 3.1",
)
def denominator_not_rescaled(q, k, v, block_size):
    top, total, output = torch.tensor(-math.inf), 0.0, 0.0
    for scores, values in _parts(q, k, v, block_size):
        new_top = torch.maximum(top, scores.amax(dim=1, keepdim=True))
        powers, keep = (scores - new_top).exp(), (top - new_top).exp()
        total = total + powers.sum(dim=1, keepdim=True)
        output = keep * output + powers @ values
        top = new_top
    return output / total


@MISTAKES.add(
    N_(
        "The correction is upside down: e^(new maximum - old maximum). The old sums "
        "shrink when a larger maximum comes, e^(old maximum - new maximum)."
    ),
    GROWING,
    BLOCK_SECTION,
    "https://github.com/PaddleJitLab/CUDATutorial/issues/69",
)
def rescaled_upside_down(q, k, v, block_size):
    top, total, output = torch.tensor(-math.inf), 0.0, 0.0
    for scores, values in _parts(q, k, v, block_size):
        new_top = torch.maximum(top, scores.amax(dim=1, keepdim=True))
        powers = (scores - new_top).exp()
        keep = torch.where(top.isinf(), 0.0, (new_top - top).exp())
        total = keep * total + powers.sum(dim=1, keepdim=True)
        output = keep * output + powers @ values
        top = new_top
    return output / total


@MISTAKES.add(
    N_(
        "A last block with fewer keys is dropped: the number of blocks was rounded "
        "down."
    ),
    THREE_KEYS,
    BLOCK_SECTION,
    "https://github.com/jax-ml/jax/issues/27224",
)
def last_block_dropped(q, k, v, block_size):
    whole = len(k) // block_size * block_size
    return _sums(_parts(q, k[:whole], v[:whole], block_size))


@MISTAKES.add(
    N_(
        "A last block with fewer keys is filled up with zeros, and these count: a "
        "score of 0 is a score like any other, e^0 = 1. Hide them with -inf, or leave "
        "the block short."
    ),
    (ZERO, tensor([[0.0], [0.0], [0.0]]), tensor([[3.0], [3.0], [3.0]]), 2),
    BLOCK_SECTION,
    "https://github.com/flashinfer-ai/flashinfer/pull/5090",
)
def zeros_of_the_padding_count(q, k, v, block_size):
    missing = -len(k) % block_size
    k, v = F.pad(k, (0, 0, 0, missing)), F.pad(v, (0, 0, 0, missing))
    return _sums(_parts(q, k, v, block_size))


@MISTAKES.add(
    N_(
        "Your code fails when the number of keys is no multiple of block_size. The "
        "last block may be shorter: split and slices allow for that, view does not."
    ),
    THREE_KEYS,
    BLOCK_SECTION,
    "https://github.com/jax-ml/jax/issues/27224",
)
def whole_blocks_only(q, k, v, block_size):
    keys = k.reshape(-1, block_size, k.shape[1])
    values = v.reshape(-1, block_size, v.shape[1])
    scale = math.sqrt(q.shape[1])
    return _sums((q @ a.T / scale, b) for a, b in zip(keys, values, strict=True))


@MISTAKES.add(
    N_("The scores are not divided by √d_k."),
    (
        tensor([[2.0, 0.0, 0.0, 0.0]]),
        tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
        tensor([[1.0], [0.0]]),
        1,
    ),
    SCALE_SECTION,
    "https://arxiv.org/abs/1706.03762, section 3.2.1",
)
def no_scale(q, k, v, block_size):
    return _sums(_parts(q * math.sqrt(q.shape[1]), k, v, block_size))


@MISTAKES.add(
    N_(
        "The scores are divided by √d_v, the width of the values. It is the width of "
        "the keys that makes scores large: √d_k."
    ),
    (
        tensor([[2.0, 0.0, 0.0, 0.0]]),
        tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
        tensor([[1.0], [0.0]]),
        1,
    ),
    SCALE_SECTION,
    "classroom: the width of the wrong tensor",
)
def scaled_by_value_width(q, k, v, block_size):
    factor = math.sqrt(q.shape[1] / v.shape[1])
    return _sums(_parts(q * factor, k, v, block_size))


@MISTAKES.add(
    N_(
        "The scores are divided by √block_size. How the keys are cut must not change "
        "the result: it is √d_k."
    ),
    (
        tensor([[2.0]]),
        tensor([[1.0], [0.0], [0.0], [0.0]]),
        tensor([[1.0], [0.0], [0.0], [0.0]]),
        4,
    ),
    SCALE_SECTION,
    "classroom: the last axis of the scores taken for d_k",
)
def scaled_by_block_size(q, k, v, block_size):
    factor = math.sqrt(q.shape[1] / block_size)
    return _sums(_parts(q * factor, k, v, block_size))


@MISTAKES.add(
    N_(
        "No maximum is taken away, so e^score overflows for large scores: inf / inf is "
        "nan."
    ),
    HUGE_LAST,
    SAFE_SECTION,
    "https://arxiv.org/abs/1805.02867, section 2",
    kind="large",
)
def no_maximum(q, k, v, block_size):
    total = output = 0.0
    for scores, values in _parts(q, k, v, block_size):
        powers = scores.exp()
        total = total + powers.sum(dim=1, keepdim=True)
        output = output + powers @ values
    return output / total


@MISTAKES.add(
    N_(
        "The maximum of the first block is used for all. It overflows when a later "
        "block holds a much larger score: let the maximum grow, and correct the sums."
    ),
    HUGE_LAST,
    BLOCK_SECTION,
    "https://arxiv.org/abs/2205.14135, section 3.1",
    kind="large",
)
def maximum_of_the_first_block(q, k, v, block_size):
    top, total, output = None, 0.0, 0.0
    for scores, values in _parts(q, k, v, block_size):
        top = scores.amax(dim=1, keepdim=True) if top is None else top
        powers = (scores - top).exp()
        total = total + powers.sum(dim=1, keepdim=True)
        output = output + powers @ values
    return output / total


@MISTAKES.add(
    N_(
        "The running maximum starts at 0. When all scores lie far below, each e^score "
        "becomes 0, and 0 / 0 is nan. Start at -inf."
    ),
    ALL_LOW,
    BLOCK_SECTION,
    "https://github.com/Dao-AILab/flash-attention/issues/2082",
    kind="large",
)
def maximum_starts_at_zero(q, k, v, block_size):
    top, total, output = torch.tensor(0.0), 0.0, 0.0
    for scores, values in _parts(q, k, v, block_size):
        new_top = torch.maximum(top, scores.amax(dim=1, keepdim=True))
        powers, keep = (scores - new_top).exp(), (top - new_top).exp()
        total = keep * total + powers.sum(dim=1, keepdim=True)
        output = keep * output + powers @ values
        top = new_top
    return output / total


@MISTAKES.add(
    N_(
        "One maximum serves all queries. Where a query's own scores lie far below it, "
        "each e^score becomes 0, and 0 / 0 is nan. Every query has its own."
    ),
    FAR_APART,
    SAFE_SECTION,
    "classroom: scores.max() without dim",
    kind="large",
)
def one_maximum_for_all_queries(q, k, v, block_size):
    top, total, output = torch.tensor(-math.inf), 0.0, 0.0
    for scores, values in _parts(q, k, v, block_size):
        new_top = torch.maximum(top, scores.max())
        powers, keep = (scores - new_top).exp(), (top - new_top).exp()
        total = keep * total + powers.sum(dim=1, keepdim=True)
        output = keep * output + powers @ values
        top = new_top
    return output / total


@MISTAKES.add(
    N_(
        "The numbers are right, but the scores of all keys are held at once, for all "
        "queries: a whole matrix, a list of all blocks, or a fused call over all keys. "
        "Never more than block_size keys at once: let each block go before the next."
    ),
    LONG,
    BLOCK_SECTION,
    "https://arxiv.org/abs/2112.05682, section 2",
    limit=memory(1, 200),
)
def all_scores_at_once(q, k, v, block_size):
    return _all_at_once(q, k, v)


@MISTAKES.add(
    N_(
        "The numbers are right, but the blocks are blocks of queries: each sees the "
        "scores of all keys at once. It is the keys that come in blocks."
    ),
    LONG,
    BLOCK_SECTION,
    "https://arxiv.org/abs/2112.05682, section 2",
    limit=memory(1, 200),
)
def blocks_of_queries(q, k, v, block_size):
    return torch.cat([_all_at_once(part, k, v) for part in q.split(block_size)])


@MISTAKES.add(
    N_(
        "The numbers are right, but the blocks are blocks of queries: each sees the "
        "scores of all keys at once. It is the keys that come in blocks."
    ),
    LONG,
    BLOCK_SECTION,
    "https://arxiv.org/abs/2112.05682, section 2",
    limit=memory(1, 200),
    id="blocks-of-queries",
)
def one_query_at_a_time(q, k, v, block_size):
    return torch.cat([_all_at_once(part, k, v) for part in q.split(1)])


@MISTAKES.add(
    N_(
        "The future is hidden. This attention is not causal: every query sees every "
        "key."
    ),
    (tensor([[0.0], [0.0]]), tensor([[0.0], [0.0]]), tensor([[1.0], [3.0]]), 1),
    BLOCK_SECTION,
    "classroom: the kernel of a language model copied",
)
def causal(q, k, v, block_size):
    scores = q @ k.T / math.sqrt(q.shape[1])
    return (
        scores.masked_fill(
            torch.ones_like(scores, dtype=torch.bool).triu(1), -math.inf
        ).softmax(dim=1)
        @ v
    )


@MISTAKES.add(
    N_("Only the first block is used."),
    THREE_KEYS,
    BLOCK_SECTION,
    "classroom: return inside the loop",
)
def first_block_only(q, k, v, block_size):
    return _all_at_once(q, k[:block_size], v[:block_size])


@MISTAKES.add(
    N_(
        "The sums are never divided: the output lacks its denominator, the sum of all "
        "e^score."
    ),
    THREE_KEYS,
    BLOCK_SECTION,
    "https://arxiv.org/abs/2205.14135, section 3.1",
)
def never_divided(q, k, v, block_size):
    top, output = torch.tensor(-math.inf), 0.0
    for scores, values in _parts(q, k, v, block_size):
        new_top = torch.maximum(top, scores.amax(dim=1, keepdim=True))
        output = (top - new_top).exp() * output + (scores - new_top).exp() @ values
        top = new_top
    return output


@MISTAKES.add(
    N_(
        "The numbers are right, but block_size is taken for the number of blocks, as "
        "torch.chunk has it. It is the number of keys in one: torch.split, or slices "
        "from 0 in steps of block_size."
    ),
    SIX_KEYS,
    BLOCK_SECTION,
    "classroom: chunk and split exchanged",
    limit=at_once(1, 2),
)
def number_of_blocks(q, k, v, block_size):
    root = math.sqrt(q.shape[1])
    blocks = zip(k.chunk(block_size), v.chunk(block_size), strict=True)
    return _sums((q @ keys.T / root, values) for keys, values in blocks)


@MISTAKES.add(
    N_(
        "The scores are divided by d_k. They are divided by its root, √d_k: a sum of "
        "d_k products has a standard deviation of √d_k."
    ),
    (tensor([[2.0, 2.0]]), tensor([[0.0, 0.0], [2.0, 2.0]]), tensor([[4.0], [0.0]]), 1),
    SCALE_SECTION,
    "classroom: the root forgotten",
)
def scaled_without_the_root(q, k, v, block_size):
    return _all_at_once(q / math.sqrt(q.shape[1]), k, v)


@MISTAKES.add(
    N_(
        "Neighbouring blocks share a key: each slice is one too long, and the first "
        "key of the next block counts twice. A slice ends before its end."
    ),
    THREE_KEYS,
    BLOCK_SECTION,
    "classroom: start + block_size + 1, to include the end",
)
def blocks_overlap(q, k, v, block_size):
    starts = range(0, len(k), block_size)
    keys = torch.cat([k[i : i + block_size + 1] for i in starts])
    values = torch.cat([v[i : i + block_size + 1] for i in starts])
    return _all_at_once(q, keys, values)
