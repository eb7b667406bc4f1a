"""What solves each task of each explorer, and what makes each known mistake.

A way is a list of steps: ("pick", value) chooses a radio button, ("press", name) a
button, ("slide", label, value) sets a slider, ("check", label, on) a switch, ("key",
css, "ArrowLeft", times) presses a key there, ("paint", rows) paints the matrix, a
string of 1 and 0 a row. Each explorer has for each task the text that each way gets.
"""

from typing import Any

Way = list[tuple[Any, ...]]
WHOLE: Way = [("pick", "whole"), ("press", "Everything")]
PADDED: Way = [("pick", "padded"), ("press", "Everything")]
CACHE: Way = [("pick", "cache"), ("press", "Everything")]


def painted(before: Way, *rows: str) -> Way:
    return [*before, ("paint", rows)]


def sharpness(step: int, heat: float, divided: bool = False) -> Way:
    return [
        ("slide", "Width", step),
        ("slide", "Temperature", heat),
        ("check", "Divide the scores", divided),
    ]


def moved(*moves: tuple[str, str, int]) -> Way:
    """Move a step of the list up or down, several times."""
    return [
        ("press", f"{step}: {way}") for step, way, times in moves for _ in range(times)
    ]


SUM, SOFT = "weighted sum of the values", "softmax over the keys"
SCORES, MASK, SCALE = (
    "scores: queries times keys",
    "hide what the mask forbids",
    "divide by √d_k",
)

# explorer -> task -> key of the text -> the way there.
WAYS: dict[str, dict[str, dict[str, Way]]] = {
    "Sharpness": {
        "temperature": {
            "off": sharpness(8, 4, divided=True),
            "width": sharpness(6, 4),
            "right": sharpness(8, 4),
            "scaled_dot_product_attention/divide-by-d-k": sharpness(8, 8),
            "scaled_dot_product_attention/no-scale": sharpness(8, 0),
            "colder-is-gentler": sharpness(8, -1),
            "sharp": sharpness(8, 3),
            "flat": sharpness(8, 5),
        },
        "gradient": {
            "off": sharpness(8, 3),
            "right": sharpness(8, 2),
            "only-falls": sharpness(0, 2),
            "sharp-is-steep": sharpness(12, 2),
            "wider": sharpness(4, 2),
            "narrower": sharpness(9, 2),
        },
        "smallest": {
            "off": sharpness(6, 0, divided=True),
            "low": sharpness(0, 0),
            "right": sharpness(7, 0),
            "high": sharpness(12, 0),
        },
        "order": {
            "scores-first": [],
            "sum-last": moved((SCORES, "earlier", 2)),
            "masked_attention/after-the-softmax": moved(
                (SCORES, "earlier", 2), (SUM, "later", 3)
            ),
            "scaled_dot_product_attention/scale-after-softmax": moved(
                (SCORES, "earlier", 2), (SUM, "later", 3), (MASK, "earlier", 1)
            ),
            "right": moved(
                (SCORES, "earlier", 2), (SUM, "later", 3), (SOFT, "later", 2)
            ),
        },
    },
    "MaskPainter": {
        "causal": {
            "board": PADDED,
            "ready": [*WHOLE, ("press", "Causal")],
            "right": painted(WHOLE, "1000", "1100", "1110", "1111"),
            "near": painted(WHOLE, "1000", "1100", "1101", "1111"),
            "causal_mask/inverted": painted(WHOLE, "0111", "0011", "0001", "0000"),
            "causal_mask/diagonal-hidden": painted(
                WHOLE, "0000", "1000", "1100", "1110"
            ),
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
            "padding_mask/pairs-of-places": painted(
                PADDED, *["11100"] * 3, *["00000"] * 2
            ),
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
    },
}
