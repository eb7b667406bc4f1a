"""MultiHeadAttention: against loops, against PyTorch, with a cache, refusals."""

import copy

import pytest
import reference
import torch
from torch import nn

from course_lib.attention import (
    KeyValueCache,
    MultiHeadAttention,
    merge_heads,
    split_heads,
)
from course_lib.masks import causal_mask, padding_mask

B, T, D, H = 2, 5, 12, 3


def test_split_and_merge_are_inverse_and_keep_tokens_apart():
    """Case H18: with values 0..7, heads are swapped back before they are joined."""
    x = torch.arange(8.0).reshape(1, 2, 2, 2)  # (B, H, T, d_k)
    assert merge_heads(x).tolist() == [[[0, 1, 4, 5], [2, 3, 6, 7]]]
    tokens = torch.randn(B, T, D)
    pieces = split_heads(tokens, H)
    assert pieces.shape == (B, H, T, D // H)
    for h in range(H):
        width = D // H
        assert torch.equal(pieces[:, h], tokens[..., h * width : (h + 1) * width])
    assert torch.equal(merge_heads(pieces), tokens)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("num_heads", "num_kv_heads"), [(6, 6), (6, 2), (6, 1), (1, 1)]
)
@pytest.mark.parametrize("limits", [{}, {"causal": True}, {"window": 2}])
@pytest.mark.parametrize("need_weights", [True, False])
def test_equals_the_loops_head_by_head(
    num_heads, num_kv_heads, bias, limits, need_weights
):
    module = MultiHeadAttention(D, num_heads, num_kv_heads=num_kv_heads, bias=bias)
    x = torch.randn(B, T, D)
    mask = padding_mask(torch.tensor([5, 3]))[:, None, None, :]
    visible = mask[:, 0] & (
        reference.causal(T, T, limits.get("window")) if limits else True
    )
    want = reference.multi_head(module, x, visible.expand(B, T, T))
    output, weights = module(x, mask=mask, **limits, need_weights=need_weights)
    torch.testing.assert_close(output.double(), want, atol=1e-5, rtol=0)
    assert (weights is not None) == need_weights
    if need_weights:
        assert weights.shape == (B, num_heads, T, T)


def test_the_scale_is_that_of_one_head():
    """Case H20: head width 4 in a model of 16, one query, two keys."""
    module = MultiHeadAttention(16, 4, bias=False)
    for linear in (module.to_query, module.to_key, module.to_value):
        nn.init.eye_(linear.weight)
    x = torch.zeros(1, 2, 16)
    x[0, 0, 0] = 2.0
    _, weights = module(x, need_weights=True)
    assert weights[0, 0, 0, 0].item() == pytest.approx(0.8808, abs=1e-4)


@pytest.mark.parametrize("need_weights", [True, False])
def test_other_samples_never_matter_other_tokens_do(need_weights):
    """Case H22: batch independence, and reach within the sample."""
    module = MultiHeadAttention(D, H)
    x = torch.randn(B + 1, T, D)
    before, _ = module(x, need_weights=need_weights)
    sample, token = x.clone(), x.clone()
    sample[1] += 1.0
    token[0, 1] += 1.0
    after_sample, _ = module(sample, need_weights=need_weights)
    after_token, _ = module(token, need_weights=need_weights)
    torch.testing.assert_close(after_sample[0], before[0], atol=1e-6, rtol=0)
    assert ((after_token[0] - before[0]).abs().amax(dim=-1) > 1e-5).all()
    alone, _ = module(x[:1], need_weights=need_weights)
    torch.testing.assert_close(alone[0], before[0], atol=1e-6, rtol=0)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
def test_promise_2_case_h01_no_visible_key(training, grad, need_weights):
    """All eight modes give the bias of the output, zero weights, finite gradients."""
    module = MultiHeadAttention(4, 2).train(training)
    nn.init.normal_(module.to_output.bias)
    x = torch.randn(2, 3, 4, requires_grad=grad)
    mask = torch.tensor([[False] * 3, [True] * 3])[:, None, None, :]
    with torch.set_grad_enabled(grad):
        output, weights = module(x, mask=mask, need_weights=need_weights)
    torch.testing.assert_close(output[0], module.to_output.bias.expand(3, 4))
    assert (output[1] - module.to_output.bias).abs().amin(dim=-1).min() > 0
    if need_weights:
        assert (weights[0] == 0).all()
        torch.testing.assert_close(weights[1].sum(-1), torch.ones(2, 3))
    if grad:
        output.sum().backward()
        assert x.grad.isfinite().all()
        assert all(p.grad.isfinite().all() for p in module.parameters())


# The cache ----------------------------------------------------------------------------


