"""The tasks of the explorers: their texts.

A file `tasks/NN.toml` holds, in English and Korean side by side, the things to try and
for each task what is asked and what is said to each kind of answer. The misconceptions
are those of the checks, named `exercise/id`, with the checks' own texts. One that no
exercise has is named without a slash and has its text beside the others.
"""

import gettext
import tomllib
from pathlib import Path
from typing import Any

from course_lib.checks import EXERCISES
from course_lib.checks.language import LANGUAGES, LOCALE

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
