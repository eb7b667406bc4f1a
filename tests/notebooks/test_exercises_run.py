"""The exercises as notebooks, run: masters pass, forms say what is not attempted.

Every check in a notebook is listened to, so that the verdict is read from its report
and not from the words that it shows.
"""

import ast
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
from exercise_files import (
    EXERCISES,
    FORMS,
    MASTERS,
    ROOT,
    label,
    of_chapter,
    place,
    read,
)
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from test_notebooks import text

from course_lib import checks

MASKING = "04-masking"

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


# Generated ---------------------------------------------------------------------------


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
            shown = [out.data for out in each.outputs if "data" in out]
            said = [data["text/plain"] for data in shown if "text/plain" in data]
            assert "not attempted yet" in " ".join(said).lower()
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
