"""Students of Figures 2, 3, 7 and 8 beside the published ones and theory, by hand."""

from types import SimpleNamespace

import pandas as pd
import pytest

from attention_book.analysis import instances
from attention_book.pages import dimension, slice
from attention_phases import Task
from attention_phases.measured import Measured


def solution(**values):
    overlaps = SimpleNamespace(_asdict=lambda: {name: values.get(name, 0.0) for name in ("q", "m", "theta", "V")})
    errors = dict.fromkeys(("q", "m", "theta", "V", "train_loss", "test_mse"), 1e-5)
    return SimpleNamespace(overlaps=overlaps, train_loss=0.003600, test_mse=0.0014, stderr=errors | {"V": 0.1})


def test_theory_of_figure_2():
    solutions = {"semantic": solution(q=0.1143, V=12.0, theta=0.1580), "positional": solution(q=0.05, V=11.0, m=0.26)}
    known = {"critical": Measured(1.25, 0.0006), "linear": Measured(1.49, 0.0006)}
    rows = slice.solutions_beside_published(Task(), solutions, known)
    assert len(rows) == 12 and rows["difference"].to_list()[:2] == pytest.approx([0.009, 0.039])
    by = {(row.quantity, row.parameters.get("branch")): row for row in rows.itertuples()}
    assert by["theta", "semantic"].difference == pytest.approx(-0.0006)
    assert by["V", "positional"].sigma == pytest.approx(-0.04 / (0.01 + 1e-4 / 12) ** 0.5)
    assert by["train_loss", "semantic"].value == 0.0036 and by["test_mse", "semantic"].value == 0.0014
    assert by["m", "positional"].parameters == {"alpha": 2.0, "branch": "positional"}
    assert len(slice.solutions_beside_published(Task(omega=0.4), solutions, known)) == 1  # alpha_c alone
    assert slice.solutions_beside_published(Task(sigma=0.7), solutions, known).empty


def trained(alpha, start, optimizer, seed, **values):
    same = dict.fromkeys(instances.MEASURED, 0.0)
    return {"alpha": alpha, "start": start, "optimizer": optimizer, "seed": seed, "d": 1000} | same | values


def test_experiments_of_figure_2():
    rows = [
        trained(0.5075, "positional", "gd", 0, m=0.21, test_mse=0.0031, train_loss=0.0011, linear_mse=0.0019),
        trained(0.5075, "positional", "gd", 1, m=-0.23, test_mse=0.0033, train_loss=0.0013, linear_mse=0.0021),
        trained(0.5075, "semantic", "gd", 0, m=9.0), trained(0.5075, "semantic", "gd", 1, m=9.0),
        trained(0.5075, "positional", "lbfgs", 0, m=9.0), trained(0.5075, "positional", "lbfgs", 1, m=9.0),
        trained(0.25, "positional", "gd", 0), trained(0.25, "positional", "gd", 1),
    ]  # fmt: skip
    frame = slice.means_beside_published(Task(), pd.DataFrame(rows)).set_index("quantity")
    assert list(frame["published"]) == ["0.00322", "0.00197", "0.001162", "0.899"]
    assert frame["value"].to_list() == pytest.approx([0.0032, 0.0020, 0.0012, 0.88])  # |m|, as published
    assert frame["error"].to_list() == pytest.approx([1e-4, 1e-4, 1e-4, 0.04])
    assert frame.loc["linear_mse", "verdict"] == "not comparable" and frame.loc["linear_mse", "reason"] == "definition"
    assert frame.loc["test_mse", "verdict"] == "agrees" and set(frame["n"]) == {2}
    far = pd.DataFrame(rows).assign(test_mse=lambda table: 2 * table["test_mse"])
    off = slice.means_beside_published(Task(), far).set_index("quantity").loc["test_mse"]
    assert (off["verdict"], off["reason"]) == ("differs", "instances")
    assert frame.loc["m/sigma^2", "sigma"] == pytest.approx(-0.019 / (0.04**2 + 1e-6 / 12) ** 0.5)
    assert slice.means_beside_published(Task(omega=0.4), pd.DataFrame(rows)).empty


def test_students_by_dimension():
    values = ({"theta": 0.09, "m": -0.16, "test_mse": 0.004}, {"theta": -0.11, "m": 0.18, "test_mse": 0.0042})
    rows = [
        trained(1.5, start, "gd", seed, **measured) | {"d": d}
        for start in ("semantic", "positional") for d in (10, 15, 36) for seed, measured in enumerate(values)
    ]  # fmt: skip
    frame = dimension.sizes_beside_published(pd.DataFrame(rows), Task(), ("theta/sigma^2", "m/sigma^2", "test_mse"))
    assert [(row.quantity, *row.parameters.values(), row.published) for row in frame.itertuples()] == [
        ("theta/sigma^2", 10, "semantic", "0.381"), ("theta/sigma^2", 36, "semantic", "0.444"),
        ("m/sigma^2", 10, "positional", "0.68"), ("m/sigma^2", 36, "positional", "0.86"),
        ("test_mse", 10, "semantic", "0.00424"), ("test_mse", 36, "semantic", "0.00263"),
    ]  # fmt: skip
    # Absolute overlaps over sigma^2 = 1/4, as published; the errors of two values are half their distance.
    assert frame["value"].to_list() == pytest.approx([0.4, 0.4, 0.68, 0.68, 0.0041, 0.0041])
    assert frame["error"].to_list() == pytest.approx([0.04, 0.04, 0.04, 0.04, 1e-4, 1e-4])
    assert set(frame["published_n"]) == {30} and set(frame["n"]) == {2}
