"""Every explorer alone on a page: from file:// and http, by keys and by pointer.

What solves a task, and what makes each of its mistakes, stands in ways/.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from site_checks import ROOT, Visit
from ways import WAYS
from widget_page import Shown, write_page

from course_lib import widgets
from course_lib.checks import EXERCISES

ARTEFACTS = ROOT / "_build" / "artefacts"
NAMES = list(WAYS)
TASKS = [(name, task) for name in NAMES for task in WAYS[name]]

# An explorer is loaded from a blob: break it there, and leave Playwright's own code.
BROKEN = """() => {
  const assign = Object.assign;
  Object.assign = (...given) => {
    if (new Error().stack.includes("blob:")) throw new Error("planted");
    return assign(...given);
  };
}"""

Show = Callable[..., Shown]


def test_every_explorer_is_in_the_table() -> None:
    """Each explorer, each task and each text of a task has a way to it."""
    explorers = {
        name
        for name in widgets.__all__
        if isinstance(getattr(widgets, name), type)
        and issubclass(getattr(widgets, name), widgets.Explorer)
    } - {"Explorer"}
    assert set(WAYS) == explorers
    for name in NAMES:
        tasks = getattr(widgets, name)().tasks
        assert 2 <= len(tasks) <= 4
        assert [task["name"] for task in tasks] == list(WAYS[name])
        for task in tasks:
            texts = {*task["texts"]["en"], *task["mistakes"]} - {"ask"}
            assert set(WAYS[name][task["name"]]) == texts, task["name"]


@pytest.mark.parametrize("where", ["http", "file"])
@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", NAMES)
def test_mounts_without_a_network(
    show: Show, explorers: Path, name: str, lang: str, where: str
) -> None:
    at = explorers.as_uri() + "/" if where == "file" else ""
    shown = show(name, lang, at)
    assert shown.box.get_attribute("lang") == lang
    words = shown.box.inner_text()
    assert ("탐색기" in words) == (lang == "ko")
    assert ("Explorer" in words) == (lang == "en")


@pytest.mark.parametrize("keys", [False, True], ids=["pointer", "keys"])
@pytest.mark.parametrize(("name", "task"), TASKS)
def test_a_task_says_to_each_way_what_it_should(
    show: Show, name: str, task: str, keys: bool
) -> None:
    shown = show(name)
    solved = shown.task(task).locator(".co-solved")
    for key, way in WAYS[name][task].items():
        shown.press("Reset", keys=keys)
        shown.go(way, keys)
        assert shown.judge(task) == key
        said = shown.task(task).locator(".co-verdict").inner_text()
        assert said.startswith("✓ Right." if key == "right" else ("✗", "⇄")), said
        exercise, _, misconception = key.partition("/")
        if misconception:
            known = [
                m for m in EXERCISES[exercise].misconceptions if m.id == misconception
            ]
            assert plain(known[0].sentence) in plain(said)
            assert misconception in said
        assert "{" not in said and "undefined" not in said
        if key == "right":
            assert "solved" in solved.inner_text()
    assert "solved" in solved.inner_text()  # and stays so


def plain(text: str) -> str:
    """A text without what the page shows as layout: spaces, backticks, indices."""
    return "".join(text.translate(dict.fromkeys(map(ord, "`_^"))).split())


@pytest.mark.parametrize(("name", "task"), TASKS)
def test_a_task_speaks_korean(show: Show, name: str, task: str) -> None:
    shown = show(name, "ko")
    shown.task(task).locator("> button").click()
    said = shown.task(task).locator(".co-verdict").inner_text()
    assert said.startswith(("✗ 아직", "⇄ 다른"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_nothing(show: Show, name: str, scheme: str) -> None:
    shown = show(name, color_scheme=scheme)
    for task in WAYS[name]:
        shown.judge(task)
    shown.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = 1)")
    assert shown.visit.axe(impacts=None) == []
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    shown.page.screenshot(path=ARTEFACTS / f"{name}-{scheme}.png", full_page=True)


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", NAMES)
def test_fits_a_phone(show: Show, name: str, lang: str) -> None:
    shown = show(name, lang, viewport={"width": 360, "height": 780})
    ways = [way for task in WAYS[name].values() for way in task.values()]
    if lang == "en":
        for way in ways:
            if way:
                shown.go(way[:1])  # each board, each first step
                assert (
                    shown.page.evaluate("document.documentElement.scrollWidth") <= 360
                )
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= 360
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    shown.page.screenshot(path=ARTEFACTS / f"{name}-phone-{lang}.png", full_page=True)


@pytest.mark.parametrize("name", NAMES)
def test_reset_brings_the_start_back(show: Show, name: str) -> None:
    shown = show(name)
    start = shown.box.inner_text()
    for task, ways in WAYS[name].items():
        shown.go(next(way for way in ways.values() if way))
        shown.judge(task)
    assert shown.box.inner_text() != start
    shown.press("Reset", keys=False)
    assert shown.box.locator(".co-verdict[data-state]").count() == 0
    assert shown.box.inner_text() == start


@pytest.mark.parametrize("name", NAMES)
def test_every_control_has_a_name_and_a_place_in_the_tab_order(
    show: Show, name: str
) -> None:
    shown = show(name)
    unnamed = shown.box.locator("button, input, select, [tabindex]").evaluate_all(
        "(nodes) => nodes.filter((n) => !(n.labels?.length || n.textContent.trim()"
        " || n.getAttribute('aria-label'))).map((n) => n.outerHTML)"
    )
    assert unnamed == []
    outline = "(n) => getComputedStyle(n).outlineStyle"
    shown.page.keyboard.press("Tab")  # the fold
    seen = set()
    for _ in range(60):
        shown.page.keyboard.press("Tab")
        here = shown.page.locator(":focus")
        if not here.count() or not here.evaluate("(n) => !!n.closest('.explorer')"):
            break
        seen.add(here.evaluate("(n) => n.outerHTML"))
        handle = here.evaluate("(n) => n.matches('.co-handle')")
        assert handle or here.evaluate(outline) != "none"
    assert len(seen) >= 3 + len(WAYS[name])


@pytest.mark.parametrize("name", NAMES)
def test_the_last_state_is_read_aloud(show: Show, name: str) -> None:
    shown = show(name)
    line = shown.box.locator(":scope > .co-hidden")
    assert line.inner_text() == ""
    way = next(w for t in WAYS[name].values() for w in t.values() if w)
    shown.go(way)
    shown.page.wait_for_function("(n) => n.textContent", arg=line.element_handle())
    assert len(line.inner_text().split()) >= 4


@pytest.mark.parametrize("name", NAMES)
def test_a_failure_is_said_with_the_still_picture(
    chromium: Browser, explorers_served: str, explorers: Path, name: str
) -> None:
    """Whatever breaks: an explorer without its tasks is one that cannot start."""
    page = explorers / f"{name}.en.html"
    broken = explorers / f"{name}.broken.html"
    text = page.read_text(encoding="utf-8")
    assert '"tasks": [' in text
    broken.write_text(text.replace('"tasks": [', '"other": ['), encoding="utf-8")
    visit = Visit(chromium, explorers_served, broken.name)
    view = visit.page.locator(".static-widget")
    assert "still picture shows how it starts" in view.inner_text()
    assert view.locator("img").get_attribute("alt") == "how the explorer starts"
    assert visit.errors
    visit.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_failure_while_it_is_used_is_said_too(
    chromium: Browser, explorers_served: str, name: str
) -> None:
    shown = Shown(Visit(chromium, explorers_served, f"{name}.en.html"))
    shown.page.evaluate(BROKEN)
    shown.press("Reset", keys=False)
    view = shown.page.locator(".static-widget")
    assert view.inner_text().startswith("This explorer stopped (planted).")
    assert view.locator("img").count() == 1
    assert "planted" in str(shown.visit.errors)
    shown.visit.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_language_of_its_own_wins_over_the_pages(
    show: Show, explorers: Path, name: str
) -> None:
    explorer = getattr(widgets, name)()
    explorer.lang = "ko"
    write_page(explorers, explorer).rename(explorers / f"{name}.own.html")
    write_page(explorers, getattr(widgets, name)())
    assert "탐색기" in show(name, "own").box.inner_text()


@pytest.mark.parametrize("name", NAMES)
def test_what_was_solved_is_kept_until_it_is_cleared(show: Show, name: str) -> None:
    shown = show(name)
    task, ways = next(iter(WAYS[name].items()))
    other = list(WAYS[name])[1]
    shown.go(ways["right"])
    assert shown.judge(task) == "right"
    count = len(WAYS[name])
    line = shown.page.locator(".solved-here")
    assert f"1 of {count}" in line.inner_text()
    shown.page.reload()
    shown.visit.settle()
    assert "solved" in shown.task(task).inner_text()
    assert "solved" not in shown.task(other).inner_text()
    assert f"1 of {count}" in line.inner_text()
    shown.page.locator(".solved-here button").click()
    assert "solved" not in shown.task(task).inner_text()
    assert f"0 of {count}" in line.inner_text()
    shown.page.reload()
    shown.visit.settle()
    assert "solved" not in shown.task(task).inner_text()


def test_works_where_storage_is_blocked(
    chromium: Browser, explorers_served: str
) -> None:
    """Some browsers refuse localStorage to a page, with an exception."""
    context = chromium.new_context()
    page = context.new_page()
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', "
        "{get() { throw new DOMException('no', 'SecurityError'); }})"
    )
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{explorers_served}{NAMES[0]}.en.html")
    page.wait_for_selector(".static-widget[data-ready]")
    item = page.locator("[data-task]").first
    item.locator("> button").click()
    assert item.locator(".co-verdict").inner_text()
    assert errors == []
    context.close()
