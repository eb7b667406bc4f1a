"""Every explorer alone on a page: from file:// and http, by keys and by pointer.

What solves a task, and what makes each of its mistakes, stands in explorer_tasks.py.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from explorer_tasks import WAYS, Way
from playwright.sync_api import Browser, Locator
from site_checks import ROOT, Visit, serve
from widget_page import write_page

from course_lib import widgets
from course_lib.attention import scaled_dot_product_attention
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

Show = Callable[..., "Shown"]


class Shown:
    """One explorer in one visit, and how to work it."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.page = visit.page
        self.box = visit.page.locator(".explorer")

    def task(self, name: str) -> Locator:
        return self.box.locator(f'[data-task="{name}"]')

    def judge(self, task: str) -> str:
        """Press Check; return the key of the text that was said."""
        item = self.task(task)
        item.locator("> button").click()
        return item.locator(".co-verdict").get_attribute("data-said") or ""

    def go(self, way: Way, keys: bool = False) -> None:
        for kind, *step in way:
            getattr(self, kind)(*step, keys=keys)

    def pick(self, value: str, keys: bool) -> None:
        radio = self.box.locator(f'input[type=radio][value="{value}"]')
        if keys:
            radio.focus()
            self.page.keyboard.press("Space")
        else:
            radio.locator("xpath=..").click()

    def press(self, name: str, keys: bool) -> None:
        button = self.box.get_by_role("button", name=name, exact=True)
        if keys:
            button.focus()
            self.page.keyboard.press("Enter")
        else:
            button.click()

    def slide(self, label: str, value: float, keys: bool) -> None:
        slider = self.box.get_by_role("slider", name=label)
        if not keys:
            slider.fill(str(value))
            return
        slider.press("Home")
        low, step = (float(slider.get_attribute(name) or 0) for name in ("min", "step"))
        for _ in range(round((value - low) / step)):
            slider.press("ArrowRight")

    def check(self, label: str, on: bool, keys: bool) -> None:
        box = self.box.get_by_label(label)
        if box.is_checked() != on:
            box.press("Space") if keys else box.click()

    def key(self, css: str, key: str, times: int, keys: bool) -> None:
        for _ in range(times):
            self.box.locator(css).press(key)

    def paint(self, rows: tuple[str, ...], keys: bool) -> None:
        if keys:
            self.box.locator(".co-cell").first.focus()
            self.page.keyboard.press("Home")
        for i, row in enumerate(rows):
            for j, wanted in enumerate(row):
                cell = self.box.locator(".co-matrix tbody tr").nth(i)
                cell = cell.locator(".co-cell").nth(j)
                differs = (cell.get_attribute("aria-pressed") == "true") != (
                    wanted == "1"
                )
                if differs:
                    self.page.keyboard.press("Space") if keys else cell.click()
                if keys and j + 1 < len(row):
                    self.page.keyboard.press("ArrowRight")
            if keys:
                self.page.keyboard.press("Home")
                self.page.keyboard.press("ArrowDown")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every explorer as a page in both languages."""
    folder = tmp_path_factory.mktemp("explorers")
    for name in NAMES:
        for lang in ("en", "ko"):
            write_page(folder, getattr(widgets, name)(), lang)
    return folder


@pytest.fixture(scope="module")
def base(folder: Path) -> Iterator[str]:
    yield from serve(folder)


@pytest.fixture
def show(chromium: Browser, base: str) -> Iterator[Show]:
    """`show("Sharpness", "ko")`: an explorer with the network blocked."""
    visits: list[Visit] = []

    def open_page(
        name: str, lang: str = "en", at: str = "", **options: object
    ) -> Shown:
        visits.append(Visit(chromium, at or base, f"{name}.{lang}.html", **options))
        return Shown(visits[-1])

    yield open_page
    errors = [each.errors + each.blocked for each in visits]
    for each in visits:
        each.close()
    assert not any(errors), errors


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
    show: Show, folder: Path, name: str, lang: str, where: str
) -> None:
    at = folder.as_uri() + "/" if where == "file" else ""
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
    chromium: Browser, base: str, folder: Path, name: str
) -> None:
    """Whatever breaks: an explorer without its tasks is one that cannot start."""
    page = folder / f"{name}.en.html"
    broken = folder / f"{name}.broken.html"
    text = page.read_text(encoding="utf-8")
    assert '"tasks": [' in text
    broken.write_text(text.replace('"tasks": [', '"other": ['), encoding="utf-8")
    visit = Visit(chromium, base, broken.name)
    view = visit.page.locator(".static-widget")
    assert "still picture shows how it starts" in view.inner_text()
    assert view.locator("img").get_attribute("alt") == "how the explorer starts"
    assert visit.errors
    visit.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_failure_while_it_is_used_is_said_too(
    chromium: Browser, base: str, name: str
) -> None:
    shown = Shown(Visit(chromium, base, f"{name}.en.html"))
    shown.page.evaluate(BROKEN)
    shown.press("Reset", keys=False)
    view = shown.page.locator(".static-widget")
    assert view.inner_text().startswith("This explorer stopped (planted).")
    assert view.locator("img").count() == 1
    assert "planted" in str(shown.visit.errors)
    shown.visit.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_language_of_its_own_wins_over_the_pages(
    show: Show, folder: Path, name: str
) -> None:
    explorer = getattr(widgets, name)()
    explorer.lang = "ko"
    write_page(folder, explorer).rename(folder / f"{name}.own.html")
    write_page(folder, getattr(widgets, name)())
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


def test_works_where_storage_is_blocked(chromium: Browser, base: str) -> None:
    """Some browsers refuse localStorage to a page, with an exception."""
    context = chromium.new_context()
    page = context.new_page()
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', "
        "{get() { throw new DOMException('no', 'SecurityError'); }})"
    )
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{base}{NAMES[0]}.en.html")
    page.wait_for_selector(".static-widget[data-ready]")
    item = page.locator("[data-task]").first
    item.locator("> button").click()
    assert item.locator(".co-verdict").inner_text()
    assert errors == []
    context.close()


# ---- The painted mask ---------------------------------------------------------------


def test_a_drag_paints_every_cell_that_it_crosses(show: Show) -> None:
    shown = show("MaskPainter")
    row = shown.box.locator(".co-matrix tbody tr").nth(1).locator(".co-cell")
    first, last = row.nth(0).bounding_box(), row.nth(3).bounding_box()
    assert first and last
    mouse = shown.page.mouse
    mouse.move(first["x"] + 10, first["y"] + 10)
    mouse.down()
    mouse.move(last["x"] + 10, last["y"] + 10, steps=12)
    mouse.up()
    states = [cell.get_attribute("aria-pressed") for cell in row.all()]
    assert states == ["false"] * 4
    assert "“birds” sees nothing" in shown.box.locator(".mp-sum").inner_text()
    assert shown.box.locator("tr[data-dark]").count() == 1
    others = shown.box.locator('.co-cell[aria-pressed="false"]').count()
    assert others == 4


def test_pointing_lights_the_row_the_words_and_the_term(show: Show) -> None:
    shown = show("MaskPainter")
    cell = shown.box.locator(".co-matrix tbody tr").nth(2).locator(".co-cell").nth(1)
    cell.hover()
    lit = shown.box.locator("[data-lit]")
    assert shown.box.locator("thead [data-lit]").inner_text() == "birds"
    assert lit.locator("th[scope=row]").all_inner_texts() == ["sing", "birds"]
    assert shown.box.locator(".mp-sum [data-lit]").inner_text() == "0.22 · (10, 0)"
    assert "output of “sing” = 0.08" in shown.box.locator(".mp-sum").inner_text()


def test_the_share_is_found_in_korean_too(show: Show) -> None:
    """There the verb comes last: another row, the same scores."""
    shown = show("MaskPainter", "ko")
    shown.paint(("1111", "1111", "1111", "0101"), keys=False)
    assert shown.judge("share") == "right"


def test_the_weights_are_pytorchs(show: Show) -> None:
    """For every board and every ready-made mask: weights and output of each row."""
    boards = widgets.MaskPainter().boards
    shown = show("MaskPainter")
    for board in boards:
        scores = torch.tensor(boards[board]["en"]["scores"], dtype=torch.float64)
        values = torch.tensor(boards[board]["en"]["values"], dtype=torch.float64)
        for ready in ("Everything", "Causal", "Padding", "Window of 2"):
            shown.pick(board, keys=False)
            shown.press(ready, keys=False)
            rows = shown.box.locator(".co-matrix tbody tr").all()
            cells = [row.locator(".co-cell").all() for row in rows]
            mask = torch.tensor(
                [[c.get_attribute("aria-pressed") == "true" for c in r] for r in cells]
            )
            width = scores.shape[-1]  # queries and keys whose scores are these
            query = scores * width**0.5
            output, weights = scaled_dot_product_attention(
                query, torch.eye(width, dtype=torch.float64), values, mask
            )
            for i, row in enumerate(cells):
                for j, cell in enumerate(row):
                    text = cell.inner_text() or "0"
                    assert float(text) == pytest.approx(
                        float(weights[i, j]), abs=0.00501
                    )
                row[0].hover()
                said = shown.box.locator(".mp-sum").inner_text().split("= ")[-1]
                if mask[i].any():
                    pair = [float(x) for x in said.strip("()").split(",")]
                    assert pair == pytest.approx(output[i].tolist(), abs=0.00501)
                else:
                    assert "sees nothing" in said
