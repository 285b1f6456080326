"""The links from the first use of a glossary word on each page, and the previews that `terms.js` opens."""

import json
import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

GLOSSARY, REFERENCES = "book/glossary", "book/references"
SCRIPT = "previews.js"
NUMBER = re.compile(r"\s*<a [^>]*#equation-[^>]*>[^<]*</a>")  # the number of an equation, for its own page only
# In these nodes no word becomes a link: existing links, headings, code, and cells of tables, which may be narrow.
CODE = (nodes.literal, nodes.literal_block, nodes.raw, addnodes.desc)
EXCLUSIONS = (*CODE, nodes.reference, nodes.citation, nodes.title, nodes.rubric, nodes.topic, nodes.table, nodes.math)


def setup(app):
    app.connect("doctree-resolved", link)
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}


def link(app, tree, page):
    """Turn the first uses of glossary words on a page into links."""
    if app.builder.name == "html" and page != GLOSSARY and not page.startswith("book/api"):
        address, objects = app.builder.get_relative_uri(page, GLOSSARY), app.env.get_domain("std").objects
        left = {  # place of each word in the glossary, by the word or formula
            name: f"{address}#{anchor}"
            for (kind, name), (where, anchor) in objects.items()
            if kind == "term" and where == GLOSSARY
        }
        for node in [*tree.findall(nodes.Text), *tree.findall(nodes.math)]:
            if not is_inside(node.parent, EXCLUSIONS):
                node.parent.replace(node, link_words(node, left))


def is_inside(node, kinds):
    return node is not None and (isinstance(node, kinds) or is_inside(node.parent, kinds))


def link_words(node, left):
    """Return a text or a formula as nodes, some of them links, and remove the linked words from `left`."""
    text = node.astext()
    if isinstance(node, nodes.math):
        place = left.pop(text.strip(), None)
        return [refer(place, node.deepcopy())] if place else [node.deepcopy()]
    for name in sorted((name for name in left if "\\" not in name), key=len, reverse=True):  # longest first
        if match := re.search(rf"(?<![\w-]){re.escape(name)}(?:s|es)?(?![\w-])", text, re.IGNORECASE):
            before, after = (nodes.Text(part) for part in (text[: match.start()], text[match.end() :]))
            reference = refer(left.pop(name), nodes.Text(match[0]))
            return [*link_words(before, left), reference, *link_words(after, left)]
    return [nodes.Text(text)] if text else []


def refer(place, content):
    return nodes.reference("", "", content, internal=True, refuri=place, classes=["term"])


def load(app, page, template, context, doctree):
    if doctree is not None and app.builder.name == "html" and not page.startswith("book/api"):
        app.add_js_file(SCRIPT, loading_method="defer")
        app.add_js_file("terms.js", loading_method="defer")


def write(app, error):
    """Write the previews of links by "page#anchor" as a script, because pages on a disk cannot be fetched."""
    if error is None and app.builder.name == "html":
        previews = {}
        for page in app.env.found_docs:
            if not page.startswith("book/api"):
                shown = previews_of(app, page).items()
                previews |= {f"{Path(page).name}#{anchor}": content for anchor, content in shown}
        script = f"const PREVIEWS = {json.dumps(previews, ensure_ascii=False)};\n"
        Path(app.outdir, "_static", SCRIPT).write_text(script, encoding="utf-8")


def previews_of(app, page):
    """Return the previews of a page by anchor, as HTML: glossary entries, references, equations and figures.

    The preview of the page's title is its first figure.
    """
    resolved = page in (GLOSSARY, REFERENCES)
    tree = app.env.get_and_resolve_doctree(page, app.builder) if resolved else app.env.get_doctree(page)
    words = [item for item in tree.findall(nodes.definition_list_item) if page == GLOSSARY]
    texts = {term["ids"][0]: item.children[-1] for item in words for term in item.findall(nodes.term)}
    texts |= {entry["ids"][0]: entry.children[-1] for entry in tree.findall(nodes.citation)}
    shown = {anchor: NUMBER.sub("", app.builder.render_partial(node)["fragment"]) for anchor, node in texts.items()}
    for equation in tree.findall(nodes.math_block):
        shown[f"equation-{equation.get('label')}"] = f'<div class="math">\\[{escape(equation.astext())}\\]</div>'
    for figure in reversed(list(tree.findall(nodes.figure))):
        for name in figure["ids"]:
            alt = escape(next(figure.findall(nodes.image)).get("alt", ""))
            picture = f'<img data-src="figures/{name}.svg" alt="{alt}">'
            shown |= dict.fromkeys([name, *next(tree.findall(nodes.section))["ids"]], picture)
    return shown
