"""Scaled dot-product attention: numbers against loops, then properties, then refusals.

The promises are those of the library's design; a test carries the number of its own.
"""

import math

import pytest
import reference
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib.attention import scaled_dot_product_attention
from course_lib.masks import causal_mask, padding_mask

# (leading dimensions, Tq, Tk, d_k, d_v): all different, each also once 1.
SHAPES = [
    ((), 3, 5, 4, 2),
    ((2,), 5, 3, 4, 6),
    ((2, 3), 4, 7, 5, 6),
    ((2, 3), 7, 4, 6, 5),
    ((2, 1, 3), 4, 5, 6, 6),
    ((1,), 1, 6, 3, 2),
    ((3,), 6, 1, 1, 2),
    ((2,), 6, 6, 4, 1),
]
LIMITS = [
    {},
    {"causal": True},
    {"window": 1},
    {"window": 2},
    {"causal": True, "window": 3},
]


def random_input(batch, query_len, key_len, d_k, d_v, **kwargs) -> list[Tensor]:
    sizes = ((query_len, d_k), (key_len, d_k), (key_len, d_v))
    return [torch.randn(*batch, *size, **kwargs) for size in sizes]


def visible_keys(query_len, key_len, causal=False, window=None) -> Tensor:
    if causal or window:
        return reference.causal(query_len, key_len, window)
    return torch.ones(query_len, key_len, dtype=torch.bool)


def make_mask(kind: str, batch, query_len, key_len) -> Tensor | None:
    if kind == "none":
        return None
    if kind == "keys":  # one row for all queries, as padding
        return torch.rand(*batch[:1], *(1,) * len(batch[1:]), 1, key_len) > 0.4
    if kind == "queries":  # one column for all keys
        return torch.rand(query_len, 1) > 0.4
    if kind == "flat":
        return torch.rand(key_len) > 0.4
    mask = torch.rand(*batch, query_len, key_len) > 0.4
    if kind == "float":
        return torch.randn(query_len, key_len).masked_fill(~mask, -math.inf)
    return mask


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("kind", ["none", "keys", "queries", "flat", "full", "float"])
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_the_loops(shape, kind, limits, need_weights, monkeypatch):
    monkeypatch.setattr("course_lib.fused.BLOCK", 2)  # several blocks, small inputs
    batch, query_len, key_len, *_ = shape
    query, key, value = random_input(*shape)
    mask = make_mask(kind, batch, query_len, key_len)
    visible, added = visible_keys(query_len, key_len, **limits), None
    if kind == "float":
        visible, added = visible & (mask > -math.inf), mask.clamp(min=-1e9)
    elif mask is not None:
        visible = visible & mask
    want, want_weights = reference.attention(query, key, value, visible, added)
    output, weights = scaled_dot_product_attention(
        query, key, value, mask, **limits, need_weights=need_weights
    )
    torch.testing.assert_close(output.double(), want, atol=1e-5, rtol=0)
    if need_weights:
        torch.testing.assert_close(weights.double(), want_weights, atol=1e-6, rtol=0)
        assert (weights[~visible.expand(weights.shape)] == 0).all()
    else:
        assert weights is None


# Properties ---------------------------------------------------------------------------


@given(
    batch=st.lists(st.integers(1, 3), max_size=3),
    sizes=st.tuples(*[st.integers(1, 6)] * 4),
    seed=st.integers(0, 2**16),
)
@settings(max_examples=60, deadline=None)
def test_rows_sum_to_1_and_hidden_keys_weigh_0(batch, sizes, seed):
    torch.manual_seed(seed)
    query, key, value = random_input(batch, *sizes)
    mask = torch.rand(*batch, *sizes[:2]) > 0.5
    _, weights = scaled_dot_product_attention(query, key, value, mask)
    sums = mask.any(dim=-1).float()
    torch.testing.assert_close(weights.sum(dim=-1), sums, atol=1e-6, rtol=0)
    assert (weights[~mask] == 0).all()


