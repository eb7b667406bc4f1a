"""Cases of public reports, named by their number."""

import math

import pytest
import torch
import torch.nn.functional as F
from right_answers import MASKED, RIGHT
from torch import Tensor

from course_lib import checks
from course_lib.checks import cases as cases_module
from course_lib.checks import exercise as exercise_module


def attention(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor, fill: float):
    """Attention that fills hidden scores with a number."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(hidden, fill).softmax(dim=-1)
    return weights @ v, weights


def test_h02_padded_queries_are_masked_too() -> None:
    def rows_too(q, k, v, mask):
        if mask.dim() > 1 and q.shape[-2] == k.shape[-2]:
            mask = mask & mask.mT
        scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask, -math.inf)
        weights = scores.softmax(-1).nan_to_num(0)
        return weights @ v, weights

    report = checks.masked_attention.check(rows_too)
    assert report.status == "wrong"
    assert "should be" in report.message

    def turned(q, k, v, mask):
        return attention(q, k, v, ~mask.mT, -math.inf)

    assert not checks.masked_attention.check(turned).passed
    padding = checks.padding_mask
    real = padding.right_answer
    report = padding.check(lambda n, t: real(n, t)[:, None] & real(n, t)[:, :, None])
    assert report.diagnosis == "pairs-of-places"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_h02_a_finite_number_hides_the_empty_row(dtype: torch.dtype) -> None:
    """Filled or added, the empty row is not zero; only in float64 they differ."""

    def filled(q, k, v, mask):
        return attention(q, k, v, ~mask, -1e9)

    def added(q, k, v, mask):
        scores = q @ k.mT / math.sqrt(q.shape[-1]) + (~mask).to(q.dtype) * -1e9
        weights = scores.softmax(-1)
        return weights @ v, weights

    check = checks.masked_attention.check
    assert check(filled, dtype=dtype).diagnosis == "flat-average-on-an-empty-row"
    report = check(added, dtype=dtype)
    assert not report.passed
    if dtype == torch.float32:
        assert report.diagnosis == "flat-average-on-an-empty-row"
    else:
        assert "nothing to attend to" in report.message


def test_h02_minus_infinity_leaves_nan() -> None:
    report = checks.masked_attention.check(
        lambda q, k, v, mask: attention(q, k, v, ~mask, -math.inf)
    )
    assert report.diagnosis == "nan-on-an-empty-row"


def test_h03_true_means_the_opposite() -> None:
    def upper(length):
        return torch.ones(length, length, dtype=torch.bool).triu(1)

    def handed_on(q, k, v, mask):
        """Hands a mask with True = hidden to a function with True = visible."""
        eye = torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-1], -1)
        hidden = ~mask.expand(*q.shape[:-1], k.shape[-2])
        fused = F.scaled_dot_product_attention
        return fused(q, k, v, attn_mask=hidden), fused(q, k, eye, attn_mask=hidden)

    report = checks.causal_mask.check(upper)
    assert report.diagnosis == "inverted"
    assert report.convention
    assert "MultiheadAttention" in report.message
    assert checks.masked_attention.check(handed_on).diagnosis == "inverted"


@pytest.mark.parametrize("style", ["visible entries of 1", "finfo.min and a product"])
def test_h06_a_constant_in_a_row_is_accepted(style: str) -> None:
    assert checks.masked_attention.check(MASKED[style]).passed


@pytest.mark.parametrize(
    "style", ["a constant added to every row", "module with a list"]
)
def test_h06_other_ways_to_the_same_attention_are_accepted(style: str) -> None:
    answer = RIGHT["scaled_dot_product_attention"][style]
    assert checks.scaled_dot_product_attention.check(answer).passed


def test_h06_tril_and_triu_are_one() -> None:
    assert checks.causal_mask.check(lambda n: torch.ones(n, n).tril() != 0).passed
    assert checks.causal_mask.check(lambda n: torch.ones(n, n).triu(1) == 0).passed


def test_h06_a_mask_to_be_added_is_another_convention() -> None:
    report = checks.causal_mask.check(
        lambda n: torch.ones(n, n).tril().log() + torch.ones(n, n).tril()
    )
    assert report.diagnosis == "one-and-minus-infinity"
    assert report.convention


@pytest.mark.parametrize(
    ("diagonal", "diagnosis"), [(0, "diagonal-hidden"), (2, "one-too-high")]
)
def test_h08_diagonal_off_by_one(diagonal: int, diagnosis: str) -> None:
    def mask(length):
        return ~torch.ones(length, length, dtype=torch.bool).triu(diagonal)

    assert checks.causal_mask.check(mask).diagnosis == diagnosis


def test_h08_the_right_diagonal_passes() -> None:
    assert checks.causal_mask.check(
        lambda n: ~torch.ones(n, n, dtype=torch.bool).triu(1)
    ).passed


def test_h14_positions_along_the_batch() -> None:
    def along_the_batch(x, encoding):
        return x + encoding[: x.size(0)].unsqueeze(1)

    report = checks.add_positions.check(along_the_batch)
    assert report.diagnosis == "by-batch-index"
    assert "batch" in report.sentence


def test_h14_is_caught_where_batch_and_length_are_equal_too() -> None:
    sizes = [case.arguments[0].shape for case in checks.add_positions.cases()]
    assert any(shape[0] == shape[1] > 1 for shape in sizes)


def test_h16_the_two_layouts_are_conventions() -> None:
    """Pairs or halves: each is right with its own weights."""

    def halves(length, d_model):
        speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
        angles = torch.arange(length)[:, None] * speeds
        return torch.cat([angles.sin(), angles.cos()], -1)[:, :d_model]

    def halves_turned(k, d_model):
        speeds = 10000 ** (-torch.arange(0, d_model, 2).double() / d_model)
        cos, sin = (k * speeds).cos().diag(), (k * speeds).sin().diag()
        return torch.cat([torch.cat([cos, sin], 1), torch.cat([-sin, cos], 1)])

    report = checks.sinusoidal_encoding.check(halves)
    assert report.diagnosis == "sines-then-cosines"
    assert report.convention
    assert "Another convention" in report._repr_html_()
    report = checks.shift_matrix.check(halves_turned)
    assert report.diagnosis == "halves-instead-of-pairs"
    assert report.convention
    # and halves are consistent with themselves
    table = halves(9, 8).double()
    assert torch.allclose(halves_turned(3, 8) @ table[4], table[7], atol=1e-5)


def test_h16_the_minus_forgotten() -> None:
    def without_minus(k, d_model):
        matrix = checks.shift_matrix.right_answer(k, d_model)
        odd = torch.arange(1, d_model, 2)
        matrix[odd, odd - 1] *= -1
        return matrix

    assert checks.shift_matrix.check(without_minus).diagnosis == "minus-forgotten"


def test_h18_merged_without_swapping_back() -> None:
    def wrong(x):
        batch, heads, length, width = x.shape
        return x.contiguous().view(batch, length, heads * width)

    x = torch.arange(8.0).view(1, 2, 2, 2)
    assert wrong(x).tolist() == [[[0, 1, 2, 3], [4, 5, 6, 7]]]
    report = checks.merge_heads.check(wrong)
    assert report.diagnosis == "not-swapped-back"
    assert "[[[0, 1, 4, 5], [2, 3, 6, 7]]]" in report.message


def test_h18_heads_before_the_batch() -> None:
    """Right for a batch of one only."""

    def wrong(x):
        batch, heads, length, width = x.shape
        return x.permute(1, 2, 0, 3).reshape(batch, length, heads * width)

    assert not checks.merge_heads.check(wrong).passed


def test_h19_softmax_over_the_queries() -> None:
    def wrong(q, k, v):
        weights = F.softmax(
            torch.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5, -2
        )
        return weights @ v, weights

    report = checks.scaled_dot_product_attention.check(wrong)
    assert report.diagnosis == "softmax-over-queries"
    assert "columns" in report.message


def test_h20_scaled_by_the_model_width() -> None:
    def wrong(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
        D = x.shape[-1]
        answer = checks.multi_head_attention.right_answer
        d_k = D // num_heads
        return answer(x, W_q * (d_k / D) ** 0.5, W_k, W_v, W_o, num_heads, mask)

    report = checks.multi_head_attention.check(wrong)
    assert report.diagnosis == "scaled-by-model-width"
    assert "√H" in report.message


def test_h20_the_inverse_factor() -> None:
    def wrong(q, k, v):
        weights = (q @ k.mT / q.shape[-1] ** -0.5).softmax(-1)
        return weights @ v, weights

    report = checks.scaled_dot_product_attention.check(wrong)
    assert report.diagnosis == "multiply-by-root"


def masked_late(q, k, v, mask):
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)
    weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights


def tiny(q, k, v, mask):
    return attention(q, k, v, ~mask, -1e-12)


def twice(q, k, v, mask):
    _, weights = MASKED["nan_to_num"](q, k, v, mask)
    weights = weights.softmax(-1)
    return weights @ v, weights


def renormalised(q, k, v, mask):
    weights = masked_late(q, k, v, mask)[1]
    weights = (weights / weights.sum(-1, keepdim=True)).masked_fill(
        ~mask.any(-1, keepdim=True), 0.0
    )
    return weights @ v, weights


@pytest.mark.parametrize(
    ("answer", "diagnosis"),
    [
        (masked_late, "after-the-softmax"),
        (tiny, "hidden-scores-near-zero"),
        (twice, "softmax-twice"),
        (renormalised, "renormalised-after-the-softmax"),
    ],
)
def test_h21_four_causes_are_told_apart(answer, diagnosis: str) -> None:
    report = checks.masked_attention.check(answer)
    assert report.diagnosis == diagnosis, str(report)


def test_h21_the_wrong_sign() -> None:
    report = checks.masked_attention.check(
        lambda q, k, v, mask: attention(q, k, v, ~mask, math.inf)
    )
    assert not report.passed


def test_h22_attention_across_the_batch() -> None:
    def wrong(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
        answer = checks.multi_head_attention.right_answer
        x = x.transpose(0, 1)
        return answer(x, W_q, W_k, W_v, W_o, num_heads, mask).transpose(0, 1)

    report = checks.multi_head_attention.check(wrong)
    assert report.diagnosis == "across-the-batch"


class Apple(Tensor):
    """A tensor on a device that refuses float64, as the GPU of an Apple machine."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        given = (*args, *kwargs.values())
        if func is Tensor.double or any(each is torch.float64 for each in given):
            raise TypeError("the device does not support float64")
        if func in (Tensor.cpu, Tensor.numpy, Tensor.tolist):
            plain = [a.as_subclass(Tensor) if isinstance(a, Apple) else a for a in args]
            return func(*plain, **kwargs)
        result = super().__torch_function__(func, types, args, kwargs)
        if isinstance(result, Tensor) and result.dtype == torch.float64:
            raise TypeError("the device does not support float64")
        return result