@pytest.mark.parametrize("num_kv_heads", [3, 1])
@pytest.mark.parametrize("limits", [{"causal": True}, {"window": 2}])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("pieces", [[1] * 7, [4, 1, 2], [2, 5]])
def test_promise_4_decoding_with_a_cache_equals_all_at_once(
    num_kv_heads, limits, need_weights, pieces
):
    module = MultiHeadAttention(D, H, num_kv_heads=num_kv_heads)
    x = torch.randn(B, 7, D)
    want, _ = module(x, **limits)
    cache, outputs = KeyValueCache(), []
    assert len(cache) == 0
    for piece in x.split(pieces, dim=1):
        output, _ = module(piece, **limits, cache=cache, need_weights=need_weights)
        outputs.append(output)
    assert len(cache) == 7
    torch.testing.assert_close(torch.cat(outputs, 1), want, atol=1e-5, rtol=0)


def test_a_cache_of_other_sizes_is_refused_and_left_alone():
    module, cache = MultiHeadAttention(D, H), KeyValueCache()
    module(torch.randn(2, 4, D), cache=cache)
    with pytest.raises(ValueError, match=r"\(2, 3, 4, 4\).*\(3, 3, 1, 4\)"):
        module(torch.randn(3, 1, D), cache=cache)
    with pytest.raises(ValueError, match=r"\(1, 5\)"):
        module(torch.randn(2, 1, D), mask=torch.ones(1, 4).bool(), cache=cache)
    assert len(cache) == 4


# Promises -----------------------------------------------------------------------------


def test_promise_5_case_h10_dropout_is_off_in_eval_and_on_in_training():
    module = MultiHeadAttention(D, H, dropout=0.5)
    x = torch.randn(B, T, D)
    for need_weights in (True, False):
        module.eval()
        assert torch.equal(
            module(x, need_weights=need_weights)[0],
            module(x, need_weights=need_weights)[0],
        )
        module.train()
        assert not torch.equal(
            module(x, need_weights=need_weights)[0],
            module(x, need_weights=need_weights)[0],
        )


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_promise_8_equals_torch_multihead_attention(batch_first, bias, dtype, device):
    if device == "mps" and dtype == torch.float64:
        pytest.skip("MPS has no float64")
    theirs = nn.MultiheadAttention(
        D, H, bias=bias, batch_first=batch_first, device=device, dtype=dtype
    )
    if bias:  # PyTorch starts them at zero, which would hide a mistake
        nn.init.normal_(theirs.in_proj_bias)
        nn.init.normal_(theirs.out_proj.bias)
    ours = MultiHeadAttention.from_torch(theirs)
    x, y = (torch.randn(B, n, D, device=device, dtype=dtype) for n in (T, T + 2))
    hidden = ~padding_mask(torch.tensor([7, 4], device=device))
    turned = (x, y) if batch_first else (x.transpose(0, 1), y.transpose(0, 1))
    want, want_weights = theirs(
        turned[0], turned[1], turned[1], key_padding_mask=hidden,
        average_attn_weights=False,
    )  # fmt: skip
    want = want if batch_first else want.transpose(0, 1)
    output, weights = ours(x, y, mask=~hidden[:, None, None, :], need_weights=True)
    torch.testing.assert_close(output, want, atol=1e-5, rtol=0)
    torch.testing.assert_close(weights, want_weights, atol=1e-6, rtol=0)


