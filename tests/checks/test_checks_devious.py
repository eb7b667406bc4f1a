"""Wrong answers that are right on most inputs, or in all but the gradient."""

import math

import pytest
import torch
import torch.nn.functional as F

from course_lib import checks
from course_lib.checks import solutions


def late(scores, mask):
    """The softmax over nothing is nan, and only the result is repaired."""
    added = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -math.inf)
    return (scores + added).softmax(dim=-1).nan_to_num(0.0)


def nan_replaced(q, k, v, mask):
    weights = late(q @ k.mT / math.sqrt(q.shape[-1]), mask)
    return weights @ v, weights


def heads(x, matrices, num_heads):
    return [solutions.split_heads(x @ W, num_heads) for W in matrices]


def nan_replaced_in_heads(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    if mask is None:
        mask = torch.ones(1, 1, dtype=torch.bool)
    q, k, v = heads(x, (W_q, W_k, W_v), num_heads)
    output = late(q @ k.mT / math.sqrt(q.shape[-1]), mask) @ v
    return solutions.merge_heads(output) @ W_o


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("masked_attention", nan_replaced),
        ("multi_head_attention", nan_replaced_in_heads),
    ],
)
def test_no_gradient_is_asked_where_a_query_sees_nothing(name, answer) -> None:
    """There a nan that is replaced later flows back; the numbers are right."""
    report = checks.EXERCISES[name].check(answer)
    assert report.passed, str(report)


def blind_in_all_heads_only(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """Zeros where no head sees anything; one blind head gets a flat average."""
    q, k, v = heads(x, (W_q, W_k, W_v), num_heads)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is None:
        return solutions.merge_heads(scores.softmax(dim=-1) @ v) @ W_o
    output = scores.masked_fill(~mask, -1e9).softmax(dim=-1) @ v
    some = mask.expand(scores.shape).any(dim=-1).any(dim=1)
    return solutions.merge_heads(output) * some[..., None] @ W_o


def test_one_blind_head_is_noticed() -> None:
    report = checks.multi_head_attention.check(blind_in_all_heads_only)
    assert not report.passed
    assert report.diagnosis is None, str(report)


def flat(tensor):
    """All leading axes as one, by a view."""
    return tensor.view(-1, *tensor.shape[-2:])


def viewed(q, k, v):
    results = solutions.scaled_dot_product_attention(*map(flat, (q, k, v)))
    return tuple(each.view(*q.shape[:-1], -1) for each in results)


def viewed_and_masked(q, k, v, mask):
    mask = mask.expand(*q.shape[:-1], k.shape[-2]).reshape(-1, *(q @ k.mT).shape[-2:])
    results = solutions.masked_attention(*map(flat, (q, k, v)), mask)
    return tuple(each.view(*q.shape[:-1], -1) for each in results)


def viewed_if_last(x, dim=-1):
    if dim != -1:
        return x.softmax(dim=dim)
    return x.view(-1, x.shape[-1]).softmax(dim=-1).view(x.shape)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("scaled_dot_product_attention", viewed),
        ("masked_attention", viewed_and_masked),
        ("softmax", viewed_if_last),
    ],
)
def test_a_view_of_leading_axes_is_noticed(name, answer) -> None:
    report = checks.EXERCISES[name].check(answer)
    assert report.diagnosis == "contiguous-only", str(report)


def test_words_beyond_the_64th_are_noticed() -> None:
    def wrong(logits, labels, pad):
        logits, labels = logits[:, :64].mT, labels[:, :64]
        return F.cross_entropy(logits, labels, ignore_index=pad)

    assert not checks.masked_loss.check(wrong).passed
