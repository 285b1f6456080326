"""The notebook that a page offers for download, in a form that plain Jupyter can show.

Jupyter does not know MyST. Therefore numbers are written into the text, references become words, and a caption becomes
text below its figure. Jupyter does not draw the SVG of a notebook that its reader has neither run nor trusted, so
figures are PNG.
"""

import re
from pathlib import Path

import nbformat
from myst_nb.core.variables import format_plain_text
from myst_nb.ext.glue import extract_glue_data_cell
from nbformat.v4 import new_markdown_cell

from attention_book.render.style import PNG, SVG

ROLE = re.compile(r"\{(glue:text|ref|eq|term|cite|cite:t)\}`([^`<]+?)(?: <[^>`]+>)?`")
BLOCKS = {  # blocks of MyST, and their form in Markdown
    r"^\([\w-]+\)=\n+": "",
    r"^:::\{dropdown\} (.*?)\n(.*?)\n:::$": r"<details>\n<summary>\1</summary>\n\n\2\n\n</details>",
    r"^```\{math\}\n(?::label: .*?\n)?(.*?)\n```$": r"$$\n\1\n$$",
}


def setup(app):
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}


def write(app, error):
    """Write the notebook of each page to the target of the page's links."""
    if error is None and app.builder.name == "html":
        for page in app.env.found_docs:
            source = Path(app.env.doc2path(page))
            if source.suffix == ".ipynb":
                nbformat.write(strip(nbformat.read(source, 4), app.env), Path(app.outdir, "_sources", f"{page}.ipynb"))


def strip(notebook, env):
    """Return an executed notebook, changed in place, without the elements that only the book reads.

    env: Sphinx's environment, which resolves references.
    """
    set_parameters(notebook)
    glued = [item for cell in notebook.cells if "outputs" in cell for item in extract_glue_data_cell(cell)]
    numbers = {name: output["data"]["text/plain"] for name, output in glued}
    for place, cell in reversed([*enumerate(notebook.cells, 1)]):
        if cell.cell_type == "markdown":
            cell.source = markdown_of(cell.source, numbers, env)
        elif figure := cell.metadata.get("mystnb", {}).get("figure"):
            caption = markdown_of(figure["caption"], numbers, env)
            notebook.cells.insert(place, new_markdown_cell(caption, id=f"{cell.id}-caption"))
            for output in cell.outputs:
                if output.get("data", {}).pop(SVG, None):
                    output["data"]["image/png"] = output["data"].pop(PNG)
    return notebook


def set_parameters(notebook):
    """Move the values of the run from their own cell into the cell of parameters."""
    cells = [cell for tag in ("parameters", "injected-parameters") for cell in notebook.cells if is_tagged(cell, tag)]
    if len(cells) == 2:
        declared, injected = cells
        given = {line.partition(" = ")[0]: line for line in injected.source.splitlines()}
        lines = (line.partition("  #") for line in declared.source.splitlines())
        declared.source = "\n".join(given.get(own.split(" = ")[0], own) + sign + says for own, sign, says in lines)
        notebook.cells.remove(injected)


def is_tagged(cell, tag):
    return tag in cell.metadata.get("tags", ())


def markdown_of(text, numbers, env):
    """Return a MyST text as Markdown.

    numbers: values that a page has glued, by name.
    """
    for block, markdown in BLOCKS.items():
        text = re.sub(block, markdown, text, flags=re.MULTILINE | re.DOTALL)
    return ROLE.sub(lambda role: words(role, numbers, env), text)


def words(role, numbers, env):
    """Return the text that the book shows for a role, or the name of an unknown target, as on a single page."""
    kind, name = role.groups()
    if kind == "glue:text":
        name, _, form = name.partition(":")
        return format_plain_text(numbers[name], form)
    if kind == "ref":
        *_, title = env.get_domain("std").labels.get(name, [name])
        return name if "<" in role[0] else title
    if kind == "term":
        return name
    if kind == "eq":
        return f"({env.get_domain('math').equations.get(name, [name])[-1]})"
    entries = {citation.key: citation.entry for citation in env.get_domain("cite").citations}
    if name in entries:
        authors = [" ".join(map(str, person.rich_last_names)) for person in entries[name].persons["author"]]
        name = f"{', '.join(authors)} {entries[name].fields['year']}"
    return name if kind == "cite:t" else f"({name})"
