"""The first use of each word of the glossary on a page becomes a link, at which its meaning opens."""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

GLOSSARY = "book/glossary"
SCRIPT = "glossary-terms.js"
# Where no word becomes a link: it would be one already, a heading, code, or a cell of a table, which may be narrow.
CODE = (nodes.literal, nodes.literal_block, nodes.raw, addnodes.desc)
NOT_IN = (*CODE, nodes.reference, nodes.citation, nodes.title, nodes.rubric, nodes.topic, nodes.table, nodes.math)


def setup(app):
    app.connect("doctree-resolved", link)
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}


def link(app, tree, page):
    """Make links of the first uses on a page."""
    if app.builder.name != "html" or page == GLOSSARY or page.startswith("book/api"):
        return
    address, left = app.builder.get_relative_uri(page, GLOSSARY), anchors(app)
    for node in [*tree.findall(nodes.Text), *tree.findall(nodes.math)]:
        if inside(node.parent, NOT_IN):
            continue
        for replaced in first_uses(node, left):
            if isinstance(replaced, nodes.reference):
                replaced["refuri"] = f"{address}#{replaced['refuri']}"


def anchors(app):
    """The place of each word of the glossary, by what is looked for: a word, or a formula."""
    objects = app.env.get_domain("std").objects
    return {name: anchor for (kind, name), (page, anchor) in objects.items() if kind == "term" and page == GLOSSARY}


def first_uses(node, left):
    """Put references into the place of a text, or around a formula; what is found is taken from `left`."""
    if isinstance(node, nodes.math):
        name = node.astext().strip()
        new = [refer(left.pop(name), node.deepcopy())] if name in left else []
    else:
        new = split(node.astext(), left)
    if any(isinstance(part, nodes.reference) for part in new):
        node.parent.replace(node, new)
    return new


def split(text, left):
    """A text as nodes, with a reference for each word that is used for the first time; the longest names first."""
    for name in sorted((name for name in left if "\\" not in name), key=len, reverse=True):
        if match := re.search(rf"(?<![\w-]){re.escape(name)}(?:s|es)?(?![\w-])", text, re.IGNORECASE):
            made = refer(left.pop(name), nodes.Text(match[0]))
            return [*split(text[: match.start()], left), made, *split(text[match.end() :], left)]
    return [nodes.Text(text)] if text else []


def refer(anchor, content):
    return nodes.reference("", "", content, internal=True, refuri=anchor, classes=["term"])


def inside(node, kinds):
    while node is not None:
        if isinstance(node, kinds):
            return True
        node = node.parent
    return False


def load(app, page, template, context, doctree):
    if doctree is not None and app.builder.name == "html" and not page.startswith("book/api"):
        app.add_js_file(SCRIPT, loading_method="defer")
        app.add_js_file("terms.js", loading_method="defer")


def write(app, error):
    """The meanings, as the glossary's page has them, in a script: pages on a disk cannot be fetched."""
    if error is None and app.builder.name == "html":
        tree = app.env.get_and_resolve_doctree(GLOSSARY, app.builder)
        meanings = {}
        for item in tree.findall(nodes.definition_list_item):
            for term in item.findall(nodes.term):
                meanings[term["ids"][0]] = app.builder.render_partial(item.children[-1])["fragment"]
        script = f"const TERMS = {json.dumps(meanings, ensure_ascii=False)};\n"
        Path(app.outdir, "_static", SCRIPT).write_text(script)
