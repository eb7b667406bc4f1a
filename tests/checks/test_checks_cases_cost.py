"""The bounds on memory and work: what they count, and what slips through no longer."""

import math

import pytest
import torch
import torch.nn.functional as F

from course_lib import checks
from course_lib.checks.work import Counter


def counted(answer, *arguments) -> tuple[int, int]:
    with Counter(arguments) as work:
        answer(*arguments)
    return work.largest, work.operations


Q, K, V = torch.randn(3, 4), torch.randn(50, 4), torch.randn(50, 2)


@pytest.mark.parametrize(
    ("answer", "operations"),
    [
        (lambda q, k, v: q @ k.T, 2 * 3 * 50 * 4),
        (lambda q, k, v: torch.einsum("id,jd->ij", q, k), 2 * 3 * 50 * 4),
        (lambda q, k, v: k @ q[0], 2 * 50 * 4),
        (lambda q, k, v: q[0] @ q[1], 2 * 4),
        (lambda q, k, v: torch.addmm(v[:3, :1], q, k.T), 2 * 3 * 50 * 4),
        (lambda q, k, v: (q[None] @ k.T[None])[0], 2 * 3 * 50 * 4),
        (lambda q, k, v: k.sum(dim=0), 50 * 4),
        (lambda q, k, v: k.expand(9, 50, 4).sum(), 9 * 50 * 4),
        (lambda q, k, v: torch.cat([k, v], dim=1), 0),
        (lambda q, k, v: k[:7].T.reshape(-1).contiguous(), 0),
        (lambda q, k, v: torch.ones(20, 20).tril(), 2 * 20 * 20),
        (lambda q, k, v: k.clone().mul_(2), 50 * 4),
    ],
)
def test_operations_are_counted(answer, operations: int) -> None:
    assert counted(answer, Q, K, V)[1] == operations


@pytest.mark.parametrize(
    ("answer", "largest"),
    [
        (lambda q, k, v: q @ k.T, 150),
        (lambda q, k, v: (q @ k.T).softmax(dim=1) @ v, 300),
        (lambda q, k, v: torch.cat([k, v], dim=1) * 2, 0),
        (lambda q, k, v: F.pad(k, (0, 0, 0, 6)) / 2, 0),
        (lambda q, k, v: q.new_zeros(50, 4).copy_(k), 0),
        (lambda q, k, v: [q @ part.T for part in k.split(10)], 150),
        (lambda q, k, v: [len(q @ part.T) for part in k.split(10)], 30),
        (lambda q, k, v: torch.zeros(3, 50).copy_(q @ k.T).exp_(), 300),
        (lambda q, k, v: (q[:, None] * k).sum(dim=-1), 3 * 50 * 4 + 150),
    ],
)
def test_scores_that_are_held_are_counted(answer, largest: int) -> None:
    assert counted(answer, Q, K, V)[0] == largest


def test_a_fused_call_counts_as_what_it_computes() -> None:
    q, k, v = (x.expand(1, 2, *x.shape).contiguous() for x in (Q, K, V.repeat(1, 2)))
    largest, operations = counted(F.scaled_dot_product_attention, q, k, v)
    assert largest >= 2 * 3 * 50
    assert operations >= 2 * 2 * 3 * 50 * (4 + 4)


def scores(q, k):
    return q @ k.T / math.sqrt(q.shape[1])


def a_list_of_all_blocks(q, k, v, block_size):
    """Blocks indeed, and all of them kept."""
    parts = [scores(q, part) for part in k.split(block_size)]
    top = torch.stack([part.amax(1) for part in parts]).amax(0)[:, None]
    powers = [(part - top).exp() for part in parts]
    total = sum(part.sum(1, keepdim=True) for part in powers)
    return sum(a @ b for a, b in zip(powers, v.split(block_size), strict=True)) / total


def a_buffer_for_all(q, k, v, block_size):
    held = q.new_zeros(len(q), len(k))
    for start in range(0, len(k), block_size):
        part = slice(start, start + block_size)
        held[:, part] = scores(q, k[part])
    return held.softmax(dim=1) @ v


def joined(q, k, v, block_size):
    parts = [scores(q, part) for part in k.split(block_size)]
    return torch.cat(parts, dim=1).softmax(dim=1) @ v


