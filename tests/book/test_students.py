"""Students: means and gaps by hand, crossings with control variates, limits of large d, and classification of runs."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from pages import Page
from scipy import stats

from attention_book.analysis import arrivals, instances
from attention_book.analysis.architectures import compare_with_theory, extrapolate
from attention_book.analysis.arrivals import classify
from attention_book.analysis.instances import POWERS, difference_in_errors, intercept, limit, power_limit, root, wilson
from attention_book.experiments.beyond.control_variates import controls
from attention_book.experiments.students import CONTROLS
from attention_phases import Task
from attention_phases.measured import NO_VALUE, Measured
from attention_phases.model.two_tokens import sample
from attention_phases.model.weights import overlaps


def test_a_task_that_is_not_the_papers_has_a_table_of_its_own_solutions():
    """The page says which branch is missing, and why."""
    columns = ("q", "m", "theta", "V", "train_loss", "test_mse")
    row = {f"{name}{part}": k + len(part) for k, name in enumerate(columns) for part in ("", "_error")}
    there, ended = (SimpleNamespace(converged=not reason, reason=reason) for reason in ("", "branch has ended"))
    task, solutions = Task(sigma=0.7), {"semantic": there, "positional": ended}
    given = {"task": task, "omega": task.omega, "sigma": task.sigma, "points": 0}
    given |= {"solutions": solutions, "thresholds": {}, "row_of": lambda *_: row}
    given |= dict.fromkeys(("rules", "by_rules"))  # these exist only for the task of the paper
    shown = Page("fig02_slice", **given).cell_of("QUANTITIES")
    assert shown["frame"]["semantic"].tolist() == [0, 1, 2, 3, 4, 5] and "positional" not in shown["frame"]
    assert shown["frame"]["semantic_error"].tolist() == [6, 7, 8, 9, 10, 11]
    assert shown["title"] == "Theory: solutions at α = 2; no positional solution: branch has ended"


# Means and gaps


@pytest.fixture
def table():
    """Return two instances whose mean losses cross at alpha = 1 and whose mean test errors cross at 1.5.

    Both differences fall with slope 2. The instances lie 0.25 above and below their mean, so that the mean is exact.
    """
    rows = []
    for alpha, (seed, away) in product(np.arange(0, 2.01, 0.25), enumerate((0.25, -0.25))):
        same = {"omega": 0.3, "alpha": alpha, "seed": seed, "linear_mse": 5.0, "optimizer": "lbfgs"}
        losses = {"train_loss": 1 + 2 * (1.0 - alpha) + away, "test_mse": 5 + 2 * (1.5 - alpha) + away}
        rows.append(same | losses | {"start": "semantic"})
        rows.append(same | {"start": "positional", "train_loss": 1.0, "test_mse": 9.0})
    return pd.DataFrame(rows)


def test_means_and_paired_differences():
    rows = [
        {"start": start, "alpha": 1.0, "seed": seed, **dict.fromkeys(instances.MEAN_COLUMNS, value)}
        for start, values in (("semantic", (1.0, 4.0)), ("positional", (0.5, 3.0)))
        for seed, value in enumerate(values)
    ]
    table = pd.DataFrame(rows).sample(frac=1, random_state=1)
    means = instances.instance_means(table)
    assert means.loc[("semantic", 1.0), "theta"] == 2.5
    assert means.loc[("semantic", 1.0), "theta_error"] == pytest.approx(1.5)  # (4 - 1)/sqrt 2 divided by sqrt 2
    assert instances.training_gap(table).loc[1.0].tolist() == [0.5, 1.0]


def test_the_response_of_minima_is_that_of_students_that_stayed_and_all_dimensions_tell_its_scatter():
    """By hand: V_H = 12 + 100/d, and on two of four data sets each it is higher or lower by 20/sqrt(d)."""
    rows = [
        {"d": d, "seed": seed, "stiff_any": 0.25 / (12 + 100 / d + 20 * side / d**0.5), "theta": 0.0, "m": 0.2}
        for d, sides in ((100, (1, -1, 1, -1)), (400, (1, -1)), (1600, (1, 1, -1, -1)))
        for seed, side in enumerate(sides)
    ]
    left = {"d": 1600, "seed": 9, "stiff_any": 0.001, "theta": 0.051, "m": 0.2}  # the cosines are 2 theta and m/2
    table = pd.DataFrame([*rows, left]).assign(omega=0.1, alpha=0.7514, sigma=0.5, what="positional")
    others = table.assign(what="semantic"), table.assign(what="small", stiff_any=1.0)
    found = instances.minimum_responses(pd.concat([table, *others]))
    assert found.index.to_list() == [(0.1, 0.75, "positional"), (0.1, 0.75, "semantic")]
    row = found.loc[0.1, 0.75, "positional"]
    assert row["V_H"] == pytest.approx(12) and (row["stayed"], row["students"]) == (10, 11)
    scatter = 20 * (10 / 7) ** 0.5  # three of the ten numbers are means
    means = {d: Measured(12 + 100 / d, scatter / (d * count) ** 0.5) for d, count in ((100, 4), (400, 2), (1600, 4))}
    assert row["V_H_error"] == pytest.approx(limit(means).error)
    assert np.isnan(found.loc[(0.1, 0.75, "semantic"), "V_H"])  # the scatter of a single student is undefined
    assert found.loc[(0.1, 0.75, "semantic"), "stayed"] == 1


def test_a_difference_in_errors_counts_standard_deviations_in_quadrature():
    assert difference_in_errors({"x": 0.3, "y": 0.1, "x_error": 0.03, "y_error": 0.04}, "x", "y") == pytest.approx(4.0)


def test_gaps_have_the_sign_of_the_semantic_student_less_the_other(table):
    assert instances.training_gap(table).loc[0.5].tolist() == [1.25, 0.75]  # below alpha_c the positional loss is lower
    assert instances.training_gap(table).loc[2.0].tolist() == [-1.75, -2.25]
    assert instances.test_gap(table).loc[2.0].tolist() == [-0.75, -1.25]
    assert instances.test_gap(table, "positional").loc[2.0].tolist() == [4.0, 4.0]


def test_the_advantage_is_that_of_the_start_with_the_lower_loss(table):
    advantages = instances.advantage(table)
    assert advantages.loc[0.5].tolist() == [-4.0, -4.0]  # the difference of the positional student is 5 - 9
    assert advantages.loc[2.0].tolist() == [0.75, 1.25]


# Control variates and large dimensions


@pytest.mark.slow
def test_controls_vanish_in_the_mean():
    """The data sets are small, so that the overlap of the teacher with the encoding is large."""
    task = Task(omega=0.6, matrix="alternative", sigma=0.8)
    rows = [controls(task, sample(task, 1.0, 12, np.random.default_rng(seed))) for seed in range(600)]
    table = pd.DataFrame(rows)
    assert set(table) == set(CONTROLS)
    assert (table.mean().abs() < 4 * table.sem()).all()
    assert (table.sem() < 0.05 * table.std()).all()


def test_a_gap_that_does_not_fall_through_zero_has_no_crossing():
    """The gaps are far above zero, or they rise. Two controls explain most of their scatter, which grows with alpha."""
    rng, alphas = np.random.default_rng(3), np.repeat((0.65, 0.71, 0.77), 120)
    known = rng.standard_normal((2, len(alphas))) * [[0.03], [1e-4]]
    noise = 3e-5 * (1 + 4 * (alphas - 0.65)) * rng.standard_normal(len(alphas))
    gap = -6e-4 * (alphas - 0.715) + 2e-3 * known[0] - 0.6 * known[1] + noise
    rows = pd.DataFrame({"alpha": alphas, "gap": gap, "length": known[0], "blind": known[1]})
    assert np.isnan(root(rows.assign(gap=rows["gap"] + 1e-2), ())["alpha"].value)
    assert np.isnan(root(rows.assign(gap=-rows["gap"]), ("length", "blind"))["alpha"].value)


def test_the_error_of_a_limit_contains_half_the_spread_over_forms():
    means = {d: Measured(0.7 - 3.0 / d, 1e-3) for d in (250, 500, 1000, 2000)}
    lines = {power: power_limit(power, means)[0] for power in POWERS}
    value, error = limit(means)
    assert value == pytest.approx(0.7) and 1.0 in lines and lines[0.5].value > 0.701 and lines[1.5].value < 0.699
    assert error == pytest.approx(np.hypot(lines[1.0].error, (lines[0.5].value - lines[1.5].value) / 2))
    assert np.isnan(limit({250: Measured(0.7, 1e-3), 500: NO_VALUE}).value)


def test_the_error_of_a_crossing_counts_what_the_fit_leaves_free():
    """By hand: the gaps are 1 and -1 at two alphas and all off by 0.1, and two numbers are fitted to four values."""
    rows = pd.DataFrame({"alpha": [1.0, 1.0, 2.0, 2.0], "gap": [1.1, 0.9, -0.9, -1.1]})
    alpha, slope = root(rows, ()).values()
    assert alpha == pytest.approx((1.5, 0.02**0.5 / 2 / 2)) and slope == pytest.approx((-2.0, 0.02**0.5))


# Other architectures at increasing dimension, and their limit


def test_larger_dimensions_weigh_more_in_an_extrapolation():
    """Lengths that cancel in each dimension leave a straight line, although no data point lies on it."""
    d, q = np.repeat([100, 200, 400], 2), np.array([0.50, 0.53, 0.40, 0.42, 0.36, 0.33])
    rows = pd.DataFrame({"d": d, "length": [0.1, -0.1] * 3, "q": q})
    (value, _), chi2 = extrapolate(rows, "q")
    assert value == pytest.approx(np.polyfit(1 / d, q, 1, w=d**0.5)[1])
    weighted = d[:, None] ** 0.5 * np.column_stack([d == 200, np.ones(6), 1 / d, rows["length"]])
    off, error = intercept(weighted, d**0.5 * q)  # distance from the line through the other points
    assert chi2 == pytest.approx((off / error) ** 2)


def test_overlaps_with_the_positions_count_without_their_sign():
    """Each student and each solution has one of two signs, and the branch holds theta at zero."""
    rng = np.random.default_rng(1)
    d, side = np.repeat([100, 200, 400], 20), rng.choice([-1, 1], 60)
    students = pd.DataFrame({"d": d, "length": rng.standard_normal(60), "m": side * (0.3 + 2 / d), "theta": 0.0})
    lines = pd.DataFrame([{"alpha": 1.5, "m": -0.3, "m_error": 0.01, "theta": 0.0, "theta_error": 0.0}])
    (row,) = compare_with_theory([("case", students, lines, ("m", "theta"))]).itertuples()
    assert (row.case, row.alpha, row.quantity, row.theory) == ("case", 1.5, "m", 0.3)
    assert row.limit == pytest.approx(0.3, abs=1e-9)


# Classification of runs by minima


SIGMA = 0.5


def student(start, semantic, positional, **other):
    """Return a student of size q = 1 with these cosines."""
    usual = {"optimizer": "lbfgs", "seed": 0, "alpha": 2.0, "d": 100, "q": 1.0, "grad_norm": 1e-5}
    return usual | {"start": start, "theta": SIGMA * semantic, "m": positional / SIGMA} | other


@pytest.fixture
def informed():
    """Return the minima of both starts on one data set."""
    return pd.DataFrame([student("semantic", 0.9, 0.1), student("positional", 0.1, 0.6)])


def run(semantic, positional, **other):
    return student("random", semantic, positional, optimizer="adam", **other)


BASINS = [
    (0.9, 0.1, {}, "semantic", "semantic"),
    (-0.9, 0.1, {}, "semantic", "semantic"),
    (0.1, -0.6, {}, "positional", "positional"),
    (0.9 - 0.8 * arrivals.CLOSE_COSINE, 0.1, {}, "semantic", "semantic"),
    (0.9 - 1.2 * arrivals.CLOSE_COSINE, 0.1, {}, "semantic", "neither"),
    (0.9, 0.1 + 1.2 * arrivals.CLOSE_COSINE, {}, "semantic", "neither"),
    (0.4, 0.3, {}, "semantic", "neither"),
    (0.9, 0.1, {"q": 0.25, "theta": 0.225, "m": 0.1}, "semantic", "semantic"),
    (0.9, 0.1, {"grad_norm": 2 * arrivals.SMALL_GRADIENT}, "semantic", "still moving"),
    *((0.9, 0.1, other, "semantic", "neither") for other in ({"alpha": 1.0}, {"d": 50}, {"seed": 1})),
]


@pytest.mark.parametrize(("semantic", "positional", "other", "side", "basin"), BASINS)
def test_a_run_counts_for_the_basin_it_has_come_to(informed, semantic, positional, other, side, basin):
    """The cosines decide: in one run |m| is three times |theta|, and another run is half as large as the minima.

    The last three runs are on other sentences, so that they have no minimum.
    """
    runs = classify(pd.concat([informed, pd.DataFrame([run(semantic, positional, **other)])], ignore_index=True), SIGMA)
    assert (list(runs["side"]), list(runs["basin"])) == ([side], [basin])


def test_a_valley_that_its_own_start_leaves_has_no_minimum(informed):
    informed.loc[0, ["theta", "m"]] = informed.loc[1, ["theta", "m"]]
    ends = pd.DataFrame([run(0.9, 0.1), run(0.1, 0.6)])
    runs = classify(pd.concat([informed, ends], ignore_index=True), SIGMA)
    assert list(runs["basin"]) == ["neither", "positional"]


def test_cosines_are_those_of_the_weights():
    task, d, rng = Task(), 50, np.random.default_rng(0)
    teacher = rng.standard_normal(d)
    teacher *= d**0.5 / np.linalg.norm(teacher)  # gives the teacher the length that the cosines assume
    weights = 0.3 * rng.standard_normal(d) - 0.2 * teacher
    row = pd.DataFrame([overlaps(task, *map(torch.from_numpy, (weights, teacher)))])
    known = [abs(weights @ way) / np.linalg.norm(weights) / d**0.5 for way in (teacher, np.ones(d))]
    assert arrivals.cosines(row, task.sigma).iloc[0].to_list() == pytest.approx(known)


def test_runs_on_a_data_set_that_are_alike_count_less():
    """The variance of the shares 4/5, 3/5, 1/5 and 2/5 is 1/15; for independent runs it would be 1/20."""
    runs = pd.Series(np.repeat([1, 0] * 4, [4, 1, 3, 2, 1, 4, 2, 3]), np.repeat(range(4), 5))
    assert arrivals._independent_runs(runs.groupby(level=0), 0.5) == pytest.approx(15)


@pytest.mark.parametrize(("hits", "count"), [(0, 20), (3, 20), (10, 10), (70, 140)])
def test_the_interval_is_wilsons(hits, count):
    known = stats.binomtest(hits, count).proportion_ci(2 * stats.norm.cdf(1.96) - 1, "wilson")
    interval = wilson(hits / count, count)
    assert interval == pytest.approx((known.low, known.high), abs=1e-12)
