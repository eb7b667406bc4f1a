"""Widgets that live on a page without a kernel: the explorers and the questions.

Each is an anywidget whose JavaScript (in `js/`) does all the work in the browser,
from the numbers that Python gave it. Nothing calls back into Python.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

import anywidget
import torch
import traitlets
from torch import Tensor

HERE = Path(__file__).parent
WIDTHS = [2**i for i in range(13)]
KEYS = 64


def _read(*names: str) -> str:
    """Join files of `js/` into one text."""
    return "\n".join((HERE / "js" / n).read_text(encoding="utf-8") for n in names)


def _script(*names: str) -> str:
    """Join modules of `js/` into one, for a widget may import from no address."""
    return re.sub(r'^import .* from "\./.*";\n', "", _read(*names), flags=re.MULTILINE)


class Sharpness(anywidget.AnyWidget):
    """Explorer of chapter 3: how width and temperature sharpen the softmax.

    Random queries meet 64 random keys at every width from 1 to 4096. The vectors are
    the same at each width: d_k = 2 uses the first two numbers of each.

    Args:
        queries: how many queries the curves are averaged over.
        seed: of the random vectors.
    """

    _esm = _script("arithmetic.js", "parts.js", "sharpness.js")
    _css = _read("base.css", "sharpness.css")
    widths = traitlets.List(traitlets.Int()).tag(sync=True)
    key_count = traitlets.Int().tag(sync=True)
    tenths = traitlets.Bytes().tag(sync=True)  # scores x 10, int16 (B, widths, Tk)
    words = traitlets.Dict().tag(sync=True)
    instead = traitlets.Dict().tag(sync=True)

    def __init__(self, queries: int = 32, seed: int = 3) -> None:
        self.scores = self._scores(queries, seed)
        super().__init__(
            widths=WIDTHS,
            key_count=KEYS,
            tenths=(self.scores * 10).round().to(torch.int16).numpy().tobytes(),
            words={
                "en": "tonight the hungry cats chase small grey mice".split(),
                "ko": "오늘 밤 배고픈 고양이가 작은 회색 쥐를 쫓는다".split(),
            },
            instead={
                "en": "The figure above it shows how it starts.",
                "ko": "바로 위 그림이 처음 상태를 보여 줍니다.",
            },
        )

    def _scores(self, queries: int, seed: int) -> Tensor:
        """Dot products at each width, to one decimal: (B, widths, Tk)."""
        generator = torch.Generator().manual_seed(seed)
        width = WIDTHS[-1]
        query = torch.randn(queries, 1, width, generator=generator)  # (B, 1, d_k)
        key = torch.randn(queries, KEYS, width, generator=generator)
        sums = (query * key).cumsum(-1)  # (B, Tk, d_k): the score at every width
        scores = sums[..., [width - 1 for width in WIDTHS]]  # (B, Tk, widths)
        return (scores.transpose(1, 2) * 10).round() / 10

    def __repr__(self) -> str:
        return "Sharpness(): explorer of chapter 3"


class Ask(anywidget.AnyWidget):
    """Questions of one chapter, from `questions/NN.toml`.

    Args:
        chapter: its number.
        names: the questions to ask; without names, all checks of the chapter.

    Raises:
        ValueError: when the file, a question or a part of a question is missing.
    """

    _esm = _script("parts.js", "ask.js")
    _css = _read("base.css", "ask.css")
    questions: traitlets.List[Any] = traitlets.List().tag(sync=True)
    instead = traitlets.Dict().tag(sync=True)

    def __init__(self, chapter: int, *names: str) -> None:
        path = HERE / "questions" / f"{chapter:02d}.toml"
        bank = read_questions(path)
        self.names = names or tuple(n for n, q in bank.items() if q["kind"] == "check")
        for name in self.names:
            if name not in bank:
                raise ValueError(f"{path.name} has no question {name!r}: {list(bank)}")
        super().__init__(
            questions=[bank[name] for name in self.names],
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
