"""No-break spaces that keep a number, its per cent sign, and the formula that it belongs to on one line."""

from docutils import nodes

VERBATIM = (nodes.literal, nodes.literal_block, nodes.raw, nodes.math, nodes.math_block)


def setup(app):
    app.connect("doctree-resolved", join)
    return {"parallel_read_safe": True}


def join(app, doctree, page):
    """Put a no-break space before each per cent sign, and after each formula that ends with "=", but not in code."""
    for text in [*doctree.findall(nodes.Text)]:
        if not isinstance(text.parent, VERBATIM):
            before = text.parent[: text.parent.index(text)]
            is_value = before and isinstance(before[-1], nodes.math) and before[-1].astext().endswith("=")
            joined = text.replace(" ", "\u00a0", 1) if is_value and text.startswith(" ") else text
            if (joined := joined.replace(" %", "\u00a0%")) != text:
                text.parent.replace(text, nodes.Text(joined))
