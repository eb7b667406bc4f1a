"""Figures of chapter 1: two word orders, an encoder-decoder, paths between words."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from course_lib.plots.style import BLUE, GREEN, GREY, INK, ORANGE


def alignment(
    ax: Axes,
    upper: Sequence[str],
    lower: Sequence[str],
    links: Iterable[tuple[int, int]],
    *,
    marked: int | None = None,
) -> None:
    """Draw two sentences, one above the other, with lines between partners.

    Args:
        ax: where to draw.
        upper: words of the upper sentence.
        lower: words of the lower sentence.
        links: pairs (index in upper, index in lower).
        marked: index in lower of the word whose lines are orange.
    """
    above, below = _middles(upper), _middles(lower)
    for i, j in links:
        colour = ORANGE if j == marked else GREY
        ax.plot([above[i], below[j]], [0.84, 0.16], color=colour, linewidth=1.6)
    for x, word in zip(above, upper, strict=True):
        ax.text(x, 0.9, word, ha="center", va="bottom")
    for x, word in zip(below, lower, strict=True):
        ax.text(x, 0.1, word, ha="center", va="top")
    ax.set(xlim=(0, 1.02), ylim=(-0.12, 1.12))
    ax.axis("off")


def _middles(words: Sequence[str]) -> list[float]:
    """Where each word's middle stands between 0 and 1; Hangul is twice as wide."""
    widths = [sum(2 if "가" <= letter <= "힣" else 1 for letter in w) for w in words]
    room = [width + 2.2 for width in widths]
    return [(sum(room[:i]) + room[i] / 2) / sum(room) for i in range(len(room))]


def encoder_decoder(
    source: Sequence[str],
    target: Sequence[str],
    weights: Sequence[float],
    step: int,
) -> Figure:
    """Draw an encoder above its decoder: with one vector, and with attention.

    Args:
        source: the words that the encoder reads.
        target: the words that the decoder writes.
        weights: one for each source word, drawn as the width of a line.
        step: which target word is being written with these weights.
    """
    figure, axes = plt.subplots(2, 1, figsize=(6.2, 4.4))
    for ax, title in zip(axes, ["one fixed vector", "attention"], strict=True):
        above = _chain(ax, source, 1.0, BLUE)
        below = _chain(ax, target, 0.0, ORANGE)
        last, first = (above[-1], 1.0), (below[0], 0.0)
        if title == "attention":
            for x, weight in zip(above, weights, strict=True):
                ends = (x, 0.86), (below[step], 0.14)
                _arrow(ax, *ends, INK, 0.6 + 6 * weight)
        else:
            _arrow(ax, (last[0], 0.86), (first[0], 0.14), INK, 2.4)
        ax.set_title(title, loc="left")
        ax.set(xlim=(0, 1), ylim=(-0.5, 1.5))
        ax.axis("off")
    return figure


def _chain(ax: Axes, words: Sequence[str], y: float, colour: str) -> list[float]:
    """Draw one state a word, each with an arrow to the next; return where they are."""
    middles = _middles(words)
    for x, word in zip(middles, words, strict=True):
        ax.plot(x, y, "o", color=colour, markersize=9)
        over = y > 0.5
        ax.text(
            x,
            y + (0.2 if over else -0.2),
            word,
            ha="center",
            va="bottom" if over else "top",
            color=INK,
        )
    for start, end in pairwise(middles):
        _arrow(ax, (start + 0.012, y), (end - 0.012, y), colour, 1.4)
    return middles


def _arrow(
    ax: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    colour: str,
    width: float,
) -> None:
    ax.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=9, color=colour,
            linewidth=width, shrinkA=0, shrinkB=0,
        )
    )  # fmt: skip


def paths(words: Sequence[str]) -> Figure:
    """Draw how the first word reaches the last: step by step, and at once.

    Args:
        words: the words of one sentence.
    """
    figure, axes = plt.subplots(2, 1, figsize=(6.2, 2.6), height_ratios=[1, 2])
    x = _middles(words)
    for ax, title in zip(axes, ["recurrent layer", "attention layer"], strict=True):
        for word, place in zip(words, x, strict=True):
            ax.plot(place, 0, "o", color=GREY, markersize=8)
            ax.annotate(
                word, (place, 0), (0, -8), textcoords="offset points",
                ha="center", va="top",
            )  # fmt: skip
        ax.set_title(title, loc="left")
        ax.set_xlim(-0.01, 1.03)
        ax.axis("off")
    axes[0].set_ylim(-0.7, 0.2)
    axes[1].set_ylim(-0.7, 1.15)
    for start, end in pairwise(x):
        _arrow(axes[0], (start + 0.012, 0), (end - 0.012, 0), BLUE, 2)
    for start in x[:-1]:
        arc = FancyArrowPatch(
            (start, 0.15), (x[-1], 0.15), connectionstyle="arc3,rad=-0.15",
            arrowstyle="-|>", mutation_scale=9, linewidth=2 if start == x[0] else 1,
            clip_on=False,
            color=ORANGE if start == x[0] else GREY,
        )  # fmt: skip
        axes[1].add_patch(arc)
    return figure


def match_by_length(
    ax: Axes,
    lengths: Sequence[int],
    seeds: dict[str, list[list[float]]],
    live: dict[str, list[float]],
) -> None:
    """Draw the share of right sentences by length, a band from worst to best seed.

    Args:
        ax: where to draw.
        lengths: tokens in a sentence.
        seeds: name -> for each seed one share for each length.
        live: name -> one share for each length, drawn as crosses.
    """
    for name, rows in seeds.items():
        columns = list(zip(*rows, strict=True))
        mean = [sum(column) / len(column) for column in columns]
        (line,) = ax.plot(lengths, mean, marker="o", label=name)
        low, high = [min(c) for c in columns], [max(c) for c in columns]
        ax.fill_between(lengths, low, high, color=line.get_color(), alpha=0.22, lw=0)
        if name in live:
            ax.plot(lengths, live[name], "x", color=INK, markersize=8, zorder=3)
    ax.set_xticks(list(lengths))
    ax.set(xlabel="Korean tokens", ylabel="exact match", ylim=(-0.03, 1.05))
    ax.legend()


def clock(ax: Axes, lengths: Sequence[int], lines: dict[str, list[float]]) -> None:
    """Draw milliseconds by length, both axes by powers; attention is orange.

    Args:
        ax: where to draw.
        lengths: words in a sentence.
        lines: name -> milliseconds for each length.
    """
    colours = {"RNN": GREEN, "GRU": GREY, "LSTM": BLUE, "attention": ORANGE}
    for name, values in lines.items():
        ax.plot(lengths, values, marker="o", label=name, color=colours[name])
    ax.set_xscale("log", base=4)
    ax.set_yscale("log")
    ax.set_xticks(list(lengths), [str(n) for n in lengths])
    ax.minorticks_off()
    ax.set(xlabel="words", ylabel="milliseconds")
    ax.legend()


def frame(ax: Axes, links: Iterable[tuple[int, int]]) -> None:
    """Frame the cells of partners on a map: query down, key across.

    Args:
        ax: an axis with a heat map.
        links: pairs (column, row).
    """
    for column, row in links:
        corner = column - 0.48, row - 0.47
        box = Rectangle(corner, 0.96, 0.94, fill=False, edgecolor=ORANGE, linewidth=2)
        ax.add_patch(box)
