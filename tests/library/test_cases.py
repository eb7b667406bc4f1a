"""Faults that people met in attention code, each with the smallest input that shows it.

Cases that belong to one module stand in its tests: H01, H10, H18, H20, H22 with the
heads, H07 with attention, H12 to H17 with the positions.
"""

import math

import pytest
import reference
import torch
import torch.nn.functional as F

from course_lib.attention import MultiHeadAttention, scaled_dot_product_attention
from course_lib.masks import causal_mask, padding_mask


def test_case_h03_true_means_may_attend():
    """An upper-triangle mask, True = hide elsewhere, is read here as torch's own does.

    Its tell-tale: the last row sees nothing, and the future leaks into the others.
    """
    query, key, value = torch.randn(3, 1, 4, 3)
    upside_down = torch.ones(4, 4, dtype=torch.bool).triu(1)
    wrong, _ = scaled_dot_product_attention(query, key, value, upside_down)
    assert (wrong[0, 3] == 0).all()
    right, _ = scaled_dot_product_attention(query, key, value, ~upside_down)
    want, _ = reference.attention(query, key, value, reference.causal(4, 4))
    torch.testing.assert_close(right.double(), want, atol=1e-6, rtol=0)
    later = value.clone()
    later[:, 3] += 1.0
    moved, _ = scaled_dot_product_attention(query, key, later, ~upside_down)
    assert torch.equal(moved[:, :3], right[:, :3])
    assert not torch.equal(moved[:, 3], right[:, 3])


def test_case_h04_a_float_mask_of_ones_is_no_mask():
    module = MultiHeadAttention(6, 2)
    with pytest.raises(ValueError, match="hide nothing"):
        module(torch.ones(1, 3, 6), mask=torch.ones(3, 3).tril())
    for dtype in (torch.float32, torch.int64, torch.uint8):
        padding = torch.tensor([[[[0, 0, 1]]]], dtype=dtype)
        with pytest.raises(ValueError):
            module(torch.ones(1, 3, 6), mask=padding)
    _, weights = module(
        torch.ones(1, 3, 6), mask=torch.ones(3, 3).tril().bool(), need_weights=True
    )
    assert weights[0, 0, 0].tolist() == [1.0, 0.0, 0.0]


def test_case_h06_a_constant_along_a_row_changes_nothing():
    query, key, value = torch.randn(3, 2, 4, 3)
    zeros = torch.zeros(4, 4).masked_fill(~causal_mask(4), -math.inf)
    want, _ = scaled_dot_product_attention(query, key, value, causal=True)
    for visible in (0.0, 1.0, -3.0):
        for need_weights in (True, False):
            output, _ = scaled_dot_product_attention(
                query, key, value, zeros + visible, need_weights=need_weights
            )
            torch.testing.assert_close(output, want, atol=1e-6, rtol=0)


def test_case_h08_each_token_sees_itself_and_none_after_it():
    weights = scaled_dot_product_attention(*torch.zeros(3, 3, 2), causal=True)[1]
    want = [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]
    torch.testing.assert_close(weights, torch.tensor(want))
    assert causal_mask(1).tolist() == [[True]]


def test_case_h09_train_and_eval_agree_on_real_tokens_and_on_the_shape():
    module = MultiHeadAttention(8, 2)
    x, lengths = torch.randn(2, 6, 8), [3, 2]
    mask = padding_mask(torch.tensor(lengths), 6)[:, None, None, :]
    for need_weights in (True, False):
        train = module.train()(x, mask=mask, need_weights=need_weights)[0]
        with torch.no_grad():
            evaluate = module.eval()(x, mask=mask, need_weights=need_weights)[0]
        assert train.shape == evaluate.shape == (2, 6, 8)
        for b, length in enumerate(lengths):
            alone = module(x[b : b + 1, :length])[0][0]
            for got in (train, evaluate):
                torch.testing.assert_close(got[b, :length], alone, atol=1e-5, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_case_h11_masks_are_combined_once_whatever_the_dtype(dtype):
    """Padding and causal together, in half precision, and a hidden score of 2e4."""
    query, key, value = torch.randn(3, 2, 3, 5, 4).to(dtype)
    mask = padding_mask(torch.tensor([5, 2]))[:, None, None, :]
    visible = mask & reference.causal(5, 5)
    want, want_weights = reference.attention(query, key, value, visible)
    for need_weights in (True, False):
        output, weights = scaled_dot_product_attention(
            query, key, value, mask, causal=True, need_weights=need_weights
        )
        tolerance = 8 * torch.finfo(dtype).eps
        torch.testing.assert_close(output.double(), want, atol=tolerance, rtol=0)
        if need_weights:
            assert (weights[want_weights == 0] == 0).all()
    if dtype == torch.bfloat16:
        return
    query = torch.full((1, 1), 2e2, dtype=dtype)
    key = torch.tensor([[1e2], [0.0]], dtype=dtype)
    _, weights = scaled_dot_product_attention(
        query, key, key, torch.tensor([[False, True]])
    )
    assert weights.tolist() == [[0.0, 1.0]]


def test_case_h11_a_float_mask_added_to_low_scores_does_not_overflow():
    lowest = torch.finfo(torch.float16).min
    query, key = torch.full((1, 1), -2.0).half(), torch.full((3, 1), 100.0).half()
    mask = torch.tensor([[lowest, lowest, lowest]], dtype=torch.float16)
    for need_weights in (True, False):
        output, _ = scaled_dot_product_attention(
            query, key, key, mask, need_weights=need_weights
        )
        assert output.isfinite().all() and output.item() == pytest.approx(100, abs=0.1)


def test_case_h21_hidden_weights_are_0_and_rows_sum_to_1():
    """Scores 0, 5, 0 with the middle one hidden: one half each."""
    query = torch.tensor([[1.0]])
    key = torch.tensor([[0.0], [5.0], [0.0]])
    _, weights = scaled_dot_product_attention(
        query, key, key, torch.tensor([True, False, True])
    )
    assert weights.tolist() == [[0.5, 0.0, 0.5]]
    # A hidden score of 200 leaves nothing to renormalise, if it is hidden too late.
    _, weights = scaled_dot_product_attention(
        query, key * 40, key, torch.tensor([True, False, True])
    )
    assert weights.tolist() == [[0.5, 0.0, 0.5]]


def test_our_mask_is_the_one_that_torch_takes():
    query, key, value = torch.randn(3, 2, 3, 5, 4)
    mask = causal_mask(5)
    want = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    output, _ = scaled_dot_product_attention(query, key, value, mask)
    torch.testing.assert_close(output, want, atol=1e-6, rtol=0)
