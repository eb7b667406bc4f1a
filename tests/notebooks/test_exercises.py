"""The exercises as notebooks: complete, right, and giving nothing away.

A master in `exercises/source` holds each task with its solution and its hidden tests.
Its form in `exercises/release` is what learners get: nbgrader's generator has taken
both out.
"""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from exercise_files import (
    BOTH,
    CHAPTERS,
    EXERCISES,
    FORMS,
    MASTERS,
    PLACED,
    ROOT,
    cell,
    label,
    of_chapter,
    place,
    read,
)
from test_notebooks import ONLY_MYST, OWN_PATH, SETUP, cells, tags, text

from course_lib import checks
from course_lib.checks import solutions
from course_lib.checks.report import RUNGS


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


# What a form keeps back --------------------------------------------------------------


def formulas(source: str) -> set[str]:
    """What a function assigns and returns."""
    return {
        ast.unparse(node.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assign | ast.Return) and node.value
    }


@pytest.mark.parametrize("path", FORMS, ids=label)
def test_no_form_gives_a_line_of_a_solution_away(path: Path) -> None:
    """No line and no formula, of any exercise, in code or in prose."""
    secret = set()
    for name in checks.EXERCISES:
        source = inspect.getsource(getattr(solutions, name))
        secret |= {squeezed(line) for line in body(source).splitlines()}
        secret |= {squeezed(formula) for formula in formulas(source)}
    secret = {each for each in secret if len(each) > 11}  # `break` is no secret
    assert len(secret) > 80
    shown = [squeezed(line) for c in read(path)["cells"] for line in c["source"]]
    for line in shown:
        assert not [each for each in secret if each in line], line
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
    assert re.findall(r"\*\*(.+?)\*\*", top) == list(RUNGS)
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


def test_the_page_explains_every_rung() -> None:
    page = (EXERCISES / "index.md").read_text(encoding="utf-8")
    ladder = page.split("## The ladder")[1].split("\n## ")[0]
    named = re.findall(r"^\d\. \*\*(.+?)\.\*\*", ladder, flags=re.M)
    assert [name.lower() for name in named] == list(RUNGS)


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
    exercise, solution = checks.EXERCISES[name], getattr(solutions, name)
    blocks = re.findall(
        r"^```python\n(.*?)^```", text(cell(name, "task")), flags=re.M | re.S
    )
    assert blocks, "a task has an example"
    for block in blocks:
        written: dict[str, Any] = {}
        exec(block, written)
        given = {
            each: as_tensor(written[each], "Int" in str(parameter.annotation))
            for each, parameter in inspect.signature(solution).parameters.items()
            if each in written
        }
        answer = solution(**given)
        results = answer if isinstance(answer, tuple) else (answer,)
        for result, right in zip(exercise.results, results, strict=True):
            mine = as_tensor(written[result], whole=False)
            assert mine.shape == right.shape, result
            same = torch.allclose(mine.double(), right.double(), rtol=0, atol=0.0051)
            assert same, f"{result}: {right}"


def as_tensor(written: Any, whole: bool) -> Any:
    """A list as a tensor: of floats, though it is written with whole numbers."""
    if not isinstance(written, list):
        return written
    found = torch.tensor(written)
    return found if whole or found.dtype == torch.bool else found.float()


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
