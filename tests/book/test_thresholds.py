"""Crossings of students, and thresholds of the pages, on data with known answers."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import cases

from attention_book.analysis import thresholds as lines_of_theory
from attention_book.analysis.thresholds import crossing, last_fall, rows_of, shift_against_control, theory_lines
from attention_book.experiments import GRIDS, grid
from attention_book.experiments.audit.published_rule import RuleCell
from attention_book.experiments.beyond.one_step import OneStepThresholdsCell, broken_thresholds
from attention_book.experiments.lines import ROWS, LineCell
from attention_book.paths import DATA
from attention_book.store.parquet import load
from attention_phases import BadInput, Measured, Task
from attention_phases.beyond.one_step import threshold
from attention_phases.beyond.one_step.equations import Valley
from attention_phases.errors import ResultError
from attention_phases.model.prediction_error import test_error as prediction_error
from attention_phases.theory.thresholds import Threshold

ALPHAS = np.linspace(0, 2, 11)


def lines(rows):
    """Return rows of theory from (what, omega, alpha, alpha_error)."""
    return pd.DataFrame(rows, columns=["what", "omega", "alpha", "alpha_error"])


def noisy_line(rng, noise):
    """Return the gaps 1.3 - alpha with independent noise, alpha by 24 instances."""
    values = (1.3 - ALPHAS)[:, None] + noise * rng.standard_normal((len(ALPHAS), 24))
    return pd.DataFrame(values, index=pd.Index(ALPHAS, name="alpha"))


def test_the_error_of_a_crossing_is_that_of_both_means_beside_it_over_the_slope():
    """To first order, a crossing halfway between two alphas is shifted by the mean of the shifts of the two gaps."""
    gaps = noisy_line(np.random.default_rng(2), 0.01)
    beside = gaps.loc[[ALPHAS[6], ALPHAS[7]]]
    alpha, error = crossing(gaps, 8000)
    assert alpha == pytest.approx(1.3 + beside.mean(axis=1).mean(), abs=1e-4)
    assert error == pytest.approx((beside.var(axis=1, ddof=0).sum() / 24) ** 0.5 / 2, rel=4 / 16000**0.5)


@pytest.mark.parametrize("means, expected", cases("falls"))
def test_the_last_fall_through_zero(means, expected):
    """In the first case an earlier crossing is a fluctuation."""
    means = np.array(means.split(), float)
    assert last_fall(np.arange(float(len(means))), means) == pytest.approx(float(expected), nan_ok=True)


def test_a_crossing_is_the_last_one():
    """Below the transition both starts end in the same minimum, and their difference crosses zero by chance."""
    gaps = noisy_line(np.random.default_rng(0), 0.0)
    gaps.iloc[:4] = np.array([1e-9, -1e-9, 1e-9, 1e-9])[:, None]
    assert crossing(gaps, 50)[0] == pytest.approx(1.3)
    assert np.isnan(crossing(-noisy_line(np.random.default_rng(0), 0.0), 10)).all()


def test_no_shift_without_a_fall():
    falling = noisy_line(np.random.default_rng(0), 0.0)
    assert np.isnan(shift_against_control(falling, -falling)).all()
    level = noisy_line(np.random.default_rng(1), 0.1) * 0
    level.iloc[:, 0], level.iloc[5, 1] = [1, -1] * 5 + [1], 3  # crosses zero repeatedly without a trend
    assert np.isfinite(crossing(level, 10)[0])
    assert np.isnan(shift_against_control(level, level)).all()


def test_the_error_of_a_mean_is_that_of_its_parts():
    assert lines_of_theory.mean_of(pd.Series([1.0, 2.0]), [3.0, 4.0]) == (1.5, 2.5)


def test_the_names_of_rows_of_theory_are_known_and_a_slip_is_refused():
    kinds = LineCell, RuleCell, OneStepThresholdsCell
    names = [name for name in GRIDS if isinstance(grid(name, "smoke")[0], kinds)]
    assert len(names) > 10
    for name in names:
        assert set(load(DATA / f"{name}.parquet")["what"]) <= set(ROWS), name
    table = lines([("semantic at critical", 0.3, 1.2, 0.1)])
    assert len(rows_of(table, "semantic at critical")) == 1
    with pytest.raises(BadInput, match=r"^row of theory = 'semantic at critcal': must be one of "):
        rows_of(table, "semantic at critcal")


# Lines of theory that several pages use


def test_an_omega_at_which_no_losses_cross_is_named(monkeypatch):
    known = lines([("critical", omega, 1.0, 0.1) for omega in (0.02, 0.3)])
    monkeypatch.setattr(lines_of_theory, "read_cells", lambda *_: known)
    assert theory_lines("smoke", [0.3, 0.02]) is known
    with pytest.raises(ResultError, match=r"^no critical threshold found at omega = 0\.7$"):
        theory_lines("paper", [0.02, 0.7])


@pytest.mark.parametrize("profile", ["paper", "laptop", "smoke"])
def test_lines_of_theory_are_those_of_figure_3_where_it_has_them(profile):
    cells = lines_of_theory.line_cells(profile, [0.02, 0.25])
    assert [cell in grid("fig03_theory", profile) for cell in cells] == [True, False]


# Thresholds with one step of replica symmetry breaking, by hand


def solution(q0, gap, theta, q1_error=0.0, theta_error=0.0):
    valley = Valley(q0, gap, 0.0, theta, 20.0, 100.0)
    return SimpleNamespace(valley=valley, stderr={"q1": q1_error, "theta": theta_error})


def at(task, q, theta):
    overlaps = {"q": q, "m": 0.0, "theta": theta, "rho": task.sigma**2, "m_teacher": 0.0}
    return prediction_error(task, overlaps)[0]


def test_alpha_l_moves_with_the_test_error_of_a_minimum():
    """The test error of a minimum depends on its self-overlap q1 and not on the overlap of two minima."""
    task, slope = Task(omega=0.1), -2e-3
    ground, typical = solution(0.06, 0.003, 0.09, 1e-4, 2e-4), solution(0.058, 0.004, 0.088, 2e-4, 1e-4)
    shift, error = threshold.linear_shift(task, slope, ground, typical)
    change = at(task, 0.063, 0.09) - at(task, 0.062, 0.088)
    assert shift == pytest.approx(change / 2e-3) and change < 0  # a better prediction needs fewer data
    steps = [
        [at(task, q + up, theta) - at(task, q, theta), at(task, q, theta + over) - at(task, q, theta)]
        for q, theta, up, over in ((0.063, 0.09, 1e-4, 2e-4), (0.062, 0.088, 2e-4, 1e-4))
    ]
    assert error == pytest.approx(np.hypot(*np.abs(steps).sum(1)) / 2e-3)
    assert threshold.linear_shift(task, slope, solution(0.06, 0.0, 0.09), typical) == (0.0, 0.0)


def test_a_moved_threshold_is_where_the_moved_losses_cross(monkeypatch):
    """By hand: losses that are lines cross at 0.8 and are shifted by breaking; the scrambles share their errors."""
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
    # Test errors of the ground state, and of the typical minima.
    errors = {None: Measured(2.0e-3, 6e-6), 0.0: Measured(1.99e-3, 8e-6)}
    monkeypatch.setattr(threshold, "_test_error", lambda task, state: errors[state.valley.y])
    rows = pd.DataFrame(broken_thresholds(OneStepThresholdsCell("any", Task(), 64, 4, 7))).set_index("what")
    critical, linear = rows.loc["critical"], rows.loc["linear"]
    alpha = critical["alpha"]
    losses = {branch: shifts[branch] + slopes[branch] * (alpha - 0.8) for branch in shifts}
    assert losses["semantic"] == pytest.approx(losses["positional"], rel=1e-9) and alpha == pytest.approx(0.805)
    apart = noise["positional"] - noise["semantic"]
    assert critical["shift_error"] == pytest.approx(apart.std(ddof=1) / 2 / 1e-3)
    # The ground state has a test error that is higher by 1e-5, which is compensated at alpha_l + 0.005.
    assert linear["shift"] == pytest.approx(0.005) and linear["shift_error"] == pytest.approx(5e-3)
    for row in (critical, linear):
        assert row["alpha"] == pytest.approx(0.8 + row["shift"]) and row["symmetric_error"] == 3e-3
        assert row["alpha_error"] == pytest.approx((3e-3**2 + row["shift_error"] ** 2) ** 0.5)
    assert (rows.loc[["semantic", "positional", "semantic at linear"], "alpha"] == 0.8).all()
