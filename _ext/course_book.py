"""What this book adds to Jupyter Book: pages that work offline, and for everyone.

A stock build fetches MathJax and the widget manager from public servers. Here both
stand in the built site under `vendor/`: MathJax comes from the installed package
`sphinx-mathjax-offline`, the widget host is `static-widgets.js` beside this file.
Nothing of others lies in the repository, and `jupyter-book build .` is enough.
"""

import json
import re
import shutil
from importlib.metadata import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

HERE = Path(__file__).parent
WIDGET_HOST = HERE / "static-widgets.js"
MATHJAX = "tex-mml-chtml.js"
# What the book uses of MathJax: the program, its fonts, its TeX extensions.
MATHJAX_PARTS = (MATHJAX, "output/chtml/fonts/woff-v2", "input/tex/extensions")
MATHJAX_NOTICE = """MathJax (https://www.mathjax.org), Apache License 2.0
(https://www.apache.org/licenses/LICENSE-2.0), unchanged, from the Python package
sphinx-mathjax-offline.
"""
# What a screen reader would stumble over.
FAULTS = {
    # Each fold would be read aloud by this name, not by the one that the page shows.
    ' aria-label="Toggle hidden content"': "",
    # A list of citations has children that may not stand in a list.
    ' role="doc-biblioentry"': ' role="listitem"',
}

WIDGET_VIEW = (
    r'<script type="application/vnd.jupyter.widget-view\+json">\s*(\{.*?\})\s*</script>'
)
NO_SCRIPT = "<noscript><p>This part of the page needs JavaScript.</p></noscript>"

ICON = re.compile(
    r'(?P<names>"[a-z0-9-]+"|\b[a-z][a-z0-9]*):'  # name
    r'\[\d+,\d+,(?P<older>\[[^\]]*\]),"[0-9a-f]+",'  # size, older names, code
    r'("[^"]*"|\[("[^"]*",?)+\])\],?'  # one path, or several
)

logger = logging.getLogger(__name__)


class Minutes(SphinxRole):
    """`` {minutes}`03` ``: the minutes that chapter 3 says it takes."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        for chapter in Path(self.env.srcdir, "chapters").glob(f"{self.text}-*.ipynb"):
            self.env.note_dependency(str(chapter))
            time = re.search(r"\*\*Time:\*\* (\d+) minutes", chapter.read_text("utf-8"))
            if time:
                text = f"{time[1]} minutes"
                return [nodes.inline(text=text, classes=["minutes"])], []
        message = self.inliner.reporter.warning(
            f"chapter {self.text} says nowhere how many minutes it takes",
            line=self.lineno,
        )
        return [], [message]


def use_vendored_scripts(app: Sphinx, config: Any) -> None:
    """Point Sphinx and MyST-NB at our copies; both paths start from `_static`."""
    config.mathjax_path = f"../vendor/mathjax/{MATHJAX}"
    config.nb_ipywidgets_js = {f"../vendor/{WIDGET_HOST.name}": {"defer": "defer"}}


def file_of(package: str, end: str) -> Path:
    """The file of an installed package whose path ends so."""
    for file in files(package) or []:
        if file.as_posix().endswith(end):
            return Path(str(file.locate()))
    raise FileNotFoundError(f"the package {package} holds no {end}")


def copy_vendored_scripts(app: Sphinx, error: Exception | None) -> None:
    """Copy MathJax and the widget host into the built site."""
    if error or app.builder.format != "html":
        return
    vendor = Path(app.outdir) / "vendor"
    source = file_of("sphinx-mathjax-offline", f"mathjax/{MATHJAX}").parent
    target = vendor / "mathjax"
    for part in MATHJAX_PARTS:
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, dirs_exist_ok=True)
        else:
            shutil.copy2(source / part, target / part)
    (target / "NOTICE.txt").write_text(MATHJAX_NOTICE, encoding="utf-8")
    shutil.copy2(WIDGET_HOST, vendor / WIDGET_HOST.name)


def keep_used_icons(app: Sphinx, error: Exception | None) -> None:
    """Cut the theme's script of 2,000 icons down to those on the pages.

    It is the heaviest file of a page by far. An icon stands in it under its name, with
    its older names in the third place: `pencil:[512,512,["pencil-alt"],"f303","M4…"]`.
    """
    if error or app.builder.format != "html":
        return
    script = file_of("pydata-sphinx-theme", "static/scripts/fontawesome.js")
    scripts = Path(app.outdir) / "_static" / "scripts"
    users = [*Path(app.outdir).rglob("*.html"), *scripts.glob("*theme.js")]
    used = set()
    for user in users:
        used |= set(re.findall(r"\bfa-([a-z0-9-]+)", user.read_text(encoding="utf-8")))

    def keep(icon: re.Match[str]) -> str:
        names = re.findall(r"[a-z][a-z0-9-]*", icon["names"] + icon["older"])
        return icon[0] if used.intersection(names) else ""

    kept = ICON.sub(keep, script.read_text(encoding="utf-8"))
    (scripts / script.name).write_text(kept, encoding="utf-8")


def warn_about_faults(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Warn of what would otherwise be published in silence; `-W` makes it an error."""

    def warn(fault: str, node: nodes.Node) -> None:
        logger.warning(fault, location=node, type="course_book")

    for image in doctree.findall(nodes.image):
        if not image.get("alt", "").strip():
            warn("an image has no alternative text (mystnb.image.alt of a cell)", image)
    for cell in doctree.findall(nodes.container):
        if "cell" in cell["classes"] and "tag_raises-exception" not in cell["classes"]:
            for block in cell.findall(nodes.literal_block):
                if "traceback" in block["classes"]:
                    warn("a cell raised an error", block)
    states = saved_states(app, docname)
    for raw in doctree.findall(nodes.raw):
        view = re.search(WIDGET_VIEW, raw.astext())
        if view and json.loads(view[1])["model_id"] not in states:
            warn("a widget has no saved state: execute the notebook anew", raw)


