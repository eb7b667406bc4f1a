"""tools/execute.py: twice the same bytes, the usual kernel, nothing half done."""

import runpy
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

EXECUTE = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "execute.py"))
TIME = "**Time:** 1 minutes to read and try, 1 seconds to run on two CPU cores."


def plant(path: Path, *sources: str, top: str = TIME) -> Path:
    cells = [new_markdown_cell(top)]
    cells += [new_code_cell(source) for source in sources]
    spec = {"name": "conda-env-attn-py", "display_name": "mine", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": spec}), path)
    return path


def test_executes_twice_to_the_same_bytes(tmp_path: Path) -> None:
    path = plant(
        tmp_path / "page.ipynb",
        "from course_lib.widgets import Ask\n\nAsk(3, 'order')",
        "for i in range(3):\n    print(i)",
        "object()",
        top=TIME.replace("1 seconds", "500 seconds"),
    )
    EXECUTE["execute"](path)
    first = path.read_bytes()
    EXECUTE["execute"](path)
    assert path.read_bytes() == first

    notebook = nbformat.read(path, as_version=4)
    assert notebook.metadata.kernelspec.name == "python3"
    _, ask, loop, thing = notebook.cells
    assert ask.outputs[0].data["text/plain"] == "Ask(order)"
    [view] = [d for m, d in ask.outputs[0].data.items() if "widget-view" in m]
    assert view["model_id"].startswith("page-widget-")
    assert [output.text for output in loop.outputs] == ["0\n1\n2\n"]
    assert "at 0x0" in thing.outputs[0].data["text/plain"]
    assert "execution" not in loop.metadata


def test_states_minutes_and_seconds(tmp_path: Path) -> None:
    path = plant(tmp_path / "page.ipynb", "print(1)")
    seconds = EXECUTE["execute"](path, set_time=True)
    line = nbformat.read(path, as_version=4).cells[0].source
    minutes, stated = map(int, EXECUTE["TIME"].search(line).groups())
    assert minutes == 5  # a few words, rounded up to 5
    assert stated % 5 == 0 and stated >= seconds


def test_leaves_a_notebook_that_fails_as_it_was(tmp_path: Path) -> None:
    path = plant(tmp_path / "page.ipynb", "print(1)", "1 / 0")
    before = path.read_bytes()
    with pytest.raises(CellExecutionError):
        EXECUTE["execute"](path)
    assert path.read_bytes() == before


def test_lowers_the_seconds_only_when_it_is_told_to(tmp_path: Path) -> None:
    """A machine that is faster today must not change the file."""
    top = TIME.replace("1 seconds", "500 seconds")
    path = plant(tmp_path / "page.ipynb", "print(1)", top=top)
    EXECUTE["execute"](path)
    assert "500 seconds to run" in path.read_text(encoding="utf-8")
    EXECUTE["execute"](path, set_time=True)
    assert "500 seconds to run" not in path.read_text(encoding="utf-8")
