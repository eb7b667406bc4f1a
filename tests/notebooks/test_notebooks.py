"""Every chapter keeps the frame of the course, whatever it says.

What its cells print is compared by nbval; here its parts are looked at: kernel, order,
length, markup, captions, questions, and what a reader is promised at the top.
"""

import ast
import json
import re
import runpy
import statistics
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
SETUP = (Path(__file__).parent / "setup_cell.txt").read_text(encoding="utf-8").strip()
EXECUTE = runpy.run_path(str(ROOT / "tools" / "execute.py"))
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
HANGUL = re.compile("[\uac00-\ud7a3]")
SECONDS_ALLOWED = {9: 180}  # a whole transformer is trained in chapter 9

# What MyST reads and Jupyter, Colab and GitHub show as raw text.
ONLY_MYST = {
    "a directive": r"^\s*(```+|~~~+|:::+)\s*\{",
    "a role": r"\{[A-Za-z][\w:.+-]*\}`",
    "a target": r"^\([\w-]+\)=\s*$",
    "a comment": r"^%(\s|$)",
    "a block break": r"^\+\+\+",
    "a footnote": r"\[\^[\w-]+\]",
    "a substitution": r"\{\{.*\}\}",
}
OWN_PATH = re.compile(
    r"(?<![\w.:/~-])/(home|root|Users|tmp|work|opt|usr|var|mnt|content|kaggle)/"
    r"|\b[A-Za-z]:\\\\?[A-Za-z]|site-packages"
)


