"""Ways through the explorer of masks."""

from .steps import Way

WHOLE: Way = [("pick", "whole"), ("press", "Everything")]
PADDED: Way = [("pick", "padded"), ("press", "Everything")]
CACHE: Way = [("pick", "cache"), ("press", "Everything")]


def painted(before: Way, *rows: str) -> Way:
    return [*before, ("paint", rows)]


WAYS: dict[str, dict[str, Way]] = {
    "causal": {
        "board": PADDED,
        "ready": [*WHOLE, ("press", "Causal")],
        "right": painted(WHOLE, "1000", "1100", "1110", "1111"),
        "near": painted(WHOLE, "1000", "1100", "1101", "1111"),
        "causal_mask/inverted": painted(WHOLE, "0111", "0011", "0001", "0000"),
        "causal_mask/diagonal-hidden": painted(WHOLE, "0000", "1000", "1100", "1110"),
        "causal_mask/one-too-high": painted(WHOLE, "1100", "1110", "1111", "1111"),
        "causal_mask/transposed": painted(WHOLE, "1111", "0111", "0011", "0001"),
        "causal_mask/nothing-hidden": WHOLE,
        "causal_mask/only-itself": painted(WHOLE, "1000", "0100", "0010", "0001"),
    },
    "padding": {
        "board": WHOLE,
        "ready": [*PADDED, ("press", "Padding")],
        "right": painted(PADDED, *["11100"] * 5),
        "near": painted(PADDED, "11101", *["11100"] * 4),
        "padding_mask/inverted": painted(PADDED, *["00011"] * 5),
        "padding_mask/one-too-many": painted(PADDED, *["11110"] * 5),
        "padding_mask/one-too-few": painted(PADDED, *["11000"] * 5),
        "padding_mask/left-padding": painted(PADDED, *["00111"] * 5),
        "padding_mask/pairs-of-places": painted(PADDED, *["11100"] * 3, *["00000"] * 2),
        "masked_attention/query-rows-masked": painted(
            PADDED, *["11111"] * 3, *["00000"] * 2
        ),
        "masked_attention/always-causal": [*PADDED, ("press", "Causal")],
        "masked_attention/mask-ignored": PADDED,
    },
    "cache": {
        "board": WHOLE,
        "ready": [*CACHE, ("press", "Causal")],
        "right": painted(CACHE, "11110", "11111"),
        "near": painted(CACHE, "11110", "01111"),
        "causal_mask/inverted": painted(CACHE, "00001", "00000"),
        "causal_mask/diagonal-hidden": painted(CACHE, "11100", "11110"),
        "causal_mask/nothing-hidden": CACHE,
        "top-left": painted(CACHE, "10000", "11000"),
        "newest-only": painted(CACHE, "00010", "00011"),
    },
    "share": {
        "board": PADDED,
        "low": painted(WHOLE, "1111", "1111", "1110", "1111"),
        "right": painted(WHOLE, "1111", "1111", "1100", "1111"),
        "high": painted(WHOLE, "1111", "1111", "0100", "1111"),
        "hidden": painted(WHOLE, "1111", "1111", "1010", "1111"),
    },
}
