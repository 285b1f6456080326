"""One figure by one command: its parameters, its marks at parameters that are not the published ones, and its files."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import jupytext
import nbformat
import numpy as np
import pandas as pd
import pytest
import reference
from cases import cases
from nbformat.v4 import new_code_cell, new_output
from pages import Page
from parameters import format_value, notebook_of, profile_values, published_values, shell_values, with_banner

from attention_book.paths import NOTEBOOKS
from attention_book.render.markup import COMPARISON
from attention_book.store.parquet import load
from attention_phases.errors import BadInput

SIZES = {"omega": 0.3, "sigma": 0.5, "lam": 0.01, "matrix": "standard", "points": 64}
SLICE = NOTEBOOKS / "fig02_slice.md"
FIGURE = ("figure", "fig02", "--profile", "smoke")


# Parameters


@pytest.mark.parametrize(("setting", "value"), cases("settings"))
def test_a_setting_becomes_a_value_of_the_parameter_s_type(setting, value):
    (assigned_value,), value = shell_values(SLICE, [setting]).values(), json.loads(value)
    assert assigned_value == value and type(assigned_value) is type(value)
    assert shell_values(SLICE, [f"{setting.partition('=')[0]}={format_value(value)}"]) == shell_values(SLICE, [setting])


@pytest.mark.parametrize(("setting",), cases("bad_settings"))
def test_a_bad_setting_is_refused_in_one_line_before_anything_runs(setting, tmp_path, complaint):
    assert setting.partition("=")[0] in complaint(2, *FIGURE, "--set", setting, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_bad_name_a_parameter_set_twice_and_a_file_in_the_place_of_a_folder_are_refused(tmp_path, complaint):
    assert complaint(2, "figure", "nothing").count("fig01") == 1
    assert "omega" in complaint(2, *FIGURE, "--set", "omega=0.2", "--set", "omega=0.3")
    (tmp_path / "file").touch()
    assert str(tmp_path / "file") in complaint(1, *FIGURE, "--out", tmp_path / "file" / "out")


def test_a_profile_is_checked_against_the_parameters_too(tmp_path):
    for path in (*NOTEBOOKS.glob("*.md"), NOTEBOOKS / "profiles.toml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    profiles = tmp_path / "profiles.toml"
    assert profile_values(tmp_path / SLICE.name, "paper") == {"profile": "paper"}
    profiles.write_text(profiles.read_text(encoding="utf-8").replace("points = 512", "points = 0.5"), encoding="utf-8")
    with pytest.raises(BadInput, match=r"points = 0\.5"):
        profile_values(tmp_path / SLICE.name, "smoke")


# Marks


def executed(changes, sizes=None):
    """Return the text of Figure 2 as if executed; cells that compare with published numbers have outputs."""
    notebook = jupytext.read(SLICE)
    compared = new_output("display_data", {"text/html": "a comparison"}, metadata={COMPARISON: {"rows": []}})
    notebook.cells.insert(-1, new_code_cell("Table()", outputs=[compared]))
    return with_banner(notebook, SLICE, sizes or {"profile": "paper"}, changes)


def texts(notebook):
    """Return the text cells of a notebook that the book shows."""
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown" and "tags" not in cell.metadata]


@pytest.mark.parametrize("changes", [{}, {"omega": 0.3}])
def test_the_published_page_alone_has_no_marks_and_comparisons(changes):
    before = executed({})
    after = executed(changes)
    assert [cell.source for cell in after.cells] == [cell.source for cell in before.cells]
    assert "admonition" not in str(after) and "a comparison" in str(after)
    assert "a comparison" not in str(executed({"omega": 0.2}))


@pytest.mark.parametrize("text", sorted(NOTEBOOKS.glob("*.md")), ids=lambda text: text.stem)
def test_a_changed_page_says_so_and_has_no_sentence_about_the_published_one(text):
    parameters = {name: value for name, value in published_values(text).items() if name != "profile"}
    if not parameters:
        return
    name, value = next(iter(parameters.items()))
    before = jupytext.read(text)
    notebook = with_banner(jupytext.read(text), text, {"profile": "paper"}, {name: "other"})
    heading, banner = texts(notebook)
    assert re.fullmatch(r"# (Figure \d+|Table \d|[A-Z][a-z ]+)", heading.splitlines()[-1])
    assert f"<code>{name} = other</code> (published: {value})" in banner and banner.count("<code>") == 1
    assert [cell.source for cell in notebook.cells[2:]] == [
        cell.source for cell in before.cells if cell.cell_type == "code" or cell.metadata
    ]
    for cell in notebook.cells:
        if options := cell.metadata.get("mystnb"):
            assert options["figure"]["caption"].startswith(f"With {name} = other. ")
            assert options["image"]["alt"] == f"With {name} = other: see the caption."


def test_some_cells_are_of_the_published_values_alone_and_some_of_others():
    texts = {changed: str(notebook_of(SLICE, {"omega": 0.2} if changed else {"omega": 0.3})) for changed in (0, 1)}
    for words, when in (("# Provide the numbers quoted in the text", 0), ("# For a changed task", 1)):
        assert words in texts[when] and words not in texts[1 - when]


def test_a_smaller_page_says_so_and_keeps_its_text():
    notebook = executed({}, {"profile": "smoke", "points": 256})
    assert "<code>smoke</code> (<code>points = 256</code> (published: 16384))" in notebook.cells[1].source
    whole = "\n\n".join(texts(executed({})))
    heading, banner, *_ = texts(notebook)
    assert "\n\n".join(texts(notebook)) == whole.replace(heading, f"{heading}\n\n{banner}", 1)
    assert "a comparison" in str(notebook)
    other = executed({"points": 512}, {"profile": "smoke", "points": 256}).cells[1].source
    assert "points = 512" in other and "points = 256" not in other


def test_of_a_slice_what_exists_is_drawn_and_what_does_not_is_named():
    def read(name, profile, **changes):
        rows = load(reference.RESULTS / f"{name}.parquet")
        missing = r"semantic|gap$|critical|linear" if name == "fig02_theory" else "nothing"
        return rows[~rows["what"].str.match(missing)] if "what" in rows else rows

    def solve(*arguments, **options):
        return SimpleNamespace(reason="did not settle")

    drawn = Page("fig02_slice", profile="smoke", read=read, solve=solve, **SIZES).cell_of("overlaps")
    assert drawn["takeover"] == np.inf
    texts = [[text.get_text() for text in panel.get_legend().get_texts()] for panel in drawn["panels"]]
    assert "theory" not in texts[0] and "trained students" in texts[0]
    assert texts[1] == [r"$\theta/\sigma^2$, with the teacher", r"$m/\sigma^2$, with the positions"]
    assert texts[2] == ["best linear model", "semantic: did not settle", "positional"]
    lines = [line for line in drawn["errors"].lines if line.get_label() == "positional"]
    assert len(lines) == 1 and lines[0].get_xdata().max() == 2


# The command


@pytest.fixture(scope="module")
def made(guarded, tmp_path_factory):
    """Return the folder and the output of the command for a small Figure 2 at another omega, without a network.

    Warnings are errors, scripts cannot import their neighbours, temporary files have long names, and results are stored
    elsewhere.
    """
    folder = tmp_path_factory.mktemp("fig02")
    for name in ("page", "kept", deep := "d" * 100):
        (folder / name).mkdir()
    (folder / "page" / "notes.txt").touch()
    places = {"TMPDIR": str(folder / deep), "ATTENTION_PHASES_BUILT": str(folder / "kept")}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"PYTHONWARNINGS": "error", "PYTHONSAFEPATH": "1", **places}.items():
            patch.setenv(name, value)
        done = guarded(
            *("-m", "attention_book.command_line.main", *FIGURE, "--set", "omega=0.2", "--set", "points=64"),
            *("--out", folder, "--json", "--quiet"),
        )
    assert (done.returncode, done.stderr) == (0, "")
    return folder, json.loads(done.stdout)


def test_one_command_makes_notebook_page_picture_and_data(made):
    folder, answer = made
    assert (folder / "page" / "notes.txt").exists()  # a file of the user remains
    assert {"fig02", "fig02_theory"} <= {path.stem for path in (folder / "kept").rglob("*.parquet")}
    assert answer["parameters"]["omega"] == 0.2 and answer["parameters"]["profile"] == "smoke"
    assert [Path(name).name for name in answer["svg"]] == ["fig-02.svg", "fig-free-energy.svg"]
    assert Path(answer["svg"][0]).read_text(encoding="utf-8").startswith("<?xml")
    cells = nbformat.read(answer["notebook"], 4).cells
    assert "omega = 0.2" in next(c.source for c in cells if "injected-parameters" in c.metadata.get("tags", ()))
    table = pd.read_csv(answer["csv"][0], comment="#")
    assert {"semantic", "positional"} <= set(table["series"]) and set(table["panel"]) == {1, 2, 3}
    assert table["x"].max() == 2


def test_the_page_of_a_figure_opens_offline_and_is_not_heavy(made, open_page):
    page = open_page(made[0] / "page" / "fig02_slice.html")
    assert page.evaluate("() => Boolean(window.MathJax)")  # the formulas in the page need MathJax
    assert sum(path.stat().st_size for path in (made[0] / "page").rglob("*")) < 7e6
    assert page.locator("figure img, figure svg").count() > 0
    assert not re.search(r"\$|\\\(", page.locator(".bd-article").inner_text())
    assert "omega = 0.2 (published: 0.3)" in page.locator(".admonition.warning").inner_text()
    assert "1.241" not in page.locator(".bd-article").inner_text()  # the published threshold
