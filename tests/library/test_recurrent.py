"""The recurrent encoder-decoder against explicit float64 loops, and its promises."""

import math

import pytest
import torch
from torch import Tensor

from course_lib.recurrent import (
    RecurrentEncoderDecoder,
    additive_scores,
    dot_scores,
    last_state,
)

KINDS = [None, "additive", "dot"]
PAD, BOS = 0, 1
B, S, T, D, V_SOURCE, V_TARGET = 3, 5, 4, 6, 11, 13
LENGTHS = [5, 2, 3]


def make(attention: str | None, dtype: torch.dtype = torch.float64):
    torch.manual_seed(0)
    model = RecurrentEncoderDecoder(
        V_SOURCE, D, attention=attention, target_vocab_size=V_TARGET, pad=PAD
    )
    return model.to(dtype)


def sentences() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    source = torch.randint(1, V_SOURCE, (B, S), generator=generator)
    for row, length in enumerate(LENGTHS):
        source[row, length:] = PAD
    target = torch.randint(1, V_TARGET, (B, T), generator=generator)
    target[:, 0] = BOS
    return source, target


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def gru_step(gru: torch.nn.GRU, x: list[float], h: list[float]) -> list[float]:
    """One step of a GRU, number by number, from the formulas of Cho et al. 2014."""
    W, U = gru.weight_ih_l0.tolist(), gru.weight_hh_l0.tolist()
    b, c = gru.bias_ih_l0.tolist(), gru.bias_hh_l0.tolist()
    n = len(h)

    def row(matrix, bias, vector, i):
        return bias[i] + dot(matrix[i], vector)

    new = []
    for i in range(n):
        reset = sigmoid(row(W, b, x, i) + row(U, c, h, i))
        update = sigmoid(row(W, b, x, n + i) + row(U, c, h, n + i))
        inside = row(W, b, x, 2 * n + i) + reset * row(U, c, h, 2 * n + i)
        new.append((1 - update) * math.tanh(inside) + update * h[i])
    return new


def reference(model: RecurrentEncoderDecoder, source: list[int], target: list[int]):
    """Logits and weights of one sentence by loops that never look at padding."""
    words = [word for word in source if word != PAD]
    h, states = [0.0] * D, []
    for word in words:
        h = gru_step(model.encoder, model.source_embedding.weight[word].tolist(), h)
        states.append(h)
    logits, weights = [], []
    for word in target:
        h = gru_step(model.decoder, model.target_embedding.weight[word].tolist(), h)
        if model.attention is None:
            context = states[-1]
        else:
            scores = [score(model, h, state) for state in states]
            total = sum(math.exp(s) for s in scores)
            row = [math.exp(s) / total for s in scores]
            context = [dot(row, column) for column in zip(*states, strict=True)]
            weights.append(row)
        both = h + context
        W, b = model.output.weight.tolist(), model.output.bias.tolist()
        logits.append([add + dot(row, both) for row, add in zip(W, b, strict=True)])
    return logits, weights


def score(model: RecurrentEncoderDecoder, q: list[float], k: list[float]) -> float:
    if model.attention == "dot":
        return dot(q, k)
    W_q, W_k = model.W_q.weight.tolist(), model.W_k.weight.tolist()
    v = model.v.weight[0].tolist()
    total = 0.0
    for a in range(len(v)):
        total += v[a] * math.tanh(dot(W_q[a], q) + dot(W_k[a], k))
    return total


@pytest.mark.parametrize("attention", KINDS)
def test_it_equals_loops_that_skip_padding(attention):
    model, (source, target) = make(attention), sentences()
    logits, weights = model(source, target)
    assert logits.shape == (B, T, V_TARGET)
    for row in range(B):
        words = source[row].tolist(), target[row].tolist()
        want, want_weights = reference(model, *words)
        torch.testing.assert_close(logits[row], torch.tensor(want, dtype=torch.float64))
        if attention is None:
            assert weights is None
        else:
            real = LENGTHS[row]
            want_row = torch.tensor(want_weights, dtype=torch.float64)
            torch.testing.assert_close(weights[row, :, :real], want_row)
            assert (weights[row, :, real:] == 0).all()


@pytest.mark.parametrize("attention", KINDS)
def test_padding_does_not_matter(attention):
    """Neither its amount nor what its embedding holds."""
    model, (source, target) = make(attention), sentences()
    logits, _ = model(source, target)
    wider = torch.cat([source, torch.full((B, 7), PAD)], dim=1)
    torch.testing.assert_close(model(wider, target)[0], logits)
    with torch.no_grad():
        model.source_embedding.weight[PAD] = 100.0
    torch.testing.assert_close(model(source, target)[0], logits)


@pytest.mark.parametrize("attention", KINDS)
def test_a_sentence_alone_gives_what_it_gave_in_the_batch(attention):
    model, (source, target) = make(attention), sentences()
    logits, _ = model(source, target)
    for row, length in enumerate(LENGTHS):
        alone, _ = model(source[row : row + 1, :length], target[row : row + 1])
        torch.testing.assert_close(alone[0], logits[row])


@pytest.mark.parametrize("attention", KINDS)
def test_a_later_target_word_changes_nothing_earlier(attention):
    model, (source, target) = make(attention), sentences()
    logits, _ = model(source, target)
    changed = target.clone()
    changed[:, 2] = (changed[:, 2] + 1) % V_TARGET
    new, _ = model(source, changed)
    assert torch.equal(new[:, :2], logits[:, :2])
    assert (new[:, 2:] != logits[:, 2:]).any(dim=-1).all()


