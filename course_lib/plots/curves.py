"""Lines and histograms."""

from matplotlib.axes import Axes
from torch import Tensor


def curves(ax: Axes, x: list[int], lines: dict[str, list[float]]) -> None:
    """Draw lines over d_k, named by coloured words.

    Args:
        ax: where to draw.
        x: the values of d_k, powers of 4.
        lines: name -> one value for each d_k; the first is blue, then orange.
    """
    for name, values in lines.items():
        ax.plot(x, values, marker="o", label=name)
    ax.set_xscale("log", base=4)
    ax.set_xticks(x[::2], [str(value) for value in x[::2]])
    ax.minorticks_off()
    ax.set_xlabel("$d_k$")
    ax.legend()


def histograms(ax: Axes, groups: dict[str, Tensor], reach: float) -> None:
    """Draw the outlines of histograms on one axis.

    Args:
        ax: where to draw.
        groups: name -> numbers, any shape.
        reach: the axis runs from -reach to reach.
    """
    for name, numbers in groups.items():
        ax.hist(
            numbers.flatten().numpy(),
            bins=60,
            range=(-reach, reach),
            density=True,
            histtype="step",
            linewidth=2,
            label=name,
        )
    ax.legend()
