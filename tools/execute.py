"""Execute notebooks so that a second execution changes no byte.

    python tools/execute.py [--time] chapters/03-scaled-dot-product-attention.ipynb ...

Timings are left out, streams merged, widget ids made stable. The line `**Time:** …`
of a chapter gets its minutes to read. Its seconds to run are raised where they were
too few; `--time` sets them anew (on a quiet machine). A notebook in which a cell fails
is left as it was.
"""

import json
import math
import os
import re
import sys
import time
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
TIME = re.compile(r"\*\*Time:\*\* (\d+) minutes to read and try, (\d+) seconds to run")


def main(arguments: list[str]) -> None:
    """Execute each notebook and write it back."""
    paths = [Path(argument) for argument in arguments if argument != "--time"]
    for path in paths:
        seconds = execute(path, set_time="--time" in arguments)
        print(f"{path}: {seconds:.1f} s")


def execute(path: Path, set_time: bool = False) -> float:
    """Execute one notebook in place; return the seconds that it took."""
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.pop("widgets", None)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    os.environ |= {"COURSE_DEVICE": "cpu", "COURSE_LANG": "en"}
    os.environ |= {"COURSE_BUTTONS": "0", "COURSE_PROGRESS": "off"}  # a page has none
    os.environ["COURSE_LANG"] = "en"
    start = time.perf_counter()
    client.execute()
    seconds = time.perf_counter() - start
    content = json.loads(stable_text(notebook, path.stem))
    for widgets in content["metadata"].get("widgets", {}).values():
        widgets["state"] = dict(sorted(widgets["state"].items()))
    for cell in content["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = filled_in(
                "".join(cell["source"]), content, seconds, set_time
            )
            cell["source"] = cell["source"].splitlines(keepends=True)
    content["metadata"]["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    content["metadata"]["language_info"] = {"name": "python"}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")
    return seconds


def stable_text(notebook: nbformat.NotebookNode, name: str) -> str:
    """Write a notebook without random widget ids and memory addresses.

    Widgets are numbered in the order in which they were made; the written text sorts
    them by their random ids.
    """
    widgets = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {})
    text = nbformat.writes(notebook)
    for number, old in enumerate(widgets.get("state", {})):
        text = text.replace(old, f"{name}-widget-{number:03d}")
    return re.sub(r"at 0x[0-9a-f]{6,}", "at 0x0", text)


def filled_in(text: str, content: dict[str, Any], seconds: float, anew: bool) -> str:
    """Fill in the minutes and the seconds of the line `**Time:** …`.

    The seconds are what was measured and a quarter more, rounded up to 5; without
    `anew` they are only ever raised, so that two executions give the same file.
    """
    found = TIME.search(text)
    if not found:
        return text
    stated = int(found[2])
    if anew or seconds > stated:
        stated = 5 * math.ceil(1.25 * seconds / 5)
    line = (
        f"**Time:** {reading_minutes(content)} minutes to read and try, "
        f"{stated} seconds to run"
    )
    return text[: found.start()] + line + text[found.end() :]


def reading_minutes(content: dict[str, Any]) -> int:
    """130 words a minute, two minutes a question; rounded up to 5."""
    words = tasks = 0
    for cell in content["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            words += len(re.findall(r"\w+", source))
        for chapter, names in re.findall(r"^Ask\((\d+)(.*)\)", source, flags=re.M):
            tasks += names.count('"') // 2 or number_of_checks(int(chapter))
    return 5 * math.ceil((words / 130 + 2 * tasks) / 5)


def number_of_checks(chapter: int) -> int:
    """How many questions `Ask(chapter)` shows."""
    path = files("course_lib") / "questions" / f"{chapter:02d}.toml"
    bank = tomllib.loads(path.read_text(encoding="utf-8"))
    return sum(question["kind"] == "check" for question in bank.values())


if __name__ == "__main__":
    main(sys.argv[1:])