@pytest.mark.parametrize("attention", KINDS)
def test_every_visible_word_is_reached_and_every_gradient_finite(attention):
    model, (source, target) = make(attention), sentences()
    model(source, target)[0].square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
    reached = model.source_embedding.weight.grad.abs().sum(dim=1) > 0
    words = set(source.flatten().tolist()) - {PAD}
    assert words == set(reached.nonzero().flatten().tolist())


@pytest.mark.parametrize("attention", KINDS)
def test_a_sentence_of_padding_alone_is_finite_and_does_not_see_its_length(attention):
    model, (source, target) = make(attention), sentences()
    source[1] = PAD
    logits, weights = model(source, target)
    assert logits.isfinite().all()
    if weights is not None:
        assert (weights[1] == 0).all()
    shorter, _ = model(source[1:2, :2], target[1:2])
    torch.testing.assert_close(shorter[0], logits[1])
    logits.sum().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("attention", ["additive", "dot"])
def test_weights_sum_to_one(attention):
    _, weights = make(attention)(*sentences())
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, T, dtype=torch.float64))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("attention", KINDS)
def test_every_float_dtype_comes_out_as_it_went_in(attention, dtype):
    logits, weights = make(attention, dtype)(*sentences())
    assert logits.dtype == dtype
    assert logits.isfinite().all()
    assert weights is None or weights.dtype == dtype


@pytest.mark.parametrize("attention", KINDS)
def test_it_runs_on_meta(attention):
    with torch.device("meta"):
        model = RecurrentEncoderDecoder(V_SOURCE, D, attention=attention)
        source = torch.zeros(B, S, dtype=torch.long)
        target = torch.zeros(B, T, dtype=torch.long)
    logits, weights = model(source, target)
    assert logits.device.type == "meta"
    assert logits.shape == (B, T, V_SOURCE)
    assert weights is None or weights.shape == (B, T, S)


@pytest.mark.parametrize("attention", KINDS)
def test_no_tensor_is_made_on_the_default_device(attention):
    model, (source, target) = make(attention), sentences()
    want, _ = model(source, target)
    with torch.device("meta"):
        logits, _ = model(source, target)
    assert torch.equal(logits, want)


def test_the_three_have_the_same_budget():
    """Additive has two narrow matrices and a vector more; the rest is the same."""
    sizes = {kind: sum(p.numel() for p in make(kind).parameters()) for kind in KINDS}
    assert sizes[None] == sizes["dot"]
    assert sizes["additive"] == sizes["dot"] + (2 * D + 1) * (D // 4)


def test_additive_scores_equal_a_loop():
    generator = torch.Generator().manual_seed(2)
    shapes = {"q": (2, 3, 4), "k": (2, 5, 6), "W_q": (7, 4), "W_k": (7, 6), "v": (7,)}
    q, k, W_q, W_k, v = (
        torch.randn(shape, generator=generator, dtype=torch.float64)
        for shape in shapes.values()
    )
    scores = additive_scores(q, k, W_q, W_k, v)
    assert scores.shape == (2, 3, 5)
    for b in range(2):
        for i in range(3):
            for j in range(5):
                want = 0.0
                for a in range(7):
                    inside = sum(float(W_q[a, n] * q[b, i, n]) for n in range(4))
                    inside += sum(float(W_k[a, n] * k[b, j, n]) for n in range(6))
                    want += float(v[a]) * math.tanh(inside)
                assert abs(float(scores[b, i, j]) - want) < 1e-12


def test_dot_scores_equal_a_loop():
    generator = torch.Generator().manual_seed(3)
    q = torch.randn(2, 3, 4, generator=generator, dtype=torch.float64)
    k = torch.randn(2, 5, 4, generator=generator, dtype=torch.float64)
    scores = dot_scores(q, k)
    for b in range(2):
        for i in range(3):
            for j in range(5):
                want = sum(float(q[b, i, n] * k[b, j, n]) for n in range(4))
                assert abs(float(scores[b, i, j]) - want) < 1e-12


def test_last_state_is_the_one_after_the_last_real_word():
    states = torch.arange(24.0).reshape(2, 4, 3)
    visible = torch.tensor([[True, True, False, False], [True, True, True, True]])
    assert last_state(states, visible).tolist() == [[3, 4, 5], [21, 22, 23]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"attention": "multiplicative"}, "multiplicative"),
        ({"attention": ""}, "''"),
        ({"vocab_size": 0}, r"\(0, 4, 0\)"),
        ({"hidden_size": -1}, r"\(9, -1, 9\)"),
        ({"target_vocab_size": 0}, r"\(9, 4, 0\)"),
    ],
)
def test_wrong_settings_are_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        RecurrentEncoderDecoder(**({"vocab_size": 9, "hidden_size": 4} | settings))


@pytest.mark.parametrize(
    ("source", "target"),
    [((3, 5), (2, 4)), ((3,), (3, 4)), ((3, 5), (3, 4, 1)), ((3, 0), (3, 4)),
     ((3, 5), (3, 0)), ((1, 5), (3, 4))],
)  # fmt: skip
@pytest.mark.parametrize("attention", KINDS)
def test_batches_that_do_not_fit_are_refused(attention, source, target):
    model = make(attention)
    with pytest.raises(ValueError) as refusal:
        model(torch.ones(source).long(), torch.ones(target).long())
    assert str(source) in str(refusal.value)
    assert str(target) in str(refusal.value)
