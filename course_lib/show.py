"""What a notebook shows about the library: its own source, and that it is ready."""

import importlib
import inspect
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from course_lib import __version__

if TYPE_CHECKING:
    from IPython.display import Markdown

OLDEST_TORCH = (2, 6)


def source(*objects: Callable[..., Any]) -> "Markdown":
    """Return the library's own source of functions or classes, highlighted.

    A Markdown fence is highlighted by the book, by Colab and by Jupyter alike. Notes
    to the tools that format and type the code are left out.

    Args:
        objects: functions, methods or classes, shown in this order.
    """
    from IPython.display import Markdown

    parts = [inspect.cleandoc("\n" + inspect.getsource(item)) for item in objects]
    text = re.sub(r"  # (fmt: skip|type: ignore\S*)", "", "\n\n\n".join(parts))
    return Markdown(f"```python\n{text}\n```")


def ready() -> None:
    """Print one line that says what this notebook runs on; in Colab, allow widgets.

    Raises:
        RuntimeError: when the installed torch is older than the course needs.
    """
    version = torch.__version__.split("+")[0]
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_TORCH:
        oldest = ".".join(map(str, OLDEST_TORCH))
        raise RuntimeError(
            f"This course needs torch {oldest} or newer and found {version}: "
            f"run `{sys.executable} -m pip install --upgrade torch`, then restart."
        )
    from course_lib.training import get_device

    _allow_widgets_in_colab()
    print(f"Ready: course_lib {__version__}, torch {version}, {get_device()}")


def _allow_widgets_in_colab() -> None:
    """Tell Colab to show widgets that are not its own; elsewhere do nothing."""
    try:
        importlib.import_module("google.colab")
    except ImportError:
        return
    try:
        output = importlib.import_module("google.colab.output")
        output.enable_custom_widget_manager()
    except Exception:  # whatever is missing there, the lesson goes on
        print("Widgets are off here; showing a still picture.")
