"""The landing page: its numbers, its picture and the explorer's data are made by the library before pages are read."""

import json
import shutil
from pathlib import Path

from attention_book.explorer.page import PICTURE, SCRIPT, WORDS, pieces

PAGE = "book/index"
SCRIPTS = (SCRIPT, "d3-explorer.js", "explorer-theory.js", "explorer.js")  # in this order
FOLDER = Path(__file__).resolve().parents[1] / "_executed"  # beside what the notebooks have made


def setup(app):
    app.connect("config-inited", bring_words)
    app.connect("html-page-context", load_explorer)
    app.connect("build-finished", bring_data)
    return {"parallel_read_safe": True}


def bring_words(app, config):
    """Numbers as substitutions, so that the page's text says {{ alpha_c }}; the picture where the page finds it."""
    made = pieces()
    config.myst_substitutions = {**config.myst_substitutions, **json.loads((made / WORDS).read_text())}
    FOLDER.mkdir(exist_ok=True)
    shutil.copy(made / PICTURE, FOLDER)


def load_explorer(app, page, template, context, doctree):
    """Scripts and styles on the landing page alone; the page's title, which is the book's, once in its tab."""
    if page == PAGE and app.builder.name == "html":
        context["theme_logo"] = {**(context.get("theme_logo") or {}), "text": context["docstitle"]}
        context["docstitle"] = ""
        app.add_css_file("explorer.css")
        for script in SCRIPTS:
            app.add_js_file(script, loading_method="defer")


def bring_data(app, error):
    if error is None and app.builder.format == "html":
        shutil.copy(pieces() / SCRIPT, Path(app.outdir, "_static"))
