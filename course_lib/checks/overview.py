"""`checks.progress()`: what is passed, chapter by chapter, and what comes next."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape

from .exercise import Exercise
from .language import translate as _
from .report import BOX, prose
from .store import passed, troubles

BAR = 10  # signs that a whole bar has in a terminal


@dataclass(frozen=True)
class Overview:
    """How far a learner is.

    Args:
        head: One line that counts.
        chapters: For each chapter its name, what is passed, and what there is.
        rest: Further sentences: what comes next, what else was done, what went wrong.
    """

    head: str
    chapters: tuple[tuple[str, int, int], ...]
    rest: tuple[str, ...]

    def __str__(self) -> str:
        lines = [self.head]
        for name, done, count in self.chapters:
            filled = BAR * done // count
            bar = "#" * filled + "." * (BAR - filled)
            lines.append(f"{name:12}{bar}  {_count(done, count)}")
        return "\n".join([*lines, *self.rest])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left">{escape(name)}</th><td>'
            f'<progress max="{count}" value="{done}" aria-label="{escape(name)}">'
            f"</progress></td><td>{_count(done, count)}</td></tr>"
            for name, done, count in self.chapters
        )
        rest = "".join(f"<div>{prose(text)}</div>" for text in self.rest)
        style = BOX.format(colour="#7d858d")
        table = f'<table style="color:inherit">{rows}</table>'
        head = f"<strong>{escape(self.head)}</strong>"
        return f'<div class="check-report" style="{style}">{head}{table}{rest}</div>'


def _count(done: int, count: int) -> str:
    return _("{done} of {count}").format(done=done, count=count)


def overview(exercises: Mapping[str, Exercise]) -> Overview:
    """Count what was passed, and find what comes next."""
    names = passed()
    done = [name for name in exercises if name in names]
    chapters: dict[str, list[bool]] = {}
    for name, exercise in exercises.items():
        chapter = re.split(", ", _(exercise.section))[0]  # "chapter 4, Padding"
        chapters.setdefault(chapter, []).append(name in names)
    return Overview(
        _("{done} of {count} exercises passed").format(
            done=len(done), count=len(exercises)
        ),
        tuple((name, sum(some), len(some)) for name, some in chapters.items()),
        (_next(exercises, names), *_others(names, exercises), *troubles()),
    )


def _next(exercises: Mapping[str, Exercise], names: set[str]) -> str:
    """The first exercise in course order that is not passed."""
    for name, exercise in exercises.items():
        if name not in names:
            return _(
                "Next: `{name}` ({section}; about {minutes} minutes, difficulty "
                "{difficulty} of 3). {task}"
            ).format(
                name=name,
                section=_(exercise.section),
                minutes=exercise.minutes,
                difficulty=exercise.difficulty,
                task=_(exercise.task),
            )
    return _("All exercises are passed.")


def _others(names: Iterable[str], exercises: Mapping[str, Exercise]) -> list[str]:
    """What was solved beside the exercises: tasks of explorers, questions."""
    count = sum(name not in exercises for name in names)
    if not count:
        return []
    return [_("Beside them, {count} other tasks are solved.").format(count=count)]
