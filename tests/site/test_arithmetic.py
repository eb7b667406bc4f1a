"""The one arithmetic of the explorers, in Chromium, against PyTorch.

Random inputs of different sizes on every axis, 1 among them; scores of ±1e4; rows
that see nothing.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import Browser
from site_checks import ROOT
from torch import Tensor

from course_lib.attention import MultiHeadAttention
from course_lib.masks import causal_mask, padding_mask, sliding_window_mask
from course_lib.positions import RotaryPositions, sinusoidal_encoding

CALL = """async ([name, inputs]) => window.arithmetic[name](...inputs)"""
LOAD = """async (source) => {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  window.arithmetic = await import(url);
}"""
SIZES = [(1, 1, 1, 1), (2, 3, 4, 5), (5, 3, 1, 2), (4, 7, 6, 3), (3, 1, 2, 4)]
LARGE = [1.0, 1e4]

Call = Callable[..., Any]


@pytest.fixture(scope="module")
def call(chromium: Browser) -> Iterator[Call]:
    """`call("softmax", scores, 2)`: of arithmetic.js; tensors go as lists."""
    page = chromium.new_page()
    script = ROOT / "course_lib" / "js" / "arithmetic.js"
    page.evaluate(LOAD, script.read_text(encoding="utf-8"))

    def called(name: str, *inputs: Any) -> Any:
        plain = [x.tolist() if isinstance(x, Tensor) else x for x in inputs]
        return page.evaluate(CALL, [name, plain])

    yield called
    page.close()


def draw(seed: int, *shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def close(got: Any, want: Tensor, allowed: float = 1e-5) -> None:
    got = torch.tensor(got, dtype=torch.float64)
    torch.testing.assert_close(got, want.double(), atol=allowed, rtol=allowed)


@pytest.mark.parametrize("size", [0.0, 0.1, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("divisor", [0.125, 1.0, 8.0, 1024.0])
def test_one_row(call: Call, size: float, divisor: float) -> None:
    scores = draw(round(size * 8 + divisor), 11) * size
    weights = (scores / divisor).softmax(dim=-1)
    jacobian = torch.func.jacrev(lambda s: s.softmax(dim=-1))(scores / divisor)
    close(call("softmax", scores, divisor), weights, 1e-9)
    close(call("entropy", weights), torch.special.entr(weights).sum(), 1e-9)
    close(call("slopes", weights), jacobian.diagonal(), 1e-9)
    close(call("jacobianNorm", weights), jacobian.norm(), 1e-7)
    close(call("mean", scores), scores.mean(), 1e-9)


@pytest.mark.parametrize(("rows", "inner", "columns", "_"), SIZES)
def test_matrices(call: Call, rows: int, inner: int, columns: int, _: int) -> None:
    a, b = draw(1, rows, inner), draw(2, inner, columns)
    close(call("matmul", a, b), a @ b)
    close(call("transpose", a), a.T)
    close(call("dot", a[0], b[:, 0]), a[0] @ b[:, 0])


@pytest.mark.parametrize("scale", LARGE)
@pytest.mark.parametrize(("queries", "keys", "d_k", "d_v"), SIZES)
def test_attention(
    call: Call, queries: int, keys: int, d_k: int, d_v: int, scale: float
) -> None:
    """Without a mask, and with random masks whose first row sees nothing."""
    query = draw(3, queries, d_k) * scale
    key, value = draw(4, keys, d_k), draw(5, keys, d_v)
    scores = query @ key.T / math.sqrt(d_k)
    got = call("attention", query, key, value)
    close(got["scores"], scores)
    close(got["weights"], scores.softmax(-1))
    close(got["output"], F.scaled_dot_product_attention(query, key, value))

    mask = draw(6, queries, keys) > 0
    mask[0] = False
    opened = mask | ~mask.any(-1, keepdim=True)
    weights = scores.masked_fill(~opened, -math.inf).softmax(-1)
    weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0)
    got = call("attention", query, key, value, mask)
    close(got["weights"], weights)
    close(got["output"], weights @ value)
    assert got["weights"][0] == [0] * keys
    assert got["output"][0] == [0] * d_v


@pytest.mark.parametrize("low", [-1e4, 1e4])
def test_a_hidden_score_has_no_say_however_large(call: Call, low: float) -> None:
    got = call("maskedSoftmax", [low, 3.0, 1e4], [False, True, False])
    assert got == [0, 1, 0]


def test_masks(call: Call) -> None:
    for queries, keys in [(1, 1), (4, 4), (2, 5), (3, 2)]:
        want = causal_mask(queries, keys)
        assert call("causalMask", queries, keys) == want.tolist()
    assert call("causalMask", 3) == causal_mask(3).tolist()
    for length, window in [(1, 1), (5, 2), (4, 9)]:
        want = sliding_window_mask(length, window)
        assert call("windowMask", length, window) == want.tolist()
        last = call("windowMask", 1, window, length)
        assert last == want[-1:].tolist()
    want = padding_mask(torch.tensor([3]), 5).expand(2, 5)
    assert call("paddingMask", 2, 3, 5) == want.tolist()


@pytest.mark.parametrize(("length", "width"), [(1, 1), (7, 4), (5, 3), (200, 16)])
def test_sinusoidal_positions(call: Call, length: int, width: int) -> None:
    want = sinusoidal_encoding(length, width, dtype=torch.float64)
    close(call("sinusoidal", length, width), want)


@pytest.mark.parametrize(("length", "width", "offset"), [(1, 2, 0), (5, 6, 3)])
def test_rotary_positions(call: Call, length: int, width: int, offset: int) -> None:
    x = draw(7, length, width)
    want = RotaryPositions(width, layout="pairs")(x, offset)
    close(call("rotary", x, offset), want)


@pytest.mark.parametrize(
    ("length", "width", "heads"), [(1, 4, 1), (3, 8, 2), (5, 6, 3)]
)
def test_many_heads(call: Call, length: int, width: int, heads: int) -> None:
    x = draw(8, length, width)
    split = x.reshape(length, heads, width // heads).transpose(0, 1)
    close(call("splitHeads", x, heads), split)
    close(call("mergeHeads", split), x)

    ours = MultiHeadAttention(width, heads, bias=False).double()
    mask = draw(9, length, length) > 0
    mask[0] = False
    layers = {
        "W_q": ours.to_query,
        "W_k": ours.to_key,
        "W_v": ours.to_value,
        "W_o": ours.to_output,
    }
    matrices = {name: layer.weight.T.tolist() for name, layer in layers.items()}
    with torch.no_grad():
        output, weights = ours(x[None], mask=mask, need_weights=True)
    got = call("multiHead", x, matrices, heads, mask)
    close([head["weights"] for head in got["heads"]], weights[0])
    close(got["output"], output[0])
