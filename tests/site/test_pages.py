"""Every page of the book: complete, legible, accessible, and made of local files."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from site_checks import (
    CHAPTERS,
    FORMS,
    ROOT,
    TOC_PAGES,
    broken_links,
    colab_links,
    colab_path,
    is_fresh,
    read,
    source_of,
    tracebacks,
    views_without_state,
)

ARXIV = re.compile(r"https://arxiv\.org/abs/[\d.]+\d")
SCHEMES = ("light", "dark")
Looks = Callable[[str, str], dict]


def test_the_toc_holds_every_chapter() -> None:
    files = sorted(path.stem for path in (ROOT / "chapters").glob("*.ipynb"))
    assert [name.removeprefix("chapters/") for name in CHAPTERS] == files


def test_the_toc_holds_every_exercise() -> None:
    files = sorted((ROOT / "exercises" / "release").glob("*/*.ipynb"))
    assert [ROOT / f"{name}.ipynb" for name in FORMS] == files


def test_every_page_of_the_toc_is_built_and_fresh(site: Path) -> None:
    assert [page for page in TOC_PAGES if not (site / page).exists()] == []
    assert is_fresh(site)
    assert (site / ".nojekyll").exists(), "GitHub would drop the folder _static"


def test_h29_no_page_shows_a_traceback(site: Path, page: str) -> None:
    assert tracebacks(read(site / page)) == []


def test_h30_every_widget_has_its_state(site: Path, page: str) -> None:
    assert views_without_state(read(site / page)) == []


def test_links_and_anchors_lead_somewhere(site: Path, page: str) -> None:
    assert broken_links(site, page) == []


@pytest.mark.parametrize("notebook", [*CHAPTERS, *FORMS])
def test_h31_colab_and_download_open_the_notebook(site: Path, notebook: str) -> None:
    soup = read(site / f"{notebook}.html")
    (url,) = colab_links(soup)
    assert ROOT / colab_path(url) == source_of(notebook)
    (button,) = soup.select("a.btn-download-source-button")
    download = (site / f"{notebook}.html").parent / str(button["href"])
    assert download.suffix == ".ipynb"
    assert download.read_bytes() == source_of(notebook).read_bytes()


def test_pages_that_are_no_notebook_offer_no_colab(site: Path, page: str) -> None:
    if page.removesuffix(".html") not in [*CHAPTERS, *FORMS]:
        assert colab_links(read(site / page)) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_serious(looks: Looks, page: str, scheme: str) -> None:
    assert looks(page, scheme)["axe"] == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_nothing_leaves_the_machine(looks: Looks, page: str, scheme: str) -> None:
    assert looks(page, scheme)["blocked"] == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_console_is_silent(looks: Looks, page: str, scheme: str) -> None:
    assert looks(page, scheme)["errors"] == []


def test_mathematics_is_typeset(looks: Looks, page: str) -> None:
    look = looks(page, "light")
    assert look["typeset"] == look["formulas"]
    assert look["tex_errors"] == []
    assert look["raw_tex"] == []


def test_there_is_mathematics_to_typeset(looks: Looks) -> None:
    assert looks("notation.html", "light")["typeset"] > 10


def test_no_page_is_wider_than_a_phone(looks: Looks, page: str) -> None:
    look = looks(page, "light")
    assert look["overflow"] <= 0, look["wide"]


def test_every_image_loads_and_says_what_it_shows(looks: Looks, page: str) -> None:
    assert looks(page, "light")["images"] == []


def test_every_icon_is_drawn(looks: Looks, page: str) -> None:
    assert looks(page, "light")["icons"] >= 4
    assert looks(page, "light")["lost_icons"] == []


def test_every_widget_starts(looks: Looks, page: str) -> None:
    look = looks(page, "light")
    assert look["widgets_ready"] == look["widgets"]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_references_hold_what_a_chapter_cites(chapter: str) -> None:
    cited = set(ARXIV.findall(source_of(chapter).read_text(encoding="utf-8")))
    known = set(ARXIV.findall((ROOT / "references.bib").read_text(encoding="utf-8")))
    assert cited - known == set()


def test_every_entry_of_the_bibliography_is_explained() -> None:
    bibliography = (ROOT / "references.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{(\w+),", bibliography, re.MULTILINE)
    explained = (ROOT / "references.md").read_text(encoding="utf-8")
    sentences = re.findall(r"- \{cite:t\}`(\w+)`: \w", explained)
    assert sorted(sentences) == sorted(entries)
    assert len(entries) == len(set(entries)) >= 20


def test_search_finds_a_chapter(visit: Callable) -> None:
    page = visit("search.html?q=softmax").page
    page.wait_for_selector("#search-results li a")
    found = page.locator("#search-results li a").all_inner_texts()
    assert any("attention" in title.lower() for title in found)


def test_a_chapter_works_from_a_file(visit: Callable, site: Path) -> None:
    base = site.resolve().as_uri() + "/"
    found = visit(f"{CHAPTERS[-1]}.html", base=base).findings(axe=False)
    assert found["widgets_ready"] == found["widgets"] > 0
    assert found["typeset"] == found["formulas"] > 0
    assert found["blocked"] == [] and found["images"] == []
