"""Crossings with control variates, and the limit of large dimension."""

import numpy as np
import pandas as pd
import pytest

from attention_book.analysis.instances import POWERS, gaps, limit, line_in, root
from attention_book.experiments import grid
from attention_book.experiments.beyond.control_variates import controls
from attention_book.experiments.beyond.crossing import train_controlled
from attention_book.experiments.students import CONTROLS, train_students
from attention_phases import Task
from attention_phases.measured import UNKNOWN, Measured
from attention_phases.model.two_tokens import sample
from attention_phases.records import canonical, fields_of


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
