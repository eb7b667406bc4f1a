"""Matrices with their numbers in the cells: query down, key across."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from course_lib.plots.style import INK

PLAIN = ListedColormap([(0.5, 0.53, 0.57, 0.1)])
MOST_NUMBERS = 10  # columns; a wider map shows its colours alone


def heat_map(
    ax: Axes,
    numbers: Tensor,
    rows: list[str],
    columns: list[str],
    *,
    coloured: bool = True,
) -> None:
    """Draw a small matrix with its numbers in the cells.

    Args:
        ax: where to draw.
        numbers: (Tq, Tk), one row a query.
        rows: names of the queries, from top to bottom.
        columns: names of the keys, from left to right.
        coloured: True for weights, which run from 0 to 1; scores stay plain.

    Raises:
        ValueError: when the names do not fit the numbers.
    """
    if tuple(numbers.shape) != (len(rows), len(columns)):
        raise ValueError(
            f"numbers {tuple(numbers.shape)} need as many names, got {len(rows)} for "
            f"the rows and {len(columns)} for the columns"
        )
    cells = numbers.detach().tolist()
    whole = all(cell == round(cell) for row in cells for cell in row)
    colours = cells if coloured else [[0.0] * len(row) for row in cells]
    for i, row in enumerate(colours):
        for j, cell in enumerate(row):
            fill = plt.get_cmap("cividis" if coloured else PLAIN)(cell)
            ax.add_patch(Rectangle((j - 0.48, i - 0.47), 0.96, 0.94, color=fill, lw=0))
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    for i, row in enumerate(cells if len(columns) <= MOST_NUMBERS else []):
        for j, cell in enumerate(row):
            dark = coloured and cell < 0.4  # legible on the brighter dark page as well
            ink = INK if not coloured else "white" if dark else "#15181c"
            text = f"{cell:.0f}" if whole else f"{cell:.2f}"
            size = 11 if len(columns) <= 5 else 8
            ax.text(j, i, text, ha="center", va="center", color=ink, fontsize=size)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)
    for label in [*ax.get_xticklabels(), *ax.get_yticklabels()]:
        label.set_linespacing(1.45)
    ax.grid(False)
    ax.spines[:].set_visible(False)


def stages(
    maps: dict[str, tuple[Tensor, list[str]]], rows: list[str], *, coloured: str
) -> Figure:
    """Draw four stages of a computation, two by two, query down.

    Args:
        maps: title -> (numbers (Tq, n), names of the n columns).
        rows: names of the queries.
        coloured: the title of the map that holds weights.
    """
    figure, axes = plt.subplots(2, 2, figsize=(5.2, 3.9))
    for ax, (title, (numbers, columns)) in zip(axes.flat, maps.items(), strict=True):
        heat_map(ax, numbers, rows, columns, coloured=title == coloured)
        ax.set_title(title)
    for ax in axes[:, 1]:
        ax.set_yticks([])
    return figure
