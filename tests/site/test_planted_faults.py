"""Pages with a fault that builds green: the checks of this folder must find each."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from site_checks import (
    MIME,
    ROOT,
    Visit,
    build_book,
    colab_links,
    colab_path,
    read,
    serve,
    tracebacks,
    views_without_state,
)


def code(source: str, outputs: list[dict], **metadata: object) -> dict:
    return {
        "cell_type": "code",
        "execution_count": 1,
        "id": f"cell-{abs(hash(source)) % 10**6}",
        "metadata": metadata,
        "outputs": outputs,
        "source": source,
    }


def view(model: str) -> dict:
    data = {
        f"{MIME}-view+json": {"model_id": model, "version_major": 2, "version_minor": 1}
    }
    return {"output_type": "display_data", "metadata": {}, "data": data}


def error(name: str) -> dict:
    trace = [f"Traceback (most recent call last)\n{name}: planted"]
    return {
        "output_type": "error",
        "ename": name,
        "evalue": "planted",
        "traceback": trace,
    }


def notebook(title: str, *cells: dict, state: dict | None = None) -> str:
    heading = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": title}
    metadata: dict = {
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
    }
    if state:
        entry = {"state": state, "version_major": 2, "version_minor": 0}
        metadata["widgets"] = {f"{MIME}-state+json": entry}
    book = {"cells": [heading, *cells], "metadata": metadata}
    return json.dumps(book | {"nbformat": 4, "nbformat_minor": 5})


def widget(script: str) -> dict:
    says = {"en": "Figure 7 shows the same.", "ko": "그림 7을 보세요."}
    state = {"_esm": script, "_css": "", "instead": says, "numbers": None}
    return {"model_name": "AnyModel", "model_module": "anywidget", "state": state}


WORKING = """export default {
  initialize({ model }) { model.set("started", "yes"); },
  render({ model, el }) {
    const second = model.get("numbers").getInt16(2, true);
    el.append(model.get("started"), " ", String(second));
    model.on("change:x", () => el.append(" changed"));
    model.set("x", 1);
    model.save_changes();
  } }"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small book with this book's settings and a fault on each page."""
    book = tmp_path_factory.mktemp("planted")
    for name in ("_ext", "_static", "_templates"):
        shutil.copytree(ROOT / name, book / name)
    for name in ("_config.yml", "references.bib"):
        shutil.copy2(ROOT / name, book / name)
    (book / "chapters").mkdir()
    numbers = {"path": ["numbers"], "data": "AQD+/w==", "encoding": "base64"}  # 1, -2
    working = widget(WORKING) | {"buffers": [numbers]}
    pages = {
        "traceback": notebook("# A", code("1/0", [error("ZeroDivisionError")])),
        "meant": notebook(
            "# B", code("1/0", [error("ValueError")], tags=["raises-exception"])
        ),
        "picture": notebook("# F\n\n![](../_static/favicon.svg)"),
        "no-state": notebook("# C", code("w", [view("lost")])),
        "broken": notebook(
            "# D",
            code("w", [view("bad")]),
            code("v", [view("good")]),
            code("u", [view("slider")]),
            state={
                "bad": widget("throw new Error('no luck')"),
                "good": working,
                "slider": {
                    "model_name": "IntSliderModel",
                    "model_module": "@jupyter-widgets/controls",
                    "state": {},
                },
            },
        ),
        "띄어 쓰기": notebook("# E", code("1", [])),
    }
    for name, text in pages.items():
        (book / "chapters" / f"{name}.ipynb").write_text(text, encoding="utf-8")
    chapters = "".join(f"  - file: chapters/{name}\n" for name in pages)
    toc = f"format: jb-book\nroot: index\nchapters:\n{chapters}"
    (book / "_toc.yml").write_text(toc, encoding="utf-8")
    (book / "index.md").write_text("# Planted\n", encoding="utf-8")
    said = build_book(book)  # green: that is the trouble; only our own warnings tell
    (book / "said.txt").write_text(said, encoding="utf-8")
    return book / "_build" / "html"


def test_the_build_warns_of_what_it_would_publish_in_silence(planted: Path) -> None:
    said = (planted.parents[1] / "said.txt").read_text(encoding="utf-8")
    warnings = [line for line in said.splitlines() if "WARNING" in line]
    for page, fault in {
        "traceback.ipynb": "a cell raised an error",
        "no-state.ipynb": "a widget has no saved state",
        "picture.ipynb": "an image has no alternative text",
    }.items():
        (warning,) = [line for line in warnings if page in line]
        assert fault in warning
    assert len(warnings) == 3


def test_h29_a_published_traceback_is_found(planted: Path) -> None:
    (found,) = tracebacks(read(planted / "chapters/traceback.html"))
    assert "ZeroDivisionError" in found
    assert tracebacks(read(planted / "chapters/meant.html")) == []


def test_h30_a_view_without_state_is_found(planted: Path) -> None:
    assert views_without_state(read(planted / "chapters/no-state.html")) == ["lost"]
    assert views_without_state(read(planted / "chapters/broken.html")) == []


def test_h31_a_path_with_hangul_and_a_space_is_encoded(planted: Path) -> None:
    (url,) = colab_links(read(planted / "chapters/띄어 쓰기.html"))
    assert colab_path(url) == "chapters/띄어 쓰기.ipynb"


@pytest.mark.parametrize("path", ["main/index.md", "master/chapters/a.ipynb"])
def test_h31_a_wrong_address_is_found(path: str) -> None:
    with pytest.raises(AssertionError):
        colab_path(f"https://colab.research.google.com/github/OWNER/REPO/blob/{path}")


@pytest.fixture
def planted_site(planted: Path) -> Iterator[str]:
    yield from serve(planted)


def test_a_widget_that_fails_says_so_in_a_sentence(
    visit: Callable[..., Visit], planted_site: str
) -> None:
    page = visit("chapters/broken.html", base=planted_site).page
    bad, good, slider = page.locator(".static-widget").all()
    assert bad.inner_text() == (
        "This widget could not start (no luck). Figure 7 shows the same."
    )
    assert good.inner_text() == "yes -2 changed"
    assert "needs a running notebook" in slider.inner_text()
