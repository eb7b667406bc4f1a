"""Build the book once, serve it on this machine only, and look at it in Chromium."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, Playwright, sync_playwright
from site_checks import ROOT, TOC_PAGES, Visit, build_book, is_fresh, serve
from ways import WAYS
from widget_page import Shown, write_page

from course_lib import widgets

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def site() -> Path:
    """The built site of this checkout, built here if `make book` has not done so."""
    html = ROOT / "_build" / "html"
    ROOT.joinpath("_build").mkdir(exist_ok=True)
    with FileLock(ROOT / "_build" / "test.lock"):  # the workers of xdist share it
        if not is_fresh(html):
            build_book(ROOT, "-W")
    return html


@pytest.fixture(scope="session")
def served(site: Path) -> Iterator[str]:
    """The address of the site."""
    yield from serve(site)


def chromium_path(playwright: Playwright) -> str:
    """The Chromium to use: the one named, the system's, or Playwright's own."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    path = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, names)), ""
    )
    return path or playwright.chromium.executable_path


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        path = chromium_path(playwright)
        if not Path(path).exists():
            missing = "no Chromium: install it, or name it in the variable CHROMIUM"
            if os.environ.get("CI") == "true":
                pytest.fail(missing)
            pytest.skip(missing)
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Browser, served: str) -> Iterator[Callable[..., Visit]]:
    """`visit("index.html")` opens a page, with every other address blocked."""
    visits: list[Visit] = []

    def open_page(page: str, base: str = served, **options: object) -> Visit:
        visits.append(Visit(chromium, base, page, **options))
        return visits[-1]

    yield open_page
    for each in visits:
        each.close()


@pytest.fixture(scope="session")
def looks(chromium: Browser, served: str) -> Callable[[str, str], dict]:
    """What can be found out about a page in one visit, by page and colour scheme."""
    seen: dict[tuple[str, str], dict] = {}

    def look(page: str, scheme: str) -> dict:
        if (page, scheme) not in seen:
            visit = Visit(chromium, served, page, color_scheme=scheme)
            seen[page, scheme] = visit.findings()
            visit.close()
        return seen[page, scheme]

    return look


@pytest.fixture(scope="session")
def explorers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every explorer on a page, `Name.en.html` and `Name.ko.html`."""
    folder = tmp_path_factory.mktemp("explorers")
    for name in WAYS:
        for lang in ("en", "ko"):
            write_page(folder, getattr(widgets, name)(), lang)
    return folder


@pytest.fixture(scope="session")
def explorers_served(explorers: Path) -> Iterator[str]:
    yield from serve(explorers)


@pytest.fixture
def show(chromium: Browser, explorers_served: str) -> Iterator[Callable[..., Shown]]:
    """`show("Sharpness", "ko")`: an explorer, the network blocked, without errors."""
    visits: list[Visit] = []

    def open_page(
        name: str, lang: str = "en", at: str = "", **options: object
    ) -> Shown:
        page = f"{name}.{lang}.html"
        visits.append(Visit(chromium, at or explorers_served, page, **options))
        return Shown(visits[-1])

    yield open_page
    errors = [each.errors + each.blocked for each in visits]
    for each in visits:
        each.close()
    assert not any(errors), errors


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test with the argument `page` every page of the book."""
    if "page" in metafunc.fixturenames:
        metafunc.parametrize("page", [*TOC_PAGES, "search.html", "genindex.html"])
