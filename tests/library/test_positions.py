"""Positions: the formula, exactness, shifts, the two rotary conventions."""

import copy
import math

import pytest
import reference
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from course_lib.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    sinusoidal_encoding,
)


@given(st.integers(0, 12), st.integers(1, 11))
def test_the_table_is_the_formula(length, width):
    table = sinusoidal_encoding(length, width, dtype=torch.float64)
    assert table.shape == (length, width)
    for position in range(length):
        for channel in range(width):
            want = reference.sinusoid(position, channel, width)
            assert table[position, channel].item() == pytest.approx(want, abs=1e-12)


def test_case_h13_an_odd_width_drops_the_last_cosine():
    assert sinusoidal_encoding(4, 5)[1].tolist() == pytest.approx(
        [0.8415, 0.5403, 0.0251, 0.9997, 0.0006], abs=1e-4
    )
    assert sinusoidal_encoding(4, 4)[1].tolist() == pytest.approx(
        [0.8415, 0.5403, 0.0100, 1.0000], abs=1e-4
    )
    for width in (1, 2):
        assert sinusoidal_encoding(4, width).shape == (4, width)


@pytest.mark.parametrize("width", [64, 7])
def test_promise_6_case_h12_exact_up_to_position_5000_in_every_dtype(width, device):
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        table = sinusoidal_encoding(5001, width, device=device, dtype=dtype).cpu()
        module = SinusoidalPositions(width).to(device, dtype)
        zeros = torch.zeros(1, 5001, width, device=device, dtype=dtype)
        added = module(zeros)[0].cpu()
        for position in (0, 1, 256, 257, 599, 2048, 4999, 5000):
            for channel in range(width):
                want = reference.sinusoid(position, channel, width)
                # Within 1e-6 before the last cast, half an ulp of the dtype after it.
                slack = 1e-6 + torch.finfo(dtype).eps * abs(want) / 2
                for got in (table, added):
                    assert got[position, channel].item() == pytest.approx(
                        want, abs=slack
                    )
        distinct = {tuple(row) for row in table[:600].tolist()}
        assert len(distinct) == 600


def test_promise_7_tables_are_not_saved_and_weights_load_at_any_length():
    model = nn.Sequential(SinusoidalPositions(6), nn.Linear(6, 4))
    assert list(model.state_dict()) == ["1.weight", "1.bias"]
    assert not RotaryPositions(6).state_dict()
    other = nn.Sequential(SinusoidalPositions(6), nn.Linear(6, 4))
    model(torch.randn(1, 3, 6))
    other(torch.randn(1, 9, 6))
    other.load_state_dict(model.state_dict())
    assert model(torch.randn(2, 4000, 6)).shape == (2, 4000, 4)


@pytest.mark.parametrize("module", [SinusoidalPositions(6), LearnedPositions(9, 6)])
def test_case_h14_every_sample_gets_the_same_every_token_another(module):
    for batch, length in ((3, 4), (4, 4), (1, 4)):
        rows = module(torch.zeros(batch, length, 6))
        assert torch.equal(rows, rows[:1].expand(batch, length, 6))
        distances = torch.cdist(rows[0], rows[0]) + torch.eye(length)
        assert (distances > 1e-3).all()


@pytest.mark.parametrize(
    "module",
    [SinusoidalPositions(6), LearnedPositions(12, 6), RotaryPositions(6, "pairs"),
     RotaryPositions(6, "half")],
)  # fmt: skip
def test_case_h17_an_offset_continues_and_no_call_remembers(module):
    x = torch.randn(2, 11, 6)
    whole = module(x)
    first = module(x[:, :4])
    later = module(x[:, 7:], offset=7)
    again = module(x[:, :4])
    torch.testing.assert_close(later, whole[:, 7:], atol=1e-6, rtol=0)
    assert torch.equal(first, again)
    assert not torch.allclose(module(x[:, :4], offset=7), first)
    copied = copy.deepcopy(module)
    torch.testing.assert_close(copied(x), whole)


def test_case_h15_too_long_is_refused_before_the_look_up():
    module = LearnedPositions(4, 2)
    with pytest.raises(ValueError, match=r"sequence length 5 at offset 0 exceeds.* 4"):
        module(torch.zeros(1, 5, 2))
    with pytest.raises(ValueError, match=r"sequence length 2 at offset 3 exceeds.* 4"):
        module(torch.zeros(1, 2, 2), offset=3)
    assert module(torch.zeros(1, 4, 2)).shape == (1, 4, 2)
    # The sinusoidal one grows: no table of length 1 is spread over five tokens.
    rows = SinusoidalPositions(2)(torch.zeros(1, 5, 2))[0]
    assert len({tuple(row) for row in rows.tolist()}) == 5


