"""Which minimum did a run find, and how often? Where do several starts end?"""

import numpy as np
import pandas as pd
import pytest
import torch
from cells import cell
from scipy import stats

from attention_book.analysis.arrivals import CLOSE_COSINE, SMALL_GRADIENT, classify, cosines, shares_of_basins
from attention_book.analysis.instances import memory, wilson
from attention_book.experiments.cells import FirstStepsCell
from attention_book.experiments.simulation import take_first_steps
from attention_phases.model.two_tokens import overlaps
from attention_phases.task import Task
from attention_phases.theory.small_weights import growing_cosines, growth_rates
from attention_phases.training.optimizers import GD_RATE

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


def test_growth_on_data_and_the_first_steps_of_descent():
    """Against the linear theory in a small dimension, within the errors of both sides and 3/d."""
    task, d = Task(), 150
    cells = [FirstStepsCell("first_steps", task, 3.0, d, seed, count=16, steps=(0, 20)) for seed in range(6)]
    steps = pd.DataFrame([{"seed": cell.seed, **row} for cell in cells for row in take_first_steps(cell)])
    given = {"task": task, "d": d, "data_sets": 6, "profile": "test", "read": lambda *_: steps}
    page = cell(PAGE, "course", **given)
    rates, theory = page["on_data"].loc[3.0], growth_rates(task, 3.0)
    for name in ("semantic", "positional"):
        limit = theory[name].value
        assert abs(rates[name] / limit - 1) < 4 * rates[f"{name}_error"] / limit + 3 / d, name
    course, linear = page["course"], growing_cosines(task, 3.0, d, GD_RATE, np.array([0, 20]))
    for name in ("semantic", "positional"):
        off = (course[f"{name}_rms"] - linear[name]) / course[f"{name}_rms_error"]
        assert off.abs().max() < 4 and (course[f"{name}_rms_error"] < 0.3 * linear[name]).all(), name


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


# Several starts, and the minima they lead to


def around(*by_data_set, omega=0.3):
    """Students from starts around the semantic minimum, from their losses on each data set."""
    rows = [
        {"start": "near_semantic" if number else "semantic", "seed": seed, "train_loss": loss}
        for seed, losses in enumerate(by_data_set)
        for number, loss in enumerate(losses)
    ]
    return pd.DataFrame(rows).assign(alpha=1.0, omega=omega)


def scatter(table):
    """The table of minima of Figure 3."""
    return cell("fig03_phase_diagram", "valleys", read=lambda *_: table, profile="")["valleys"]


def test_minima_are_counted_for_each_data_set():
    (row,) = scatter(around([1.0, 1.0 + 1e-10, 1.0], [1.0, 1.0 + 2e-4, 1.0 + 4e-4])).to_dict("records")
    assert (row["omega"], row["alpha"], row["valley"]) == (0.3, 1.0, "semantic")
    assert [row[name] for name in ("starts", "minima", "fewest", "most")] == [3, 2, 1, 3]
    assert row["scatter"] == pytest.approx((4e-8 / 2) ** 0.5)


def test_a_scatter_has_an_error_and_there_is_none_where_all_starts_meet():
    table = pd.concat([around([0.0, 2e-4], [0.0, 4e-4], omega=0.1), around([0.0, 1e-10], [0.0, 1e-10])])
    divided, single = scatter(table).to_dict("records")
    assert divided["scatter"] == pytest.approx(5e-8**0.5) and divided["minima"] == 2  # variances 2e-8 and 8e-8
    assert divided["scatter_error"] == pytest.approx(3e-8 / (2 * 5e-8**0.5))
    assert np.isnan(single["scatter"]) and np.isnan(single["scatter_error"]) and single["minima"] == 1


