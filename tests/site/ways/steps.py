"""A way through an explorer: a list of steps, each a method of `Shown`.

("pick", value) chooses a radio button, ("press", name) a button, ("slide", label,
value) sets a slider, ("check", label, on) a switch, ("key", css, "ArrowLeft", times)
presses a key there, ("paint", rows) paints the matrix, a string of 1 and 0 for a row.
"""

from typing import Any

Way = list[tuple[Any, ...]]
