"""One style for every figure of the course.

Middle tones on a transparent ground are legible on a light page and on a dark one.
"""

from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib import font_manager

INK, GREY = "#6b7179", "#8a9099"
BLUE, ORANGE, GREEN = "#3b8fc9", "#e07b24", "#2f9e78"

# Fonts with Hangul, the best first. DejaVu Sans fills in what they lack (U+2212).
HANGUL = [
    "Noto Sans KR",
    "Noto Sans CJK KR",
    "NanumGothic",
    "Malgun Gothic",
    "Apple SD Gothic Neo",
    "AppleGothic",
]


def use_style() -> None:
    """Set the style of the course; called when `plots` is imported."""
    plt.rcParams.update(
        {
            "figure.figsize": (5.2, 3.0),
            "figure.dpi": 160,
            "figure.facecolor": "none",
            "axes.facecolor": "none",
            "savefig.transparent": True,
            "figure.constrained_layout.use": True,
            "font.family": [*hangul_fonts()[:1], "DejaVu Sans"],
            "font.size": 11,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": GREY,
            "axes.labelcolor": INK,
            "axes.titlesize": 11,
            "axes.titlecolor": INK,
            "text.color": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "axes.grid": True,
            "grid.color": GREY,
            "grid.alpha": 0.25,
            "grid.linewidth": 0.6,
            "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, GREY]),
            "legend.frameon": False,
            "legend.labelcolor": INK,
            "legend.handlelength": 1.2,
            "lines.linewidth": 2.4,
            "lines.markersize": 5,
        }
    )


def hangul_fonts() -> list[str]:
    """The fonts with Hangul that this machine has, the best first.

    The package `pylopdf-fonts-ko` carries one; it is registered where it is installed.
    """
    spec = find_spec("pylopdf_fonts_ko")
    if spec is not None and spec.origin is not None:
        for font in sorted(Path(spec.origin).parent.glob("*.otf")):
            font_manager.fontManager.addfont(font)
    families = {font.name for font in font_manager.fontManager.ttflist}
    return [name for name in HANGUL if name in families]