def rotate(x: torch.Tensor, position: int, layout: str) -> torch.Tensor:
    """One vector turned pair by pair, in float64."""
    width = len(x)
    turned = torch.zeros(width, dtype=torch.float64)
    for i in range(width // 2):
        a, b = (i, i + width // 2) if layout == "half" else (2 * i, 2 * i + 1)
        angle = position / 10000 ** (2 * i / width)
        turned[a] = x[a] * math.cos(angle) - x[b] * math.sin(angle)
        turned[b] = x[a] * math.sin(angle) + x[b] * math.cos(angle)
    return turned


@pytest.mark.parametrize("layout", ["half", "pairs"])
def test_rotary_turns_each_pair_by_plus_its_angle(layout):
    module = RotaryPositions(6, layout)
    x = torch.randn(2, 3, 5, 6, dtype=torch.float64)
    turned = module(x, offset=3)
    for b in range(2):
        for h in range(3):
            for t in range(5):
                want = rotate(x[b, h, t], 3 + t, layout)
                torch.testing.assert_close(turned[b, h, t], want, atol=1e-12, rtol=0)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 60))
@settings(max_examples=30, deadline=None)
@pytest.mark.parametrize("layout", ["half", "pairs"])
def test_case_h16_scores_depend_on_the_distance_alone(layout, i, j, shift):
    torch.manual_seed(i)
    module = RotaryPositions(8, layout)
    q, k = torch.randn(2, 1, 8, dtype=torch.float64)
    near = module(q, i) @ module(k, j).T
    far = module(q, i + shift) @ module(k, j + shift).T
    assert near.item() == pytest.approx(far.item(), abs=1e-12)
    assert module(q, i).norm().item() == pytest.approx(q.norm().item(), abs=1e-12)


def test_case_h16_the_two_layouts_are_one_permutation_apart_and_do_not_mix():
    half, pairs = RotaryPositions(8, "half"), RotaryPositions(8, "pairs")
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    x = torch.randn(5, 8, dtype=torch.float64)
    torch.testing.assert_close(half(x[:, order]), pairs(x)[:, order])
    q, k = torch.randn(2, 1, 8, dtype=torch.float64)
    mixed = [(pairs(q, a) @ half(k, b).T).item() for a, b in ((5, 2), (13, 10))]
    assert abs(mixed[0] - mixed[1]) > 1e-3


def test_promise_6_rotary_angles_are_exact_in_half_precision():
    x = torch.ones(1, 4, dtype=torch.bfloat16)
    module = RotaryPositions(4).bfloat16()
    want = rotate(torch.ones(4, dtype=torch.float64), 4999, "half")
    got = module(x, offset=4999)[0].double()
    torch.testing.assert_close(got, want, atol=2e-2, rtol=0)


def test_dropout_of_positions_is_off_in_eval():
    module = SinusoidalPositions(6, dropout=0.5)
    x = torch.randn(2, 5, 6)
    assert not torch.equal(module(x), module(x))
    module.eval()
    assert torch.equal(module(x), module(x))


def test_learned_positions_learn():
    module = LearnedPositions(5, 3)
    module(torch.zeros(2, 4, 3), offset=1).sum().backward()
    assert module.table.grad.tolist() == [[0.0] * 3] + [[2.0] * 3] * 4


def test_promise_9_compile_and_export():
    for module in (SinusoidalPositions(6), LearnedPositions(9, 6)):
        x, batch = torch.randn(3, 5, 6), torch.export.Dim("batch", min=1, max=64)
        compiled = torch.compile(module, fullgraph=True, backend="eager")
        torch.testing.assert_close(compiled(x), module(x))
        program = torch.export.export(module, (x,), dynamic_shapes=({0: batch},))
        torch.testing.assert_close(program.module()(x[:2]), module(x[:2]))
    rotary = RotaryPositions(6)
    compiled = torch.compile(rotary, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(x, 2), rotary(x, 2))


def test_promise_10_bad_input_is_named():
    for bad in (5, 0, -2):
        with pytest.raises(ValueError, match=str(bad)):
            RotaryPositions(bad)
    with pytest.raises(ValueError, match="interleaved"):
        RotaryPositions(4, "interleaved")
    with pytest.raises(ValueError, match=r"\(2, 3, 6\)"):
        RotaryPositions(4)(torch.zeros(2, 3, 6))
    with pytest.raises(ValueError, match=r"\(3, 4\)"):
        SinusoidalPositions(4)(torch.zeros(3, 4))
    with pytest.raises(ValueError, match=r"\(2, 3, 6\)"):
        LearnedPositions(9, 4)(torch.zeros(2, 3, 6))
    with pytest.raises(ValueError, match="-1"):
        SinusoidalPositions(4)(torch.zeros(1, 3, 4), offset=-1)
    with pytest.raises(ValueError, match="width 0"):
        sinusoidal_encoding(3, 0)
