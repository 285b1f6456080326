"""The no-break space between a number and its per cent sign, which keeps both on one line."""

from docutils import nodes

VERBATIM = (nodes.literal, nodes.literal_block, nodes.raw, nodes.math, nodes.math_block)


def setup(app):
    app.connect("doctree-resolved", join)
    return {"parallel_read_safe": True}


def join(app, doctree, page):
    """Put a no-break space before each per cent sign of the text, but not in code and in formulas."""
    for text in [*doctree.findall(nodes.Text)]:
        if " %" in text and not isinstance(text.parent, VERBATIM):
            text.parent.replace(text, nodes.Text(text.replace(" %", "\u00a0%")))
