"""The landing page, with the numbers that `notebooks/landing.md` glues and the data of the explorer."""

import ast
import shutil
from pathlib import Path

import nbformat
from explorer import SCRIPT, write_script

PAGE = "book/index"
OUR_SCRIPTS = ("training.js", "explorer-theory.js", "explorer.js", "explorer-students.js", "landscape.js", "hint.js")
SCRIPTS = (SCRIPT, "d3-explorer.js", *OUR_SCRIPTS)  # in the order of loading
GLUE = "application/papermill.record/text/plain"
OUTPUT = Path(__file__).resolve().parents[1] / "_executed"  # folder of the executed notebooks


def setup(app):
    app.connect("config-inited", bring_words)
    app.connect("html-page-context", load_explorer)
    app.connect("build-finished", bring_data)
    return {"parallel_read_safe": True}


def bring_words(app, config):
    """Define numbers as substitutions of the page, such as {{ alpha_c }}.

    {{ reduced }} is a sentence that names the size of the results.
    """
    notebook = nbformat.read(OUTPUT / "landing.ipynb", 4)
    banners = [cell.source for cell in notebook.cells if cell.source.startswith('<div class="admonition')]
    words = {"reduced": "\n".join(banners), **texts_of(notebook)}
    config.myst_substitutions = {**config.myst_substitutions, **words}


def texts_of(notebook):
    """Return the texts that an executed notebook has glued, by name."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    named = {output.metadata["scrapbook"]["name"]: output.data for output in outputs if "scrapbook" in output.metadata}
    return {name: ast.literal_eval(data[GLUE]) for name, data in named.items()}


def load_explorer(app, page, template, context, doctree):
    """Load the explorer's scripts and styles on the landing page only.

    The title of the landing page is the title of the book, so that the tab shows it once.
    """
    if page == PAGE and app.builder.name == "html":
        context["theme_logo"] = {**(context.get("theme_logo") or {}), "text": context["docstitle"]}
        context["docstitle"] = ""
        app.add_css_file("explorer.css")
        for script in SCRIPTS:
            app.add_js_file(script, loading_method="defer")


def bring_data(app, error):
    """Copy the data of the explorer, and the data of the scorecard, to which its page links."""
    if error is None and app.builder.format == "html":
        write_script(Path(app.outdir, "_static"))
        for path in (OUTPUT / "scorecard.json", OUTPUT.parent / "scorecard.schema.json"):
            shutil.copy(path, Path(app.outdir, "book"))
