"""The variables of a page for tests: `Page("staying").starts` runs only the cells that are needed for it."""

import ast
import re
from functools import cache, cached_property
from types import SimpleNamespace

import jupytext
import matplotlib.pyplot as plt

import attention_book
from attention_book.paths import NOTEBOOKS, ROOT

NAMES = (ROOT / "src/attention_book/__init__.pyi").read_text(encoding="utf-8")  # all names that notebooks read
MODULES = [place for place in re.findall(r"from \.([\w.]+) import", NAMES) if place != "render"]
SCOPES = ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp


class Book(SimpleNamespace):
    """A copy of `attention_book` in which some names have other values."""

    def __getattr__(self, name):
        return getattr(attention_book, name)


class Page:
    """A notebook that runs cells when a name is requested: the cell that binds it, after the cells that it depends on.

    Each cell runs at most once. Given values replace what cells bind or what `attention_book` contains. Values that
    cells quote are in `quoted` after they have run.
    """

    def __init__(self, name, **given):
        self._name, self._ran, self.quoted = name, {}, {}
        of_book = {name: given.pop(name) for name in dir(attention_book) if name in given}
        self._given = {"book": Book(quote=self._quote, **of_book), **given}

    def _quote(self, *several, **numbers):
        self.quoted |= {name: getattr(value, "text", value) for name, value in dict(*several, **numbers).items()}

    @cached_property
    def sources(self):
        """Return the code of each cell."""
        cells = jupytext.read(NOTEBOOKS / f"{self._name}.md").cells
        return [cell.source for cell in cells if cell.cell_type == "code"]

    def __getattr__(self, name):
        return self.cell_of(name)[name]

    def cell_of(self, name):
        """Return all names, with their values, that the cell that binds a given name binds or reads."""
        cells = self._binding(name)
        if len(cells) != 1:
            raise AttributeError(f"{self._name}: {name} is bound in {len(cells)} cells: ask for a name of one alone")
        return self._after(cells[0])

    def _binding(self, name, before=None):
        """Return the numbers of the cells that bind a name."""
        return [number for number, cell in enumerate(self.sources[:before]) if name in names_of(cell)[0]]

    def _after(self, number):
        if number not in self._ran:
            names = {}
            for name in names_of(self.sources[number])[1]:
                if name in self._given:
                    names[name] = self._given[name]
                elif bound := self._binding(name, number):
                    names[name] = self._after(bound[-1])[name]
            with plt.rc_context():  # the style of a page must not affect other tests
                exec(self.sources[number], names)
            plt.close("all")
            self._ran[number] = names
        return self._ran[number]


stored = cache(Page)  # one page at the paper's size with the stored results, shared by all claims about it


@cache
def names_of(cell):
    """Return the names that a cell binds, and the names that it reads before it binds them."""
    binds, reads = set(), set()
    for statement in ast.parse(cell).body:
        bound, read = _names(statement)
        of_itself = isinstance(statement, (ast.Assign, ast.AugAssign))  # for example `rows = rows[kept]`
        reads |= read - binds - (set() if of_itself else bound)
        binds |= bound
    return binds, reads


def _names(node):
    """Return the names that a piece of code binds, and the names that it reads, except in scopes inside it."""
    binds, reads = set(), set()
    for part in ast.iter_child_nodes(node):
        bound, read = _names(part)
        binds |= bound
        reads |= read
    match node:
        case ast.Name(name, ast.Load()):
            reads.add(name)
        case ast.Name(name) | ast.arg(name):
            binds.add(name)
        case ast.alias(name, other):
            binds.add(other or name)
        case ast.AugAssign(ast.Name(name)):
            reads.add(name)
        case ast.Constant(str(text)):
            reads |= {*re.findall(r"@(\w+)", text)}  # names in a `query` of a table
    if isinstance(node, SCOPES):
        reads -= binds
        binds = {node.name} if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else set()
    return binds, reads
