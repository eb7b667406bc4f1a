"""Promise 6: any device. A machine without a GPU shows the mistakes of one with it.

A tensor made on the CPU by accident goes unnoticed where all are on the CPU. Three
stand-ins notice it: the meta device, which has shapes and no numbers; meta as the
default device under real inputs; and a made-up accelerator in fake tensor mode, which
refuses to mix devices as a GPU does.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from torch import nn

from course_lib.attention import (
    KeyValueCache,
    MultiHeadAttention,
    scaled_dot_product_attention,
)
from course_lib.masks import causal_mask, padding_mask, sliding_window_mask
from course_lib.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    sinusoidal_encoding,
)
from course_lib.recurrent import RecurrentEncoderDecoder

LIMITS = [{}, {"causal": True}, {"window": 2}]


class NoGRU(nn.Module):
    """Stands in for a GRU: the same shapes, no time."""

    def forward(self, x, state=None):
        return x.tanh(), x[:, -1:].transpose(0, 1)


def use_everything(device: str, lengths: torch.Tensor) -> list[torch.Tensor]:
    """Run the whole library on tensors of one device; return all that comes out."""
    results = []
    batch, length, width = len(lengths), 5, 12
    mask = padding_mask(lengths, length)  # (B, T)
    x = torch.ones(batch, length, width, device=device)
    q = torch.ones(batch, 3, length, 4, device=device)
    with torch.device(device):  # new modules only: all else must follow its input
        attention = MultiHeadAttention(width, 3, num_kv_heads=1, dropout=0.1)
        learned = LearnedPositions(9, width)
        recurrent = [
            RecurrentEncoderDecoder(7, 6, attention=kind, target_vocab_size=9)
            for kind in (None, "additive", "dot")
        ]
    float_mask = mask[:, None, None, :].float().log()
    for need_weights in (True, False):
        for limits in LIMITS:
            for m in (None, mask[:, None, None, :], float_mask):
                results += scaled_dot_product_attention(
                    q, q, q[..., :2], m, **limits, need_weights=need_weights
                )
                results += attention(x, mask=m, **limits, need_weights=need_weights)
    cache = KeyValueCache()
    for piece in x.split(1, dim=1):
        results.append(attention(piece, causal=True, cache=cache)[0])
    results += [mask, SinusoidalPositions(width)(x, 3), RotaryPositions(4)(q, 2)]
    results += [learned(x, 2)]
    results += [
        causal_mask(3, 5, device=device),
        sliding_window_mask(5, 2, device=device),
        sinusoidal_encoding(5, 7, device=device),
    ]
    tokens = torch.ones(batch, length, dtype=torch.long, device=device)
    for model in recurrent:
        if device == "toy":  # torch's own GRU does not run on fake tensors
            model.encoder = model.decoder = NoGRU()
        results += model(tokens, tokens[:, :4])
    return [result for result in results if result is not None]


def test_promise_6_on_the_meta_device():
    lengths = torch.tensor([5, 3], device="meta")
    results = use_everything("meta", lengths)
    assert {str(result.device) for result in results} == {"meta"}


def test_promise_6_real_inputs_under_another_default_device():
    """A tensor made without naming its device would come out without numbers."""
    lengths = torch.tensor([5, 3])
    modules = {}
    with torch.device("cpu"):
        expected = use_everything("cpu", lengths)
        attention = MultiHeadAttention(12, 3)
        recurrent = {
            kind: RecurrentEncoderDecoder(7, 6, attention=kind)
            for kind in (None, "additive", "dot")
        }
        modules = {"learned": LearnedPositions(9, 12)}
        x = torch.randn(2, 5, 12)
        q = torch.randn(2, 3, 5, 4)
        tokens = torch.ones(2, 5, dtype=torch.long)
    assert len(expected) > 30
    results = []
    with torch.device("meta"):
        mask = padding_mask(lengths)[:, None, None, :]
        for need_weights in (True, False):
            for limits in LIMITS:
                results += scaled_dot_product_attention(
                    q, q, q, mask, **limits, need_weights=need_weights
                )
                results += attention(x, mask=mask, **limits, need_weights=need_weights)
        results += [SinusoidalPositions(12)(x), RotaryPositions(4)(q)]
        results += [modules["learned"](x), causal_mask(3, device="cpu")]
        results += [sliding_window_mask(3, 2, device="cpu")]
        for model in recurrent.values():
            results += model(tokens, tokens)
    assert {str(r.device) for r in results if r is not None} == {"cpu"}


FAKE = """
    import sys
    sys.path.insert(0, {folder!r})
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils import backend_registration
    backend_registration._setup_privateuseone_for_python_backend("toy")
    with FakeTensorMode():
        try:
            torch.ones(2, device="toy") + torch.ones(2)
        except Exception as error:
            assert "same device" in str(error), error
        else:
            raise SystemExit("mixed devices went through")
        from test_devices import use_everything
        lengths = torch.empty(2, dtype=torch.long, device="toy")
        results = use_everything("toy", lengths)
        assert {{r.device.type for r in results}} == {{"toy"}}, results
    {plant}
    print("all on toy:", len(results))
"""


def run_on_fake_accelerator(plant: str = "") -> subprocess.CompletedProcess[str]:
    folder = str(Path(__file__).parent)
    code = textwrap.dedent(FAKE.format(folder=folder, plant=plant))
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8"
    )


@pytest.mark.skipif(
    not hasattr(
        torch.utils.backend_registration, "_setup_privateuseone_for_python_backend"
    ),
    reason="this torch cannot make up an accelerator",
)
def test_promise_6_on_a_made_up_accelerator():
    done = run_on_fake_accelerator()
    assert done.returncode == 0, done.stderr[-2000:]
    assert "all on toy" in done.stdout


def test_case_h34_no_float64_reaches_a_device_that_has_none(monkeypatch):
    """Apple's GPU refuses float64: there the angles are computed on the CPU."""
    made = []
    arange = torch.arange

    def recorded(*args, dtype=None, device=None, **kwargs):
        made.append((dtype, str(device)))
        return arange(*args, dtype=dtype, device="cpu", **kwargs)

    monkeypatch.setattr(torch, "arange", recorded)
    from course_lib import positions

    angles = positions._angles(range(3), 4, "mps")
    assert angles.dtype == torch.float64
    assert made and all(device == "cpu" for dtype, device in made)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_promise_6_on_this_machines_gpu(name):
    available = (
        torch.cuda.is_available()
        if name == "cuda"
        else (torch.backends.mps.is_available())
    )
    if not available:
        pytest.skip(f"no {name} device")
    torch.manual_seed(0)
    results = use_everything(name, torch.tensor([5, 3], device=name))
    assert {result.device.type for result in results} == {name}
    assert all(r.float().isfinite().all() for r in results)