def test_promise_8_what_torch_has_and_ours_has_not_is_refused():
    for refused in (
        {"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 7}, {"vdim": 5},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            MultiHeadAttention.from_torch(nn.MultiheadAttention(D, H, **refused))
    with pytest.raises(ValueError, match="width 7"):
        MultiHeadAttention.from_torch(nn.MultiheadAttention(D, H, kdim=7))


def test_promise_8_the_copy_is_a_copy_and_keeps_mode_and_dropout():
    theirs = nn.MultiheadAttention(D, H, dropout=0.25).eval()
    ours = MultiHeadAttention.from_torch(theirs)
    assert ours.dropout == 0.25 and not ours.training
    nn.init.zeros_(theirs.in_proj_weight)
    assert (ours.to_query.weight != 0).any()


def test_promise_8_equals_the_attention_of_a_bert():
    """The attention of a BERT as `transformers` builds it, given its weights."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=30, hidden_size=D, num_hidden_layers=1, num_attention_heads=H,
        intermediate_size=20, initializer_range=1.0, attn_implementation="eager",
    )  # fmt: skip
    bert = BertModel(config).encoder.layer[0].attention.eval()
    ours = MultiHeadAttention(D, H)
    parts = {
        ours.to_query: bert.self.query,
        ours.to_key: bert.self.key,
        ours.to_value: bert.self.value,
        ours.to_output: bert.output.dense,
    }
    for mine, theirs in parts.items():
        nn.init.normal_(theirs.bias)  # BERT starts them at zero: that would hide much
        mine.load_state_dict(theirs.state_dict())
    x, mask = torch.randn(B, T, D), padding_mask(torch.tensor([5, 3]))[:, None, None, :]
    added = torch.zeros(mask.shape).masked_fill(~mask, float("-inf"))
    context, want_weights = bert.self(x, attention_mask=added)
    output, weights = ours(x, mask=mask, need_weights=True)
    torch.testing.assert_close(output, bert.output.dense(context), atol=1e-5, rtol=0)
    torch.testing.assert_close(weights, want_weights, atol=1e-6, rtol=0)
    torch.testing.assert_close(ours(x, mask=mask)[0], output, atol=1e-5, rtol=0)


@pytest.mark.parametrize("limits", [{}, {"causal": True}, {"window": 2}])
def test_promise_9_deepcopy_and_compile_in_one_graph(limits):
    module = MultiHeadAttention(D, H).eval()
    x = torch.randn(B, T, D)
    mask = padding_mask(torch.tensor([5, 3]))[:, None, None, :]
    compiled = torch.compile(module, fullgraph=True, backend="eager")
    for need_weights in (True, False):
        want = module(x, mask=mask, **limits, need_weights=need_weights)[0]
        again = copy.deepcopy(module)(x, mask=mask, **limits)[0]
        output = compiled(x, mask=mask, **limits, need_weights=need_weights)[0]
        torch.testing.assert_close(again, want, atol=1e-6, rtol=0)
        torch.testing.assert_close(output, want, atol=1e-6, rtol=0)
    # A float mask is not looked into while compiling.
    float_mask = torch.zeros(T, T).masked_fill(~causal_mask(T), float("-inf"))
    want = module(x, mask=float_mask)[0]
    torch.testing.assert_close(compiled(x, mask=float_mask)[0], want)


@pytest.mark.parametrize("limits", [{}, {"causal": True}, {"window": 2}])
@pytest.mark.parametrize("need_weights", [True, False])
def test_promise_9_export_with_a_dynamic_batch(limits, need_weights):
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = MultiHeadAttention(D, H)

        def forward(self, x):
            return self.attention(x, **limits, need_weights=need_weights)[0]

    model, batch = Model().eval(), torch.export.Dim("batch", min=1, max=64)
    x = torch.randn(3, T, D)
    program = torch.export.export(model, (x,), dynamic_shapes=({0: batch},))
    for size in (2, 5):
        x = torch.randn(size, T, D)
        torch.testing.assert_close(program.module()(x), model(x), atol=1e-6, rtol=0)


def test_promise_9_length_1_and_non_contiguous_input():
    module = MultiHeadAttention(D, H)
    x = torch.randn(T, B, D).transpose(0, 1)
    want = reference.multi_head(module, x, torch.ones(B, T, T, dtype=torch.bool))
    torch.testing.assert_close(module(x)[0].double(), want, atol=1e-5, rtol=0)
    one = module(x[:, :1], causal=True)[0]
    value = module.to_output(module.to_value(x[:, :1]))
    torch.testing.assert_close(one, value, atol=1e-6, rtol=0)


def test_promise_10_heads_that_do_not_divide_are_named():
    for sizes, named in (
        ((12, 5), "5 heads do not divide d_model = 12"),
        ((12, 0), "0 heads"),
    ):
        with pytest.raises(ValueError, match=named):
            MultiHeadAttention(*sizes)
    with pytest.raises(ValueError, match="4 key heads do not divide 6 heads"):
        MultiHeadAttention(12, 6, num_kv_heads=4)


@pytest.mark.parametrize("shape", [(2, 5), (3, 5, 5), (5,), (2, 1, 1, 4), (3, 1, 1, 5)])
def test_promise_10_a_mask_that_could_mean_two_things_is_refused(shape):
    module = MultiHeadAttention(D, H)
    with pytest.raises(ValueError) as error:
        module(torch.randn(B, T, D), mask=torch.ones(shape, dtype=torch.bool))
    assert str(shape) in str(error.value) and "(5, 5)" in str(error.value)


def test_promise_10_tokens_of_the_wrong_size_are_named():
    module = MultiHeadAttention(D, H)
    with pytest.raises(
        ValueError, match=r"query must be \(B, T, 12\), got \(2, 5, 8\)"
    ):
        module(torch.randn(2, 5, 8))
    with pytest.raises(ValueError, match=r"\(5, 12\)"):
        module(torch.randn(5, 12))
    with pytest.raises(ValueError, match="batch"):
        module(torch.randn(2, 5, 12), torch.randn(1, 4, 12))
    with pytest.raises(ValueError, match="do not fit"):
        module(torch.randn(2, 5, 12), torch.randn(2, 4, 12), torch.randn(2, 3, 12))
