"""Explorer of chapter 3: how sharp is the softmax?"""

import torch
import traitlets
from torch import Tensor

from course_lib.widgets.base import FRAME, Explorer, read, script

WIDTHS = [2**i for i in range(13)]
KEYS = 64


class Sharpness(Explorer):
    """Explorer of chapter 3: how width and temperature sharpen the softmax.

    Random queries meet 64 random keys at every width from 1 to 4096. The vectors are
    the same at each width: d_k = 2 uses the first two numbers of each.

    Args:
        queries: how many queries the curves are averaged over.
        seed: of the random vectors.
    """

    chapter = 3
    _esm = script("arithmetic.js", *FRAME, "sharpness.js")
    _css = read("base.css", "frame.css", "sharpness.css")
    widths = traitlets.List(traitlets.Int()).tag(sync=True)
    key_count = traitlets.Int().tag(sync=True)
    tenths = traitlets.Bytes().tag(sync=True)  # scores x 10, int16 (B, widths, Tk)
    words = traitlets.Dict().tag(sync=True)

    def __init__(self, queries: int = 32, seed: int = 3) -> None:
        self.scores = self._scores(queries, seed)
        super().__init__(
            widths=WIDTHS,
            key_count=KEYS,
            tenths=(self.scores * 10).round().to(torch.int16).numpy().tobytes(),
            words={
                "en": "tonight the hungry cats chase small grey mice".split(),
                "ko": "오늘 밤 배고픈 고양이가 작은 회색 쥐를 쫓는다".split(),
            },
        )

    def _scores(self, queries: int, seed: int) -> Tensor:
        """Dot products at each width, to one decimal: (B, widths, Tk)."""
        generator = torch.Generator().manual_seed(seed)
        width = WIDTHS[-1]
        query = torch.randn(queries, 1, width, generator=generator)  # (B, 1, d_k)
        key = torch.randn(queries, KEYS, width, generator=generator)
        sums = (query * key).cumsum(-1)  # (B, Tk, d_k): the score at every width
        scores = sums[..., [width - 1 for width in WIDTHS]]  # (B, Tk, widths)
        return (scores.transpose(1, 2) * 10).round() / 10
