"""Masters and forms of the exercises: where they are, and their cells."""

import json
import re
from pathlib import Path
from typing import Any

from course_lib import checks

ROOT = Path(__file__).parents[2]
EXERCISES = ROOT / "exercises"
CHAPTERS = [path.stem for path in sorted((ROOT / "chapters").glob("*.ipynb"))]
MASTERS = sorted((EXERCISES / "source").glob("*/*.ipynb"))
FORMS = sorted((EXERCISES / "release").glob("*/*.ipynb"))
BOTH = [*MASTERS, *FORMS]


def place(exercise: checks.Exercise) -> tuple[int, str]:
    """The chapter and the section that an exercise belongs to."""
    chapter, section = re.fullmatch(r"chapter (\d+), (.+)", exercise.section).groups()
    return int(chapter), section


def of_chapter(stem: str) -> list[str]:
    """The exercises of a chapter, in course order."""
    number = int(stem[:2])
    return [name for name, e in checks.EXERCISES.items() if place(e)[0] == number]


PLACED = [name for stem in CHAPTERS for name in of_chapter(stem)]


def label(path: Path) -> str:
    return f"{path.parts[-3]}/{path.stem}"


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def cell(name: str, kind: str, folder: str = "source") -> dict[str, Any]:
    """One cell of an exercise: its task, stub, check, hint, solution or test."""
    number = place(checks.EXERCISES[name])[0]
    (path,) = (EXERCISES / folder).glob(f"{number:02d}-*/*.ipynb")
    wanted = name if kind == "stub" else f"{name}-{kind}"
    (found,) = (each for each in read(path)["cells"] if each["id"] == wanted)
    return found
