"""The report on the tasks of an explorer."""

from typing import Any

from .language import spoken
from .language import translate as _
from .report import Report, Status
from .store import record

Texts = dict[str, Any]


def report_tasks(
    chapter: int, tasks: list[Texts], solved: list[str], verdicts: Texts
) -> Report:
    """Say which tasks are solved, and what was said last.

    The tasks that were tried are noted for `checks.progress()`.

    Args:
        chapter: The number of the chapter.
        tasks: As `course_lib.widgets.tasks` reads them.
        solved: The ids of those that were solved.
        verdicts: By name of a task, the key and the numbers of what was said; the
            newest is the last.
    """
    lines = []
    for task in tasks:
        name, done = task["name"], task["id"] in solved
        if done or name in verdicts:
            record(task["id"], done)
        word = _("solved") if done else _("not yet") if name in verdicts else _("open")
        lines.append(f"{name:12}{word}")
    count = sum(task["id"] in solved for task in tasks)
    said = [
        _("{count} of {all} tasks of this explorer are solved.").format(
            count=count, all=len(tasks)
        )
    ]
    last = next(reversed(verdicts), None)
    mistake = None
    if last is not None and count < len(tasks):
        (task,) = (task for task in tasks if task["name"] == last)
        key, numbers = verdicts[last]
        mistake = task["mistakes"].get(key)
        text = (mistake or task["texts"])[spoken()]
        text = text if mistake else text[key]
        for name, number in numbers.items():
            text = text.replace("{" + name + "}", str(number))
        said.append(text)
    tried: Status = "wrong" if verdicts or solved else "not_attempted"
    return Report(
        f"explorer-{chapter:02d}",
        "passed" if count == len(tasks) else tried,
        " ".join(said),
        diagnosis=mistake["id"] if mistake else None,
        example="\n".join(lines),
        convention=bool(mistake and mistake["convention"]),
    )
