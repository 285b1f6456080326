"""Mark a page that is not computed with the published parameters: what is changed, and which text is not about it."""

import re
from html import escape

from nbformat.v4 import new_markdown_cell

from ..render.markup import COMPARISON
from .parameters import declared

HEAD = re.compile(r"#+ |\([\w-]+\)=$")  # a heading, or the label of one


def marked(notebook, text, sizes, changes):
    """An executed notebook with a banner below its title, if any parameter is not the published one.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Changed in place.
    text : Path
        The text that it was read from.
    sizes : dict
        What a profile sets: the banner names it.
    changes : dict
        What somebody sets. Where one differs from the text's own value, the text, which is about that one, is folded
        away, captions say what is changed, and tables that compare with published numbers are left out.

    Returns
    -------
    nbformat.NotebookNode
    """
    published = {name: each.value for name, each in declared(text).items()}
    changed = _differing(changes, published)
    smaller = _differing({name: value for name, value in sizes.items() if name not in changes}, published)
    if changed:
        usual = _said({name: (published[name], None) for name in changed})
        notebook.cells = [cell for cell in notebook.cells if not _compares(cell)]
        for cell in notebook.cells:
            if cell.cell_type == "markdown" and "remove-cell" not in cell.metadata.get("tags", ()):
                _fold(cell, usual)
            elif cell.cell_type == "code":
                _caption(cell, _said(changed))
    if changed or smaller:
        _insert_banner(notebook, _banner(changed, smaller))
    return notebook


def _compares(cell):
    return any(COMPARISON in output.get("metadata", {}) for output in cell.get("outputs", ()))


def _differing(values, published):
    return {name: (value, published[name]) for name, value in values.items() if value != published[name]}


def _said(differing):
    return ", ".join(f"{name} = {value}" for name, (value, _) in differing.items())


def _banner(changed, smaller):
    lines = []
    if changed:
        lines.append(
            f"Computed with {_listed(changed)}. The text of this page is about the published values and is folded "
            "away; tables that compare with published numbers are left out."
        )
    if smaller:
        size = smaller.pop("profile", ("paper", None))[0]
        details = f" ({_listed(smaller)})" if smaller else ""
        lines.append(
            f"Computed at the reduced size <code>{size}</code>{details}: errors are larger than the text says."
        )
    title = "Not the published parameters" if changed else "Reduced size"
    paragraphs = "\n".join(f"<p>{line}</p>" for line in lines)
    kind = "warning" if changed else "note"
    return f'<div class="admonition {kind}">\n<p class="admonition-title">{title}</p>\n{paragraphs}\n</div>'


def _listed(differing):
    return ", ".join(
        f"<code>{escape(f'{name} = {value}')}</code> (published: {escape(str(usual))})"
        for name, (value, usual) in differing.items()
    )


def _insert_banner(notebook, banner):
    """After the title, which is in the first cell."""
    lines = notebook.cells[0].source.splitlines()
    below = 1 + next(number for number, line in enumerate(lines) if line.startswith("# "))
    title, rest = (new_markdown_cell("\n".join(some).strip()) for some in (lines[:below], lines[below:]))
    notebook.cells[:1] = [title, new_markdown_cell(banner), *([rest] if rest.source else [])]


def _fold(cell, usual):
    """Fold the paragraphs of a cell of text away, but not its headings."""
    parts, body = [], []

    def close():
        if prose := "\n".join(body).strip():
            summary = f"Text about the published {escape(usual)}"
            parts.append(f"<details>\n<summary>{summary}</summary>\n\n{prose}\n\n</details>")
        body.clear()

    for line in cell.source.splitlines():
        if HEAD.match(line):
            close()
            parts.append(line)
        else:
            body.append(line)
    close()
    cell.source = re.sub(r"(?m)^(\(.+\)=)\n\n", r"\1\n", "\n\n".join(parts))


def _caption(cell, said):
    """The caption of a figure says what is changed, and its description that it is of another figure."""
    options = cell.metadata.get("mystnb", {})
    if caption := options.get("figure", {}).get("caption"):
        options["figure"]["caption"] = f"With {said}. {caption}"
    if described := options.get("image", {}).get("alt"):
        options["image"]["alt"] = f"With {said}; the published figure: {described}"
