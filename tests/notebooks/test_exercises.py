"""The exercises as notebooks: masters that pass, and forms that give nothing away.

A master in `exercises/source` holds each task with its solution and its hidden tests.
Its form in `exercises/release` is what learners get: nbgrader's generator has taken
both out. Here both are run from top to bottom, and every check in them is listened to.
"""

import ast
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from test_notebooks import ONLY_MYST, OWN_PATH, SETUP, cells, tags, text

from course_lib import checks
from course_lib.checks import solutions

ROOT = Path(__file__).parents[2]
EXERCISES = ROOT / "exercises"
MASKING = "04-masking"
CHAPTERS = [path.stem for path in sorted((ROOT / "chapters").glob("*.ipynb"))]
MASTERS = sorted((EXERCISES / "source").glob("*/*.ipynb"))
FORMS = sorted((EXERCISES / "release").glob("*/*.ipynb"))
BOTH = [*MASTERS, *FORMS]

# The first cell of a copy that is run: it notes what every check finds.
LISTEN = """
from course_lib.checks.exercise import Exercise

found = []
original = Exercise.check


def noted(self, answer, *rest, **named):
    report = original(self, answer, *rest, **named)
    found.append((self.id, named.get("seed"), report.status))
    return report


Exercise.check = noted
"""


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


def body(source: str) -> str:
    """What a function does, without its first lines and its docstring."""
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    return "\n".join(source.splitlines()[function.body[1].lineno - 1 :]).rstrip()


def squeezed(line: str) -> str:
    """A line of code without its comment and its spaces."""
    return "".join(line.split("#")[0].split())


# Where everything is -----------------------------------------------------------------


def test_every_chapter_with_exercises_has_its_master_and_its_form() -> None:
    wanted = [f"{stem}/{stem}.ipynb" for stem in CHAPTERS if of_chapter(stem)]
    assert wanted
    for folder, found in (("source", MASTERS), ("release", FORMS)):
        there = [path.relative_to(EXERCISES / folder).as_posix() for path in found]
        assert there == wanted, folder


@pytest.mark.parametrize("path", BOTH, ids=label)
def test_every_exercise_stands_in_its_chapter_in_course_order(path: Path) -> None:
    ids = [each["id"] for each in read(path)["cells"]]
    wanted = ["top", "setup", "imports"]
    for name in of_chapter(path.stem):
        kinds = ("task", "", "check", "hint", "solution", "test")
        wanted += [f"{name}-{kind}".rstrip("-") for kind in kinds]
    assert [each for each in ids if each != "tools"] == [*wanted, "end", "progress"]


# The forms are nbgrader's ------------------------------------------------------------


def test_the_forms_are_those_that_nbgrader_generates(tmp_path: Path) -> None:
    """Byte for byte: `make forms` was run after the last change of a master."""
    before = sorted(EXERCISES.rglob("*"))
    subprocess.run(
        [sys.executable, str(ROOT / "tools" / "forms.py"), str(tmp_path)],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=300,
    )
    made = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*.*")}
    release = EXERCISES / "release"
    stored = {p.relative_to(release): p.read_bytes() for p in release.rglob("*.*")}
    assert sorted(made) == sorted(stored)
    stale = [path.name for path in made if made[path] != stored[path]]
    assert stale == [], "run make forms"
    assert sorted(EXERCISES.rglob("*")) == before, "a gradebook or a log was left"


@pytest.mark.parametrize("path", FORMS, ids=label)
def test_no_form_gives_a_line_of_a_solution_away(path: Path) -> None:
    """Not one line, of any exercise, in code or in prose; `break` is no secret."""
    lines = {
        squeezed(line)
        for name in checks.EXERCISES
        for line in body(inspect.getsource(getattr(solutions, name))).splitlines()
    }
    secret = {line for line in lines if len(line) > 11}
    assert len(secret) > 40
    shown = [squeezed(line) for c in read(path)["cells"] for line in c["source"]]
    for line in shown:
        assert not any(each in line for each in secret), line
    whole = "".join("".join(c["source"]) for c in read(path)["cells"])
    for mark in ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS", "raise_for"):
        assert mark not in whole


@pytest.mark.parametrize("name", PLACED)
def test_a_form_has_a_blank_where_the_master_has_the_solution(name: str) -> None:
    master, form = text(cell(name, "stub")), text(cell(name, "stub", "release"))
    start, rest = master.split("    ### BEGIN SOLUTION\n")
    solution, end = rest.split("\n    ### END SOLUTION")
    assert end.strip() == ""
    assert form == f"{start}    raise NotImplementedError"
    assert solution == body(inspect.getsource(getattr(solutions, name)))