@given(query_len=st.integers(1, 7), more=st.integers(0, 4), window=st.integers(0, 5))
@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("need_weights", [True, False])
def test_no_future_leaks_and_every_visible_token_reaches(
    need_weights, query_len, more, window
):
    check_leak_and_reach(need_weights, query_len, more, window, "cpu", torch.float32)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("need_weights", [True, False])
def test_case_h34_no_leak_on_this_machines_device_and_dtype(
    need_weights, dtype, device
):
    """Some builds leaked the future in half precision on a GPU, without an error."""
    for query_len, more, window in ((5, 0, 0), (3, 4, 0), (6, 0, 2)):
        check_leak_and_reach(need_weights, query_len, more, window, device, dtype)


def check_leak_and_reach(need_weights, query_len, more, window, device, dtype):
    key_len = query_len + more
    limits = {"window": window} if window else {"causal": True}
    inputs = random_input((2,), query_len, key_len, 4, 3)
    query, key, value = (x.to(device, dtype) for x in inputs)
    before, _ = scaled_dot_product_attention(
        query, key, value, **limits, need_weights=need_weights
    )
    visible = visible_keys(query_len, key_len, **limits)
    for j in range(key_len):
        other = value.clone()
        other[:, j] += 10.0
        after, _ = scaled_dot_product_attention(
            query, key, other, **limits, need_weights=need_weights
        )
        moved = (after - before).abs().amax(dim=(0, 2)) > 1e-6  # (Tq,)
        assert moved.tolist() == visible[:, j].tolist()


def test_a_sample_alone_gives_what_it_gave_in_the_batch():
    query, key, value = random_input((3, 2), 4, 5, 6, 7)
    together, _ = scaled_dot_product_attention(query, key, value)
    for b in range(3):
        alone, _ = scaled_dot_product_attention(query[b], key[b], value[b])
        torch.testing.assert_close(together[b], alone, atol=1e-6, rtol=0)


@pytest.mark.parametrize("need_weights", [True, False])
def test_padding_changes_nothing_however_much_and_whatever_it_holds(need_weights):
    lengths = torch.tensor([3, 5, 1])
    query, key, value = random_input((3,), 4, 5, 6, 2)
    results = []
    for extra, content in ((0, 0.0), (2, 7.0), (4, -1e4)):
        mask = padding_mask(lengths, 5 + extra)[:, None, :]  # (B, 1, Tk)
        junk_key, junk_value = (
            torch.full((3, extra, 6), content),
            torch.full((3, extra, 2), content),
        )
        keys = torch.cat([key, junk_key], 1).masked_fill(~mask.mT, content)
        values = torch.cat([value, junk_value], 1).masked_fill(~mask.mT, content)
        results.append(
            scaled_dot_product_attention(
                query, keys, values, mask, need_weights=need_weights
            )[0]
        )
    torch.testing.assert_close(results[0], results[1], atol=1e-6, rtol=0)
    torch.testing.assert_close(results[0], results[2], atol=1e-6, rtol=0)


def test_shuffled_tokens_give_shuffled_outputs():
    query, key, value = random_input((2,), 6, 6, 4, 3)
    order = torch.randperm(6)
    output, _ = scaled_dot_product_attention(query, key, value)
    moved, _ = scaled_dot_product_attention(
        query[:, order], key[:, order], value[:, order]
    )
    torch.testing.assert_close(moved, output[:, order], atol=1e-6, rtol=0)


def test_large_scores_stay_finite_and_right():
    query, key, value = random_input((2,), 3, 5, 4, 6)
    query = query * 1e4
    want, _ = reference.attention(query, key, value)
    for need_weights in (True, False):
        output, _ = scaled_dot_product_attention(
            query, key, value, need_weights=need_weights
        )
        torch.testing.assert_close(output.double(), want, atol=1e-3, rtol=0)