def test_memory_is_a_root_mean_square_over_data_sets():
    rows = [
        {"alpha": 0.5, "start": start, "d": 100, "seed": seed, "theta": theta, "m": m, "train_loss": loss}
        for start, seed, theta, m, loss in (
            ("semantic", 0, 0.3, 0.1, 1.0),
            ("semantic", 1, -0.5, -0.1, 3.0),
            ("random", 0, 0.1, 0.2, 1.0),
            ("random", 0, -0.3, 0.2, 2.0),
            ("random", 1, 0.1, -0.2, 2.5),
        )
    ]
    theory = pd.DataFrame(
        {
            "what": ["symmetric", "symmetric", "semantic", "positional"],
            "alpha": [0.5, 0.6, 0.6, 0.5],
            **{"m": [0, 0, 0, 0.2], "m_error": [0, 0, 0, 0.03], "theta": [0, 0, 0.7, 0], "theta_error": [0, 0, 0.1, 0]},
            "train_loss": [0.9, 5.0, 5.0, 0.8],
            "train_loss_error": [0.01, 1.0, 1.0, 0.02],
        }
    ).astype({"what": "category"})
    frame = memory(pd.DataFrame(rows), theory[:3]).set_index("start")
    assert frame.loc["semantic", "theta_rms"] == pytest.approx(((0.09 + 0.25) / 2) ** 0.5)
    assert frame.loc["semantic", "theta_rms_error"] == pytest.approx(0.08 / (2 * 0.17**0.5))
    # Starts on one data set are one instance: squares 0.05 and 0.01.
    assert frame.loc["random", "theta_rms"] == pytest.approx(0.03**0.5)
    assert frame.loc["random", "theta_rms_error"] == pytest.approx(0.02 / (2 * 0.03**0.5))
    assert frame.loc["random", "train_loss"] == 2.0 and frame.loc["random", "train_loss_error"] == pytest.approx(0.5)
    assert frame.loc["any", ["theta_rms", "m_rms", "train_loss", "train_loss_error"]].to_list() == [0, 0, 0.9, 0.01]
    assert np.isnan(frame.loc["any", "dimension"]) and frame.loc["random", "dimension"] == 100
    with_minimum = memory(pd.DataFrame(rows), theory).iloc[-1]
    assert with_minimum[["start", "m_rms", "m_rms_error", "train_loss"]].to_list() == ["positional", 0.2, 0.03, 0.8]
    assert np.isnan(with_minimum["dimension"])
    assert "any" not in set(memory(pd.DataFrame(rows), theory[:0])["start"])


def ends():
    """Two data sets, three starts on each: three minima on the first, one on the second."""
    frame = pd.DataFrame(
        {
            "seed": [0, 0, 0, 1, 1, 1],
            "minimum": [0, 1, 2, 0, 0, 0],
            "train_loss": [1.0, 1.1, 1.2, 2.0, 2.0, 2.0],
            "aligned": [0.5, 0.7, 0.6, 1.0, 1.0, 1.0],
            "nearest": [0.5, 0.05, 0.05, 0.0, 5e-4, 2e-3],
        }
    )
    return frame.assign(omega=0.3, alpha=1.5, valley="positional", noise=0.1)


def valleys(table):
    """The table of the page of minima."""
    return cell("minima", "valleys", table=table)["valleys"]


def test_minima_of_a_valley():
    (row,) = valleys(ends()).to_dict("records")
    assert (row["starts"], row["minima"], row["minima_low"], row["minima_high"]) == (3, 2.0, 1, 3)
    assert row["relative_scatter"] == pytest.approx((0.1 + 0) / 2)  # standard deviation over the lowest, on average
    assert row["aligned"] == pytest.approx(0.8) and row["aligned_std"] == pytest.approx((0.26 / 5) ** 0.5)
    (row,) = valleys(ends().assign(train_loss=1.0)).to_dict("records")
    assert np.isnan(row["relative_scatter"])


def test_students_that_the_steps_do_not_suffice_for():
    rows = [
        {
            "omega": 0.3,
            "alpha": alpha,
            "seed": seed,
            "optimizer": optimizer,
            "start": start,
            "train_loss": loss,
            "grad_norm": 0.01 * (1 + seed),
        }
        for alpha, losses in ((1.0, (1.06, 1.04, 1.2)), (2.0, (1.0, 1.0, 1.0)))
        for seed, loss_of_descent in enumerate(losses)
        for optimizer, start, loss in (
            ("gd", "random", loss_of_descent),
            ("lbfgs", "random", 1.1 if seed == 2 and alpha == 1 else 1.0),
            ("lbfgs", "semantic", 1.0),
            ("lbfgs", "positional", 1.3),
        )
    ]
    table = pd.DataFrame(rows)
    left = cell("fig14_maps", "unfinished", published=table, descended=table[table["optimizer"] == "gd"].assign(d=10))
    assert left["unfinished"].to_dict() == {"gd": 2, "lbfgs": 1}
