"""Explorer of chapter 4: who may see whom?"""

from typing import Any

import traitlets

from course_lib.widgets.base import FRAME, Explorer, read, script

# What each word looks for, as its scores; it scores 0 with all others. The first four
# words have the scores of the chapter.
LOOKS_FOR: dict[str, dict[str, float]] = {
    "<pad>": {},
    "small": {"birds": 2},
    "birds": {"small": 1, "sing": 1},
    "sing": {"birds": 1, "loudly": 2, "together": 1},
    "loudly": {"sing": 2},
    "together": {"birds": 2},
}
VALUES = {  # how much each word says about who, and about how
    "<pad>": [0, 0],
    "small": [4, 0],
    "birds": [10, 0],
    "sing": [0, 4],
    "loudly": [0, 10],
    "together": [0, 6],
}
KOREAN = {
    "<pad>": "<pad>",
    "small": "작은",
    "birds": "새가",
    "sing": "노래한다",
    "loudly": "크게",
    "together": "함께",
}
# English and Korean word order, and how many of the last words are queries.
SENTENCES = {
    "whole": ("small birds sing loudly", "small birds loudly sing", 4),
    "padded": ("birds sing loudly <pad> <pad>", "birds loudly sing <pad> <pad>", 5),
    "cache": (
        "small birds sing loudly together",
        "small birds together loudly sing",
        2,
    ),
}


def _board(order: str, queries: int, names: dict[str, str]) -> dict[str, Any]:
    """Queries, keys, scores (Tq, Tk) and values (Tk, 2) of one sentence."""
    keys = order.split()
    asking = keys[len(keys) - queries :]
    return {
        "queries": [names[word] for word in asking],
        "keys": [names[word] for word in keys],
        "scores": [[LOOKS_FOR[q].get(k, 0) for k in keys] for q in asking],
        "values": [VALUES[word] for word in keys],
    }


class MaskPainter(Explorer):
    """Explorer of chapter 4: paint a mask, see the weights share themselves out anew.

    Three sentences: a whole one, one with padding, and one that is written with a
    cache, where the last two words look at all five.
    """

    chapter = 4
    _esm = script("arithmetic.js", *FRAME, "matrix.js", "mask_painter.js")
    _css = read("base.css", "frame.css", "matrix.css", "mask_painter.css")
    boards = traitlets.Dict().tag(sync=True)

    def __init__(self) -> None:
        same = {word: word for word in KOREAN}
        super().__init__(
            boards={
                name: {
                    "en": _board(english, queries, same),
                    "ko": _board(korean, queries, KOREAN),
                }
                for name, (english, korean, queries) in SENTENCES.items()
            }
        )
