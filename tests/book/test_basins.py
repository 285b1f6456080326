"""Which minimum did a run find, and how often?"""

import numpy as np
import pandas as pd
import pytest
import torch
from cells import cell
from scipy import stats

from attention_book.analysis.arrivals import CLOSE_COSINE, SMALL_GRADIENT, classify, cosines, shares_of_basins
from attention_book.analysis.instances import wilson
from attention_phases.model.two_tokens import overlaps
from attention_phases.task import Task

PAGE = "fig15_random"
SIGMA, SPREAD = 0.5, 0.02


def shares_of(runs):
    """The shares of runs that have their basin."""
    return shares_of_basins(runs).set_index("basin")


def student(start, semantic, positional, **other):
    """A student of size q = 1 with these cosines."""
    return {
        "start": start,
        "optimizer": "lbfgs",
        "seed": 0,
        "alpha": 2.0,
        "d": 100,
        "q": 1.0,
        "grad_norm": 1e-5,
        "theta": SIGMA * semantic,
        "m": positional / SIGMA,
    } | other


@pytest.fixture
def informed():
    """Informed minima: semantic ones, positional ones, and one start that was led astray."""
    rng = np.random.default_rng(0)
    rows = [
        student(start, *np.abs(centre + SPREAD * rng.standard_normal(2)), seed=seed)
        for start, centre in (("semantic", (0.9, 0.1)), ("positional", (0.1, 0.6)))
        for seed in range(50)
    ]
    rows[-1].update(theta=3.0, m=0.0)
    return pd.DataFrame(rows)


def run(semantic, positional, **other):
    return student("random", semantic, positional, optimizer="adam", **other)


@pytest.mark.parametrize(
    ("end", "side", "basin"),
    [
        (run(0.9, 0.1), "semantic", "semantic"),
        (run(-0.9, 0.1), "semantic", "semantic"),
        (run(0.1, -0.6), "positional", "positional"),
        (run(0.9 - 0.8 * CLOSE_COSINE, 0.1), "semantic", "semantic"),
        (run(0.9 - 1.2 * CLOSE_COSINE, 0.1), "semantic", "neither"),
        (run(0.9, 0.1 + 1.2 * CLOSE_COSINE), "semantic", "neither"),
        (run(0.4, 0.3), "semantic", "neither"),  # |m| is three times |theta|: what counts are cosines
        (run(0.9, 0.1, q=0.25, theta=0.225, m=0.1), "semantic", "semantic"),  # half as large
        (run(0.9, 0.1, grad_norm=2 * SMALL_GRADIENT), "semantic", "neither"),
        (run(0.9, 0.1, alpha=1.0), "semantic", "neither"),
    ],
)
def test_a_run_counts_for_the_basin_it_has_come_to(informed, end, side, basin):
    runs = classify(pd.concat([informed, pd.DataFrame([end])], ignore_index=True), SIGMA)
    assert (list(runs["side"]), list(runs["basin"])) == ([side], [basin])


def test_a_basin_that_its_own_starts_leave_does_not_exist(informed):
    gone = informed["start"] == "semantic"
    informed.loc[gone, ["theta", "m"]] = informed.loc[~gone, ["theta", "m"]].to_numpy()
    ends = pd.DataFrame([run(0.9, 0.1), run(0.1, 0.6)])
    runs = classify(pd.concat([informed, ends], ignore_index=True), SIGMA)
    assert list(runs["basin"]) == ["neither", "positional"]


def test_cosines_are_those_of_the_weights():
    task, d, rng = Task(), 50, np.random.default_rng(0)
    teacher = rng.standard_normal(d)
    teacher *= d**0.5 / np.linalg.norm(teacher)  # of the length that the cosines take it to have
    weights = 0.3 * rng.standard_normal(d) - 0.2 * teacher
    row = pd.DataFrame([overlaps(task, *map(torch.from_numpy, (weights, teacher)))])
    known = [abs(weights @ way) / np.linalg.norm(weights) / d**0.5 for way in (teacher, np.ones(d))]
    assert cosines(row, task.sigma).iloc[0].to_list() == pytest.approx(known)


