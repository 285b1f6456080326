"""Which minimum did a run find, and how often?"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from attention_book.analysis.means import wilson
from attention_book.pages import random_starts as basins

SPREAD = 0.01


@pytest.fixture
def minima():
    """Informed minima: semantic near theta = 0.15, positional near m = 0.25, and one start that was led astray."""
    rng = np.random.default_rng(0)
    rows = [
        {"start": start, "seed": seed, "theta": theta + SPREAD * rng.normal(), "m": m + SPREAD * rng.normal()}
        for start, theta, m in (("semantic", 0.15, 0.05), ("positional", 0.05, 0.25))
        for seed in range(200)
    ]
    rows[-1].update(theta=3.0, m=0.0)
    return pd.DataFrame(rows).assign(alpha=2.0, d=100, optimizer="lbfgs", grad_norm=1e-5)


def run(theta, m, grad_norm=1e-5, alpha=2.0):
    return {"start": "random", "optimizer": "adam", "seed": 0, "alpha": alpha, "d": 100, "theta": theta, "m": m,
            "grad_norm": grad_norm}  # fmt: skip


@pytest.mark.parametrize(("end", "basin"), [
    (run(0.15, 0.05), "semantic"),
    (run(-0.15, 0.05), "semantic"),
    (run(0.05, -0.25), "positional"),
    (run(0.052, 0.05, grad_norm=1e-5), "neither"),
    (run(0.15 + 2 * SPREAD, 0.05), "semantic"),
    (run(0.15 + 5 * SPREAD, 0.05), "neither"),
    (run(0.15, 0.25), "neither"),
    (run(0.15, 0.05, grad_norm=2 * basins.SETTLED), "neither"),
    (run(0.15, 0.05, alpha=1.0), "neither"),
])  # fmt: skip
def test_a_run_counts_for_the_basin_it_has_come_to(minima, end, basin):
    runs = basins.classify(pd.concat([minima, pd.DataFrame([end])], ignore_index=True))
    assert list(runs["basin"]) == [basin]


def test_a_basin_that_its_own_starts_leave_does_not_exist(minima):
    gone = minima["start"] == "semantic"
    minima.loc[gone, ["theta", "m"]] = minima.loc[~gone, ["theta", "m"]].to_numpy()
    runs = basins.classify(pd.concat([minima, pd.DataFrame([run(0.15, 0.05), run(0.05, 0.25)])], ignore_index=True))
    assert list(runs["basin"]) == ["neither", "positional"]


@pytest.mark.parametrize(("hits", "count"), [(0, 20), (3, 20), (10, 10), (70, 140)])
def test_the_interval_is_wilsons(hits, count):
    known = stats.binomtest(hits, count).proportion_ci(0.95, "wilson")
    interval = wilson(hits / count, count, stats.norm.ppf(0.975))
    assert interval == pytest.approx((known.low, known.high), abs=1e-12)


def test_runs_on_one_data_set_count_as_far_as_they_differ():
    """Four equal runs on each data set say no more than one; four independent ones as much as four."""
    seeds = np.repeat(np.arange(30), 4)
    equal = pd.Series(np.where(seeds % 3 == 0, "semantic", "positional"))
    rng = np.random.default_rng(1)
    free = pd.Series(np.where(rng.random(len(seeds)) < 1 / 3, "semantic", "positional"))
    widths = []
    for ends in (equal, free):
        runs = pd.DataFrame({"optimizer": "gd", "alpha": 2.0, "d": 100, "seed": seeds, "basin": ends})
        table = basins.fractions(runs).set_index("basin")
        share, low, high = table.loc["semantic", ["fraction", "low", "high"]]
        assert low < share < high
        widths.append(high - low)
        assert table.loc["neither", "fraction"] == 0
        assert table.loc["neither", "high"] == pytest.approx(wilson(0.0, 30)[1])  # as many as data sets
    low, high = wilson(1 / 3, 30)
    assert widths[0] == pytest.approx(high - low, rel=1e-6)
    assert widths[1] < 0.7 * widths[0]


def test_runs_on_a_single_data_set_count_as_one():
    runs = pd.DataFrame({"optimizer": "gd", "alpha": 2.0, "d": 100, "seed": 0, "basin": ["semantic", "positional"] * 2})
    low, high = basins.fractions(runs).set_index("basin").loc["semantic", ["low", "high"]]
    assert (low, high) == pytest.approx(wilson(0.5, 1))


def test_basins_side_by_side():
    rows = [
        ("adam", 50, 1.0, "semantic", 0.2, 0.1, 0.3), ("adam", 50, 1.0, "positional", 0.7, 0.6, 0.8),
        ("adam", 50, 1.0, "neither", 0.1, 0.0, 0.2),
    ]  # fmt: skip
    shares = pd.DataFrame(rows, columns=["optimizer", "d", "alpha", "basin", "fraction", "low", "high"])
    wide = basins.side_by_side(shares)
    assert wide.to_dict("records") == [{
        "optimizer": "adam", "d": 50, "alpha": 1.0, "semantic": 0.2, "semantic_low": 0.1, "semantic_high": 0.3,
        "positional": 0.7, "positional_low": 0.6, "positional_high": 0.8,
        "neither": 0.1, "neither_low": 0.0, "neither_high": 0.2,
    }]  # fmt: skip
