"""Widgets that live on a page without a kernel: the explorers and the questions.

Each is an anywidget whose JavaScript (in `js/`) does all the work in the browser,
from the numbers that Python gave it. Nothing calls back into Python.
"""

from course_lib.widgets.ask import Ask, read_questions
from course_lib.widgets.base import Explorer
from course_lib.widgets.mask_painter import MaskPainter
from course_lib.widgets.sharpness import Sharpness

__all__ = ["Ask", "Explorer", "MaskPainter", "Sharpness", "read_questions"]
