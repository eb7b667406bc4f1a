"""Figures of chapter 5: positions as clock hands, rotations, and longer sentences."""

import math
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from torch import Tensor

from course_lib.plots.style import BLUE, GREEN, GREY, ORANGE

TIP = {"arrowstyle": "-|>", "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
KINDS = {
    "rotary": ("rotary", BLUE),
    "any start": ("sinusoidal,\nany start", GREEN),
    "sinusoidal": ("sinusoidal", ORANGE),
    "none": ("no positions", GREY),
}


def face(ax: Axes, reach: float = 1.15) -> None:
    """Set up the empty face of a clock, without numbers or axes.

    Args:
        ax: where to draw.
        reach: the picture ends at this distance from the middle.
    """
    ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=GREY, linewidth=0.8))
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(False)
    ax.spines[:].set_visible(False)


def clocks(encoding: Tensor, names: list[str]) -> Figure:
    """Draw each pair of columns as the hand of a clock: x is the sine, y the cosine.

    Args:
        encoding: (T, D), one row a position, D even.
        names: of the T positions.
    """
    length, pairs = encoding.shape[0], encoding.shape[1] // 2
    size = (0.54 * length + 0.8, 0.54 * pairs + 0.4)
    figure, axes = plt.subplots(pairs, length, figsize=size, squeeze=False)
    for column, (name, row) in enumerate(zip(names, encoding, strict=True)):
        axes[0, column].set_title(name)
        for i, (x, y) in enumerate(row.unflatten(0, (pairs, 2)).tolist()):
            face(axes[i, column])
            axes[i, column].annotate(
                "", (x, y), (0, 0), arrowprops=TIP | {"color": BLUE}
            )
    for i in range(pairs):
        axes[i, 0].set_ylabel(f"clock {i}", rotation=0, ha="right", va="center")
    return figure


def turned(ax: Axes, query: Tensor, key: Tensor, title: str) -> None:
    """Draw a query and a key as two hands, and the angle between them.

    Args:
        ax: where to draw.
        query, key: (2,) each, of length 1.
        title: where the two stand.
    """
    face(ax, reach=1.5)
    angles = []
    for hand, name, colour in ((query, "query", BLUE), (key, "key", ORANGE)):
        x, y = hand.tolist()
        angles.append(math.atan2(y, x))
        ax.annotate("", (x, y), (0, 0), arrowprops=TIP | {"color": colour})
        ax.text(1.25 * x, 1.25 * y, name, color=colour, ha="center", va="center")
    start, turn = angles[1], (angles[0] - angles[1]) % (2 * math.pi)
    arc = [start + turn * step / 40 for step in range(41)]
    ax.plot([0.4 * math.cos(a) for a in arc], [0.4 * math.sin(a) for a in arc], GREY)
    ax.set_title(title)


def by_length(ax: Axes, results: dict[str, Any]) -> None:
    """Draw what `experiments.beyond_length` stored: one line a seed.

    Args:
        ax: where to draw.
        results: what `measure()` of that experiment returned.
    """
    for kind, (name, colour) in KINDS.items():
        numbers = results[kind]["right"]
        lengths = [int(length) for length in numbers]
        for seed, shares in enumerate(zip(*numbers.values(), strict=True)):
            label = None if seed else name
            ax.plot(lengths, shares, marker="o", color=colour, label=label, lw=1.6)
    ax.axvline(lengths[0], color=GREY, linestyle=":", linewidth=1.4)
    ax.set_xscale("log", base=2)
    ax.set_xticks(lengths, [str(length) for length in lengths])
    ax.minorticks_off()
    ax.set(xlabel="tokens in the sentence", ylabel="share right", ylim=(-0.03, 1.05))
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
