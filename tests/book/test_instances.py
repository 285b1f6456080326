"""Students: means and gaps over data sets by hand, crossings with control variates, the limit of large dimension."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from pages import Page

from attention_book.analysis import instances
from attention_book.analysis.instances import POWERS, gaps, in_errors, limit, line_in, root
from attention_book.experiments import grid
from attention_book.experiments.beyond.control_variates import controls
from attention_book.experiments.beyond.crossing import train_controlled
from attention_book.experiments.students import CONTROLS, train_students
from attention_phases import Task
from attention_phases.measured import UNKNOWN, Measured
from attention_phases.model.two_tokens import sample
from attention_phases.records import canonical, fields_of


def of_slice(own, task, **given):
    """Names of the cell of Figure 2 that alone binds one of them, from given values."""
    known = {"task": task, "omega": task.omega, "sigma": task.sigma, "points": 0}
    return Page("fig02_slice", **known, **given).cell_of(own)


def test_a_task_that_is_not_the_papers_has_a_table_of_its_own_solutions():
    """And says which branch it lacks, and why."""
    columns = ("q", "m", "theta", "V", "train_loss", "test_mse")
    row = {f"{name}{part}": k + len(part) for k, name in enumerate(columns) for part in ("", "_error")}
    there, ended = (SimpleNamespace(converged=not reason, reason=reason) for reason in ("", "branch has ended"))
    given = {"solutions": {"semantic": there, "positional": ended}, "thresholds": {}, "row_of": lambda *_: row}
    given |= dict.fromkeys(("rules", "by_rules"))  # of the paper's task alone
    shown = of_slice("QUANTITIES", Task(sigma=0.7), **given)
    assert shown["frame"]["semantic"].tolist() == [0, 1, 2, 3, 4, 5] and "positional" not in shown["frame"]
    assert shown["frame"]["semantic_error"].tolist() == [6, 7, 8, 9, 10, 11]
    assert shown["title"] == "Theory: solutions at α = 2; no positional one: branch has ended"


# Means and gaps


ALPHAS = np.arange(0, 2.01, 0.25)


def students(omega, critical, linear, spread=0.01, **more):
    """Two instances whose mean losses cross at `critical` and mean test errors at `linear`, both falling with slope 2.

    The instances lie `spread` above and below their mean, so that the mean is exact.
    """
    rows = []
    for alpha in ALPHAS:
        for seed, sign in enumerate((1, -1)):
            same = {"omega": omega, "alpha": alpha, "seed": seed, "linear_mse": 5.0, "optimizer": "lbfgs"} | more
            away = sign * spread
            losses = {"train_loss": 1 + 2 * (critical - alpha) + away, "test_mse": 5 + 2 * (linear - alpha) + away}
            rows.append(same | losses | {"start": "semantic"})
            rows.append(same | {"start": "positional", "train_loss": 1.0, "test_mse": 9.0})
    return pd.DataFrame(rows)


def test_means_and_paired_differences():
    rows = [
        {"start": start, "alpha": 1.0, "seed": seed, **dict.fromkeys(instances.MEASURED, value)}
        for start, values in (("semantic", (1.0, 4.0)), ("positional", (0.5, 3.0)))
        for seed, value in enumerate(values)
    ]
    table = pd.DataFrame(rows).sample(frac=1, random_state=1)
    means = instances.instance_means(table)
    assert means.loc[("semantic", 1.0), "theta"] == 2.5
    assert means.loc[("semantic", 1.0), "theta_error"] == pytest.approx(1.5)  # (4 - 1)/sqrt 2 over sqrt 2
    assert instances.training_gap(table).loc[1.0].tolist() == [0.5, 1.0]


def test_the_response_of_minima_is_that_of_students_that_stayed_and_all_dimensions_tell_its_scatter():
    """By hand: V_H = 12 + 100/d and, on two of four data sets each, 1/sqrt(d) times 20 more or less."""
    rows = [
        {"d": d, "seed": seed, "stiff_any": 0.25 / (12 + 100 / d + 20 * side / d**0.5), "theta": 0.0, "m": 0.2}
        for d, sides in ((100, (1, -1, 1, -1)), (400, (1, -1)), (1600, (1, 1, -1, -1)))
        for seed, side in enumerate(sides)
    ]
    left = {"d": 1600, "seed": 9, "stiff_any": 0.001, "theta": 0.051, "m": 0.2}  # cosines: 2 theta, and m/2
    table = pd.DataFrame([*rows, left]).assign(omega=0.1, alpha=0.7514, sigma=0.5, what="positional")
    others = table.assign(what="semantic"), table.assign(what="small", stiff_any=1.0)
    found = instances.minimum_responses(pd.concat([table, *others]))
    assert found.index.to_list() == [(0.1, 0.75, "positional"), (0.1, 0.75, "semantic")]
    row = found.loc[0.1, 0.75, "positional"]
    assert row["V_H"] == pytest.approx(12) and (row["stayed"], row["students"]) == (10, 11)
    scatter = 20 * (10 / 7) ** 0.5  # three of the ten numbers are means
    means = {d: Measured(12 + 100 / d, scatter / (d * count) ** 0.5) for d, count in ((100, 4), (400, 2), (1600, 4))}
    assert row["V_H_error"] == pytest.approx(limit(means).error)
    assert np.isnan(found.loc[(0.1, 0.75, "semantic"), "V_H"])  # the only one that stayed has no scatter
    assert found.loc[(0.1, 0.75, "semantic"), "stayed"] == 1


def test_a_difference_in_errors_counts_standard_deviations_in_quadrature():
    assert in_errors(0.2, 0.03, 0.04) == pytest.approx(4.0)
    assert in_errors(-0.3, 0.1) == pytest.approx(-3.0)
    assert in_errors(np.array([1.0, 2.0]), 3.0, np.array([4.0, 0.0])) == pytest.approx([0.2, 2 / 3])


def test_gaps_have_the_sign_of_the_semantic_student_less_the_other():
    table = students(0.3, critical=1.0, linear=1.5, spread=0.25)
    assert instances.training_gap(table).loc[0.5].tolist() == [1.25, 0.75]  # positional lower before alpha_c
    assert instances.training_gap(table).loc[2.0].tolist() == [-1.75, -2.25]
    assert instances.test_gap(table).loc[2.0].tolist() == [-0.75, -1.25]
    assert instances.test_gap(table, "positional").loc[2.0].tolist() == [4.0, 4.0]


def test_the_advantage_is_that_of_the_start_with_the_lower_loss():
    advantages = instances.advantage(students(0.3, critical=1.0, linear=1.5, spread=0.25))
    assert advantages.loc[0.5].tolist() == [-4.0, -4.0]  # the positional student: 5 - 9
    assert advantages.loc[2.0].tolist() == [0.75, 1.25]


# Control variates and large dimensions


@pytest.mark.slow
def test_controls_vanish_in_the_mean():
    """Over data sets, small ones so that the teacher's overlap with the encoding is large."""
    task = Task(omega=0.6, matrix="alternative", sigma=0.8)
    rows = [controls(task, sample(task, 1.0, 12, np.random.default_rng(seed))) for seed in range(600)]
    table = pd.DataFrame(rows)
    assert set(table) == set(CONTROLS)
    assert (table.mean().abs() < 4 * table.sem()).all()
    assert (table.sem() < 0.05 * table.std()).all()


