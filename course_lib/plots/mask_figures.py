"""Figures of chapter 4: who may attend to whom, and what a leaking mask does."""

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from course_lib.plots.style import BLUE, GREY, ORANGE


def mask_map(ax: Axes, mask: Tensor, rows: list[str], columns: list[str]) -> None:
    """Draw a bool matrix: a full cell with a dot is True, an empty one False.

    Args:
        ax: where to draw.
        mask: (Tq, Tk) bool, one row a query.
        rows: names of the queries, from top to bottom.
        columns: names of the keys, from left to right.
    """
    for i, row in enumerate(mask.tolist()):
        for j, visible in enumerate(row):
            corner = (j - 0.46, i - 0.45)
            if visible:
                cell = Rectangle(corner, 0.92, 0.9, color=BLUE, alpha=0.45, lw=0)
                ax.plot(j, i, marker="o", color=BLUE, markersize=6)
            else:
                cell = Rectangle(corner, 0.92, 0.9, fill=False, ec=GREY, lw=0.5)
            ax.add_patch(cell)
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)


def losses(ax: Axes, results: dict[str, Any]) -> None:
    """Draw what `experiments.peeking` stored: one line a seed, dotted what is possible.

    Args:
        ax: where to draw.
        results: what `measure()` of that experiment returned.
    """
    steps = range(0, results["steps"], results["every"])
    for name, colour in (("right", BLUE), ("off by one", ORANGE)):
        for number, seed in enumerate(results["seeds"].values()):
            label = None if number else name
            ax.plot(steps, seed[name]["losses"], color=colour, label=label, lw=1.6)
    ax.axhline(math.log(results["vocab"]), color=GREY, linestyle=":", lw=1.6)
    ax.set(xlabel="step of training", ylabel="loss (nats)", ylim=(0, 4.5))
    ax.legend(title="causal mask")