def saved_states(app: Sphinx, docname: str) -> dict[str, Any]:
    """The states of the widgets of a page, as its notebook holds them."""
    scripts = NbMetadataCollector.get_js_files(app.env, docname)
    _, script = scripts.get("ipywidgets_state", (None, {}))
    return json.loads(script.get("body", "{}")).get("state", {})


def drop_thebe_settings(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Thebe needs a server; the theme writes its settings into each notebook page."""
    for raw in list(doctree.findall(nodes.raw)):
        if "x-thebe-config" in raw.astext() or "<script>kernelName" in raw.astext():
            raw.parent.remove(raw)


def mend_page(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Take out of each page what disturbs a reader."""
    # The theme loads Thebe twice, even when it is off: an error in every console.
    for kind in ("script_files", "css_files"):
        context[kind] = [file for file in context.get(kind, []) if not is_thebe(file)]
    context["header_buttons"] = plain_buttons(context.get("header_buttons", []))
    body = context.get("body", "")
    for fault, mended in FAULTS.items():
        body = body.replace(fault, mended)
    context["body"] = re.sub(WIDGET_VIEW, rf"\g<0>{NO_SCRIPT}", body)


def is_thebe(file: Any) -> bool:
    """Whether a script or style belongs to Thebe."""
    body = getattr(file, "attributes", {}).get("body") or ""
    name = str(getattr(file, "filename", None) or "")
    return "THEBE_JS_URL" in body or "sphinx-thebe" in name


def plain_buttons(buttons: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Unfold the theme's menus of one entry into buttons that say what they do."""
    plain = []
    for button in buttons:
        label, entries = button.get("label"), button.get("buttons", [])
        if label == "launch-buttons":
            colab = {
                "url": quote(entries[0]["url"], safe=":/"),  # the theme forgets to
                "icon": "fas fa-rocket",
                "text": "Open in Colab",
                "tooltip": "Run this notebook in Colab",
            }
            plain.append(entries[0] | colab)
        elif label == "download-buttons":
            plain += [
                entry | {"icon": "fas fa-download", "text": "Download"}
                for entry in entries
                if entry.get("text") == ".ipynb"
            ]
        else:
            plain.append(button)
    return plain


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_role("minutes", Minutes())
    app.connect("config-inited", use_vendored_scripts)
    app.connect("doctree-resolved", warn_about_faults)
    app.connect("doctree-resolved", drop_thebe_settings, priority=900)
    app.connect("html-page-context", mend_page, priority=900)
    app.connect("build-finished", copy_vendored_scripts)
    app.connect("build-finished", keep_used_icons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