# What a learner reads ----------------------------------------------------------------


@pytest.mark.parametrize("path", BOTH, ids=label)
def test_prose_is_read_by_every_notebook(path: Path) -> None:
    for each in cells(read(path), "markdown"):
        for what, pattern in ONLY_MYST.items():
            found = re.search(pattern, text(each), flags=re.M)
            assert not found, f"{what} that only MyST reads: {found[0]!r}"
        assert not OWN_PATH.search(text(each))


@pytest.mark.parametrize("path", FORMS, ids=label)
def test_links_lead_to_files(path: Path) -> None:
    for each in cells(read(path), "markdown"):
        for target in re.findall(r"\]\(([^)]+)\)", text(each)):
            assert (path.parent / target).is_file(), target


@pytest.mark.parametrize("path", FORMS, ids=label)
def test_the_top_says_how_many_and_how_long(path: Path) -> None:
    names = of_chapter(path.stem)
    minutes = sum(checks.EXERCISES[name].minutes for name in names)
    words = dict(enumerate(("two", "three", "four", "five", "six", "seven"), 2))
    top = text(read(path)["cells"][0])
    assert f"{words[len(names)]} functions, about {minutes} minutes" in top
    heading = text(read(ROOT / "chapters" / path.name)["cells"][0]).splitlines()[0]
    title = heading.split(". ", 1)[1]
    assert top.startswith(f"# Exercises {int(path.stem[:2])}: {title}\n")


def test_the_page_lists_every_notebook_with_its_functions_and_minutes() -> None:
    listed = re.findall(
        r"^\d+\. \[\*\*.+?\*\*\]\((.+?)\): (.+)\. (\d+) minutes$",
        (EXERCISES / "index.md").read_text(encoding="utf-8"),
        flags=re.M,
    )
    assert listed == [
        (
            path.relative_to(EXERCISES).as_posix(),
            ", ".join(f"`{name}`" for name in of_chapter(path.stem)),
            str(sum(checks.EXERCISES[n].minutes for n in of_chapter(path.stem))),
        )
        for path in FORMS
    ]


@pytest.mark.parametrize("name", PLACED)
def test_a_task_says_where_it_belongs(name: str) -> None:
    exercise = checks.EXERCISES[name]
    number, section = place(exercise)
    task = text(cell(name, "task", "release"))
    assert re.match(rf"## .+: `{name}`\n", task)
    assert f"*Difficulty {exercise.difficulty} of 3 · " in task
    assert f"about {exercise.minutes} minutes · read: [chapter {number}](" in task
    assert f"section “{section}”*" in task


@pytest.mark.parametrize("name", PLACED)
def test_the_example_on_paper_is_right(name: str) -> None:
    """What a task gives as input and result, the solution gives too."""
    exercise = checks.EXERCISES[name]
    blocks = re.findall(
        r"^```python\n(.*?)^```", text(cell(name, "task")), flags=re.M | re.S
    )
    assert blocks, "a task has an example"
    for block in blocks:
        written: dict[str, Any] = {}
        exec(block, written)
        given = {k: tensor(v) for k, v in written.items() if k in exercise.parameters}
        answer = exercise.right_answer(**given)
        results = answer if isinstance(answer, tuple) else (answer,)
        for result, right in zip(exercise.results, results, strict=True):
            mine = tensor(written[result])
            assert mine.shape == right.shape, result
            same = torch.allclose(mine.double(), right.double(), rtol=0, atol=0.0051)
            assert same, f"{result}: {right}"


def tensor(written: Any) -> Any:
    """A list as a tensor: whole numbers are floats here, lengths are not."""
    if not isinstance(written, list):
        return written
    found = torch.tensor(written)
    lengths = found.dim() == 1 and written == [2, 0, 3]
    return found if found.dtype == torch.bool or lengths else found.float()


@pytest.mark.parametrize("name", PLACED)
def test_a_stub_names_the_arguments_and_every_shape(name: str) -> None:
    source = text(cell(name, "stub", "release"))
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    arguments = [each.arg for each in function.args.args]
    assert arguments == list(inspect.signature(getattr(solutions, name)).parameters)
    assert all(each.annotation for each in function.args.args) and function.returns
    assert ast.get_docstring(function)
    for line in source.splitlines():
        assert len(line) <= 80
        if "Tensor" in line:
            assert re.search(r"# .*(\(|shape|, )", line), f"no shape: {line}"


