"""What is behind each figure: the code that it needs and no other, what it reads, files that say so."""

import json
import subprocess
import sys
from hashlib import sha256

import jupytext
import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from attention_book.experiments import GRIDS
from attention_book.notebooks import behind
from attention_book.notebooks.needs import as_program, experiments, functions, needed
from attention_book.paths import DATA, NOTEBOOKS

HIDDEN = {"tags": ["remove-cell"]}
SOURCES = [
    "import re\nfrom attention_book.pages import random_starts as page\nfrom attention_book.experiments import results",
    "a = 1",
    "unused = a + 1",
    "table = results.experiment('fig15', profile, quiet=True, runs=a)",
    "settings = {}",
    "settings['b'] = a",
    "def draw(x):\n    return page.draw_fractions(x)",
    "print(table)",
    "figure = draw(table, **settings)",
    "figure = page.draw_minima(unused)",
]


def toy():
    return [new_code_cell(source) for source in SOURCES]


def test_a_figure_needs_the_cells_that_set_what_it_uses():
    assert [SOURCES.index(cell.source) for cell in needed(toy(), 8)] == [0, 1, 3, 4, 5, 6, 8]


def test_a_name_set_twice_is_needed_from_both_cells():
    cells = [new_code_cell(source) for source in ("x = 1", "x = x + 1", "y = 5", "print(x)")]
    assert [cell.source for cell in needed(cells, 3)] == ["x = 1", "x = x + 1", "print(x)"]


def test_functions_are_named_where_they_are_defined():
    found = functions(needed(toy(), 8))
    assert found["draw"] == ["attention_book.pages.random_starts.draw_fractions"]
    assert found["compute"] == ["attention_book.experiments.results.experiment"]


def test_experiments_are_found_with_their_parameters_whatever_the_loop():
    assert experiments(needed(toy(), 8), {"a": 1}) == {"fig15": {"runs": 1}}
    cells = toy()
    cells[3] = new_code_cell("table = {n: results.experiment(n, profile) for n in ('fig13', 'fig13_full')}")
    assert experiments(needed(cells, 8), {}) == {"fig13": {}, "fig13_full": {}}


def test_hidden_prose_becomes_a_comment_and_shown_prose_does_not():
    cells = [new_markdown_cell("Shown."), new_code_cell("a = 1"), new_markdown_cell("Hidden.", metadata=HIDDEN),
             new_code_cell("b = a")]  # fmt: skip
    assert as_program(cells, needed(cells, 3)) == "a = 1\n\n# Hidden.\nb = a\n"


def drawn_in(text):
    """Numbers of the cells of a text that draw a figure."""
    cells = jupytext.read(text).cells
    return cells, [n for n, cell in enumerate(cells) if "figure" in cell.metadata.get("mystnb", {})]


@pytest.mark.parametrize("text", sorted(NOTEBOOKS.glob("*.md")), ids=lambda path: path.stem)
def test_the_code_of_every_figure_is_complete(text):
    """Each name is defined in it; a function of ours draws each figure; each experiment exists."""
    cells, figures = drawn_in(text)
    values = {name: each.value for name, each in behind.declared(text).items()}
    for number in figures:
        kept = needed(cells, number)
        command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "--quiet", "-"]
        checked = subprocess.run(command, input=as_program(cells, kept), capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout
        assert functions(kept)["draw"], f"{text.name}: no drawing function found"
        read = any("results.experiment" in cell.source for cell in kept)
        assert bool(experiments(kept, values)) == read and set(experiments(kept, values)) <= set(GRIDS)


SVG = '<svg>\n <metadata>\n   <cc:Work>\n   </cc:Work>\n </metadata>\n</svg>'  # fmt: skip


def executed(parameters):
    """The text of Figure 15 as if executed."""
    text = next(NOTEBOOKS.glob("fig15_*.md"))
    notebook = new_notebook(cells=jupytext.read(text).cells)
    place = next(n for n, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", ()))
    injected = new_code_cell("\n".join(f"{name} = {value!r}" for name, value in parameters.items()))
    injected.metadata["tags"] = ["injected-parameters"]
    notebook.cells.insert(place + 1, injected)
    for cell in notebook.cells:
        if "figure" in cell.metadata.get("mystnb", {}):
            data = {"image/svg+xml": SVG, "text/csv": "# c\npanel,x\n1,2\n"}
            cell.outputs = [new_output("display_data", data)]
    return notebook, text


def test_files_of_a_figure_say_what_is_behind_it(tmp_path):
    written = behind.write_figures(*executed({"profile": "paper"}), tmp_path)
    assert [len(written[kind]) for kind in ("svg", "csv", "json")] == [2, 2, 2]
    found = json.loads((tmp_path / "fig-15.json").read_text())
    for name, digest in found["files"].items():
        assert sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    rows = pd.read_parquet(DATA / "fig15.parquet")
    seconds = rows.groupby("cell", observed=True)["cell_seconds"].first().sum()
    (data,) = found["data"]
    assert (data["experiment"], data["file"]) == ("fig15", "data/fig15.parquet")
    assert data["cells"] == rows["cell"].nunique()
    assert data["data sets of a point"] == [24, 140]  # d = 1000 and d = 100
    assert data["computing seconds"] == pytest.approx(seconds, abs=0.1)
    assert data["commit"] == sorted(rows["commit"].unique())
    assert found["commands"][0] == "attention-phases figure fig15 --profile paper"
    assert found["drawn with"]["version"] and found["drawn with"]["commit"] in (tmp_path / "fig-15.svg").read_text()


def test_what_is_changed_is_in_the_command():
    changed = {"profile": "paper", "omega": 0.2}
    notebook, text = executed(changed), next(NOTEBOOKS.glob("fig02_*.md"))
    values, command = behind._parameters(notebook[0], text)
    assert command == "attention-phases figure fig02 --profile paper --set 'omega=0.2'" and values["omega"] == 0.2


def test_a_notebook_without_figures_has_none(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[new_markdown_cell("# A page"), new_code_cell("1")])
    assert behind.write_figures(notebook, tmp_path / "missing.md", tmp_path) == {"svg": [], "csv": [], "json": []}
