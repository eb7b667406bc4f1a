"""A page with one widget, as the book shows it, and how an explorer is worked there."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import anywidget
from ipywidgets.embed import embed_data
from playwright.sync_api import Locator
from site_checks import MIME, ROOT, Visit
from ways import Way

HOST = ROOT / "_ext" / "static-widgets.js"
PAGE = """<!doctype html>
<html lang="{lang}">
<head><meta charset="utf-8"><title>{name}</title>
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<style>
@font-face {{ font-family: Korean; src: url(NotoSansKR-Regular.otf);
  font-weight: 100 900; }}
:root {{ color-scheme: light dark; font-family: sans-serif{korean}; }}
html {{ background: Canvas; }}
body {{ margin: 0; padding: 0 1rem; }}
</style>
<script src="static-widgets.js" defer></script>
<script type="{mime}-state+json">{state}</script></head>
<body><main><h1>{name}</h1>
<div class="cell"><details class="hide"><summary>Still picture</summary>
<img alt="how the explorer starts" src="{picture}"></details></div>
<div class="cell"><script type="{mime}-view+json">{view}</script></div>
</main></body></html>
"""
DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


def korean_font(folder: Path) -> str:
    """Put a Korean font beside the page, for machines without one; say its name."""
    package = find_spec("pylopdf_fonts_ko")
    if not package or not package.origin:
        return ""
    shutil.copy2(Path(package.origin).parent / "NotoSansKR-Regular.otf", folder)
    return ", Korean"


def write_page(folder: Path, widget: anywidget.AnyWidget, lang: str = "en") -> Path:
    """Write the page of a widget and the host beside it; return the page."""
    state = embed_data(views=[widget], drop_defaults=False)["manager_state"]
    page = folder / f"{type(widget).__name__}.{lang}.html"
    page.write_text(
        PAGE.format(
            lang=lang,
            name=type(widget).__name__,
            mime=MIME,
            picture=DOT,
            korean=korean_font(folder),
            state=json.dumps(state).replace("</", "<\\/"),
            view=json.dumps({"model_id": widget.model_id}),
        ),
        encoding="utf-8",
    )
    shutil.copy2(HOST, folder)
    return page


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
