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
    if app.builder.name == "html" and page != GLOSSARY and not page.startswith("book/api"):
        address, objects = app.builder.get_relative_uri(page, GLOSSARY), app.env.get_domain("std").objects
        left = {  # place of each word by what is looked for: a word, or a formula
            name: f"{address}#{anchor}"
            for (kind, name), (where, anchor) in objects.items()
            if kind == "term" and where == GLOSSARY
        }
        for node in [*tree.findall(nodes.Text), *tree.findall(nodes.math)]:
            if not is_inside(node.parent, NOT_IN):
                node.parent.replace(node, linked(node, left))


def is_inside(node, kinds):
    return node is not None and (isinstance(node, kinds) or is_inside(node.parent, kinds))


def linked(node, left):
    """A text or a formula as nodes, links among them; the words that they use are taken from `left`."""
    text = node.astext()
    if isinstance(node, nodes.math):
        place = left.pop(text.strip(), None)
        return [refer(place, node.deepcopy())] if place else [node.deepcopy()]
    for name in sorted((name for name in left if "\\" not in name), key=len, reverse=True):  # the longest names first
        if match := re.search(rf"(?<![\w-]){re.escape(name)}(?:s|es)?(?![\w-])", text, re.IGNORECASE):
            before, after = (nodes.Text(part) for part in (text[: match.start()], text[match.end() :]))
            reference = refer(left.pop(name), nodes.Text(match[0]))
            return [*linked(before, left), reference, *linked(after, left)]
    return [nodes.Text(text)] if text else []


def refer(place, content):
    return nodes.reference("", "", content, internal=True, refuri=place, classes=["term"])


def load(app, page, template, context, doctree):
    if doctree is not None and app.builder.name == "html" and not page.startswith("book/api"):
        app.add_js_file(SCRIPT, loading_method="defer")
        app.add_js_file("terms.js", loading_method="defer")


def write(app, error):
    """The meanings, as the glossary's page has them, in a script: pages on a disk cannot be fetched."""
    if error is None and app.builder.name == "html":
        tree = app.env.get_and_resolve_doctree(GLOSSARY, app.builder)
        meanings = {
            term["ids"][0]: app.builder.render_partial(item.children[-1])["fragment"]
            for item in tree.findall(nodes.definition_list_item)
            for term in item.findall(nodes.term)
        }
        script = f"const TERMS = {json.dumps(meanings, ensure_ascii=False)};\n"
        Path(app.outdir, "_static", SCRIPT).write_text(script)