@pytest.mark.parametrize("name", PLACED)
def test_each_exercise_has_check_hint_and_solution(name: str) -> None:
    assert text(cell(name, "check", "release")) == f"checks.{name}.check({name})"
    assert text(cell(name, "hint", "release")).endswith(f"\nchecks.{name}.hint()")
    solution = text(cell(name, "solution", "release"))
    assert solution.endswith(f"\nchecks.{name}.solution()")


@pytest.mark.parametrize("kind", ["hint", "solution"])
@pytest.mark.parametrize("name", PLACED)
def test_the_calls_for_hint_and_solution_are_folded(name: str, kind: str) -> None:
    """In JupyterLab, in Colab and in the book."""
    for folder in ("source", "release"):
        folded = cell(name, kind, folder)
        settings = folded["metadata"]
        assert settings["jupyter"] == {"source_hidden": True}
        assert settings["cellView"] == "form" and "# @title" in text(folded)
        assert tags(folded) == ["hide-input"]
        assert settings["mystnb"]["code_prompt_show"].startswith("How to ")


# What nbgrader reads -----------------------------------------------------------------


@pytest.mark.parametrize("path", BOTH, ids=label)
def test_is_a_clean_notebook_of_the_usual_kernel(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(nbformat.from_dict(notebook))
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert notebook["metadata"]["language_info"]["name"] == "python"
    assert notebook["nbformat_minor"] >= 5, "cells have ids of their own"
    first, *others = cells(notebook, "code")
    assert text(first).strip() == SETUP and tags(first) == ["hide-input"]
    assert text(others[-1]) == "checks.progress()"
    for each in cells(notebook, "code"):
        assert each["outputs"] == [] and each["execution_count"] is None


@pytest.mark.parametrize("path", BOTH, ids=label)
def test_nbgrader_finds_each_answer_and_each_test(path: Path) -> None:
    found = [each["metadata"].get("nbgrader") for each in read(path)["cells"]]
    graded = {each["grade_id"]: each for each in found if each}
    assert len(graded) == sum(map(bool, found)), "a grade_id is there twice"
    names = of_chapter(path.stem)
    assert list(graded) == [part for n in names for part in (n, f"{n}-test")]
    for name in names:
        answer, test = graded[name], graded[f"{name}-test"]
        assert answer["solution"] and not answer["grade"] and not answer["locked"]
        assert test["grade"] and test["locked"] and not test["solution"]
        assert test["points"] == checks.EXERCISES[name].difficulty
        assert {answer["schema_version"], test["schema_version"]} == {3}
        assert not answer["task"] and not test["task"]
        if path in FORMS:
            assert answer["checksum"] and test["checksum"]


@pytest.mark.parametrize("name", PLACED)
def test_the_hidden_test_checks_twice_and_raises(name: str) -> None:
    assert text(cell(name, "test", "release")).count("\n") == 0
    assert text(cell(name, "test")).endswith(
        "### BEGIN HIDDEN TESTS\nfor seed in (1, 2):\n"
        f"    checks.{name}.check({name}, seed=seed).raise_for_failure()\n"
        "### END HIDDEN TESTS"
    )


# From top to bottom ------------------------------------------------------------------


def run(notebook: dict[str, Any], where: Path) -> nbformat.NotebookNode:
    """Run a copy of a notebook in an empty folder; its last cell gives `found`."""
    played = nbformat.reads(json.dumps(notebook), as_version=4)
    played.cells.insert(0, new_code_cell(LISTEN))
    played.cells.append(new_code_cell("found"))
    client = NotebookClient(
        played,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(where)}},
    )
    client.execute()
    return played


