"""Thresholds with one step of breaking, by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from attention_book.experiments.beyond.one_step import OneStepThresholdsCell, broken_thresholds
from attention_phases import Task
from attention_phases.beyond.one_step import threshold
from attention_phases.beyond.one_step.equations import Valley
from attention_phases.measured import Measured
from attention_phases.model.prediction_error import test_error as prediction_error
from attention_phases.theory.thresholds import Threshold


def solution(q0, gap, theta, q1_error=0.0, theta_error=0.0):
    return SimpleNamespace(
        valley=Valley(q0, gap, 0.0, theta, 20.0, 100.0), stderr={"q1": q1_error, "theta": theta_error}
    )


def at(task, q, theta):
    overlaps = {"q": q, "m": 0.0, "theta": theta, "rho": task.sigma**2, "m_teacher": 0.0}
    return prediction_error(task, overlaps)[0]


def test_alpha_l_moves_with_the_test_error_of_a_minimum():
    """A minimum predicts with its size q1, whatever the overlap of two of them."""
    task, slope = Task(omega=0.1), -2e-3
    ground, typical = solution(0.06, 0.003, 0.09, 1e-4, 2e-4), solution(0.058, 0.004, 0.088, 2e-4, 1e-4)
    shift, error = threshold.linear_shift(task, slope, ground, typical)
    change = at(task, 0.063, 0.09) - at(task, 0.062, 0.088)
    assert shift == pytest.approx(change / 2e-3) and change < 0  # predicts better: needs fewer data
    steps = [
        [at(task, q + up, theta) - at(task, q, theta), at(task, q, theta + over) - at(task, q, theta)]
        for q, theta, up, over in ((0.063, 0.09, 1e-4, 2e-4), (0.062, 0.088, 2e-4, 1e-4))
    ]
    assert error == pytest.approx(np.hypot(*np.abs(steps).sum(1)) / 2e-3)
    assert threshold.linear_shift(task, slope, solution(0.06, 0.0, 0.09), typical) == (0.0, 0.0)


def test_a_moved_threshold_is_where_the_moved_losses_cross(monkeypatch):
    """By hand: lines of loss that cross at 0.8, each moved by breaking, with errors that the scrambles share."""
    shifts, slopes = {"semantic": -3e-6, "positional": -8e-6}, {"semantic": 1e-3, "positional": 2e-3}
    noise = {"semantic": 1e-6 * np.array([1.0, 3.0, -1.0, 5.0]), "positional": 1e-6 * np.array([2.0, 3.0, 1.0, 6.0])}

    def one_step(task, alpha, branch, y, *quadrature):
        assert (alpha, quadrature) == (0.8, (64, 4, 7))
        state = SimpleNamespace(shift=shifts[branch], slope=slopes[branch], spread={"shift": noise[branch]})
        state.reason, state.solved, state.valley, state.stderr = "", True, Valley(0.1, 0.01, 0.2, 0.0, 9.0, y), {}
        state.quantities = {"q0": 0.1}
        return state

    semantic = SimpleNamespace(test_slope=-2e-3)
    symmetric = Threshold(Measured(0.8, 3e-3), {"semantic": semantic})
    monkeypatch.setattr(threshold, "threshold", lambda *given: symmetric)
    monkeypatch.setattr(threshold, "one_step", one_step)
    errors = {None: Measured(2.0e-3, 6e-6), 0.0: Measured(1.99e-3, 8e-6)}  # of the ground state, and without weights
    monkeypatch.setattr(threshold, "_test_error", lambda task, state: errors[state.valley.y])
    rows = pd.DataFrame(broken_thresholds(OneStepThresholdsCell("any", Task(), 64, 4, 7))).set_index("what")
    critical, linear = rows.loc["critical"], rows.loc["linear"]
    alpha = critical["alpha"]
    losses = {branch: shifts[branch] + slopes[branch] * (alpha - 0.8) for branch in shifts}
    assert losses["semantic"] == pytest.approx(losses["positional"], rel=1e-9) and alpha == pytest.approx(0.805)
    apart = noise["positional"] - noise["semantic"]
    assert critical["shift_error"] == pytest.approx(apart.std(ddof=1) / 2 / 1e-3)
    # The ground state predicts worse by 1e-5: at alpha_l + 0.005 it is as good again.
    assert linear["shift"] == pytest.approx(0.005) and linear["shift_error"] == pytest.approx(5e-3)
    for row in (critical, linear):
        assert row["alpha"] == pytest.approx(0.8 + row["shift"]) and row["symmetric_error"] == 3e-3
        assert row["alpha_error"] == pytest.approx((3e-3**2 + row["shift_error"] ** 2) ** 0.5)
    assert (rows.loc[["semantic", "positional", "semantic at linear"], "alpha"] == 0.8).all()
