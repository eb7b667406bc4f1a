"""What the site tests look at: the files of the book, its pages, and a visit to one."""

import base64
import json
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import torch
import yaml
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page, Route
from torch import Tensor

with warnings.catch_warnings():  # the package opens its script without an encoding
    warnings.simplefilter("ignore", EncodingWarning)
    from axe_playwright_python.sync_playwright import Axe

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
DOCUMENTS = [
    TOC["root"],
    *(entry["file"] for part in TOC["parts"] for entry in part["chapters"]),
]
CHAPTERS = [name for name in DOCUMENTS if name.startswith("chapters/")]
FORMS = [name for name in DOCUMENTS if name.startswith("exercises/release/")]
TOC_PAGES = [f"{name}.html" for name in DOCUMENTS]
MIME = "application/vnd.jupyter.widget"


# ---- Files ------------------------------------------------------------------------


def source_of(document: str) -> Path:
    """The file in the checkout that a page is made from."""
    found = [ROOT / f"{document}{suffix}" for suffix in (".md", ".ipynb")]
    return next(path for path in found if path.exists())


def is_fresh(html: Path) -> bool:
    """Whether each page is newer than its source and all that shapes every page."""
    shared = [ROOT / name for name in ("_config.yml", "_toc.yml", "references.bib")]
    for folder in ("_ext", "_static", "_templates"):
        shared += [
            p for p in (ROOT / folder).rglob("*") if "__pycache__" not in p.parts
        ]
    shaped = max(path.stat().st_mtime for path in shared)
    for document in DOCUMENTS:
        page = html / f"{document}.html"
        if not page.exists():
            return False
        if page.stat().st_mtime < max(shaped, source_of(document).stat().st_mtime):
            return False
    return True


