"""The information behind each figure: the data that its page reads, commands, files, and the page as script and
notebook.
"""

import json
import re
from hashlib import sha256
from types import SimpleNamespace

import behind
import figures
import pandas as pd
import pytest
import reference
from cases import cases
from download import strip
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from parameters import profile_values

from attention_book.experiments.results import STORE_NAME
from attention_book.paths import DATA, NOTEBOOKS
from attention_book.render.style import PNG
from attention_book.store.provenance import environment

SHOWN = """
import json
import matplotlib.pyplot as plt
from IPython.core.interactiveshell import InteractiveShell
from attention_book.experiments import results
from attention_book.render.style import PNG, SVG, use_book_output

shell = InteractiveShell.instance()
shell.run_line_magic = lambda *_: None  # which needs a kernel
use_book_output()
figure, axes = plt.subplots()
axes.plot([0, 1])
for name, changes in (("fig02", {"omega": 0.3}), ("lost_letters", {}), ("lost_letters", {})):
    results.read(name, "paper", **changes)
    data, metadata = shell.display_formatter.format(figure)
    print(json.dumps(metadata[SVG]), "<svg" in data[SVG], "panel,series" in data["text/csv"], data[PNG][:4])
"""


@pytest.mark.slow
def test_a_figure_says_which_experiments_were_read_before_it(python):
    told = python("-c", SHOWN).stdout.splitlines()
    assert told == [
        '{"behind": [["fig02", {"omega": 0.3}]]} True True iVBO',
        *['{"behind": [["fig02", {"omega": 0.3}], ["lost_letters", {}]]} True True iVBO'] * 2,
    ]


SVG = "<svg>\n <metadata>\n   <cc:Work>\n   </cc:Work>\n </metadata>\n</svg>"


def executed(parameters):
    """Return the text of Figure 15 as if it were executed."""
    text = NOTEBOOKS / "fig15_random.md"
    notebook = reference.prepared(text, parameters)
    for cell in notebook.cells:
        if "figure" in cell.metadata.get("mystnb", {}):
            data = {"image/svg+xml": SVG, PNG: "iVBO", "text/csv": "# c\npanel,x\n1,2\n"}
            behind_it = {"image/svg+xml": {"behind": [["fig15", {}]]}}
            cell.outputs = [new_output("display_data", data, metadata=behind_it)]
    return notebook, text


@pytest.mark.parametrize("commit", ["c" * 40, None], ids=["checkout", "archive"])
def test_files_of_a_figure_say_what_is_behind_it(tmp_path, monkeypatch, commit):
    monkeypatch.setattr(behind, "environment", lambda: environment() | {"commit": commit})
    behind.write_figures(*executed({"profile": "paper"}), tmp_path)
    assert [len([*tmp_path.glob(f"*.{kind}")]) for kind in ("svg", "png", "csv", "json", "py")] == [4, 4, 4, 4, 1]
    about = json.loads((tmp_path / "fig-15.json").read_text(encoding="utf-8"))
    for name, digest in about["files"].items():
        assert sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    rows = pd.read_parquet(DATA / "fig15.parquet")
    seconds = rows.groupby("cell")["cell_seconds"].first().sum()
    assert about["notebook"] == "notebooks/fig15_random.md"
    data = about["data"][0]
    assert (data["experiment"], data["file"]) == ("fig15", "data/fig15.parquet")
    assert data["cells"] == rows["cell"].nunique()
    assert data["data sets of a point"] == [24, 140]  # data sets at d = 1000 and at d = 100
    assert data["computing seconds"] == pytest.approx(seconds, abs=0.1)
    assert data["commit"] == sorted(rows["commit"].unique())
    assert about["commands"][0] == "attention-phases figure fig15 --profile paper"
    svg = (tmp_path / "fig-15.svg").read_text(encoding="utf-8")
    drawn = " ".join(["fig-15", about["drawn with"]["version"], *([commit] if commit else [])])
    assert about["drawn with"]["commit"] == commit and f"<dc:identifier>{drawn}</dc:identifier>" in svg


def test_a_line_says_how_long_the_results_took_and_by_which_code():
    about = {"experiment": "fig07", "cells": 1200, "file": "data/fig07.parquet", "computing seconds": 5400.0}
    about["commit"] = ["a" * 40, "b" * 40 + "+changes"]
    assert figures.data(about) == (
        "<code>fig07</code>: 1,200 cells, 1.5 h of computing on one core by <code>aaaaaaa</code> and "
        "<code>bbbbbbb+changes</code>; stored in <code>data/fig07.parquet</code>"
    )


