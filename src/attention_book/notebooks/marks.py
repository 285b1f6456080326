"""Mark a page that is not computed with the published parameters: what is changed, and which text is not about it."""

import re
from html import escape

from nbformat.v4 import new_markdown_cell

from ..render.markup import COMPARISON
from .parameters import declared

HEADING = re.compile(r"((?:^\([\w-]+\)=\n+)?^#+ .*$)", re.MULTILINE)  # with its label


def marked(notebook, text, sizes, changes):
    """An executed notebook with a banner below its title, if any parameter is not the published one.

    Where somebody has changed a value, the text, which is about the published one, is folded away, captions say what
    is changed, and tables that compare with published numbers are left out.

    Args:
        notebook: changed in place.
        text: Path of the text that it was read from.
        sizes: what a profile sets.
        changes: what somebody sets.
    """
    published = declared(text)
    changed = {name: value for name, value in changes.items() if value != published[name]}
    smaller = {name: value for name, value in sizes.items() if value != published[name] and name not in changes}
    if changed:
        notebook.cells = [cell for cell in notebook.cells if not _compares(cell)]
        for cell in notebook.cells:
            if cell.cell_type == "markdown" and "remove-cell" not in cell.metadata.get("tags", ()):
                cell.source = _folded(cell.source, _listed({name: published[name] for name in changed}))
            elif cell.cell_type == "code":
                _change_caption(cell.metadata.get("mystnb", {}), _listed(changed))
    if changed or smaller:
        head, title, rest = HEADING.split(notebook.cells[0].source, maxsplit=1)
        above = [head + title, _banner(changed, smaller, published), rest.strip()]
        notebook.cells[:1] = [new_markdown_cell(source) for source in above if source]
    return notebook


def _compares(cell):
    return any(COMPARISON in output.get("metadata", {}) for output in cell.get("outputs", ()))


def _listed(values):
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _banner(changed, smaller, published):
    def beside_published(values):
        return ", ".join(
            f"<code>{escape(f'{name} = {value}')}</code> (published: {escape(str(published[name]))})"
            for name, value in values.items()
        )

    kind, title, lines = "note", "Reduced size", []
    if changed:
        kind, title = "warning", "Not the published parameters"
        lines.append(
            f"Computed with {beside_published(changed)}. The text of this page is about the published values and is "
            "folded away; tables that compare with published numbers are left out."
        )
    if smaller:
        sizes = beside_published({name: value for name, value in smaller.items() if name != "profile"})
        size = f"<code>{smaller.get('profile', 'paper')}</code>" + (f" ({sizes})" if sizes else "")
        lines.append(f"Computed at the reduced size {size}: errors are larger than the text says.")
    paragraphs = "\n".join(f"<p>{line}</p>" for line in lines)
    return f'<div class="admonition {kind}">\n<p class="admonition-title">{title}</p>\n{paragraphs}\n</div>'


def _folded(source, usual):
    """Markdown with its paragraphs folded away, but not its headings."""
    summary = f"<summary>Text about the published {escape(usual)}</summary>"
    parts = [part.strip() for part in HEADING.split(source)]
    return "\n\n".join(
        part if HEADING.fullmatch(part) else f"<details>\n{summary}\n\n{part}\n\n</details>" for part in parts if part
    )


def _change_caption(options, changed):
    """The caption of a figure says what is changed, and its description that it is of another figure."""
    if caption := options.get("figure", {}).get("caption"):
        options["figure"]["caption"] = f"With {changed}. {caption}"
    if described := options.get("image", {}).get("alt"):
        options["image"]["alt"] = f"With {changed}; the published figure: {described}"
