"""Ways through the explorer of chapter 3."""

from .steps import Way


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

WAYS: dict[str, dict[str, Way]] = {
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
        "right": moved((SCORES, "earlier", 2), (SUM, "later", 3), (SOFT, "later", 2)),
    },
}