def test_what_is_changed_is_in_the_commands():
    as_read = {"omega": 0.3, "sigma": 0.6, "lam": 0.01, "matrix": [[0.6, 0.4], [0.4, 0.6]]}
    notebook, text = executed({"profile": "smoke"})
    number = next(n for n, cell in enumerate(notebook.cells) if "mystnb" in cell.metadata)
    read = [["fig02", as_read], ["histogram", {"variants": ["semantic"]}], ["fig15", {}]]
    _, *again = behind._record(notebook, number, text, read, True)["commands"]
    swept = [command.partition(" --profile smoke")[::2] for command in again]
    places = " --store again.sqlite --data again"
    assert swept == [
        ("attention-phases sweep fig02", f" --set sigma=0.6{places}"),
        ("attention-phases sweep histogram", f""" --set 'variants=["semantic"]'{places}"""),
        ("attention-phases sweep fig15", places),
    ]
    changed = {"profile": "paper", "omega": 0.2}
    notebook, text = executed(changed), next(NOTEBOOKS.glob("fig02_*.md"))
    values, command = behind.parameters(notebook[0], text)
    assert command == "attention-phases figure fig02 --profile paper --set omega=0.2" and values["omega"] == 0.2


# A page as a script: it has the parameter values of the page and makes the same figures


def at_smoke_size(text):
    """Return the notebook of a text, with its reference in place of its outputs."""
    return reference.prepared(text, profile_values(text, "smoke"))


def test_scripts_define_what_they_use_keep_their_values_and_save_every_figure(python, tmp_path):
    for text in NOTEBOOKS.glob("*.md"):
        notebook = at_smoke_size(text)
        code = behind.script(notebook, text)
        for name, value in behind.parameters(notebook, text)[0].items():
            assert len(re.findall(rf"^{name} = {re.escape(json.dumps(value))}  # ", code, re.MULTILINE)) == 1
        figures = [cell.metadata["mystnb"]["figure"]["name"] for cell in notebook.cells if "mystnb" in cell.metadata]
        assert re.findall(r"^style\.show\((.*)\)$", code, re.MULTILINE) == [f'figure, "{name}"' for name in figures]
        assert "myst_nb" not in code and code.startswith("# To install")
        (tmp_path / f"{text.stem}.py").write_text(code, encoding="utf-8")
    checked = python("-m", "ruff", "check", "--isolated", "--quiet", "--select", "F", tmp_path)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.slow
def test_the_script_of_a_page_gives_the_data_of_its_figure(python, tmp_path, monkeypatch):
    text = NOTEBOOKS / "minima.md"  # the page that runs fastest
    notebook = at_smoke_size(text)
    figures = [cell for cell in notebook.cells if "mystnb" in cell.metadata]
    expected = {cell.metadata["mystnb"]["figure"]["name"]: cell.outputs[0].data for cell in figures}
    monkeypatch.setenv(STORE_NAME, str(reference.RESULTS))
    ended = python("-c", behind.script(notebook, text), cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{name}.{kind}" for name in expected for kind in ("csv", "svg")
    }
    for name, data in expected.items():
        drawn = new_output("display_data", {"text/csv": (tmp_path / f"{name}.csv").read_text(encoding="utf-8")})
        kept = {"data": {"0 text/csv": data["0 text/csv"]}}
        assert reference.differences([kept], [drawn]) == []


# The notebook that a page offers: directives of MyST are replaced by words


LABELS = {"stability": ("stability", "id", "Where replica symmetry holds")}
ENTRY = SimpleNamespace(
    persons={"author": [SimpleNamespace(rich_last_names=[name]) for name in ("Györgyi", "Reimann")]},
    fields={"year": "1997"},
)
DOMAINS = {
    "std": SimpleNamespace(labels=LABELS),
    "math": SimpleNamespace(equations={"eq-value": ("theory", 7)}),
    "cite": SimpleNamespace(citations=[SimpleNamespace(key="gyorgyi1997parisi", entry=ENTRY)]),
}


def glued(name, text):
    kept = {"application/papermill.record/text/plain": text}
    about = {"scrapbook": {"name": name, "mime_prefix": "application/papermill.record/"}}
    return new_output("display_data", kept, metadata=about)


def test_a_parameter_stands_once_with_the_value_of_the_run():
    cells = [
        new_code_cell('size = "paper"  # a name\nomega = 0.3  # a number', metadata={"tags": ["parameters"]}),
        new_code_cell('# Parameters\nsize = "smoke"', metadata={"tags": ["injected-parameters"]}),
    ]
    page = strip(new_notebook(cells=cells), SimpleNamespace(get_domain=DOMAINS.get))
    assert [cell.source for cell in page.cells] == ['size = "smoke"  # a name\nomega = 0.3  # a number']


@pytest.mark.parametrize(("text", "expected"), cases("myst"))
def test_myst_becomes_markdown(text, expected):
    code = new_code_cell("glue()", outputs=[glued("stable", "'0.7(3)'"), glued("share", "12.345")])
    code.outputs.append(new_output("display_data", {"image/svg+xml": "<svg></svg>", PNG: "p"}))
    code.metadata["mystnb"] = {"figure": {"caption": "A caption"}}
    notebook = new_notebook(cells=[new_markdown_cell(text), code])
    page = strip(notebook, SimpleNamespace(get_domain=DOMAINS.get))
    assert [cell.source for cell in page.cells] == [expected, "glue()", "A caption"]
    (shown,) = page.cells[1].outputs
    assert shown.data == {"image/png": "p"}