def test_controlled_students_are_those_of_a_plain_cell():
    trained = grid("crossing", "smoke")[0]
    for ours, plain in zip(train_controlled(trained), train_students(trained), strict=True):
        assert all(ours[name] == plain[name] for name in plain if name != "seconds")
    fields = {**fields_of(trained), "cell": canonical(trained)}
    table = pd.DataFrame([fields | row for row in train_controlled(trained)])
    (length,) = gaps(table)["length"]
    teacher = sample(trained.task, trained.alpha, trained.d, trained.rng()).teacher.double()
    assert length == pytest.approx(float(teacher @ teacher) / trained.d - 1, abs=1e-6)


def drawn(rng, root=0.715, count=120):
    """Gaps with a known root, most of whose scatter two controls explain, and more of it at larger alpha."""
    alphas = np.repeat((0.65, 0.71, 0.77), count)
    known = rng.standard_normal((2, len(alphas))) * [[0.03], [1e-4]]
    noise = 3e-5 * (1 + 4 * (alphas - 0.65)) * rng.standard_normal(len(alphas))
    away = alphas - root
    gap = -6e-4 * away + 2e-3 * known[0] - 0.6 * known[1] + noise
    return pd.DataFrame({"alpha": alphas, "gap": gap, "length": known[0], "blind": known[1]})


def test_a_gap_that_does_not_fall_through_zero_has_no_crossing():
    rows = drawn(np.random.default_rng(3))
    assert np.isnan(root(rows.assign(gap=rows["gap"] + 1e-2), ())["alpha"].value)
    assert np.isnan(root(rows.assign(gap=-rows["gap"]), ("length", "blind"))["alpha"].value)


def test_the_error_of_a_limit_contains_half_the_spread_over_forms():
    means = {d: Measured(0.7 - 3.0 / d, 1e-3) for d in (250, 500, 1000, 2000)}
    lines = {power: line_in(power, means)[0] for power in POWERS}
    value, error = limit(means)
    assert value == pytest.approx(0.7) and 1.0 in lines and lines[0.5].value > 0.701 and lines[1.5].value < 0.699
    assert error == pytest.approx(np.hypot(lines[1.0].error, (lines[0.5].value - lines[1.5].value) / 2))
    assert np.isnan(limit({250: Measured(0.7, 1e-3), 500: UNKNOWN}).value)


def test_the_error_of_a_crossing_counts_what_the_fit_leaves_free():
    """By hand: gaps of 1 and -1 at two alphas, all of them off by 0.1; two numbers are fitted to four."""
    rows = pd.DataFrame({"alpha": [1.0, 1.0, 2.0, 2.0], "gap": [1.1, 0.9, -0.9, -1.1]})
    alpha, slope = root(rows, ()).values()
    assert alpha == pytest.approx((1.5, 0.02**0.5 / 2 / 2)) and slope == pytest.approx((-2.0, 0.02**0.5))
