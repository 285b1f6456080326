"""Notebooks by name, and their parameters: the values in the published book, in a profile, or on the command line.

Names and types are checked before a notebook runs. The code that uses a value, such as `Task`, checks whether it is
allowed. A page with other values names them in a banner. It shows only figures and tables, because all sentences of the
book are about the published values.
"""

import ast
import json
import re
import tomllib
from functools import cache
from html import escape

import jupytext
from nbformat.v4 import new_markdown_cell

from attention_book import paths
from attention_book.command_line.settings import parse_value, texts_of
from attention_book.experiments import PROFILES
from attention_book.render.markup import COMPARISON
from attention_phases.errors import BadInput, NotebookError, check_choice

HEADING = re.compile(r"((?:^\([\w-]+\)=\n+)?^# .*$)", re.MULTILINE)  # the heading of a page, with its label


def notebook_name(text):
    """Return the short name of a notebook file, such as "fig02" for "fig02_slice.md".

    A notebook that is not about a figure or a table of the paper has the name of its file.

    text: Path of the notebook.
    """
    numbered = re.match(r"((fig|table)\d+)_", text.stem)
    return numbered[1] if numbered else text.stem


def notebooks():
    """Return a dictionary of all notebook files, with their short names as keys.

    The figures and tables of the paper come first.
    """
    paths.checkout()
    texts = sorted(paths.NOTEBOOKS.glob("*.md"), key=lambda text: (notebook_name(text) == text.stem, text.stem))
    return {notebook_name(text): text for text in texts}


def notebook_of(text, changes=None):
    """Convert a MyST Markdown file (a Path) to a notebook without executing it.

    With the published values, cells with the tag "changed-only" are left out. With other values, cells with the tag
    "published-only" are left out instead.
    """
    notebook = jupytext.reads(paths.read_edited(text), ".md")
    other = "published-only" if changed_values(text, changes or {}) else "changed-only"
    notebook.cells = [cell for cell in notebook.cells if other not in cell.metadata.get("tags", ())]
    return notebook


def published_values(text):
    """Return a dictionary of a notebook's parameters, with the values that they have in the published book."""
    sources = _parameter_cells(paths.read_edited(text))
    if len(sources) != 1:
        raise NotebookError(f"{text.name}: {len(sources)} cells have the tag parameters, but one is needed")
    values = assignments(sources[0])
    if "profile" not in values:
        raise NotebookError(f"{text.name}: the parameter profile is missing, which sets its size")
    return values


@cache  # parsing a text takes longer than all other work on a figure
def _parameter_cells(content):
    """Return the source of each notebook cell that has the tag "parameters"."""
    cells = jupytext.reads(content, ".md").cells
    return [cell.source for cell in cells if "parameters" in cell.metadata.get("tags", ())]


def assignments(source):
    """Parse lines of the form `name = value` into a dictionary."""
    return {line.targets[0].id: ast.literal_eval(line.value) for line in ast.parse(source).body}


def profile_values(text, profile):
    """Return the values which a profile, such as "laptop", gives to the parameters of a notebook.

    The values are the name of the profile, and sizes from the file "profiles.toml".
    """
    check_choice("profile", profile, PROFILES)
    tables = tomllib.loads(paths.read_edited(text.with_name("profiles.toml")))
    texts = sorted(path.stem for path in text.parent.glob("*.md"))
    for name, sizes in tables.items():  # a table for which there is no notebook probably has a misspelt name
        check_choice("profile of profiles.toml", name, PROFILES)
        for table in sizes:
            check_choice(f"notebook of profile {name}", table, texts)
    return check_values(text, {**tables.get(profile, {}).get(text.stem, {}), "profile": profile})


def check_values(text, values, fixed=()):
    """Validate new values of a notebook's parameters, and convert each to the type of the notebook's own value.

    Raises `BadInput` for a name that is not a parameter of the notebook, for a value of another type, and for a
    parameter in `fixed`.
    """
    published, typed = {name: value for name, value in published_values(text).items() if name not in fixed}, {}
    for name, value in values.items():
        if name not in published:
            names = ", ".join(published) or "none"
            raise BadInput(f"{name} is no parameter of the notebook {text.stem}, whose parameters are: {names}")
        try:
            typed[name] = _convert_like(published[name], value)
        except TypeError:
            kinds = {str: "a text", int: "a whole number", float: "a number"}
            kind = kinds.get(type(published[name])) or f"of the form {format_value(published[name])}"
            raise BadInput(name, value, kind) from None
    return typed


