"""What all widgets share: their scripts, what was solved, and the explorers' frame."""

import os
import re
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from course_lib.checks import Report
from course_lib.widgets.tasks import read_tasks

HERE = Path(__file__).parents[1]
FRAME = ("parts.js", "frame.js", "controls.js")


def read(*names: str) -> str:
    """Join files of `js/` into one text."""
    return "\n".join((HERE / "js" / n).read_text(encoding="utf-8") for n in names)


def script(*names: str) -> str:
    """Join modules of `js/` into one, for a widget may import from no address."""
    return re.sub(r'^import .* from "\./.*";\n', "", read(*names), flags=re.MULTILINE)


class Solvable(anywidget.AnyWidget):
    """A widget with something to solve, that remembers what was solved.

    In a notebook the kernel has `solved`, on the published page the browser keeps it.
    """

    lang = traitlets.Unicode().tag(sync=True)  # "" is the language of the page
    task_ids: traitlets.List[Any] = traitlets.List().tag(sync=True)
    solved: traitlets.List[Any] = traitlets.List().tag(sync=True)
    instead = traitlets.Dict().tag(sync=True)  # said where the widget cannot start

    def __init__(self, **traits: Any) -> None:
        asked = os.environ.get("COURSE_LANG", "")[:2].lower()
        super().__init__(lang="ko" if asked == "ko" else "", **traits)


class Explorer(Solvable):
    """An explorer of one chapter, with the tasks of `tasks/NN.toml`.

    A subclass names its chapter and its scripts, and hands its numbers over as traits.

    Args:
        traits: what the script needs beside the tasks.

    Raises:
        ValueError: when the file of tasks lacks something.
    """

    chapter: int
    tasks: traitlets.List[Any] = traitlets.List().tag(sync=True)
    things = traitlets.Dict().tag(sync=True)  # things to try, by language
    verdicts = traitlets.Dict().tag(sync=True)  # task -> [key of its text, numbers]

    def __init__(self, **traits: Any) -> None:
        things, tasks = read_tasks(HERE / "tasks" / f"{self.chapter:02d}.toml")
        super().__init__(
            things=things,
            tasks=tasks,
            task_ids=[task["id"] for task in tasks],
            instead={
                "en": "The still picture shows how it starts.",
                "ko": "처음 상태는 그림에 있습니다.",
            },
            **traits,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(): explorer of chapter {self.chapter}"

    @property
    def report(self) -> Report:
        """What became of the tasks; the solved ones count in `checks.progress()`."""
        from course_lib.checks.tasks import report_tasks

        return report_tasks(self.chapter, self.tasks, self.solved, self.verdicts)
