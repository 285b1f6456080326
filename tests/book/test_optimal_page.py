"""What the page of the optimal learner shows, on rows made by hand."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from cells import cell, stored

from attention_phases.task import Task

# Theory of both minima at alpha = 1 and 2: the positional one ends between them, the semantic one begins there.
MINIMA = [("semantic", 1.0), ("semantic", 2.0), ("positional", 1.0), ("positional", 2.0)]
BORDERS = [("semantic border", 1.5), ("positional border", 1.5)]


def theory(omega):
    rows = pd.DataFrame(MINIMA + BORDERS, columns=["what", "alpha"]).assign(omega=omega, alpha_error=0.01)
    return rows.assign(sigma=0.5, theta=0.25 * 0.6, q=0.25, test_mse=2.0, test_mse_error=0.2)


@cache
def page():
    """Names of the cell on theory, which reads the paper's student at omega = 0.3 and the other one at 0."""
    lines = {"fig02_theory": theory(0.3), "positions_given_theory": theory(0.0)}
    return cell("optimal", "best", read=lambda name, _: lines[name], profile="")


def test_cosines_of_known_weights():
    """Weights a Q* + b R with R at right angles and of the same length have the squared cosine a^2/(a^2 + b^2)."""
    sigma, a, b = 0.5, 0.6, 0.3
    rows = pd.DataFrame({"sigma": [sigma], "theta": [sigma**2 * a], "q": [sigma**2 * (a**2 + b**2)]})
    assert page()["with_cosines"](rows)["squared_cosine"].item() == pytest.approx(a**2 / (a**2 + b**2))


def test_the_optimal_line_meets_its_ends():
    line = page()["best"]
    line = line.set_axis(line.index.to_numpy().round(6)).loc[[0.02, 0.3, 0.5, 2.0]]
    assert line["squared_cosine"].to_list() == [0, pytest.approx(0.268, abs=1e-3), 1, 1]
    assert line["test_mse"][0.02] > line["test_mse"][0.3] > line["test_mse"][0.5] == 0


def test_a_branch_is_shown_where_it_is_a_minimum():
    """And whoever is given the positional part errs only in the rest, whose weight is 1 - omega."""
    for name, error in (("papers", 2.0), ("given", 2.0 * 0.7**2)):
        rows = page()[name]
        assert {branch: some.index.to_list() for branch, some in rows.items()} == {"semantic": [2], "positional": [1]}
        row = rows["semantic"].loc[2.0]
        assert row["squared_cosine"] == pytest.approx(0.6**2) and row["test_mse"] == pytest.approx(error)
        assert row["test_mse_error"] == pytest.approx(error / 10)


def test_recoveries_are_counted():
    rows = pd.DataFrame({"alpha": [0.3, 0.3, 0.8, 0.8], "squared_cosine": [0.2, 0.3, 1.0, 0.9]})
    summary = cell("optimal", "recovered", passing=rows, task=Task())["recovered"]
    assert summary["recovered"].to_dict() == {0.3: 0, 0.8: 1} and (summary["runs"] == 2).all()
    assert summary["squared_cosine"].to_dict() == {0.3: 0.25, 0.8: 0.95}
    assert summary["optimal"][0.3] == pytest.approx(0.268, abs=1e-3)


def test_ends_compare_both_starts_on_one_data_set():
    table = pd.DataFrame(
        {
            "alpha": 1.0,
            "optimizer": "lbfgs",
            "sigma": 1.0,
            "seed": [0, 0, 1, 1, 2, 2],
            "start": ["semantic", "random"] * 3,
            "q": 1.0,
            "theta": np.sqrt([0.8, 0.1, 0.6, 0.2, 0.7, 0.6]),
            "train_loss": [1.0, 2.0, 4.0, 3.0, 5.0, 5.0 - 1e-7],  # the last difference is rounding
        }
    )
    table = page()["with_cosines"](table)
    row = cell("optimal", "ends", table=table)["ends"].iloc[0]
    assert (row["from_teacher"], row["from_random"]) == pytest.approx((0.7, 0.3))
    assert (row["random_same"], row["random_lower"], row["runs"]) == (1, 1, 3)


def test_the_penalty_decides_what_is_left_to_the_optimal_learner():
    """Of theory as stored: the loss comes close to the penalty of the teacher, which no other solution has."""
    rows = stored("optimal", "by_penalty")
    beyond = rows[rows["alpha"] > 0.5].set_index(["lam", "alpha"])
    assert (beyond["over_teacher"] < 1).all() and (beyond["squared_cosine_error"] < 0.03).all()
    for _, along in beyond.groupby("alpha"):
        along = along.sort_index(ascending=False)  # from the usual penalty down
        assert along["squared_cosine"].is_monotonic_increasing and along["squared_cosine"].iloc[-1] > 0.98
    least = beyond.loc[beyond.index.get_level_values("lam").min()]
    assert (least["other_over_teacher"] > 1.05).all() and least["other_over_teacher"].is_monotonic_increasing
    usual = beyond.xs(1e-2, level="lam")["squared_cosine"]
    known = {0.6: 0.161, 0.8: 0.377, 2.0: 0.842}  # computed once by another program
    assert all(abs(usual[alpha] - cosine) < 0.03 for alpha, cosine in known.items())
