"""Lines and histograms."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from torch import Tensor


def curves(
    ax: Axes,
    x: Sequence[int],
    lines: dict[str, list[float]],
    *,
    label: str = "$d_k$",
    log: bool = True,
) -> None:
    """Draw lines over widths or lengths, named by coloured words.

    Args:
        ax: where to draw.
        x: the values across, d_k for example.
        lines: name -> one value for each x; blue first, then orange, green, grey.
        label: what x is.
        log: True spaces powers of a number evenly, and marks some of them.

    Raises:
        ValueError: when a line has more or fewer values than x.
    """
    for name, values in lines.items():
        if len(values) != len(x):
            raise ValueError(f"{name!r} has {len(values)} values for {len(x)} places")
        ax.plot(x, values, marker="o", label=name)
    if log:
        every = max(2, -(-len(x) // 5))
        ax.set_xscale("log", base=2)
        ax.set_xticks(x[::every], [str(value) for value in x[::every]])
        ax.minorticks_off()
    ax.set_xlabel(label)
    ax.legend()


def histograms(
    ax: Axes, groups: dict[str, Tensor], reach: float, *, legend: bool = True
) -> None:
    """Draw the outlines of histograms on one axis.

    Args:
        ax: where to draw.
        groups: name -> numbers, any shape.
        reach: the axis runs from -reach to reach.
        legend: False where the panel beside it names the same groups.
    """
    for name, numbers in groups.items():
        ax.hist(
            numbers.flatten().numpy(),
            bins=80,
            range=(-reach, reach),
            density=True,
            histtype="step",
            linewidth=2,
            label=name,
        )
    if legend:
        ax.legend(loc="upper right", handlelength=0.8)
