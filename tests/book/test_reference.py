"""References of the notebooks: a changed number or word is an error, a rounded last digit is not."""

import json
import shutil

import execution
import nbformat
import pytest
import reference
from cases import cases, write_files
from nbformat.v4 import new_output
from test_notebooks import TEXT as PAGE

from attention_book.experiments import results
from attention_book.paths import NOTEBOOKS, ROOT
from attention_book.store.parquet import load
from attention_phases.errors import ResultError
from attention_phases.records import canonical

TEXT = PAGE.replace("print(size)", 'print("found", size / 3)\nsize')


@pytest.mark.parametrize(("before", "after", "same", "how"), cases("agreeing"))
def test_lines_agree(before, after, same, how):
    """Data of a figure agree to six digits, and results of trainings within their errors."""
    assert reference.agree(before, after, **({} if how == "plain" else {how: True})) is (same == "same")


WEIGHTS = json.dumps({"weights": 300 * "Q"})  # data for a script


def outputs(html="<td>1.25</td>", rows=200):
    table = "# about\nx,y\n" + "".join(f"{k},{k / 7:.6g}\n" for k in range(rows))
    return [
        new_output("display_data", {"text/csv": table, "image/svg+xml": "<svg/>"}),
        new_output("display_data", {"text/html": f"<table>{html}</table><script>{WEIGHTS}</script>"}),
        new_output("stream", text="said "),
        new_output("stream", text="3\n"),
    ]


def test_a_reference_is_short_and_agrees_with_what_it_was_made_from():
    texts = reference.lines_of(outputs())
    assert texts["1 text/html"] == ["1.25", '{"weights": "300 letters, b807d3db"}'] and texts["stdout"] == ["said 3"]
    assert texts["0 text/csv"][:2] == ["x,y", "200 rows"] and len(texts["0 text/csv"]) <= 2 + reference.ROWS
    kept = [new_output("display_data", {name: "\n".join(lines) for name, lines in texts.items()})]
    assert reference.differences(kept, outputs()) == []
    (difference,) = reference.differences(kept, outputs("<td>1.29</td>"))
    assert "'1.25', now '1.29'" in difference
    assert "199 rows" in reference.differences(kept, outputs(rows=199))[0]
    assert "now there is nothing" in reference.differences(kept, [])[0]
    assert "the reference has nothing" in reference.differences([], outputs())[0]


def test_every_notebook_has_a_reference_without_a_warning_and_no_other_has():
    kept = {path.stem: reference.kept(path.stem) for path in reference.FOLDER.glob("*.json")}
    assert kept.keys() == {path.stem for path in NOTEBOOKS.glob("*.md")}, "make reference NAME=... writes one"
    assert [name for name, cells in kept.items() if any("stderr" in cell for cell in cells)] == []


def test_results_that_no_page_reads_are_taken_away(tmp_path, monkeypatch):
    shutil.copy(reference.RESULTS / "fig12.parquet", tmp_path)
    _, *cells = reference.cells_of("fig12")
    for name, value in {"RESULTS": tmp_path, "GRIDS": ["fig12"], "cells_of": lambda _: cells}.items():
        monkeypatch.setattr(reference, name, value)
    reference.compute_missing()
    assert set(load(tmp_path / "fig12.parquet")["cell"]) == {*map(canonical, cells)}


def test_a_missing_result_is_not_computed_where_results_are_stored(tmp_path, monkeypatch):
    monkeypatch.setenv(results.STORE_NAME, str(tmp_path))
    monkeypatch.setattr(results, "compute", lambda *_, **__: pytest.fail("computed"))
    with pytest.raises(ResultError, match=r"fig02\.parquet: lacks results of the smoke profile"):
        results.read("fig02", "smoke")


SUITE = """
import pathlib, pytest, sys
import attention_book.paths
import reference
import execution

folder = pathlib.Path({folder!r})
attention_book.paths.NOTEBOOKS, execution.KEPT_FOLDER, reference.FOLDER = folder, folder / "kept", folder / "reference"
sys.exit(pytest.main(["-q", "--nbval-current-env", "-p", "no:cacheprovider", "-c", str(folder / "none.ini"),
                      "--rootdir", str(folder), str(reference.FOLDER)]))
"""


@pytest.mark.slow
def test_nbval_executes_compares_and_keeps(python, tmp_path, monkeypatch):
    """The command is that of `make test`, and the executed notebook equals the result of papermill."""
    values, kept = {"size": 2, "profile": "smoke"}, tmp_path / "kept/smoke"
    profiles = "[smoke.page]\nsize = 2\n[smoke.other]\nsize = 2\n"
    files = {"page.md": TEXT, "other.md": TEXT, "profiles.toml": profiles, "none.ini": "[pytest]\n"}
    write_files(tmp_path, files)
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "reference")
    monkeypatch.setenv(results.STORE_NAME, str(reference.RESULTS))  # as the suite does
    execution.execute(tmp_path / "page.md", tmp_path / "papermill", values)
    reference.FOLDER.mkdir()
    cells = nbformat.read(tmp_path / "papermill/page.ipynb", 4).cells
    reference.write("page", [cell.outputs for cell in cells if cell.cell_type == "code"])
    shutil.copy(ROOT / "tests/reference/conftest.py", tmp_path / "reference")
    right = (tmp_path / "reference/page.json").read_text(encoding="utf-8")
    (tmp_path / "reference/other.json").write_text(right.replace("0.666", "0.676"), encoding="utf-8")

    done = python("-c", SUITE.format(folder=str(tmp_path)))
    pages = [nbformat.read(path, 4) for path in (tmp_path / "papermill/page.ipynb", kept / "page.ipynb")]
    assert pages[0].cells == pages[1].cells and pages[0].metadata.inputs == pages[1].metadata.inputs
    assert not execution.execute(tmp_path / "page.md", kept, values)  # nothing is left to execute
    assert done.returncode == 1 and "1 failed, 5 passed" in done.stdout, done.stdout
    assert "found 0.676" in done.stdout and "found 0.666" in done.stdout
    assert not (kept / "other.ipynb").exists()
