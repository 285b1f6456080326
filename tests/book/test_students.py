"""Students: means and gaps over data sets by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from frames import students
from pages import Page

from attention_book.analysis import instances
from attention_book.analysis.instances import in_errors
from attention_phases import Task
from attention_phases.measured import Measured


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
    assert shown["title"] == "Theory: solutions at α = 2; no positional solution: branch has ended"


# Means and gaps


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
    assert row["V_H_error"] == pytest.approx(instances.limit(means).error)
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