# Promise 1 ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_promise_1_integer_masks_are_refused(dtype):
    query, key, value = random_input((2,), 3, 5, 4, 6)
    with pytest.raises(ValueError, match="bool"):
        scaled_dot_product_attention(query, key, value, torch.ones(3, 5, dtype=dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
def test_promise_1_a_float_mask_of_0_and_1_is_refused(dtype):
    query, key, value = random_input((2,), 3, 5, 4, 6)
    mask = torch.ones(3, 5, dtype=dtype).tril()
    with pytest.raises(ValueError, match="hide nothing"):
        scaled_dot_product_attention(query, key, value, mask)
    with pytest.raises(ValueError, match="hide nothing"):
        scaled_dot_product_attention(query, key, value, torch.ones(3, 5))
    for fine in (torch.zeros(3, 5), mask.float() + 0.5, mask.float().log()):
        scaled_dot_product_attention(query, key, value, fine)


def test_promise_1_a_float_mask_is_not_looked_into_where_it_has_no_numbers():
    query, key, value = random_input((2,), 3, 5, 4, 6, device="meta")
    mask = torch.ones(3, 5, device="meta")
    output, _ = scaled_dot_product_attention(query, key, value, mask)
    assert output.shape == (2, 3, 6)


@pytest.mark.parametrize("need_weights", [True, False])
def test_promise_1_only_minus_infinity_hides(need_weights):
    """A row of -1e9 is not empty, also where -1e9 does not fit the dtype."""
    query, key, value = random_input((1, 2), 3, 4, 4, 4)
    mask = torch.full((3, 4), -1e9)
    mask[1] = -math.inf
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        output, _ = scaled_dot_product_attention(
            query.to(dtype), key.to(dtype), value.to(dtype), mask,
            need_weights=need_weights,
        )  # fmt: skip
        assert output.isfinite().all()
        assert (output[:, :, 1] == 0).all()
        assert (output[:, :, [0, 2]].abs().sum(-1) > 0).all()


# Promise 2 ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("kind", ["bool", "float", "keys", "causal", "window"])
def test_promise_2_a_query_that_sees_nothing_gets_zeros(
    kind, need_weights, grad, dtype, device
):
    query, key, value = (
        x.to(device, dtype).requires_grad_(grad)
        for x in random_input((2, 3), 5, 4, 6, 6)
    )
    mask, limits = torch.ones(2, 1, 5, 4, dtype=torch.bool, device=device), {}
    mask[0, 0, 2] = mask[1, 0, 4] = False
    if kind == "keys":
        mask = mask[:, :, :1].clone()
        mask[1] = False
    empty = ~mask.any(dim=-1, keepdim=True)
    if kind == "float":
        zero = torch.zeros((), dtype=dtype, device=device)
        mask = zero.masked_fill(mask.new_zeros(()), 0).expand(2, 1, 5, 4).clone()
        mask = mask.masked_fill(empty, -math.inf)
    if kind in ("causal", "window"):
        limits = {"causal": True} if kind == "causal" else {"window": 2}
        empty = empty.clone()
        empty[:, :, 0] = True  # five queries, four keys: the first sees none
    output, weights = scaled_dot_product_attention(
        query, key, value, mask, **limits, need_weights=need_weights
    )
    assert output.isfinite().all()
    rows = empty.expand(2, 3, 5, 1)[..., 0]
    assert (output[rows] == 0).all() and (output[~rows] != 0).any()
    if need_weights:
        assert (weights[rows] == 0).all() and weights.isfinite().all()
    if grad:
        output.float().pow(2).sum().backward()
        for x in (query, key, value):
            assert x.grad.isfinite().all()
            assert (x.grad != 0).any()


# Promise 3 ----------------------------------------------------------------------------


class Sizes(TorchDispatchMode):
    """Record the size of every tensor that an operation makes."""

    def __init__(self) -> None:
        super().__init__()
        self.largest, self.kernels = 0, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        results = result if isinstance(result, (tuple, list)) else (result,)
        for tensor in results:
            if isinstance(tensor, Tensor):
                self.largest = max(self.largest, tensor.untyped_storage().nbytes())
        self.kernels += "scaled_dot_product" in str(function)
        return result


LENGTH = 1024
LONG = {
    "plain": ({}, None),
    "causal": ({"causal": True}, None),
    "padding": ({}, "padding"),
    "causal with padding": ({"causal": True}, "padding"),
    "window": ({"window": 100}, None),
    "window with padding": ({"window": 100}, "padding"),
    "full mask": ({}, "full"),
    "float mask": ({}, "float"),
}


@pytest.mark.parametrize("width", [16, 8])
@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("more", [0, 64])
@pytest.mark.parametrize("name", LONG)
def test_promise_3_without_weights_no_square_is_built(name, more, train, width):
    limits, kind = LONG[name]
    key_len = LENGTH + more
    query, key, value = random_input((1, 1), LENGTH, key_len, 16, width)
    mask = None
    if kind == "padding":
        mask = padding_mask(torch.tensor([key_len - 9]), key_len)[:, None, None, :]
    if kind in ("full", "float"):
        mask = torch.rand(LENGTH, key_len) > 0.1
    if kind == "float":
        mask = torch.zeros(LENGTH, key_len).masked_fill(~mask, -math.inf)
    want, _ = scaled_dot_product_attention(query, key, value, mask, **limits)
    query.requires_grad_(train)
    with Sizes() as sizes:
        output, _ = scaled_dot_product_attention(
            query, key, value, mask, **limits, need_weights=False
        )
        if train:
            output.sum().backward()
    # Of (Tq, Tk) numbers a block's mask is 1/8, in float32; views of the mask that was
    # handed in count with it.
    given_in = 0 if mask is None else mask.untyped_storage().nbytes()
    square = LENGTH * key_len * 4
    assert sizes.largest <= max(square / 4, given_in)
    assert sizes.kernels >= 1
    torch.testing.assert_close(output, want, atol=1e-5, rtol=0)


def test_promise_3_gradients_of_both_paths_agree(monkeypatch, device):
    monkeypatch.setattr("course_lib.fused.BLOCK", 3)
    mask = padding_mask(torch.tensor([7, 5], device=device), 7)[:, None, None, :]
    for limits in LIMITS:
        grads = []
        for need_weights in (True, False):
            torch.manual_seed(1)
            x = [
                t.to(device).requires_grad_() for t in random_input((2, 3), 5, 7, 4, 6)
            ]
            output, _ = scaled_dot_product_attention(
                *x, mask, **limits, need_weights=need_weights
            )
            output.sin().sum().backward()
            grads.append([t.grad for t in x])
        for one, other in zip(*grads, strict=True):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=0)


# Promise 4 ----------------------------------------------------------------------------


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(("query_len", "key_len"), [(1, 8), (2, 5), (5, 2), (4, 4)])
def test_promise_4_the_last_query_sees_the_last_key(query_len, key_len, need_weights):
    """Case H07: with value = identity the output is the weights."""
    query, key = torch.randn(1, query_len, 3), torch.randn(1, key_len, 3)
    value = torch.eye(key_len)[None]
    output, _ = scaled_dot_product_attention(
        query, key, value, causal=True, need_weights=need_weights
    )
    assert (output[0] > 0).tolist() == reference.causal(query_len, key_len).tolist()
    assert torch.equal(
        causal_mask(query_len, key_len), reference.causal(query_len, key_len)
    )


# Promise 5 is tested with the modules; the function drops whenever it is told to.


@pytest.mark.parametrize("need_weights", [True, False])
def test_dropout_drops_and_the_weights_shown_are_those_before(need_weights):
    query, key, value = random_input((2, 3), 4, 5, 6, 6)
    want, want_weights = scaled_dot_product_attention(query, key, value)
    runs = [
        scaled_dot_product_attention(
            query, key, value, dropout=0.5, need_weights=need_weights
        )
        for _ in range(2)
    ]
    assert not torch.equal(runs[0][0], runs[1][0])
    if need_weights:
        torch.testing.assert_close(runs[0][1], want_weights)
    many = [
        scaled_dot_product_attention(query, key, value, dropout=0.5)[0]
        for _ in range(4000)
    ]
    torch.testing.assert_close(torch.stack(many).mean(0), want, atol=0.1, rtol=0)


# Promise 8 ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["none", "keys", "full", "float"])
def test_promise_8_equals_torch(kind):
    shape = ((2, 3), 4, 7, 5, 6)
    query, key, value = random_input(*shape)
    mask = make_mask(kind, *shape[:3])
    want = F.scaled_dot_product_attention(query, key, value, mask)
    if mask is not None:  # torch's answer for rows without a key is not ours to copy
        seen = mask if mask.dtype == torch.bool else mask > -math.inf
        want = want.masked_fill(~seen.any(-1, keepdim=True), 0.0)
    for need_weights in (True, False):
        output, _ = scaled_dot_product_attention(
            query, key, value, mask, need_weights=need_weights
        )
        torch.testing.assert_close(output, want, atol=1e-5, rtol=0)


# Promise 9 ----------------------------------------------------------------------------


def test_promise_9_length_1_and_non_contiguous_input():
    wide = [torch.randn(4, 3, 2, 6) for _ in range(3)]
    query, key, value = (x.permute(2, 1, 0, 3)[..., ::2] for x in wide)
    assert not query.is_contiguous()
    want, _ = reference.attention(query, key, value)
    for need_weights in (True, False):
        output, _ = scaled_dot_product_attention(
            query, key, value, need_weights=need_weights
        )
        torch.testing.assert_close(output.double(), want, atol=1e-5, rtol=0)
        one, _ = scaled_dot_product_attention(
            query[..., :1, :], key[..., :1, :], value[..., :1, :],
            need_weights=need_weights, causal=True,
        )  # fmt: skip
        torch.testing.assert_close(one, value[..., :1, :])


# Promise 10 ---------------------------------------------------------------------------

BAD = {
    "key width": ([(2, 3, 4), (2, 5, 6), (2, 5, 4)], None, "(2, 5, 6)"),
    "value length": ([(2, 3, 4), (2, 5, 4), (2, 6, 4)], None, "(2, 6, 4)"),
    "batch": ([(2, 3, 4), (1, 5, 4), (2, 5, 4)], None, "(1, 5, 4)"),
    "dimensions": ([(3, 4), (2, 5, 4), (2, 5, 4)], None, "(3, 4)"),
    "a vector": ([(4,), (5, 4), (5, 4)], None, "(4,)"),
    "mask too long": ([(2, 3, 4), (2, 5, 4), (2, 5, 4)], (3, 6), "(3, 6)"),
    "mask per batch": ([(2, 3, 4), (2, 5, 4), (2, 5, 4)], (2, 5), "(2, 5)"),
    "mask wider": ([(2, 3, 4), (2, 5, 4), (2, 5, 4)], (7, 2, 3, 5), "(7, 2, 3, 5)"),
    "mask of a batch": ([(1, 3, 4), (1, 5, 4), (1, 5, 4)], (2, 3, 5), "(2, 3, 5)"),
}


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("name", BAD)
def test_promise_10_sizes_that_do_not_fit_are_named(name, need_weights):
    shapes, mask_shape, named = BAD[name]
    query, key, value = (torch.randn(shape) for shape in shapes)
    mask = None if mask_shape is None else torch.ones(mask_shape, dtype=torch.bool)
    with pytest.raises(ValueError) as error:
        scaled_dot_product_attention(query, key, value, mask, need_weights=need_weights)
    assert named in str(error.value)


def test_promise_10_windows_and_whole_numbers_are_refused():
    query, key, value = random_input((2,), 3, 3, 4, 6)
    with pytest.raises(ValueError, match="got 0"):
        scaled_dot_product_attention(query, key, value, window=0)
    with pytest.raises(ValueError, match="int64"):
        scaled_dot_product_attention(query.long(), key.long(), value.long())
