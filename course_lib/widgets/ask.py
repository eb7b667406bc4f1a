"""Questions and predictions: one widget for all chapters."""

import tomllib
from pathlib import Path
from typing import Any

import traitlets

from course_lib.widgets.base import HERE, Solvable, read, script


class Ask(Solvable):
    """Questions of one chapter, from `questions/NN.toml`.

    Args:
        chapter: its number.
        names: the questions to ask; without names, all checks of the chapter.

    Raises:
        ValueError: when the file, a question or a part of a question is missing.
    """

    _esm = script("parts.js", "ask.js")
    _css = read("base.css", "ask.css")
    questions: traitlets.List[Any] = traitlets.List().tag(sync=True)

    def __init__(self, chapter: int, *names: str) -> None:
        path = HERE / "questions" / f"{chapter:02d}.toml"
        bank = read_questions(path)
        self.names = names or tuple(n for n, q in bank.items() if q["kind"] == "check")
        for name in self.names:
            if name not in bank:
                raise ValueError(f"{path.name} has no question {name!r}: {list(bank)}")
        questions = [
            {"id": f"questions-{chapter:02d}/{name}", **bank[name]}
            for name in self.names
        ]
        super().__init__(
            questions=questions,
            task_ids=[each["id"] for each in questions if each["kind"] == "check"],
            instead={
                "en": f"The questions stand in course_lib/questions/{path.name}.",
                "ko": f"질문은 course_lib/questions/{path.name}에 있습니다.",
            },
        )

    def __repr__(self) -> str:
        return f"Ask({', '.join(self.names)})"


def read_questions(path: Path) -> dict[str, dict[str, Any]]:
    """Read a file of questions and check that nothing is missing in it.

    Raises:
        ValueError: naming the file, the question and what it lacks.
    """
    if not path.exists():
        raise ValueError(f"there is no file of questions {path.name} in {path.parent}")
    try:
        bank = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name} is not valid TOML: {error}") from error
    for name, question in bank.items():
        fault = _fault(question)
        if fault:
            raise ValueError(f"{path.name}, question {name!r}: {fault}")
    return bank


def _fault(question: Any) -> str | None:
    """Say what is wrong with a question, or None."""
    if not isinstance(question, dict):
        return "it must be a table"
    kind = question.get("kind")
    if kind not in ("predict", "check"):
        return f"kind must be 'predict' or 'check', not {kind!r}"
    for language in ("en", "ko"):
        fault = _language_fault(question.get(language), answers=kind == "check")
        if fault:
            return f"{language}: {fault}"
    count = len(question["en"]["choices"])
    if len(question["ko"]["choices"]) != count:
        return "en and ko differ in their number of choices"
    right = question.get("right")
    if kind == "check" and not (type(right) is int and 0 <= right < count):
        return f"right must be a choice, counted from 0, not {right!r}"
    return None


def _language_fault(part: Any, answers: bool) -> str | None:
    """Say what is wrong with a question in one language, or None."""
    if not isinstance(part, dict) or not part.get("text"):
        return "there is no text"
    choices = part.get("choices")
    if not isinstance(choices, list) or not 2 <= len(choices) <= 6:
        return "it needs 2 to 6 choices"
    # A check answers every choice; a prediction may, and waits for the result if not.
    lengths, form = ((2,), "[choice, answer]") if answers else ((1, 2), "[choice]")
    for number, choice in enumerate(choices, start=1):
        if (
            not isinstance(choice, list)
            or len(choice) not in lengths
            or not all(isinstance(text, str) and text for text in choice)
        ):
            return f"choice {number} must be {form}, not {choice!r}"
    return None
