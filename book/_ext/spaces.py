"""What stays on one line: a number and its per cent sign, a formula ending with "=" and its value, and table cells."""

from docutils import nodes

VERBATIM = (nodes.literal, nodes.literal_block, nodes.raw, nodes.math, nodes.math_block)


def setup(app):
    app.connect("doctree-resolved", join)
    return {"parallel_read_safe": True}


def join(app, doctree, page):
    """Put a no-break space before each per cent sign, but not in code; wrap formulas and their values.

    Tables of pandas scroll on a phone, because their cells do not break. The keyboard can reach and scroll them.
    """
    for output in doctree.findall(nodes.raw):
        if 'class="dataframe"' in output.astext():
            output[:] = [nodes.Text(output.astext().replace('class="dataframe"', 'class="dataframe" tabindex="0"'))]
    for text in [*doctree.findall(nodes.Text)]:
        if " %" in text and not isinstance(text.parent, VERBATIM):
            text.parent.replace(text, nodes.Text(text.replace(" %", "\u00a0%")))
    for formula in [*doctree.findall(nodes.math)]:
        home = formula.parent
        first = home.index(formula)
        parts = home[first + 1 : first + 3]
        if formula.astext().endswith("=") and parts and isinstance(parts[0], nodes.Text) and parts[0].startswith(" "):
            value, space, rest = parts[0][1:].partition(" ")
            kept, left = ([nodes.Text(f" {value}")], [nodes.Text(space + rest)]) if value else (parts, [])
            end = first + 1 + len(kept)
            home[first:end] = [nodes.inline("", "", formula, *kept, classes=["together"]), *left]
