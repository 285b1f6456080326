"""What the page of the optimal learner shows, on rows made by hand."""

import numpy as np
import pandas as pd
import pytest

from attention_book.pages.optimal import by_penalty, ends, optimal_line, recovered, with_cosines
from attention_book.paths import stored_table
from attention_book.store.parquet import load
from attention_phases.task import Task


def test_cosines_of_known_weights():
    """Weights a Q* + b R with R at right angles and of the same length have the squared cosine a^2/(a^2 + b^2)."""
    sigma, a, b = 0.5, 0.6, 0.3
    rows = pd.DataFrame({"sigma": [sigma], "theta": [sigma**2 * a], "q": [sigma**2 * (a**2 + b**2)]})
    assert with_cosines(rows)["squared_cosine"].item() == pytest.approx(a**2 / (a**2 + b**2))


def test_the_optimal_line_meets_its_ends():
    line = optimal_line(Task(), [0.1, 0.3, 0.6])
    assert line["squared_cosine"].to_list() == [0, pytest.approx(0.268, abs=1e-3), 1]
    assert line["test_mse"][0.1] > line["test_mse"][0.3] > line["test_mse"][0.6] == 0


def test_recoveries_are_counted():
    rows = pd.DataFrame({"alpha": [0.3, 0.3, 0.8, 0.8], "squared_cosine": [0.2, 0.3, 1.0, 0.9]})
    summary = recovered(rows, Task()).set_index("alpha")
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
    row = ends(table).iloc[0]
    assert (row["from_teacher"], row["from_random"]) == pytest.approx((0.7, 0.3))
    assert (row["random_same"], row["random_lower"], row["runs"]) == (1, 1, 3)


def test_the_penalty_decides_what_is_left_to_the_optimal_learner():
    """Of theory as stored: the loss comes close to the penalty of the teacher, which no other solution has."""
    rows = by_penalty(load(stored_table("penalty_theory")), Task().omega)
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
