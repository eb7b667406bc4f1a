"""The tasks of the explorers: their texts, and the report on what became of them.

A file `tasks/NN.toml` holds, in English and Korean side by side, the things to try and
for each task what is asked and what is said to each kind of answer. The misconceptions
are those of the checks, named `exercise/id`, with the checks' own texts. One that no
exercise has is named without a slash and has its text beside the others.
"""

import gettext
import tomllib
from pathlib import Path
from typing import Any

from course_lib.checks import EXERCISES, Report
from course_lib.checks.language import LANGUAGES, LOCALE, spoken
from course_lib.checks.language import translate as _

Texts = dict[str, Any]


def read_tasks(path: Path) -> tuple[dict[str, list[str]], list[Texts]]:
    """Read the things to try and the tasks of one chapter.

    Returns:
        The things to try by language; the tasks in order, each with its `id`, `name`,
        `texts` by language and `mistakes` by key.

    Raises:
        ValueError: naming the file, the task and what it lacks.
    """
    try:
        bank = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"tasks/{path.name} is not valid TOML: {error}") from error
    things = {lang: bank.get("try", {}).get(lang, []) for lang in LANGUAGES}
    if not things["en"] or len(things["en"]) != len(things["ko"]):
        raise ValueError(f"tasks/{path.name}: try must hold as many en as ko")
    bank.pop("try")
    tasks = []
    for name, task in bank.items():
        texts = {language: dict(task.get(language, {})) for language in LANGUAGES}
        fault = _fault(texts)
        mistakes = {}
        for key in task.get("mistakes", []):
            mistake = _mistake(key, texts)
            fault = fault or (f"there is no misconception {key}" if not mistake else "")
            mistakes[key] = mistake
        if fault:
            raise ValueError(f"tasks/{path.name}, task {name!r}: {fault}")
        task_id = f"explorer-{path.stem}/{name}"
        tasks.append(
            {"id": task_id, "name": name, "texts": texts, "mistakes": mistakes}
        )
    return things, tasks


def _fault(texts: dict[str, dict[str, str]]) -> str:
    """Say what a task lacks; "" when it lacks nothing."""
    for language in LANGUAGES:
        for key in ("ask", "right"):
            if not texts[language].get(key):
                return f"{language} has no {key!r}"
    odd = texts["en"].keys() ^ texts["ko"].keys()
    return f"en and ko differ in {sorted(odd)}" if odd else ""


def _mistake(key: str, texts: dict[str, dict[str, str]]) -> Texts | None:
    """A misconception with its texts, of the checks or of the task itself."""
    exercise, slash, name = key.partition("/")
    if not slash:
        own = {language: texts[language].get(key) for language in LANGUAGES}
        return {"id": key, "convention": False, **own} if all(own.values()) else None
    for known in EXERCISES[exercise].misconceptions if exercise in EXERCISES else ():
        if known.id == name:
            said = {language: _said(known.sentence, language) for language in LANGUAGES}
            return {"id": name, "convention": known.convention, **said}
    return None


def _said(message: str, language: str) -> str:
    """A message of the checks in a language, whichever one they speak now."""
    catalogue = gettext.translation("checks", LOCALE, [language], fallback=True)
    return catalogue.gettext(message)


def report(
    chapter: int, tasks: list[Texts], solved: list[str], verdicts: Texts
) -> Report:
    """Say which tasks are solved, and what was said last about the others.

    The tasks that were tried are noted for `checks.progress()`.
    """
    from course_lib.checks.progress import record

    lines = []
    wrong: tuple[str, str | None, bool] | None = None
    language = spoken()
    for task in tasks:
        done, name = task["id"] in solved, task["name"]
        words = _("solved") if done else _("not yet") if name in verdicts else _("open")
        lines.append(f"{name:10} {words}")
        if done or name in verdicts:
            record(task["id"], done)
        if name in verdicts and not done:
            wrong = _verdict(task, language, *verdicts[name])
    count = sum(task["id"] in solved for task in tasks)
    head = _("{solved} of {count} tasks of this explorer are solved.").format(
        solved=count, count=len(tasks)
    )
    text, diagnosis, convention = wrong or ("", None, False)
    status = "wrong" if wrong else "not_attempted"
    return Report(
        f"explorer-{chapter:02d}",
        "passed" if count == len(tasks) else status,  # type: ignore[arg-type]
        f"{head} {text}".strip(),
        diagnosis=diagnosis,
        example="\n".join(lines),
        convention=convention,
    )


def _verdict(
    task: Texts, language: str, key: str, numbers: Texts
) -> tuple[str, str | None, bool]:
    """What was said to an answer: text, misconception, whether a convention."""
    mistake = task["mistakes"].get(key)
    text = mistake[language] if mistake else task["texts"][language][key]
    for name, number in numbers.items():
        text = text.replace("{" + name + "}", str(number))
    return text, mistake and mistake["id"], bool(mistake and mistake["convention"])
