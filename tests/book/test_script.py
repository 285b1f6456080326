"""A page as a script: with the values that the page had, and the same figures."""

import json
import re
import subprocess
import sys

import pytest
import reference
from behind import parameters, script
from nbformat.v4 import new_output

from attention_book.command_line.parameters import of_profile
from attention_book.experiments.results import STORED
from attention_book.paths import NOTEBOOKS


def executed(text):
    """The notebook of a text at smoke size, with its reference in the place of its outputs."""
    return reference.prepared(text, of_profile(text, "smoke"), reference.FOLDER / f"{text.stem}.json")


def test_scripts_define_what_they_use_keep_their_values_and_save_every_figure(tmp_path):
    for text in NOTEBOOKS.glob("*.md"):
        notebook = executed(text)
        code = script(notebook, text)
        for name, value in parameters(notebook, text)[0].items():
            assert len(re.findall(rf"^{name} = {re.escape(json.dumps(value))}  # ", code, re.MULTILINE)) == 1
        figures = [cell.metadata["mystnb"]["figure"]["name"] for cell in notebook.cells if "mystnb" in cell.metadata]
        assert re.findall(r"^style\.show\((.*)\)$", code, re.MULTILINE) == [f'figure, "{name}"' for name in figures]
        assert "myst_nb" not in code and code.startswith("# To install")
        (tmp_path / f"{text.stem}.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "--select", "F", str(tmp_path)]
    checked = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert checked.returncode == 0, checked.stdout


@pytest.mark.slow
def test_the_script_of_a_page_gives_the_data_of_its_figure(python, tmp_path, monkeypatch):
    text = NOTEBOOKS / "minima.md"  # the cheapest
    notebook = executed(text)
    figures = [cell for cell in notebook.cells if "mystnb" in cell.metadata]
    expected = {cell.metadata["mystnb"]["figure"]["name"]: cell.outputs[0].data for cell in figures}
    monkeypatch.setenv(STORED, str(reference.RESULTS))
    ended = python("-c", script(notebook, text), cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{name}.{kind}" for name in expected for kind in ("csv", "svg")
    }
    for name, data in expected.items():
        drawn = new_output("display_data", {"text/csv": (tmp_path / f"{name}.csv").read_text(encoding="utf-8")})
        kept = {"data": {"0 text/csv": data["0 text/csv"]}}
        assert reference.differences([kept], [drawn]) == []
