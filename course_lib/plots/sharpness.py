"""The still picture of chapter 3's explorer."""

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure
from torch import Tensor

from course_lib.plots.curves import curves
from course_lib.plots.style import BLUE, GREEN, GREY, ORANGE


def sharpness(
    scores: Tensor, widths: list[int], words: list[str], width: int = 64
) -> Figure:
    """Draw one row of weights, and what all rows do at every width.

    Args:
        scores: (B, widths, Tk), raw scores of B queries at each width.
        widths: the values of d_k.
        words: names of the first keys; the bars show these alone.
        width: the d_k of the bars.
    """
    divided = scores / torch.tensor(widths).sqrt()[:, None]  # (B, widths, Tk)
    row = divided[0, widths.index(width), : len(words)].softmax(dim=-1)  # (Tk,)
    figure, (left, right) = plt.subplots(1, 2, figsize=(5.8, 2.6))
    bars = left.barh(words, row.tolist(), color=BLUE)
    left.bar_label(bars, fmt="%.2f", padding=3)
    left.set(xlim=(0, 1), xlabel="weight")
    left.invert_yaxis()
    left.grid(axis="y", visible=False)
    right.set_prop_cycle(color=[GREEN, ORANGE, GREY])  # as in the explorer
    curves(right, widths, _shares(divided.softmax(dim=-1)))
    right.legend(loc="center right", bbox_to_anchor=(1, 0.62))
    right.set(ylim=(-0.03, 1.03), ylabel="share of the maximum")
    return figure


def _shares(weights: Tensor) -> dict[str, list[float]]:
    """Means over the queries, each as a share of the most there can be."""
    entropy = torch.special.entr(weights).sum(dim=-1)  # (B, widths)
    outer = weights[..., :, None] * weights[..., None, :]  # (B, widths, Tk, Tk)
    norm = (torch.diag_embed(weights) - outer).flatten(-2).norm(dim=-1)
    most = torch.tensor(float(weights.shape[-1])).log()
    return {
        "entropy": (entropy.mean(0) / most).tolist(),
        "Jacobian norm": (norm.mean(0) / 0.5).tolist(),
        "silent rows": (norm < 0.01).float().mean(0).tolist(),
    }