def fused(q, k, v, block_size):
    return F.scaled_dot_product_attention(q, k, v)


def fused_with_heads(q, k, v, block_size):
    one = F.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None])
    return one[0, 0]


def one_number_at_a_time(q, k, v, block_size):
    """The scores of one query as a list of numbers: all are held."""
    rows = []
    for query in q:
        row = [query @ key / math.sqrt(len(query)) for key in k]
        rows.append(torch.stack(row).softmax(0) @ v)
    return torch.stack(rows)


def elementwise(q, k, v, block_size):
    weights = ((q[:, None] * k).sum(-1) / math.sqrt(q.shape[1])).softmax(-1)
    return (weights[..., None] * v).sum(1)


@pytest.mark.parametrize(
    "answer",
    [
        a_list_of_all_blocks,
        a_buffer_for_all,
        joined,
        fused,
        fused_with_heads,
        elementwise,
    ],
)
def test_all_scores_at_once_in_any_dress(answer) -> None:
    report = checks.blockwise_attention.check(answer)
    assert not report.passed
    assert report.diagnosis == "all-scores-at-once", str(report)


def test_one_query_at_a_time_is_no_block_of_keys() -> None:
    report = checks.blockwise_attention.check(one_number_at_a_time)
    assert report.diagnosis == "bound-exceeded", str(report)
    assert "scores" in report.message
    report = checks.blockwise_attention.check(
        lambda q, k, v, block_size: torch.stack(
            [scores(query[None], k).softmax(1)[0] @ v for query in q]
        )
    )
    assert report.diagnosis == "blocks-of-queries", str(report)


def features(x):
    return F.elu(x) + 1


def prefix_loop(q, k, v):
    q, k = features(q), features(k)
    rows = []
    for t in range(len(q)):
        weights = k[: t + 1] @ q[t]
        rows.append(weights @ v[: t + 1] / weights.sum())
    return torch.stack(rows)


def sums_anew(q, k, v):
    q, k = features(q), features(k)
    rows = []
    for t in range(len(q)):
        state = k[: t + 1].T @ v[: t + 1]
        rows.append(q[t] @ state / (q[t] @ k[: t + 1].sum(0)))
    return torch.stack(rows)


def only_the_denominator_anew(q, k, v):
    q, k = features(q), features(k)
    states = (k[:, :, None] * v[:, None]).cumsum(0)
    below = [q[t] @ k[: t + 1].sum(0) for t in range(len(q))]
    return (q[:, :, None] * states).sum(1) / torch.stack(below)[:, None]


def masked(q, k, v):
    weights = features(q) @ features(k).T
    weights = weights.masked_fill(torch.ones_like(weights).triu(1) == 1, 0.0)
    return weights @ v / weights.sum(1, keepdim=True)


def triangle_for_a_sum(q, k, v):
    q, k = features(q), features(k)
    lower = torch.ones(len(q), len(q), dtype=q.dtype).tril()
    states = torch.einsum("ts,sde->tde", lower, k[:, :, None] * v[:, None])
    return (q[:, :, None] * states).sum(1) / (q * (lower @ k)).sum(1, keepdim=True)


@pytest.mark.parametrize(
    "answer",
    [prefix_loop, sums_anew, only_the_denominator_anew, masked, triangle_for_a_sum],
)
def test_quadratic_work_in_any_dress(answer) -> None:
    report = checks.linear_attention.check(answer)
    assert not report.passed
    assert report.diagnosis == "all-pairs", str(report)


def test_the_number_is_right_and_the_type_is_not() -> None:
    report = checks.attention_flops.check(lambda T, D, H: 4 * T * T * D / 1)
    assert report.diagnosis == "true-division"
    assert "number is right" in report.message
    report = checks.kv_cache_bytes.check(lambda *sizes: 2.0 * math.prod(sizes))
    assert report.diagnosis == "float-result"


def test_counting_imports_no_compiler() -> None:
    """PyTorch's compiler takes a second to import, and replaces functions."""
    assert Counter.__torch_dispatch__.__name__ == "__torch_dispatch__"
    assert not hasattr(Counter.__torch_dispatch__, "__wrapped__")