@pytest.fixture
def apple(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every check puts its inputs on the device that refuses float64."""

    def place(case, device, dtype):
        assert case.kind != "double"
        moved = cases_module.place(case, "cpu", dtype)
        return moved.map_tensors(lambda tensor: tensor.as_subclass(Apple))

    monkeypatch.setattr(exercise_module, "place", place)
    monkeypatch.setattr(exercise_module, "has_float64", lambda device: False)


def test_h34_the_mock_refuses_float64() -> None:
    mine = torch.ones(2).as_subclass(Apple)
    for attempt in (
        lambda: mine.double(),
        lambda: mine.to(torch.float64),
        lambda: torch.add(mine, torch.ones(2, dtype=torch.float64)),
    ):
        with pytest.raises(TypeError, match="float64"):
            attempt()
    assert type(mine.cpu()) is Tensor
    assert mine.cpu().double().dtype == torch.float64


@pytest.mark.parametrize("name", checks.EXERCISES)
def test_h34_device_without_float64(name: str, apple: None) -> None:
    exercise = checks.EXERCISES[name]
    exercise._made.clear()
    try:
        report = exercise.check(exercise.right_answer, device="mps-mock")
        if name != "shift_matrix":  # has no tensor input, and may use float64 inside
            assert report.passed, str(report)
        for mistake in exercise.misconceptions[:3]:
            report = exercise.check(mistake.wrong, device="mps-mock")
            assert report.diagnosis == mistake.id, str(report)
    finally:
        exercise._made.clear()


def test_h34_a_device_that_lacks_float64_is_noticed() -> None:
    assert cases_module.has_float64("cpu")
    assert not cases_module.has_float64("no such device")
