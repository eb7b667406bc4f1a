"""Figures of the course: one style, a few shapes.

`style` sets the look, `maps` draws matrices, `curves` lines; figures that one chapter
needs stand in a module named after what they draw.
"""

from course_lib.plots.curves import curves, histograms
from course_lib.plots.maps import heat_map, stages
from course_lib.plots.shapes import looks, storeys
from course_lib.plots.sharpness import sharpness
from course_lib.plots.style import BLUE, GREEN, GREY, INK, ORANGE, use_style

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "INK",
    "ORANGE",
    "curves",
    "heat_map",
    "histograms",
    "looks",
    "sharpness",
    "stages",
    "storeys",
    "use_style",
]

use_style()
