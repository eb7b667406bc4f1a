"""The experiments of the chapters: one module each, `run(seed)` and `measure()`.

A chapter runs one seed live. Further seeds, ablations, timings and memory are measured
by `make measure` (`python -m course_lib.experiments NAME`) and stored with the machine
named in `course_lib/results/NAME.json`.
"""

import json
from importlib.resources import files
from typing import Any


def load(name: str) -> dict[str, Any]:
    """Read the stored results of an experiment.

    Returns:
        A dictionary with "machine", "torch", "seconds" and "results".

    Raises:
        ValueError: when nothing is stored under this name.
    """
    path = files("course_lib") / "results" / f"{name}.json"
    if not path.is_file():
        raise ValueError(f"no stored results {path}: run `make measure`")
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return stored