def test_there_are_chapters() -> None:
    assert CHAPTERS, f"no notebook in {ROOT / 'chapters'}"


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def notebook(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def cells(notebook: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def tags(cell: dict[str, Any]) -> list[str]:
    return cell["metadata"].get("tags", [])


def output_data(cell: dict[str, Any], mime: str) -> list[Any]:
    data = [output.get("data", {}) for output in cell.get("outputs", [])]
    return [each[mime] for each in data if mime in each]


def prose(notebook: dict[str, Any]) -> str:
    """All Markdown, without fenced code, whose lines are no headings."""
    whole = "\n\n".join(text(cell) for cell in cells(notebook, "markdown"))
    return re.sub(r"^(```+).*?^\1", "", whole, flags=re.M | re.S)


def headings(notebook: dict[str, Any]) -> list[tuple[int, str]]:
    found = re.findall(r"^(#{1,6}) +(.*)$", prose(notebook), flags=re.M)
    return [(len(marks), title) for marks, title in found]


def asked(cell: dict[str, Any]) -> Iterator[tuple[int, list[str]]]:
    """The calls `Ask(chapter, *names)` in a cell."""
    if "Ask(" not in text(cell):
        return
    for node in ast.walk(ast.parse(text(cell))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Ask":
            chapter, *names = (ast.literal_eval(each) for each in node.args)
            yield chapter, names


def number(path: Path) -> int:
    return int(path.stem[:2])


def questions(path: Path) -> dict[str, dict[str, Any]]:
    bank = ROOT / "course_lib" / "questions" / f"{number(path):02d}.toml"
    return tomllib.loads(bank.read_text(encoding="utf-8"))


def kind(path: Path, wanted: str) -> set[str]:
    return {name for name, each in questions(path).items() if each["kind"] == wanted}


# The file ----------------------------------------------------------------------------


def test_is_a_valid_notebook_of_the_usual_kernel(notebook: dict[str, Any]) -> None:
    """Case H28: no notebook asks for the kernel of its author."""
    nbformat.validate(nbformat.from_dict(notebook))
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert notebook["metadata"]["language_info"]["name"] == "python"
    names = [cell["id"] for cell in notebook["cells"]]
    assert len(set(names)) == len(names), "two cells have the same id"


def test_was_written_by_the_tool_that_executes(
    path: Path, notebook: dict[str, Any]
) -> None:
    wanted = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    assert path.read_bytes() == wanted.encode(), "run tools/execute.py on it"


def test_is_executed_from_top_to_bottom(notebook: dict[str, Any]) -> None:
    counts = [cell["execution_count"] for cell in cells(notebook, "code")]
    assert counts == list(range(1, len(counts) + 1))
    assert not any("execution" in cell["metadata"] for cell in notebook["cells"])


def test_no_cell_fails_or_writes_to_stderr(notebook: dict[str, Any]) -> None:
    for cell in cells(notebook, "code"):
        for output in cell["outputs"]:
            assert output["output_type"] != "error", text(cell)
            assert output.get("name") != "stderr", "".join(output["text"])


def test_names_no_path_of_the_author(notebook: dict[str, Any]) -> None:
    for cell in notebook["cells"]:
        shown = [text(cell)]
        for output in cell.get("outputs", []):
            shown += ["".join(output.get("text", ""))]
            shown += [
                "".join(value)
                for mime, value in output.get("data", {}).items()
                if mime.startswith("text/")
            ]
        for each in shown:
            found = OWN_PATH.search(each)
            assert not found, each[max(0, found.start() - 40) : found.end() + 40]


# Code cells --------------------------------------------------------------------------


def test_starts_with_the_set_up_cell(notebook: dict[str, Any]) -> None:
    first = cells(notebook, "code")[0]
    assert text(first).strip() == SETUP
    assert tags(first) == ["hide-input"]
    assert re.match(r"Ready: course_lib ", "".join(first["outputs"][0]["text"]))


def test_cells_are_short(notebook: dict[str, Any]) -> None:
    lengths = []
    for cell in cells(notebook, "code"):
        lines = text(cell).splitlines()
        assert len(lines) <= 20, f"{len(lines)} lines:\n{text(cell)}"
        for line in lines:
            assert len(line) <= 80, f"{len(line)} columns: {line}"
            assert not line.rstrip().endswith(";"), f"a semicolon silences: {line}"
        lengths.append(len(lines))
    assert statistics.median(lengths) <= 8


def test_every_output_is_compared(notebook: dict[str, Any]) -> None:
    """An output may be left out only where the cell asserts what the text says."""
    for cell in cells(notebook, "code"):
        marked = {tag for tag in tags(cell) if tag.startswith(("nbval", "raises"))}
        assert not re.search(r"#\s*(NBVAL|PYTEST)_", text(cell)), text(cell)
        assert marked <= {"nbval-ignore-output"}, f"{marked}:\n{text(cell)}"
        if marked:
            assert re.search(r"^\s*assert ", text(cell), flags=re.M), text(cell)


def test_pictures_say_in_words_what_they_show(notebook: dict[str, Any]) -> None:
    for cell in cells(notebook, "code"):
        pictures = output_data(cell, "image/png")
        if not pictures:
            continue
        assert len(pictures) == 1, f"one picture a cell:\n{text(cell)}"
        book = cell["metadata"].get("mystnb", {})
        alt = book.get("image", {}).get("alt", "")
        figure = book.get("figure", {})
        assert len(alt.split()) >= 6, f"an alt text says what is to be seen: {alt!r}"
        assert figure.get("caption", "").strip(), f"no caption:\n{text(cell)}"
        assert re.fullmatch(r"fig-[a-z0-9-]+", figure.get("name", "")), figure
        assert text(cell).rstrip().endswith("plt.show()"), text(cell)


def test_figure_names_are_used_once_in_the_book() -> None:
    names = [
        cell["metadata"]["mystnb"]["figure"]["name"]
        for path in CHAPTERS
        for cell in cells(json.loads(path.read_text(encoding="utf-8")), "code")
        if "figure" in cell["metadata"].get("mystnb", {})
    ]
    assert len(set(names)) == len(names), sorted(
        {name for name in names if names.count(name) > 1}
    )


# Prose -------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ONLY_MYST)
def test_markdown_is_read_by_every_notebook(
    notebook: dict[str, Any], what: str
) -> None:
    for cell in cells(notebook, "markdown"):
        found = re.search(ONLY_MYST[what], text(cell), flags=re.M)
        assert not found, f"{what} that only MyST reads: {found[0]!r}"


def test_headings_go_down_one_step_at_a_time(
    path: Path, notebook: dict[str, Any]
) -> None:
    levels = [level for level, _ in headings(notebook)]
    assert levels[0] == 1 and levels.count(1) == 1
    for above, below in pairwise(levels):
        assert below <= above + 1, headings(notebook)
    assert headings(notebook)[0][1].startswith(f"{number(path)}. ")


def test_keeps_the_frame_of_a_chapter(notebook: dict[str, Any]) -> None:
    whole = prose(notebook)
    for part in ("**You will be able to", "**Before you start", "**Read more"):
        assert part in whole, f"there is no {part}"
    titles = [title for level, title in headings(notebook) if level == 2]
    for title in ("Now in `course_lib`", "What goes wrong", "Check yourself"):
        assert title in titles, f"there is no section {title!r} in {titles}"
    assert titles[-1] == "In short"
    points = whole.split("## In short")[1].split("**Exercises")[0]
    assert len(re.findall(r"^- ", points, flags=re.M)) == 5


def test_the_running_sentence_is_in_english_and_korean(
    notebook: dict[str, Any],
) -> None:
    first = re.split(r"^## ", prose(notebook), flags=re.M)[1]
    assert HANGUL.search(first), "the first section has no Hangul"
    sentences = [line for line in first.splitlines() if HANGUL.search(line)]
    assert any(re.search("[A-Za-z]{2}", line) for line in sentences) or any(
        line.startswith(">") for line in first.splitlines()
    )


def test_says_how_long_it_takes(path: Path, notebook: dict[str, Any]) -> None:
    stated = EXECUTE["TIME"].findall(prose(notebook))
    assert len(stated) == 1, "one line **Time:** … at the top"
    minutes, seconds = map(int, stated[0])
    assert minutes == EXECUTE["reading_minutes"](notebook)
    assert 0 < seconds <= SECONDS_ALLOWED.get(number(path), 60)


# Questions and widgets ---------------------------------------------------------------


def test_every_question_is_asked_once(path: Path, notebook: dict[str, Any]) -> None:
    calls = [call for cell in cells(notebook, "code") for call in asked(cell)]
    assert {chapter for chapter, _ in calls} == {number(path)}
    named = [name for _, names in calls for name in names]
    assert len(set(named)) == len(named)
    assert set(named) == kind(path, "predict")
    assert sum(not names for _, names in calls) == 1, "Ask(n) asks all checks, once"


def test_questions_speak_both_languages(path: Path) -> None:
    assert len(kind(path, "predict")) >= 2
    assert 5 <= len(kind(path, "check")) <= 6
    for name, question in questions(path).items():
        assert HANGUL.search(question["ko"]["text"]), name
        sides = zip(question["en"]["choices"], question["ko"]["choices"], strict=True)
        for english, korean in sides:
            assert len(english) == len(korean), f"{name}: {english}"
            assert all(HANGUL.search(answer) for answer in korean[1:]), korean
    checks = [questions(path)[name]["right"] for name in kind(path, "check")]
    assert len(set(checks)) > 1, "the right choice always stands in the same place"


def test_a_prediction_comes_before_its_folded_answer(
    notebook: dict[str, Any],
) -> None:
    """After the question and before the next heading, an output is folded away."""
    for start, cell in enumerate(notebook["cells"]):
        if not any(names for _, names in asked(cell)):
            continue
        folded = 0
        for later in notebook["cells"][start + 1 :]:
            if later["cell_type"] == "markdown" and re.search(
                r"^#", text(later), flags=re.M
            ):
                break
            folded += "hide-output" in tags(later)
            open_output = later.get("outputs") and not tags(later)
            assert not (open_output and not folded), text(later)
        assert folded, f"no folded answer after {text(cell)}"


def test_widgets_hide_their_code_and_keep_their_state(
    path: Path, notebook: dict[str, Any]
) -> None:
    state = notebook["metadata"]["widgets"][WIDGET_STATE]["state"]
    shown = 0
    for cell in cells(notebook, "code"):
        for view in output_data(cell, WIDGET_VIEW):
            shown += 1
            assert "remove-input" in tags(cell), text(cell)
            assert view["model_id"] in state
            assert re.fullmatch(rf"{path.stem}-widget-\d{{3}}", view["model_id"])
    explorers = 1 if number(path) in (3, 4) else 0
    predictions = len(kind(path, "predict"))
    assert shown >= predictions + 1 + explorers, "predictions, checks, the explorer"
