"""Where the numbers of a tensor go, and where the heads of a model look."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from course_lib.plots.style import BLUE, GREEN, ORANGE

TOKENS = [BLUE, ORANGE, GREEN, "#a97bc9"]
GAP = 0.6  # between two heads, in cells


def storeys(levels: dict[str, Tensor], words: list[str]) -> Figure:
    """Draw tensors one above the other, each cell in the colour of its token.

    Args:
        levels: title -> whole numbers, (T, D) for tokens or (H, T, d_k) for heads. The
            tens of a number say which token it comes from, the ones its place there.
        words: the T names of the rows.
    """
    size = (5.6, 0.15 + 1.12 * len(levels))
    figure, axes = plt.subplots(len(levels), 1, figsize=size, squeeze=False)
    for ax, (title, numbers) in zip(axes[:, 0], levels.items(), strict=True):
        blocks = numbers[None] if numbers.dim() == 2 else numbers  # (H, T, d_k)
        left = 0.0 if len(blocks) > 1 else GAP * 1.5
        for block in blocks:
            _cells(ax, block, left)
            left += block.shape[-1] + GAP
        ax.set(xlim=(-0.6, 9.4), ylim=(len(words) - 0.5, -0.5))
        ax.set_title(title)
        ax.set_xticks([])
        ax.set_yticks(range(len(words)), words)
        ax.tick_params(length=0)
        ax.grid(False)
        ax.spines[:].set_visible(False)
    return figure


def _cells(ax: Axes, block: Tensor, left: float) -> None:
    """Draw one block of cells; the colour is that of the token."""
    for row, numbers in enumerate(block.long().tolist()):
        for column, number in enumerate(numbers):
            x = left + column
            colour = TOKENS[number // 10 % len(TOKENS)]
            corner = (x - 0.48, row - 0.46)
            ax.add_patch(Rectangle(corner, 0.96, 0.92, color=colour, lw=0))
            ax.text(
                x, row, f"{number:02}", ha="center", va="center_baseline", fontsize=9.5,
                color="#15181c",
            )  # fmt: skip


def looks(weights: Tensor, tokens: list[str], titles: list[str]) -> Figure:
    """Draw the weights of some heads over a sentence, too many for numbers.

    Args:
        weights: (heads, T, T), query down, key across; 0 is dark and 1 is bright.
        tokens: the T names.
        titles: one for each head.
    """
    rows = -(-len(weights) // 2)
    size = (5.2, 0.4 + 2.4 * rows)
    figure, axes = plt.subplots(rows, 2, figsize=size, sharex=True, sharey=True)
    for ax, title, head in zip(axes.flat, titles, weights, strict=True):
        ax.imshow(head.numpy(), cmap="cividis", vmin=0, vmax=1)
        ax.set_xticks(range(len(tokens)), tokens, rotation=90)
        ax.set_yticks(range(len(tokens)), tokens)
        ax.tick_params(length=0, labelsize=10)
        ax.set_title(title)
        ax.grid(False)
        ax.spines[:].set_visible(False)
    return figure
