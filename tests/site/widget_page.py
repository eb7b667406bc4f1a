"""A page with nothing but one widget, as the book would show it: state, view, host."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import anywidget
from ipywidgets.embed import embed_data
from site_checks import MIME, ROOT

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
