"""Masks: True = may attend."""

import pytest
import reference
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.masks import causal_mask, padding_mask, sliding_window_mask


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.integers(0, 3))
def test_padding_mask_marks_real_tokens(lengths, extra):
    max_len = max(lengths) + extra
    mask = padding_mask(torch.tensor(lengths), max_len)
    want = [[t < length for t in range(max_len)] for length in lengths]
    assert mask.dtype == torch.bool and mask.shape == (len(lengths), max_len)
    assert mask.tolist() == want
    assert padding_mask(torch.tensor(lengths)).shape == (len(lengths), max(lengths))


@given(st.integers(1, 8), st.integers(1, 8))
def test_causal_mask_aligns_the_last_query_with_the_last_key(query_len, key_len):
    mask = causal_mask(query_len, key_len)
    assert mask.dtype == torch.bool
    assert torch.equal(mask, reference.causal(query_len, key_len))
    assert mask[-1].all()
    assert torch.equal(causal_mask(query_len), causal_mask(query_len, query_len))


@given(st.integers(1, 9), st.integers(1, 12))
def test_sliding_window_sees_itself_and_what_came_just_before(length, window):
    mask = sliding_window_mask(length, window)
    assert torch.equal(mask, reference.causal(length, length, window))
    assert mask.sum(dim=-1).tolist() == [min(t + 1, window) for t in range(length)]


def test_promise_10_bad_input_is_named():
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        padding_mask(torch.ones(2, 3, dtype=torch.long))
    with pytest.raises(ValueError, match="float32"):
        padding_mask(torch.tensor([1.0, 2.0]))
    with pytest.raises(ValueError, match="bool"):
        padding_mask(torch.tensor([True, False]))
    with pytest.raises(ValueError, match="from 0 to 4, got 5"):
        padding_mask(torch.tensor([2, 5]), 4)
    with pytest.raises(ValueError, match="got -1"):
        padding_mask(torch.tensor([2, -1]), 4)
    with pytest.raises(ValueError, match="got 0"):
        sliding_window_mask(4, 0)
    with pytest.raises(ValueError, match="-1"):
        causal_mask(-1)
