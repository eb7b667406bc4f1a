"""Vectors in the plane: keys and a query as arrows, values and their mixture."""

from matplotlib.axes import Axes
from torch import Tensor

from course_lib.plots.style import BLUE, GREY, ORANGE

STYLE = {"arrowstyle": "-|>", "lw": 1.8, "shrinkA": 0, "shrinkB": 0}


def plane(ax: Axes, reach: float, across: str = "", up: str = "") -> None:
    """Set up a square plane with the origin in the middle and named axes.

    Args:
        ax: where to draw.
        reach: both axes run from -reach to reach.
        across, up: names of the axes.
    """
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set(xlabel=across, ylabel=up)
    ax.axhline(0, color=GREY, linewidth=0.8, zorder=0)
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=0)


def arrows(ax: Axes, vectors: Tensor, names: list[str], colour: str = BLUE) -> None:
    """Draw vectors as arrows from the origin, each with its name beyond the tip.

    Vectors that end in the same place share one label.

    Args:
        ax: where to draw, a plane whose limits are set.
        vectors: (n, 2).
        names: the n names.
        colour: of arrows and names.
    """
    reach = ax.get_xlim()[1]
    labels: list[tuple[Tensor, list[str]]] = []
    for tip, name in zip(vectors.detach(), names, strict=True):
        ax.annotate("", tip.tolist(), (0, 0), arrowprops={**STYLE, "color": colour})
        for place, together in labels:
            if (tip - place).norm() < 0.12 * reach:
                together.append(name)
                break
        else:
            labels.append((tip, [name]))
    for tip, together in labels:
        x, y = (tip * (1 + 0.17 * reach / tip.norm())).tolist()
        text = "\n".join(together)
        ax.text(x, y, text, color=colour, ha="center", va="center")


def mixture(
    ax: Axes, values: Tensor, names: list[str], weights: Tensor, reach: float
) -> None:
    """Draw values as points, and their mixture, tied to each by its weight.

    Args:
        ax: where to draw.
        values: (n, 2).
        names: the n names.
        weights: (n,); the larger, the thicker the line.
        reach: both axes end there.
    """
    ax.set(xlim=(-0.2 * reach, reach), ylim=(-0.2 * reach, reach), aspect="equal")
    mixed = weights @ values  # (2,)
    for value, name, weight in zip(values, names, weights.tolist(), strict=True):
        ends = zip(mixed.tolist(), value.tolist(), strict=True)
        ax.plot(*ends, color=GREY, linewidth=6 * weight + 0.6, alpha=0.6)
        ax.plot(*value.tolist(), "o", color=BLUE)
        x, y = value.tolist()
        above = 0.09 if y > values[:, 1].mean() else -0.09
        ax.text(x, y + above * reach, name, color=BLUE, va="center")
    ax.plot(*mixed.tolist(), "o", color=ORANGE, markersize=8)


def turning(ax: Axes, degrees: Tensor, weights: Tensor, names: list[str]) -> None:
    """Draw the weights of the keys while the query turns.

    Args:
        ax: where to draw.
        degrees: (n,), where the query points.
        weights: (n, keys).
        names: of the keys.
    """
    for weight, name in zip(weights.T, names, strict=True):
        ax.plot(degrees, weight, label=name)
    ax.set(xlabel="direction of the query", ylim=(-0.04, 1.04))
    ax.set_xticks([-45, 0, 45, 90, 135], ["−45°", "0°", "45°", "90°", "135°"])
