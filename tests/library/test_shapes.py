"""The shapes in the signatures are true: jaxtyping checks them while valid input runs.

Only here: switched on everywhere, it would answer bad input before the library's own
sentences do, and it stops `torch.compile(fullgraph=True)`.
"""

import subprocess
import sys
import textwrap

CODE = """
    from jaxtyping import install_import_hook
    with install_import_hook("course_lib", "beartype.beartype"):
        import torch
        from course_lib import attention, masks, positions, recurrent
    {call}
"""

VALID = """
    mask = masks.padding_mask(torch.tensor([5, 3]))
    for batch in ((), (2,), (2, 3), (2, 1, 3)):
        q, k, v = (torch.randn(*batch, *s) for s in ((4, 6), (5, 6), (5, 7)))
        for need_weights in (True, False):
            for limits in ({}, {"causal": True}, {"window": 2}):
                attention.scaled_dot_product_attention(
                    q, k, v, **limits, need_weights=need_weights
                )
    heads = attention.MultiHeadAttention(12, 3, num_kv_heads=1)
    x = torch.randn(2, 5, 12)
    heads(x, mask=mask[:, None, None, :], need_weights=True)
    heads(x[:, :4], x)
    cache = attention.KeyValueCache()
    for piece in x.split(2, dim=1):
        heads(piece, causal=True, cache=cache)
    masks.causal_mask(3, 5), masks.sliding_window_mask(5, 2)
    positions.sinusoidal_encoding(5, 7)
    positions.SinusoidalPositions(12)(x), positions.LearnedPositions(9, 12)(x)
    positions.RotaryPositions(6, "pairs")(torch.randn(2, 3, 5, 6))
    tokens = torch.ones(2, 5, dtype=torch.long)
    for kind in (None, "additive", "dot"):
        model = recurrent.RecurrentEncoderDecoder(7, 6, attention=kind)
        model(tokens, tokens[:, :4])
"""


def run(call: str) -> subprocess.CompletedProcess[str]:
    code = textwrap.dedent(CODE).format(call=textwrap.dedent(call))
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8"
    )


def test_the_shapes_in_the_signatures_hold():
    done = run(VALID)
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_hook_would_notice_a_wrong_shape():
    done = run("masks.padding_mask(torch.ones(2, 2, dtype=torch.long))")
    assert done.returncode != 0 and "jaxtyping" in done.stderr
