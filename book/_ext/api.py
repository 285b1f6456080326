"""The pages of the interface, which are made from the docstrings when the book is built."""

from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import commands
from sphinx.pycode import ModuleAnalyzer

PACKAGES = ("attention_phases", "attention_book.analysis", "attention_book.render")
MODULES = ("experiments.grids", "experiments.results", "published", "store.parquet")  # more modules for notebooks
PAGES = Path(__file__).resolve().parents[1] / "api"  # written here before Sphinx looks for pages
PAGE = """{name}
{line}

.. automodule:: {name}
   :members:
   :ignore-module-all:
   :member-order: bysource
"""


def setup(app):
    """Write a page for each module, the list of all modules, and the commands, if they have changed."""
    modules = [module for package in PACKAGES for module in modules_of(import_module(package))]
    modules += [import_module(f"attention_book.{name}") for name in MODULES]
    texts = {f"{module.__name__}.rst": PAGE.format(name=module.__name__, line="=" * 80) for module in modules}
    texts["modules.txt"] = "| module | what it is |\n|---|---|\n" + "".join(map(row, modules))
    texts["commands.txt"] = commands.page()
    PAGES.mkdir(exist_ok=True)
    for path in {*PAGES.iterdir(), *(PAGES / name for name in texts)}:
        if path.name not in texts:
            path.unlink()
        elif not path.exists() or path.read_text(encoding="utf-8") != texts[path.name]:
            path.write_text(texts[path.name], encoding="utf-8")
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}


def modules_of(package):
    """Return a package and its modules, without packages that have no docstring."""
    names = [package.__name__, *(module.name for module in walk_packages(package.__path__, f"{package.__name__}."))]
    return [module for module in map(import_module, sorted(names)) if module.__doc__]


def row(module):
    """Return a row of a Markdown table with a module and the first paragraph of its docstring."""
    about = " ".join(module.__doc__.partition("\n\n")[0].split()).replace("``", "`").replace("|", "\\|")
    return f"| [{module.__name__}](api/{module.__name__}.rst) | {about} |\n"


def skip(app, what, name, thing, skipped, options):
    """Leave out the undocumented fields of named tuples, because the signature has them already."""
    if (getattr(thing, "__doc__", None) or "").startswith("Alias for field number"):
        place = app.env.temp_data
        return (place["autodoc:class"], name) not in ModuleAnalyzer.for_module(place["autodoc:module"]).find_attr_docs()
    return None
