"""What solves each task of each explorer, and what makes each known mistake.

A module for each explorer; its WAYS are task -> key of the text that is said -> the way
there. `steps.py` says what a way is made of.
"""

from . import mask_painter, sharpness
from .steps import Way

WAYS: dict[str, dict[str, dict[str, Way]]] = {
    "Sharpness": sharpness.WAYS,
    "MaskPainter": mask_painter.WAYS,
}

__all__ = ["WAYS", "Way"]
