"""Which minimum did a run find, and how often?"""

import numpy as np
import pandas as pd
import pytest
import torch
from cases import cases
from scipy import stats

from attention_book.analysis import arrivals
from attention_book.analysis.arrivals import classify
from attention_book.analysis.instances import wilson
from attention_phases.model.weights import overlaps
from attention_phases.task import Task

SIGMA = 0.5


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
    """The minima of both starts on one data set."""
    return pd.DataFrame([student("semantic", 0.9, 0.1), student("positional", 0.1, 0.6)])


def run(semantic, positional, **other):
    return student("random", semantic, positional, optimizer="adam", **other)


@pytest.mark.parametrize(("end", "side", "basin"), cases("basins"))
def test_a_run_counts_for_the_basin_it_has_come_to(informed, end, side, basin):
    """By cosines: of one run |m| is three times |theta|, and another one is half as large as the minima."""
    runs = classify(pd.concat([informed, pd.DataFrame([eval(end)])], ignore_index=True), SIGMA)
    assert (list(runs["side"]), list(runs["basin"])) == ([side], [basin])


def test_a_valley_that_its_own_start_leaves_has_no_minimum(informed):
    informed.loc[0, ["theta", "m"]] = informed.loc[1, ["theta", "m"]]
    ends = pd.DataFrame([run(0.9, 0.1), run(0.1, 0.6)])
    runs = classify(pd.concat([informed, ends], ignore_index=True), SIGMA)
    assert list(runs["basin"]) == ["neither", "positional"]


def test_the_minimum_is_that_of_the_same_sentences(informed):
    other = informed.assign(seed=1, theta=[SIGMA * 0.5, SIGMA * 0.1])
    ends = pd.DataFrame([run(0.9, 0.1), run(0.9, 0.1, seed=1)])
    runs = classify(pd.concat([informed, other, ends], ignore_index=True), SIGMA)
    assert list(runs["basin"]) == ["semantic", "neither"]


def test_cosines_are_those_of_the_weights():
    task, d, rng = Task(), 50, np.random.default_rng(0)
    teacher = rng.standard_normal(d)
    teacher *= d**0.5 / np.linalg.norm(teacher)  # of the length that the cosines take it to have
    weights = 0.3 * rng.standard_normal(d) - 0.2 * teacher
    row = pd.DataFrame([overlaps(task, *map(torch.from_numpy, (weights, teacher)))])
    known = [abs(weights @ way) / np.linalg.norm(weights) / d**0.5 for way in (teacher, np.ones(d))]
    assert arrivals.cosines(row, task.sigma).iloc[0].to_list() == pytest.approx(known)


def test_runs_on_a_data_set_that_are_alike_count_less():
    """Variance of the shares 4/5, 3/5, 1/5 and 2/5: 1/15, of independent runs it would be 1/20."""
    runs = pd.Series(np.repeat([1, 0] * 4, [4, 1, 3, 2, 1, 4, 2, 3]), np.repeat(range(4), 5))
    assert arrivals._independent_runs(runs.groupby(level=0), 0.5) == pytest.approx(15)


@pytest.mark.parametrize(("hits", "count"), [(0, 20), (3, 20), (10, 10), (70, 140)])
def test_the_interval_is_wilsons(hits, count):
    known = stats.binomtest(hits, count).proportion_ci(2 * stats.norm.cdf(1.96) - 1, "wilson")
    interval = wilson(hits / count, count)
    assert interval == pytest.approx((known.low, known.high), abs=1e-12)
