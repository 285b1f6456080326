"""The user's own questions: the page about them, the cells that a table of sizes defines, and their computation."""

import json
import re
import tomllib
import warnings
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import reference
import torch
from cases import cases
from pages import Page
from test_readout import read

import attention_book
from attention_book import style, sweep
from attention_book.experiments import GRIDS
from attention_book.experiments.own import own_cells, read_grid
from attention_book.paths import NOTEBOOKS, ROOT
from attention_book.store.parquet import items, load
from attention_book.store.sweep import Store
from attention_phases import Architecture, BadInput, Task, train

pytestmark = pytest.mark.usefixtures("in_this_process")
SIZES = {"omega": [0.2, 0.3], "alpha": 1.0, "d": 20, "seeds": 2}


def pasted(number):
    """Return one of the two code blocks of the page that the page does not run."""
    page = (NOTEBOOKS / "your_own_question.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    return blocks[number]


def test_the_recipe_for_a_crossing_finds_it(capsys):
    starts = {"semantic": lambda alpha, seed: -alpha, "positional": lambda alpha, seed: -1.25 - 0.1 * seed}
    rows = [
        {"encoding": encoding, "alpha": alpha, "seed": seed, "start": start, "train_loss": loss(alpha, seed)}
        for (start, loss), encoding, alpha, seed in product(starts.items(), (1.0, 2.0), (1.0, 1.5, 2.0), (-1, 1))
    ]
    exec(pasted(0), {"grid": pd.DataFrame(rows), "book": attention_book})
    assert capsys.readouterr().out.startswith("1.25")


@pytest.mark.parametrize("width", [3.4, 7.0])
@pytest.mark.parametrize("font", style.FONTS)
def test_the_recipe_for_print_has_its_width_and_cuts_no_label(tmp_path, monkeypatch, caplog, width, font):
    monkeypatch.chdir(tmp_path)
    code = pasted(1).replace("3.4", str(width)).replace('"Computer Modern"', repr(font), 1)
    rows = pd.DataFrame({"alpha": [0.5, 2.0], "train_loss": [-1e-3, 1.25e-3]})
    names = {"plt": plt, "style": style, "branches": {(1.0, branch): rows for branch in style.COLOURS}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # warnings about a missing letter of a font
        exec(code, names)
    figure = names["figure"]
    assert caplog.messages == []
    drawn = figure.get_tightbbox()
    assert 0 <= drawn.x0 < drawn.x1 <= width and 0 <= drawn.y0 < drawn.y1 <= figure.get_size_inches()[1]
    assert f"/MediaBox [ 0 0 {width * 72:g} ".encode() in (tmp_path / "mine.pdf").read_bytes()
    plt.close(figure)


def test_work_distributed_by_hand_has_the_students_of_train(monkeypatch, capsys):
    page = (ROOT / "book/machines.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(from concurrent.*?)^```", page, re.M | re.S)
    monkeypatch.setattr(futures, "ProcessPoolExecutor", lambda: ThreadPoolExecutor(1))
    exec(code.replace("d=400", "d=20"), {"__name__": "__main__"})
    known = train(Task(omega=0.3), 1.5, 20, seeds=4, starts="semantic", workers=1)["train_loss"]
    assert capsys.readouterr().out.split()[-2:] == [f"{known.mean():.6f}", f"{known.sem():.6f}"]


def test_every_combination_is_a_cell():
    cells = own_cells(SIZES | {"optimizer": ["lbfgs", "gd"], "starts": "random"}, "mine")
    assert len(set(cells)) == 8 and {cell.task for cell in cells} == {Task(omega=0.2), Task(omega=0.3)}
    assert {(cell.experiment, cell.starts, cell.seed) for cell in cells} == {("mine", ("random",), k) for k in (0, 1)}
    assert {cell.seed for cell in own_cells(SIZES | {"seeds": range(5, 7)}, "mine")} == {5, 6}
    (other,) = own_cells({"alpha": 1, "d": 20, "seeds": 1, "form": "rank2", "tokens": 3, "encoding": 2.0}, "mine")
    assert other.architecture == Architecture("rank2", 3) and other.task.encoding == 2.0


@pytest.mark.parametrize(("name", "values"), [("encoding", [1.0, 2.0]), ("form", ["rank2", "tied"])])
def test_an_axis_through_a_usual_value_has_no_gap(tmp_path, name, values):
    table = sweep(SIZES | {"omega": 0.3, name: values}, tmp_path / "mine.sqlite", workers=1, quiet=True)
    file = load(tmp_path / "mine.parquet")
    assert table.groupby(name).size().to_dict() == file.groupby(name).size().to_dict() == dict.fromkeys(values, 4)
    with Store(tmp_path / "mine.sqlite") as store:
        stored = {text: rest for text, *rest in store.items()}
    assert {text: rest for text, *rest in items(tmp_path / "mine.parquet")} == stored


@pytest.mark.parametrize(("change", "said"), cases("sizes"))
def test_sizes_that_make_no_cells_are_refused(tmp_path, change, said):
    with pytest.raises(BadInput, match=f"^{said}"):
        sweep(SIZES | json.loads(change), tmp_path / "mine.sqlite")
    assert not list(tmp_path.iterdir())


def test_a_number_of_an_array_is_that_of_a_list():
    """The 0.3 of linspace is 0.30000000000000004, which would have other sentences."""
    omegas = np.linspace(0.1, 0.5, 5)
    assert omegas[2] != 0.3
    for axis in (omegas, torch.from_numpy(omegas), pd.Series(omegas)):
        cells = own_cells(SIZES | {"omega": axis, "seeds": 1}, "mine")
        assert [cell.task.omega for cell in cells] == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert len({*own_cells(SIZES | {"omega": np.array([0.3, 0.3 + 1e-10]), "seeds": 1}, "mine")}) == 2


def test_a_grid_is_computed_once_from_python_and_from_a_file(tmp_path, answer):
    table = sweep(SIZES, tmp_path / "mine.sqlite", workers=1, quiet=True)
    assert len(table) == 8 and set(table["omega"]) == {0.2, 0.3} and set(table["start"]) == {"semantic", "positional"}
    file = tmp_path / "mine.toml"
    file.write_text("omega = [0.2, 0.3]\nalpha = 1.0\nd = 20\nseeds = 2\n", encoding="utf-8")
    assert read_grid(file) == SIZES
    again = answer("sweep", "--grid", file)
    assert again["skipped"] == 4 and again["origin"]["store"] == again["store"] == str(tmp_path / "mine.sqlite")
    again = sweep(own_cells(SIZES, "mine"), tmp_path / "mine.sqlite", workers=1)
    assert again["seconds"].tolist() == table["seconds"].tolist()
    fewer = sweep(SIZES | {"seeds": 1}, tmp_path / "mine.sqlite", workers=1, quiet=True)
    assert len(fewer) == 4 and len(pd.read_parquet(fewer.attrs["table"])) == 8


def test_an_experiment_is_swept_with_other_parameters(tmp_path, answer):
    places = ("--store", tmp_path / "s.sqlite", "--data", tmp_path)
    # Otherwise all cells would be computed.
    assert {cell.task.sigma for cell in GRIDS["fig02"]("paper", sigma=0.6)} == {0.6}
    one = ("--set", "sigma=0.6", "--set", "alpha=1.0", "--set", "d=20", "--set", "seed=3", "--set", "optimizer=lbfgs")
    assert answer("sweep", "fig02", *one, *places)["done"] == 1
    row = load(tmp_path / "fig02.parquet").iloc[0]
    assert (row["sigma"], row["alpha"], row["d"], row["seed"]) == (0.6, 1.0, 20, 3)


def test_a_file_that_is_missing_or_no_toml_has_no_cells(complaint, tmp_path):
    """Other calls that make no sense are in `cases/senseless.txt`."""
    assert "mine.toml: No such file" in complaint(1, "sweep", "--grid", tmp_path / "mine.toml")
    (tmp_path / "text.toml").write_text("no grid", encoding="utf-8")
    assert "must be a TOML file" in complaint(2, "sweep", "--grid", tmp_path / "text.toml")


# The page

PAGE = "your_own_question"


def test_the_transition_of_the_page_waits_and_the_other_threshold_stays():
    """The numbers are the output of the page in its reference."""
    lines = next(cell["stdout"] for cell in reference.kept(PAGE) if "stdout" in cell)
    # Array (c, kind, 2).
    said = np.array([[read(text)[:2] for text in re.findall(r"[\d.]+\(\d+\)", line)] for line in lines])
    (critical, error), (linear, _) = said.transpose(1, 2, 0)
    assert len(said) == 5 and (np.diff(critical) > 3 * np.hypot(error[1:], error[:-1])).all()
    assert np.ptp(linear) == 0 and critical[1] < linear[0] < critical[2]


def test_the_text_file_of_the_page_is_its_grid():
    (computed,) = [source for source in Page(PAGE).sources if "sizes = {" in source]
    names = {"d": 400, "data_sets": 16}
    exec(computed[: computed.index("with TemporaryDirectory")], names)
    text = (NOTEBOOKS / f"{PAGE}.md").read_text(encoding="utf-8")
    assert tomllib.loads(re.search(r"```toml\n(.*?)```", text, re.DOTALL)[1]) == names["sizes"]
