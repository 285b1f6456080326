"""The landing page: its numbers, its picture and the explorer's data are made by the library before pages are read."""

import json
import shutil
from pathlib import Path

from explorer import PICTURE, SCRIPT, WORDS, pieces

PAGE = "book/index"
OWN = ("training.js", "explorer-theory.js", "explorer.js", "explorer-students.js")
SCRIPTS = (SCRIPT, "d3-explorer.js", *OWN)  # in this order
EXECUTED = Path(__file__).resolve().parents[1] / "_executed"  # what the notebooks have made


def setup(app):
    app.connect("config-inited", bring_words)
    app.connect("html-page-context", load_explorer)
    app.connect("build-finished", bring_data)
    return {"parallel_read_safe": True}


def bring_words(app, config):
    """Numbers as substitutions, so that the page's text says {{ alpha_c }}; the picture where the page finds it."""
    config.myst_substitutions = {
        **config.myst_substitutions,
        **json.loads((pieces() / WORDS).read_text(encoding="utf-8")),
    }
    EXECUTED.mkdir(exist_ok=True)
    shutil.copy(pieces() / PICTURE, EXECUTED)


def load_explorer(app, page, template, context, doctree):
    """Scripts and styles on the landing page alone; the page's title, which is the book's, once in its tab."""
    if page == PAGE and app.builder.name == "html":
        context["theme_logo"] = {**(context.get("theme_logo") or {}), "text": context["docstitle"]}
        context["docstitle"] = ""
        app.add_css_file("explorer.css")
        for script in SCRIPTS:
            app.add_js_file(script, loading_method="defer")


def bring_data(app, error):
    """The explorer's data, and those of the scorecard, whose page links to them."""
    if error is None and app.builder.format == "html":
        shutil.copy(pieces() / SCRIPT, Path(app.outdir, "_static"))
        for path in (EXECUTED / "scorecard.json", EXECUTED.parent / "scorecard.schema.json"):
            shutil.copy(path, Path(app.outdir, "book"))
