"""The search from a disk: a script with the texts of all pages by section, which `search.js` ranks and quotes."""

import json
import re
import unicodedata
from pathlib import Path

from docutils import nodes

SCRIPT = "search-texts.js"
OMISSIONS = (nodes.raw, nodes.literal_block, nodes.comment, nodes.substitution_definition)
HOMES = (nodes.section, nodes.definition_list_item)  # nodes that have a heading
CODES = "ge≥ le≤ ne≠ neq≠ approx≈ sim∼ propto∝ infty∞ sqrt√ times× cdot· star⋆ top⊤ to→ in∈ pm± partial∂ nabla∇ sumΣ"
CODES += " int∫ lVert‖ rVert‖"
FUNCTIONS = "ln", "log", "exp", "min", "arg", "tanh"
SIGNS = {name[:-1]: name[-1] for name in [*CODES.split(), "ellℓ"]} | dict(zip(FUNCTIONS, FUNCTIONS))


def setup(app):
    texts = {}
    app.connect("doctree-resolved", lambda app, tree, page: texts.update({page: sections(tree)}), priority=100)
    app.connect("html-page-context", load)
    app.connect("build-finished", lambda app, error: write(app, error, texts))
    return {"parallel_read_safe": True}


def load(app, page, template, context, doctree):
    """Load both scripts on every page, because the theme asks for results while the reader types."""
    if app.builder.name == "html":
        for script in (SCRIPT, "search.js"):
            app.add_js_file(script, loading_method="defer")


def write(app, error, texts):
    """Write the script, which includes pages that this build has not written."""
    if error is None and app.builder.name == "html":
        pages = [page for page in sorted(app.env.found_docs) if "/api/" not in page]
        for page in pages:
            if page not in texts:
                app.env.get_and_resolve_doctree(page, app.builder)
        body = json.dumps({page: texts[page] for page in pages}, ensure_ascii=False)
        Path(app.outdir, "_static", SCRIPT).write_text(f"const SEARCH_TEXTS = {body};\n", encoding="utf-8")


def sections(tree):
    """Return [anchor, heading, text] of each section of a page, the page itself first, and of each glossary entry."""
    shown = []
    for home in tree.findall(lambda node: isinstance(node, HOMES)):
        named = next((child for child in home.children if isinstance(child, (nodes.title, nodes.term))), None)
        if named is not None:
            anchor = next(iter(named.get("ids") or home.get("ids")), "")
            own = (text_of(part) for part in home.findall(is_text) if home_of(part) is home)
            shown.append([anchor, text_of(named), " ".join(filter(None, own))])
    return shown


def is_text(node):
    return isinstance(node, (nodes.paragraph, nodes.caption))


def home_of(node):
    """Return the section or the definition that contains a node."""
    return node if node is None or isinstance(node, HOMES) else home_of(node.parent)


def text_of(node):
    """Return the visible text of a node in one line, with letters instead of the TeX names of letters."""
    words = []
    for leaf in node.findall(nodes.Text):
        if isinstance(leaf.parent, (nodes.math, nodes.math_block)):
            words.append(formula(leaf.astext()))
        elif not isinstance(leaf.parent, OMISSIONS):
            words.append(leaf.astext())
    return re.sub(r"\s+", " ", "".join(words)).strip()


def formula(text):
    """Return LaTeX as plain text, such as α_c for `\\alpha_c`.

    Commands for the look of a letter are left out, except hats.
    """
    text = re.sub(r"\\(begin|end)\{\w+\}", "", text).replace(r"\\", "; ").replace("&", ", ").replace(r"\|", "‖")
    text = re.sub(r"\\sqrt\{([^{}]{2,})\}", r"\\sqrt(\1)", text)  # without its braces, a long root needs brackets
    part = r" *(\{[^{}]*\}|\\[A-Za-z]+|\w)"
    text = re.sub(rf"\\[td]?frac{part}{part}", r"\1/\2", re.sub(rf"\\hat{part}", "\\1\u0302", text))
    text = re.sub(r"\\([A-Za-z]+) ?", lambda name: letter(name[1]) or SIGNS.get(name[1], ""), text)
    text = re.sub(r"\^\{([^{}]{4,})\}", r"^(\1)", text)  # and so does a long power
    return re.sub(r"\\[,;:! ]|[{}$\\]", "", text)


def letter(name):
    """Return the Greek letter with a name, or None."""
    case = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {name.removeprefix('var').upper().replace('LAMBDA', 'LAMDA')}")
    except KeyError:
        return None
