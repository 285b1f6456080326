"""Search from the disk: a script with the text of each page, from which results take the lines around what is found."""

import json
import re
from pathlib import Path

from docutils import nodes

SCRIPT = "search-texts.js"
LEFT_OUT = (nodes.raw, nodes.literal_block, nodes.comment, nodes.math_block, nodes.substitution_definition)


def setup(app):
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}


def load(app, page, template, context, doctree):
    if page == "search":
        app.add_js_file(SCRIPT)
        app.add_js_file("search.js")


def write(app, error):
    if error is None and app.builder.name == "html":
        texts = {page: text(app.env.get_doctree(page)) for page in sorted(app.env.found_docs) if "/api/" not in page}
        body = json.dumps(texts, ensure_ascii=False, separators=(",", ":"))
        Path(app.outdir, "_static", SCRIPT).write_text(f"const SEARCH_TEXTS = {body};\n")


def text(tree):
    """What a page says below its title, in one line, without code and displayed formulas."""
    paragraphs = tree.findall(lambda node: isinstance(node, (nodes.paragraph, nodes.caption)))
    said = (each.astext() for each in paragraphs if not any(isinstance(node, LEFT_OUT) for node in each.children))
    return re.sub(r"\s+", " ", " ".join(said))