def shell_values(text, settings):
    """Parse settings of the form "name=value" into a dictionary of a notebook's parameters.

    The parameter `profile` must not be set.
    """
    published, values = published_values(text), texts_of(settings)
    texts = {name for name, value in published.items() if isinstance(value, str)}
    typed = {name: value if name in texts else parse_value(value) for name, value in values.items()}
    return check_values(text, typed, fixed=["profile"])


def format_value(value):
    """Format a value as a string for the option `--set`."""
    if isinstance(value, list) and isinstance(value[0], list):
        return ";".join(json.dumps(row, separators=(",", ":"))[1:-1] for row in value)
    return json.dumps(value)


def _convert_like(like, value):
    """Convert a value to the type of `like`, or raise TypeError.

    A whole number is accepted as a float. Where a list is needed, one value counts as a list of one.
    """
    if isinstance(like, list) and value != []:
        items = value if isinstance(value, (list, tuple)) else [value]
        return [_convert_like(like[0], item) for item in items]
    if isinstance(like, float) and type(value) is int:
        return float(value)
    if type(value) is not type(like) or value == []:
        raise TypeError
    return value


# Pages with other values


def changed_values(text, changes):
    """Return the entries of `changes` that differ from a notebook's parameter values in the published book."""
    published = published_values(text)
    return {name: value for name, value in changes.items() if value != published[name]}


def with_banner(notebook, text, sizes, changes):
    """Add a banner below the title of an executed notebook if any parameter differs from its published value.

    If the reader has changed a value, only figures and tables remain, because the title and every sentence are about
    the published values. Tables that compare with published numbers are left out as well. Captions, which say what is
    drawn, begin with the changed values.

    notebook: changed in place and returned.
    text: Path of the text that the notebook was read from.
    sizes: values that a profile sets.
    changes: values that the reader sets.
    """
    published, changed = published_values(text), changed_values(text, changes)
    smaller = {name: value for name, value in sizes.items() if value != published[name] and name not in changes}
    if not changed and not smaller:
        return notebook
    before, title, rest = HEADING.split(notebook.cells[0].source, maxsplit=1)
    above = [before + (_name(title, text) if changed else title), _banner(changed, smaller, published), rest.strip()]
    notebook.cells[:1] = [new_markdown_cell(source) for source in above if source]
    if changed:
        notebook.cells = notebook.cells[:2] + [cell for cell in notebook.cells[2:] if _says_nothing_published(cell)]
        for cell in notebook.cells:
            _change_caption(cell.metadata.get("mystnb", {}), ", ".join(_assignments(changed)))
    return notebook


def _name(title, text):
    """Return a short title for a page, such as "# Figure 2", or else a title made from the name of its file.

    The label of the page stays in front of the title.
    """
    label, heading = re.fullmatch(r"(.*?)# (.*)", title, re.DOTALL).groups()
    numbered = re.match(r"(Figure|Table) \d+", heading)
    return f"{label}# {numbered[0] if numbered else text.stem.replace('_', ' ').capitalize()}"


def _says_nothing_published(cell):
    """Return whether an executed cell can remain on a page with changed parameters.

    Such a cell shows neither sentences nor comparisons with published numbers.
    """
    if cell.cell_type == "markdown":
        return "remove-cell" in cell.metadata.get("tags", ())
    return not any(COMPARISON in output.get("metadata", {}) for output in cell.outputs)


def _assignments(values):
    return [f"{name} = {value}" for name, value in values.items()]


def _banner(changed, smaller, published):
    def list_values(values):
        usual = [escape(str(published[name])) for name in values]
        both = zip(map(escape, _assignments(values)), usual)
        return ", ".join(f"<code>{given}</code> (published: {known})" for given, known in both)

    kind, title, lines = "note", "Reduced size", []
    if changed:
        kind, title = "warning", "Not the published parameters"
        lines.append(
            f"Computed with {list_values(changed)}. The book's text and its comparisons with published numbers "
            "are about the published values: they are left out here."
        )
    if smaller:
        sizes = list_values({name: value for name, value in smaller.items() if name != "profile"})
        size = f"<code>{smaller.get('profile', 'paper')}</code>" + (f" ({sizes})" if sizes else "")
        larger = "its errors are larger than the errors of the published book, which the sentences are about"
        lines.append(f"Computed at the reduced size {size}: {larger}.")
    paragraphs = "\n".join(f"<p>{line}</p>" for line in lines)
    return f'<div class="admonition {kind}">\n<p class="admonition-title">{title}</p>\n{paragraphs}\n</div>'


def _change_caption(options, changed):
    """Add the changed parameters to the caption of a figure, and replace its alternative text."""
    if caption := options.get("figure", {}).get("caption"):
        options["figure"]["caption"] = f"With {changed}. {caption}"
    if "alt" in options.get("image", {}):
        options["image"]["alt"] = f"With {changed}: see the caption."
