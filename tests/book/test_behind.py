"""What is behind each figure: what its page reads, the commands, files that say so."""

import json
from hashlib import sha256

import jupytext
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from attention_book.notebooks import behind
from attention_book.paths import DATA, NOTEBOOKS
from attention_book.store.provenance import environment


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("table = results.experiment('fig15', profile, quiet=True)", {"fig15": {}}),
        ("table = results.experiment('fig15', profile, quiet=True, runs=a)", {"fig15": {"runs": 1}}),
        ("x = 'fig15'\nfor _ in results.experiment('fig13', profile): pass", {"fig13": {}}),
        (
            "table = {n: results.experiment(n, profile) for n in ('fig13', 'fig13_full')}",
            {"fig13": {}, "fig13_full": {}},
        ),
        ("name = 'fig15'", {}),
    ],
)
def test_experiments_are_found_with_their_parameters_whatever_the_loop(source, expected):
    assert behind.experiments([new_markdown_cell("Text, not code"), new_code_cell(source)], {"a": 1}) == expected


@pytest.mark.parametrize("text", sorted(NOTEBOOKS.glob("*.md")), ids=lambda path: path.stem)
def test_every_experiment_of_a_notebook_is_found(text):
    cells = jupytext.read(text).cells
    called = sum(cell.source.count("results.experiment(") for cell in cells if cell.cell_type == "code")
    assert len(behind.experiments(cells, behind.declared(text))) >= called


SVG = "<svg>\n <metadata>\n   <cc:Work>\n   </cc:Work>\n </metadata>\n</svg>"


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


@pytest.mark.parametrize("commit", ["c" * 40, None], ids=["checkout", "archive"])
def test_files_of_a_figure_say_what_is_behind_it(tmp_path, monkeypatch, commit):
    monkeypatch.setattr(behind, "environment", lambda: environment() | {"commit": commit})
    written = behind.write_figures(*executed({"profile": "paper"}), tmp_path)
    assert [len(written[kind]) for kind in ("svg", "csv", "json")] == [3, 3, 3]
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


def test_what_is_changed_is_in_the_command():
    changed = {"profile": "paper", "omega": 0.2}
    notebook, text = executed(changed), next(NOTEBOOKS.glob("fig02_*.md"))
    values, command = behind.parameters(notebook[0], text)
    assert command == "attention-phases figure fig02 --profile paper --set 'omega=0.2'" and values["omega"] == 0.2
