"""The project as a whole: what it imports, opens and says of itself."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRACKED = [
    ROOT / line
    for line in subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        encoding="utf-8",
    ).stdout.split("\0")
    if line
]
PYTHON = [path for path in TRACKED if path.suffix == ".py" and path.exists()]
TEXT = [
    path
    for path in TRACKED
    if path.suffix not in {".png", ".ico", ".npz", ".mo"} and path.is_file()
]


def run(code: str, *flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *flags, "-c", code],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
    )


def test_the_list_of_files_is_that_of_the_project():
    names = {path.relative_to(ROOT).as_posix() for path in TRACKED}
    assert {"README.md", "Makefile", "_config.yml", "course_lib/attention.py"} <= names


def test_importing_course_lib_is_light():
    code = (
        "import course_lib, sys; from course_lib import attention, masks, positions, "
        "recurrent, corpus, training, checks, show; "
        "print([n for n in ('matplotlib', 'ipywidgets', 'anywidget', 'transformers') "
        "if n in sys.modules])"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_imports_point_downwards():
    """Low modules know nothing of those above them."""
    level = {
        "masks": 0, "corpus": 0, "grammar": 0, "fused": 0, "positions": 0,
        "attention": 1, "recurrent": 2, "training": 2, "show": 3, "experiments": 4,
        "plots": 4, "widgets": 4, "checks": 4,
    }  # fmt: skip
    for path in (ROOT / "course_lib").glob("*.py"):
        own = level.get(path.stem)
        if own is None:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                parts = node.module.split(".")
                if parts[0] == "course_lib" and len(parts) > 1 and parts[1] in level:
                    assert level[parts[1]] <= own, f"{path.name} imports {node.module}"


def opens_without_encoding(source: str) -> list[int]:
    """Lines that open, read or write text, or run a command, and name no encoding."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else ""
        name = function.id if isinstance(function, ast.Name) else name
        named = {keyword.arg for keyword in node.keywords}
        words = [a.value for a in node.args if isinstance(a, ast.Constant)]
        binary = any(isinstance(w, str) and "b" in w and len(w) < 4 for w in words)
        texts = name in {"read_text", "write_text"} or (name == "open" and not binary)
        command = name in {"run", "Popen", "check_output"} and (
            {"text", "universal_newlines"} & named
        )
        if (texts or command) and "encoding" not in named and "utf-8" not in words:
            lines.append(node.lineno)
    return lines


def test_case_h36_every_file_is_opened_as_utf8():
    assert opens_without_encoding("open('x')\np.read_text()\nopen('x', 'rb')") == [1, 2]
    faults = {
        path.relative_to(ROOT).as_posix(): lines
        for path in PYTHON
        if (lines := opens_without_encoding(path.read_text(encoding="utf-8")))
    }
    assert not faults


def test_case_h36_files_that_other_tools_read_are_ascii():
    for name in (
        "requirements.txt",
        "pyproject.toml",
        "Makefile",
        ".ci/run",
        "_toc.yml",
    ):
        assert (ROOT / name).read_bytes().isascii(), name


def test_case_h36_the_library_works_on_a_korean_windows():
    """No default encoding is used, and printing survives a cp949 terminal."""
    code = (
        "import sys; sys.stdout.reconfigure(encoding='cp949')\n"
        "from course_lib import checks, corpus, experiments, widgets, show\n"
        "show.ready(); pairs = corpus.generate(20, seed=1)\n"
        "print(corpus.text(pairs[0].korean, 'korean'))\n"
        "print(checks.causal_mask.check(lambda length: None))\n"
        "for n in range(1, 7): widgets.Ask(n)\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-W", "error::EncodingWarning",
         "-X", "utf8=0", "-c", code],
        capture_output=True, encoding="cp949", cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Ready" in done.stdout


def test_nothing_of_one_machine_is_written_down():
    place = re.compile(
        r"(?<![\w.])/(?:work|root|home/\w+|opt|Users/\w+)/|file:///|[A-Z]:\\\\"
    )
    for path in TEXT:
        if path.suffix in {".svg", ".ipynb", ".json"} or path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert not place.search(line), f"{path}:{number}: {line.strip()[:80]}"


def test_the_lock_covers_what_pyproject_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = list(project["project"]["dependencies"])
    for extra in project["project"]["optional-dependencies"].values():
        wanted += extra
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    locked = {
        line.split("==")[0].lower().replace("_", "-").replace(".", "-")
        for line in lock.splitlines()
        if "==" in line
    }
    names = {re.split(r"[\[<>=]", item)[0].lower() for item in wanted} - {"course-lib"}
    assert names <= locked
    assert "torch==2.13.0\n" in lock and "+cpu" not in lock and "--hash" not in lock
    for item in project["project"]["dependencies"]:
        if item.startswith(("torch", "numpy")):
            assert "<" not in item, "no upper bound on torch or numpy"


def test_the_package_carries_its_data(tmp_path):
    """A wheel has the questions, scripts, results and tables, not only the modules."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = data["tool"]["setuptools"]["package-data"]["course_lib"]
    carried = {
        path for pattern in patterns for path in (ROOT / "course_lib").glob(pattern)
    }
    there = {
        path
        for path in TRACKED
        if path.is_relative_to(ROOT / "course_lib") and path.suffix != ".py"
    }
    assert there == {path for path in carried if path in there}


def test_stored_results_name_their_machine():
    for path in (ROOT / "course_lib" / "results").glob("*.json"):
        stored = json.loads(path.read_text(encoding="utf-8"))
        assert {"machine", "torch", "seconds", "results"} <= set(stored), path.name
        assert (ROOT / "course_lib" / "experiments" / f"{path.stem}.py").is_file()


def test_a_missing_result_says_how_to_measure_it():
    from course_lib import experiments

    with pytest.raises(ValueError, match="make measure"):
        experiments.load("nothing_of_this_name")


def test_too_old_a_torch_is_named_in_one_sentence(monkeypatch):
    import torch

    from course_lib import show

    monkeypatch.setattr(torch, "__version__", "2.1.0+cu118")
    with pytest.raises(
        RuntimeError, match=r"needs torch 2\.6 or newer and found 2\.1\.0"
    ):
        show.ready()


def test_without_the_package_a_lesson_says_what_to_do():
    """The set-up cell of a lesson, where neither the package nor a network is there."""
    first = sorted((ROOT / "chapters").glob("*.ipynb"))[0]
    cells = json.loads(first.read_text(encoding="utf-8"))["cells"]
    code = "".join(next(c for c in cells if c["cell_type"] == "code")["source"])
    code = code.replace("%pip", "pass  #")  # as if nothing had been installed
    hidden = "import importlib.util as u; u.find_spec = lambda name: None\n"
    done = run(hidden + code)
    assert done.returncode == 1
    assert done.stderr.startswith("course_lib is missing: connect to the network")
    assert "Traceback" not in done.stderr


def test_readme_names_only_targets_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.M))
    assert {
        "book",
        "test",
        "bench",
        "measure",
        "notebooks",
        "serve",
        "lab",
        "help",
    } <= (targets)
    for name in ("README.md", "CONTRIBUTING.md", "index.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        named = set(re.findall(r"(?:`|^)make ([a-z-]+)", text, flags=re.M))
        assert named <= targets, f"{name} names make {named - targets}"


def test_every_module_can_be_read_in_one_sitting():
    long = {
        path.relative_to(ROOT).as_posix(): lines
        for path in (ROOT / "course_lib").glob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 300
    }
    assert not long
