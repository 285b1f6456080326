"""Students of other architectures in growing dimension, and their limit."""

import numpy as np
import pandas as pd
import pytest

from attention_book.analysis.architectures import beside_theory, extrapolate, teacher_lengths
from attention_book.analysis.instances import intercept
from attention_book.experiments.beyond.architectures import COMPARED
from attention_book.experiments.kinds import work
from attention_book.experiments.students import ArchitectureCell
from attention_phases import Task
from attention_phases.model import students
from attention_phases.records import canonical

TASK = Task()


def variant_cell(architecture, alpha, d, seed):
    return ArchitectureCell("test", TASK, alpha, d, seed, "lbfgs", ("semantic",), architecture=architecture)


def lengths_of(cells):
    """By which share the teacher of each cell is longer than in the limit, as pages find it."""
    return teacher_lengths(pd.DataFrame({"cell": map(canonical, cells)}), ArchitectureCell).to_list()


@pytest.mark.parametrize("name", ["correlated", "untied"])
def test_the_length_of_the_teacher_is_that_of_the_run(name, monkeypatch):
    cell, seen = variant_cell(COMPARED[name], 1.0, 50, 2), []
    sample = students.sample
    monkeypatch.setattr(students, "sample", lambda *given: seen.append(sample(*given)) or seen[0])
    work(cell)
    assert lengths_of([cell]) == [pytest.approx(seen[0].teacher.double().square().mean().item() - 1, rel=1e-12)]


def test_extrapolation_finds_the_limit_for_a_teacher_of_length_one():
    rng = np.random.default_rng(0)
    d = np.repeat([100, 200, 400], 40)
    length = rng.standard_normal(120) * (2 / d) ** 0.5
    noise = rng.standard_normal(120) * 0.1 / d**0.5
    rows = pd.DataFrame({"d": d, "length": length, "q": 0.5 + 3 / d + 0.7 * length + noise})
    (value, error), chi2 = extrapolate(rows, "q")
    assert abs(value - 0.5) < 4 * error and error < 2.5e-3  # without the length: 6e-3
    assert chi2 < 10 < extrapolate(rows.assign(q=rows["q"] + 0.02 * (d == 200)), "q")[1]


def test_larger_dimensions_weigh_more_in_an_extrapolation():
    """Lengths that cancel in each dimension leave a straight line through points that are on none."""
    d, q = np.repeat([100, 200, 400], 2), np.array([0.50, 0.53, 0.40, 0.42, 0.36, 0.33])
    rows = pd.DataFrame({"d": d, "length": [0.1, -0.1] * 3, "q": q})
    (value, _), chi2 = extrapolate(rows, "q")
    assert value == pytest.approx(np.polyfit(1 / d, q, 1, w=d**0.5)[1])
    weighted = d[:, None] ** 0.5 * np.column_stack([d == 200, np.ones(6), 1 / d, rows["length"]])
    off, error = intercept(weighted, d**0.5 * q)  # from the line through the others
    assert chi2 == pytest.approx((off / error) ** 2)


def test_overlaps_with_the_positions_count_without_their_sign():
    """Students and theory, each on one of two sides; the branch holds theta at zero."""
    rng = np.random.default_rng(1)
    d, side = np.repeat([100, 200, 400], 20), rng.choice([-1, 1], 60)
    students = pd.DataFrame({"d": d, "length": rng.standard_normal(60), "m": side * (0.3 + 2 / d), "theta": 0.0})
    lines = pd.DataFrame([{"alpha": 1.5, "m": -0.3, "m_error": 0.01, "theta": 0.0, "theta_error": 0.0}])
    (row,) = beside_theory([("case", students, lines, ("m", "theta"))]).itertuples()
    assert (row.case, row.alpha, row.quantity, row.theory) == ("case", 1.5, "m", 0.3)
    assert row.limit == pytest.approx(0.3, abs=1e-9)
