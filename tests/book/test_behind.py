"""What is behind each figure: what its page reads, the commands, files that say so."""

import json
from hashlib import sha256

import behind
import figures
import pandas as pd
import pytest
import reference
from nbformat.v4 import new_output

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
    """The text of Figure 15 as if executed."""
    text = NOTEBOOKS / "fig15_random.md"
    notebook = reference.prepared(text, parameters, reference.FOLDER / f"{text.stem}.json")
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
    assert data["data sets of a point"] == [24, 140]  # d = 1000 and d = 100
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
    _, *again = behind._behind(notebook, number, text, read, True)["commands"]
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