def heard(played: nbformat.NotebookNode) -> list[tuple[str, int | None, str]]:
    return ast.literal_eval(played.cells[-1].outputs[0].data["text/plain"])


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No progress of anyone is touched, and the checks speak English."""
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    monkeypatch.setenv("COURSE_LANG", "en")
    monkeypatch.setenv("COURSE_DEVICE", "cpu")


@pytest.mark.parametrize("path", MASTERS, ids=label)
def test_a_master_passes_everything(path: Path, tmp_path: Path) -> None:
    played = run(read(path), tmp_path)
    names = of_chapter(path.stem)
    wanted = [(n, seed, "passed") for n in names for seed in (None, 1, 2)]
    assert heard(played) == wanted
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", FORMS, ids=label)
def test_a_form_runs_to_its_end_and_says_what_is_not_attempted(
    path: Path, tmp_path: Path
) -> None:
    played = run(read(path), tmp_path)
    names = of_chapter(path.stem)
    assert heard(played) == [(name, None, "not_attempted") for name in names]
    for each in played.cells:
        for output in each.get("outputs", []):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.text
            assert "Traceback" not in json.dumps(output)
        if each.id.endswith("-check"):
            (output,) = each.outputs
            assert "not attempted yet" in output.data["text/plain"].lower()
        if each.id.endswith(("-hint", "-solution")):
            (output,) = each.outputs
            shown = output.data["text/markdown"]
            assert re.fullmatch(r"<details>\n<summary>.+</details>", shown, flags=re.S)
    assert list(tmp_path.iterdir()) == []


# Wrong answers, one for each chapter: what is replaced in a solution, and by what.
PLANTED = {
    "additive_scores": ("torch.tanh(", "torch.sigmoid("),
    "soft_lookup": ("softmax(dim=0)", "sigmoid()"),
    "scaled_dot_product_attention": ("math.sqrt(q.shape[-1])", "q.shape[-1]"),
    "causal_mask": (".tril()", ".tril(1)"),
    "add_positions": ("encoding[: x.shape[1]]", "encoding[x.shape[1] - 1]"),
    "merge_heads": ("x.transpose(1, 2)", "x"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_solution_in_a_master_stops_the_run(name: str, tmp_path: Path) -> None:
    """Without this, a master whose hidden tests test nothing would look the same."""
    number = place(checks.EXERCISES[name])[0]
    (path,) = (EXERCISES / "source").glob(f"{number:02d}-*/*.ipynb")
    notebook = read(path)
    (stub,) = (each for each in notebook["cells"] if each["id"] == name)
    right, wrong = PLANTED[name]
    assert text(stub).count(right) == 1
    stub["source"] = text(stub).replace(right, wrong)
    with pytest.raises(CellExecutionError, match="AssertionError") as stopped:
        run(notebook, tmp_path)
    assert f"checks.{name}.check({name}, seed=seed)" in str(stopped.value)


def test_a_wrong_solution_is_planted_in_every_chapter() -> None:
    assert {place(checks.EXERCISES[name])[0] for name in PLANTED} == {
        int(path.stem[:2]) for path in MASTERS
    }


# Graded by nbgrader ------------------------------------------------------------------


def test_nbgrader_gives_the_points(tmp_path: Path) -> None:
    """An instructor's way, with a right answer, a wrong one and a blank."""
    course = tmp_path / "course"
    (course / "source").mkdir(parents=True)
    shutil.copy(EXERCISES / "nbgrader_config.py", course)
    shutil.copytree(EXERCISES / "source" / MASKING, course / "source" / MASKING)
    nbgrader("generate_assignment", course)
    handed_in = course / "submitted" / "mina" / MASKING / f"{MASKING}.ipynb"
    handed_in.parent.mkdir(parents=True)
    notebook = read(course / "release" / MASKING / f"{MASKING}.ipynb")
    answers = {
        "padding_mask": "return torch.ones(len(lengths), max_len).bool()",
        "causal_mask": "return ~torch.ones(length, length).triu(1).bool()",
    }
    for each in notebook["cells"]:
        if each["id"] in answers:
            blank, mine = "raise NotImplementedError", answers[each["id"]]
            each["source"] = text(each).replace(blank, mine)
    handed_in.write_text(json.dumps(notebook), encoding="utf-8")
    nbgrader("autograde", course)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        (graded,) = book.find_submission(MASKING, "mina").notebooks
        points = {
            each.name: (each.auto_score, each.max_score) for each in graded.grades
        }
    assert points == {
        "padding_mask-test": (0, 1),
        "causal_mask-test": (1, 1),
        "masked_attention-test": (0, 3),
    }


def nbgrader(command: str, course: Path) -> None:
    """Call nbgrader as an instructor does: in the course, with its folder on PATH."""
    programs = str(Path(sys.executable).parent)
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", command, MASKING],
        cwd=course,
        env=os.environ | {"PATH": os.pathsep.join((programs, os.environ["PATH"]))},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