@pytest.mark.parametrize(("hits", "count"), [(0, 20), (3, 20), (10, 10), (70, 140)])
def test_the_interval_is_wilsons(hits, count):
    known = stats.binomtest(hits, count).proportion_ci(2 * stats.norm.cdf(1.96) - 1, "wilson")
    interval = wilson(hits / count, count)
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
        table = shares_of(runs)
        share, low, high = table.loc["semantic", ["fraction", "low", "high"]]
        assert low < share < high
        widths.append(high - low)
        assert table.loc["neither", "fraction"] == 0
        assert table.loc["neither", "high"] == pytest.approx(wilson(0.0, 30)[1])  # as many as data sets
    low, high = wilson(1 / 3, 30)
    assert widths[0] == pytest.approx(high - low, rel=1e-6)
    assert 0.4 * widths[0] < widths[1] < 0.6 * widths[0]


def test_runs_on_a_single_data_set_count_as_one():
    runs = pd.DataFrame({"optimizer": "gd", "alpha": 2.0, "d": 100, "seed": 0, "basin": ["semantic", "positional"] * 2})
    low, high = shares_of(runs).loc["semantic", ["low", "high"]]
    assert (low, high) == pytest.approx(wilson(0.5, 1))


def test_minima_are_counted_for_each_data_set():
    """In any order of the starts: one minimum on the first data set, three on the second."""
    losses = {0: (1.0, 1.0 + 1e-10, 1.0), 1: (1.0, 1.0 + 4e-4, 1.0 + 2e-4)}
    rows = [(seed, loss) for seed, some in losses.items() for loss in some]
    table = pd.DataFrame(rows, columns=["seed", "train_loss"]).assign(start="semantic", alpha=1.0, omega=0.3)
    row = cell("fig03_phase_diagram", "valleys", read=lambda *_: table, profile="")["valleys"].iloc[0]
    assert row[["starts", "minima", "fewest", "most"]].to_list() == [3, 2, 1, 3]


def test_recoveries_are_counted():
    rows = pd.DataFrame({"alpha": [0.3, 0.3, 0.8, 0.8], "squared_cosine": [0.2, 0.3, 1.0, 0.9]})
    summary = cell("optimal", "recovered", passing=rows, task=Task())["recovered"]
    assert summary["recovered"].to_dict() == {0.3: 0, 0.8: 1} and (summary["runs"] == 2).all()


def test_a_branch_is_shown_where_it_is_a_minimum():
    """The positional one ends between two alphas, the semantic one begins there."""
    places = [(branch, alpha) for branch in ("semantic", "positional") for alpha in (1.0, 2.0)]
    places += [("semantic border", 1.5), ("positional border", 1.5)]
    lines = pd.DataFrame(places, columns=["what", "alpha"]).assign(omega=0.3, alpha_error=0.01, sigma=0.5, theta=0.15)
    lines = lines.assign(q=0.25, test_mse=2.0, test_mse_error=0.2)
    minima = cell("optimal", "best", read=lambda *_: lines, profile="")["minima"](lines, 0.3, share=0.5)
    assert {branch: rows.index.to_list() for branch, rows in minima.items()} == {"semantic": [2], "positional": [1]}
    assert minima["semantic"].loc[2.0, ["test_mse", "test_mse_error"]].to_list() == [1.0, 0.1]


def test_students_that_the_steps_do_not_suffice_for():
    losses = {"gd": (1.06, 1.04), "lbfgs": (1.0, 1.0)}
    rows = [(name, seed, loss) for name, some in losses.items() for seed, loss in enumerate(some)]
    table = pd.DataFrame(rows, columns=["optimizer", "seed", "train_loss"]).assign(alpha=1.0, omega=0.3, d=10)
    table = table.assign(start="random", grad_norm=0.01)
    left = cell("fig14_maps", "unfinished", published=table, descended=table)["unfinished"]
    assert left.to_dict() == {"gd": 1, "lbfgs": 0}
