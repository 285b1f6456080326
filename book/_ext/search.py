"""Search from the disk: a script with the text of each page, from which results take the words around what is found."""

import json
import re
from pathlib import Path

from docutils import nodes

SCRIPT = "search-texts.js"
LEFT_OUT = (nodes.raw, nodes.literal_block, nodes.comment, nodes.math, nodes.math_block, nodes.substitution_definition)


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
        pages = [page for page in sorted(app.env.found_docs) if "/api/" not in page]
        body = json.dumps({page: text(app.env.get_doctree(page)) for page in pages}, ensure_ascii=False)
        Path(app.outdir, "_static", SCRIPT).write_text(f"const SEARCH_TEXTS = {body};\n", encoding="utf-8")


def text(tree):
    """What a page says below its title, in one line, without code, formulas and names of references."""
    words = []
    for paragraph in tree.findall(lambda node: isinstance(node, (nodes.paragraph, nodes.caption))):
        for leaf in paragraph.findall(nodes.Text):
            if not isinstance(leaf.parent, LEFT_OUT) and "xref" not in leaf.parent.get("classes", ()):
                words.append(leaf.astext())
        words.append(" ")
    return re.sub(r"\s+", " ", "".join(words)).strip()
