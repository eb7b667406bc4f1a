"""Buttons for hints and the solution below a report, in a notebook that is running.

They are an output of their own below that of the box, which so stays readable where no
widget is: on a page, on paper, in a notebook that is opened again without its kernel.
"""

import os
import sys
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from .language import translate as _

if TYPE_CHECKING:
    from .exercise import Exercise
    from .report import Report

VIEW = "application/vnd.jupyter.widget-view+json"


def wanted() -> bool:
    """Whether there is a kernel, and nobody has set `COURSE_BUTTONS` to 0."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    running = getattr(shell, "kernel", None) is not None
    return running and os.environ.get("COURSE_BUTTONS") != "0"


def view(report: "Report") -> dict[str, Any]:
    """The buttons as a display of IPython; empty where they cannot be shown."""
    from . import EXERCISES

    exercise = EXERCISES.get(report.exercise)
    if exercise is None or not wanted():
        return {}
    try:
        return {VIEW: _panel(report, exercise)}
    except Exception:  # whatever is wrong with widgets here, the box is shown
        return {}


def _panel(report: "Report", exercise: "Exercise") -> dict[str, Any]:
    """Buttons, and a place for what they show: ipywidgets from 7.7 on."""
    import ipywidgets

    shown = ipywidgets.HTML("")

    def button(name: str, text: Callable[["Exercise"], str]) -> Any:
        def click(_button: Any) -> None:
            new = text(exercise)
            if new not in shown.value:
                shown.value += new

        made = ipywidgets.Button(description=name)
        made.on_click(click)
        return made

    hint, solution = button(_("Hint"), hint_html), button(_("Solution"), solution_html)
    buttons = [solution] if report.passed else [hint, solution]
    panel = ipywidgets.VBox([ipywidgets.HBox(buttons), shown])
    return {"version_major": 2, "version_minor": 0, "model_id": panel.model_id}


def hint_html(exercise: "Exercise") -> str:
    """The next hint, for the place below the buttons."""
    from .report import prose

    hint = prose(str(exercise.hint()))
    return f'<div role="status" style="max-width:44rem;line-height:1.5">{hint}</div>'


def solution_html(exercise: "Exercise") -> str:
    """The solution: keywords bold and comments in italics, in the page's own colour."""
    source = str(exercise.solution())
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import PythonLexer

        look = HtmlFormatter(style="bw", noclasses=True, nobackground=True)
        code = highlight(source, PythonLexer(), look)
    except ImportError:
        code = f"<pre>{escape(source)}</pre>"
    return f'<div role="status" style="overflow-x:auto;line-height:1.4">{code}</div>'
