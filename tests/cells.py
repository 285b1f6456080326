"""The code of a notebook in tests: one cell with values given by hand, or the page so far on the stored results."""

import dis
from functools import cache
from unittest.mock import patch

import jupytext
import matplotlib.pyplot as plt

import attention_book
from attention_book.paths import NOTEBOOKS


@cache
def sources(page):
    """Code of a notebook, cell by cell, as a kernel would run it, but nothing is shown; `quoted` has what it quotes."""
    cells = [cell.source for cell in jupytext.read(NOTEBOOKS / f"{page}.md").cells if cell.cell_type == "code"]
    return [source.replace("style.use_book_output()", "quoted = {}") for source in cells]


@cache
def binding(page, name):
    """Number of the cell that binds a name at its top level, which must be the only one."""
    codes = [compile(source, page, "exec") for source in sources(page)]
    binds = [number for number, code in enumerate(codes) if ("STORE_NAME", name) in operations(code)]
    assert len(binds) == 1, f"{page}: {name} is bound in {len(binds)} cells: ask for a name of one cell alone"
    return binds[0]


def operations(code):
    return {(step.opname, step.argval) for step in dis.get_instructions(code)}


def run(source, names, **of_book):
    """Run a cell with some names of `attention_book` given by hand; `quoted` takes what it quotes."""

    def quote(*several, **numbers):
        names["quoted"] |= {name: getattr(value, "text", value) for name, value in dict(*several, **numbers).items()}

    with patch.dict(vars(attention_book), quote=quote, **of_book):
        exec(source, names)


def cell(page, name, after=(), **given):
    """All names after the cell that binds one, given values for what it reads; the page's imports run before.

    after: names that other cells bind, which run before; given values stand in the place of what they give too.
    given: by name, those of `attention_book` among them.
    """
    names, own = {}, {key: given.pop(key) for key in attention_book.MODULES if key in given}
    run(sources(page)[0], names)
    for each in (*after, name):
        names |= given
        run(sources(page)[binding(page, each)], names, **own)
    plt.close("all")
    return names


RUNS = {}  # by page and parameters: the names so far, and how many cells have run


def stored(page, name, **parameters):
    """A name of a page at the paper's size, but for some of its parameters, when the cell that binds it has run.

    All cells before run too, once for all names that are asked for.
    """
    names, done = RUNS.setdefault((page, *parameters.items()), ({}, []))
    for source in sources(page)[len(done) : binding(page, name) + 1]:
        run(source, names)
        done.append(source)
        if len(done) == 2:  # after the imports the parameters
            names |= parameters
    plt.close("all")
    return names[name]
