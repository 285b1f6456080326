"""The interface of the science and of the pages, a page a module: a new module appears in the book by itself."""

from importlib import import_module
from pathlib import Path

PACKAGES = ("attention_phases", "attention_book.pages")
PAGES = Path(__file__).resolve().parents[1] / "api"  # the pages are written here before Sphinx looks for pages
PAGE = """{name}
{line}

.. automodule:: {name}
   :members:
   :ignore-module-all:
   :member-order: bysource
"""


def setup(app):
    write_pages()
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}


def write_pages():
    """Write a page for each module and the list of all; pages of modules that are gone go too."""
    names = [name for package in PACKAGES for name in modules(package)]
    texts = {f"{name}.rst": PAGE.format(name=name, line="=" * len(name)) for name in names}
    texts["modules.txt"] = "| module | what it is |\n|---|---|\n" + "".join(map(row, names))
    PAGES.mkdir(exist_ok=True)
    for path in PAGES.iterdir():
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        path = PAGES / name
        if not path.exists() or path.read_text() != text:  # else Sphinx would read it again
            path.write_text(text)


def modules(package):
    """Full names of a package and its modules, packages without a word of their own left out."""
    source = Path(import_module(package).__file__).parent
    paths = [path.relative_to(source).with_suffix("") for path in sorted(source.rglob("*.py"))]
    names = [".".join((package, *path.parts)).removesuffix(".__init__") for path in paths]
    return [name for name in names if import_module(name).__doc__]


def row(name):
    """A module and the first sentence of its docstring, as a row of a Markdown table."""
    about = " ".join(import_module(name).__doc__.partition("\n\n")[0].split())
    return f"| [{name}](api/{name}.rst) | {about.replace('``', '`').replace('|', chr(92) + '|')} |\n"


def skip(app, what, name, thing, skipped, options):
    """Leave out the fields of named tuples, which the signature has already."""
    return True if (getattr(thing, "__doc__", None) or "").startswith("Alias for field number") else None
