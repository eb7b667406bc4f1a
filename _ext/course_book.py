"""What this book adds to Jupyter Book: pages that work offline, and for everyone.

A stock build fetches MathJax and the widget manager from public servers. Here both
stand in the built site under `vendor/`: MathJax comes from the installed package
`sphinx-mathjax-offline`, the widget host is `static-widgets.js` beside this file.
Nothing of others lies in the repository, and `jupyter-book build .` is enough.
"""

import shutil
from importlib.metadata import files
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

HERE = Path(__file__).parent
WIDGET_HOST = HERE / "static-widgets.js"
MATHJAX = "tex-mml-chtml.js"
# What the book uses of MathJax: the program, its fonts, its TeX extensions.
MATHJAX_PARTS = (MATHJAX, "output/chtml/fonts/woff-v2", "input/tex/extensions")

logger = logging.getLogger(__name__)


def use_vendored_scripts(app: Sphinx, config: Any) -> None:
    """Point Sphinx and MyST-NB at our copies; both paths start from `_static`."""
    config.mathjax_path = f"../vendor/mathjax/{MATHJAX}"
    config.nb_ipywidgets_js = {f"../vendor/{WIDGET_HOST.name}": {"defer": "defer"}}


def mathjax_folder() -> Path:
    """The folder of MathJax inside the package that carries it."""
    for file in files("sphinx-mathjax-offline") or []:
        if file.name == MATHJAX:
            return Path(str(file.locate())).parent
    raise FileNotFoundError(f"the package sphinx-mathjax-offline holds no {MATHJAX}")


def copy_vendored_scripts(app: Sphinx, error: Exception | None) -> None:
    """Copy MathJax and the widget host into the built site."""
    if error or app.builder.format != "html":
        return
    vendor = Path(app.outdir) / "vendor"
    source, target = mathjax_folder(), vendor / "mathjax"
    for part in MATHJAX_PARTS:
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, dirs_exist_ok=True)
        else:
            shutil.copy2(source / part, target / part)
    shutil.copy2(WIDGET_HOST, vendor / WIDGET_HOST.name)


def warn_about_images_without_alt(
    app: Sphinx, doctree: nodes.document, docname: str
) -> None:
    """Every picture says in words what it shows; `-W` makes this an error."""
    for image in doctree.findall(nodes.image):
        if not image.get("alt", "").strip():
            logger.warning(
                "an image has no alternative text: give its cell "
                "mystnb.image.alt, or write ![what it shows](…)",
                location=(docname, image.line),
                type="course_book",
                subtype="alt",
            )


def mend_page(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Take out of each page what disturbs a reader."""
    # Thebe needs a server. The theme writes its script twice even when it is off,
    # which is an error in the console of every page.
    context["script_files"] = [
        script for script in context.get("script_files", []) if not is_thebe(script)
    ]
    # Each fold would be read aloud by this name, not by the one that the page shows.
    context["body"] = context.get("body", "").replace(
        ' aria-label="Toggle hidden content"', ""
    )


def is_thebe(script: Any) -> bool:
    body = getattr(script, "attributes", {}).get("body") or ""
    name = str(getattr(script, "filename", None) or "")
    return "THEBE_JS_URL" in body or "sphinx-thebe" in name


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", use_vendored_scripts)
    app.connect("doctree-resolved", warn_about_images_without_alt)
    app.connect("html-page-context", mend_page, priority=900)
    app.connect("build-finished", copy_vendored_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