def read(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


# ---- Building and serving ---------------------------------------------------------


def build_book(source: Path, *options: str) -> str:
    """Build every page of the book in `source` anew; return what the build said."""
    command = [
        str(Path(sys.executable).with_name("jupyter-book")),
        "build",
        str(source),
    ]
    done = subprocess.run(
        [*command, "-n", "--keep-going", "--all", "-q", *options],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-4000:]
    return said


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


def serve(folder: Path) -> Iterator[str]:
    handler = partial(Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


# ---- What can be wrong with a page ------------------------------------------------


def tracebacks(soup: BeautifulSoup) -> list[str]:
    """Errors that cells raised, but for the cells that are meant to raise one."""
    outputs = soup.select(
        ".cell:not(.tag_raises-exception) .cell_output .traceback, "
        ".cell:not(.tag_raises-exception) .cell_output .stderr"
    )
    return [output.get_text().strip()[-200:] for output in outputs]


def json_scripts(soup: BeautifulSoup, kind: str) -> Iterator[dict[str, Any]]:
    for script in soup.find_all("script", type=f"{MIME}-{kind}+json"):
        yield json.loads(script.string)


def widget_states(soup: BeautifulSoup) -> dict[str, dict[str, Any]]:
    return {k: v for d in json_scripts(soup, "state") for k, v in d["state"].items()}


def views_without_state(soup: BeautifulSoup) -> list[str]:
    """Widgets that are to be seen, but whose numbers the notebook did not keep."""
    states = widget_states(soup)
    return [
        view["model_id"]
        for view in json_scripts(soup, "view")
        if view["model_id"] not in states
    ]


def colab_links(soup: BeautifulSoup) -> list[str]:
    return [link["href"] for link in soup.select('a[href*="colab.research.google"]')]


def colab_path(url: str) -> str:
    """The path in the repository that a Colab address opens, if it is a right one."""
    repository = urlsplit(CONFIG["repository"]["url"]).path.strip("/")
    start = f"https://colab.research.google.com/github/{repository}/blob/main/"
    assert url.startswith(start), f"{url} does not start with {start}"
    path = url.removeprefix(start)
    assert path.isascii() and " " not in path, f"{url} is not percent-encoded"
    assert path.endswith(".ipynb"), f"Colab can open no {path}"
    return unquote(path)


def broken_links(html: Path, page: str) -> list[str]:
    """Links and sources of a page that lead to no file, or to no place in one."""
    broken = []
    soup = read(html / page)
    for tag in soup.find_all(["a", "link", "script", "img"]):
        target = tag.get("href") or tag.get("src")
        if not target or not is_internal(target):
            continue
        path, anchor = (unquote(part) for part in urlsplit(target)[2:5:2])
        file = (html / page).parent / path if path else html / page
        if not file.exists() or (anchor and not has_anchor(file.resolve(), anchor)):
            broken.append(target)
    return broken


def is_internal(target: str) -> bool:
    return not urlsplit(target).scheme and target != "#"


_anchors: dict[Path, set[str]] = {}


def has_anchor(file: Path, name: str) -> bool:
    if file not in _anchors:
        soup = read(file)
        names = soup.find_all(id=True) + soup.find_all(attrs={"name": True})
        _anchors[file] = {str(tag.get("id") or tag.get("name")) for tag in names}
        _anchors[file] |= {str(tag.get("name")) for tag in names}
    return name in _anchors[file]


# ---- The explorer of chapter 3 ----------------------------------------------------


def explorer_scores(soup: BeautifulSoup) -> tuple[list[int], Tensor]:
    """The widths, and the scores (B, widths, Tk) that the page was given."""
    (state,) = [s for s in widget_states(soup).values() if "tenths" in str(s)]
    widths = state["state"]["widths"]
    (buffer,) = [b for b in state["buffers"] if b["path"] == ["tenths"]]
    tenths = torch.frombuffer(
        bytearray(base64.b64decode(buffer["data"])), dtype=torch.int16
    )
    keys = state["state"]["key_count"]
    return widths, tenths.reshape(-1, len(widths), keys).double() / 10


# ---- A visit ----------------------------------------------------------------------

# Text that a reader sees as TeX, outside of code and of what MathJax has set.
RAW_TEX = r"""() => {
  const skip = "pre, code, script, style, mjx-container, .static-widget";
  const tex = /\$\$|\\\(|\\\[|\\(frac|sqrt|sum|text|operatorname|cdot)/;
  const walker = document.createTreeWalker(
    document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest(skip)) continue;
    if (tex.test(node.data)) found.push(node.data);
  }
  return found;
}"""

BAD_IMAGES = """() => [...document.querySelectorAll("main img")]
  .filter((image) => !image.alt.trim() || !image.complete || image.naturalWidth === 0)
  .map((image) => image.outerHTML.slice(0, 200))"""

# Icons that were not drawn: the icon script puts a turning ring for one it lacks.
LOST_ICONS = """() => [
  ...document.querySelectorAll("i[class*='fa-']"),
  ...[...document.querySelectorAll("svg.svg-inline--fa")].filter((icon) =>
    icon.querySelector("circle, animate") || !icon.querySelector("path[d]")),
].map((icon) => icon.outerHTML.slice(0, 120))"""

# Of the thousands of coloured words of code, one of each kind is enough to look at.
THIN_CODE = """() => {
  const seen = new Set();
  for (const word of document.querySelectorAll(".highlight span")) {
    const kind = `${word.className} ${Boolean(word.closest(".cell_output"))}`;
    if (seen.has(kind)) word.replaceWith(...word.childNodes);
    seen.add(kind);
  }
}"""

WIDE = """() => [...document.querySelectorAll("main *")]
  .filter((node) => node.getBoundingClientRect().right > innerWidth + 1
    && !node.closest("pre, .pst-scrollable-table-container, mjx-container"))
  .map((node) => node.outerHTML.slice(0, 120))"""


class Visit:
    """One page in one browser context that can reach nothing but the book."""

    def __init__(
        self,
        browser: Browser,
        base: str,
        page: str,
        *,
        korean: bool = False,
        **options: Any,
    ) -> None:
        options = {"reduced_motion": "reduce"} | options
        self.context = browser.new_context(**options)
        self.page: Page = self.context.new_page()
        self.base = base
        self.blocked: list[str] = []
        self.errors: list[str] = []
        self.page.route("**/*", self._allow)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "console",
            lambda message: (
                message.type in ("error", "warning")
                and self.errors.append(message.text)
            ),
        )
        self.page.on(
            "response",
            lambda response: (
                response.status >= 400 and self.errors.append(response.url)
            ),
        )
        if korean:
            self.page.add_init_script(
                "document.addEventListener('readystatechange', "
                "() => { document.documentElement.lang = 'ko'; }, {once: true})"
            )
        self.page.goto(base + page)
        self.settle()

    def _allow(self, route: Route) -> None:
        if route.request.url.startswith((self.base, "data:", "blob:")):
            route.continue_()
        else:
            self.blocked.append(route.request.url)
            route.abort()

    def settle(self) -> None:
        """Wait until mathematics is set and every widget stands or has given up."""
        self.page.wait_for_function(
            "() => document.readyState === 'complete' && "
            "[...document.querySelectorAll('.static-widget')].every("
            "(view) => view.dataset.ready || view.dataset.error)"
        )
        self.page.evaluate("() => window.MathJax?.startup?.promise")
        self.page.evaluate("() => document.fonts.ready")

    def axe(
        self, impacts: tuple[str, ...] | None = ("serious", "critical")
    ) -> list[str]:
        """Faults of these impacts that axe finds; without impacts, all."""
        self.page.evaluate(THIN_CODE)
        options = {
            "resultTypes": ["violations"],
            "preload": False,  # it would ask for style sheets at wrong addresses
            "rules": {
                "label-content-name-mismatch": {"enabled": True}
            },  # off by default
        }
        return [
            f"{fault['id']}: {node['html'][:200]} {node.get('failureSummary')}"
            for fault in Axe().run(self.page, options=options).response["violations"]
            if impacts is None or fault["impact"] in impacts
            for node in fault["nodes"]
        ]

    def findings(self, axe: bool = True) -> dict[str, Any]:
        page = self.page
        # Open every fold, so that what it hides is looked at too.
        page.evaluate(
            "() => document.querySelectorAll('details').forEach(d => d.open = true)"
        )
        self.settle()
        found: dict[str, Any] = {
            "axe": self.axe() if axe else [],
            "icons": page.locator("svg.svg-inline--fa").count(),
            "lost_icons": page.evaluate(LOST_ICONS),
            "images": page.evaluate(BAD_IMAGES),
            "raw_tex": page.evaluate(RAW_TEX),
            "formulas": page.locator("main .math").count(),
            "typeset": page.locator("main .math mjx-container").count(),
            "tex_errors": page.locator("mjx-merror").all_inner_texts(),
            "widgets": page.locator(".static-widget").count(),
            "widgets_ready": page.locator(".static-widget[data-ready]").count(),
        }
        page.set_viewport_size({"width": 360, "height": 780})
        page.wait_for_timeout(300)
        found["overflow"] = page.evaluate(
            "() => document.documentElement.scrollWidth - innerWidth"
        )
        found["wide"] = page.evaluate(WIDE) if found["overflow"] > 0 else []
        return found | {"blocked": self.blocked, "errors": self.errors}

    def close(self) -> None:
        self.context.close()
