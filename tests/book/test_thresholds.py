"""Where students cross, and thresholds of the pages, on data with known answers."""

import numpy as np
import pandas as pd
import pytest
from cases import cases

from attention_book.analysis import thresholds as lines_of_theory
from attention_book.analysis.thresholds import crossing, last_fall, rows_of, shift_against_control, theory_lines
from attention_book.experiments import GRIDS, grid
from attention_book.experiments.audit.published_rule import RuleCell
from attention_book.experiments.beyond.one_step import OneStepThresholdsCell
from attention_book.experiments.lines import ROWS, LineCell
from attention_book.paths import DATA
from attention_book.store.parquet import load
from attention_phases import BadInput
from attention_phases.errors import ResultError

ALPHAS = np.linspace(0, 2, 11)


def lines(rows, **more):
    """Rows of theory from (what, omega, alpha, alpha_error)."""
    return pd.DataFrame(rows, columns=["what", "omega", "alpha", "alpha_error"]).assign(**more)


def noisy_line(rng, noise, instances=24):
    """Gaps 1.3 - alpha with independent noise; alpha by instance."""
    values = (1.3 - ALPHAS)[:, None] + noise * rng.standard_normal((len(ALPHAS), instances))
    return pd.DataFrame(values, index=pd.Index(ALPHAS, name="alpha"))


def test_the_error_of_a_crossing_is_that_of_both_means_beside_it_over_the_slope():
    """To first order a crossing halfway between two alphas moves by the mean of what the gaps there move by."""
    gaps = noisy_line(np.random.default_rng(2), 0.01)
    beside = gaps.loc[[ALPHAS[6], ALPHAS[7]]]
    alpha, error = crossing(gaps, 8000)
    assert alpha == pytest.approx(1.3 + beside.mean(axis=1).mean(), abs=1e-4)
    assert error == pytest.approx((beside.var(axis=1, ddof=0).sum() / 24) ** 0.5 / 2, rel=4 / 16000**0.5)


@pytest.mark.parametrize("means, expected", cases("falls"))
def test_the_last_fall_through_zero(means, expected):
    """In the first case an earlier fall is chance."""
    means = np.array(means.split(), float)
    assert last_fall(np.arange(float(len(means))), means) == pytest.approx(float(expected), nan_ok=True)


def test_a_crossing_is_the_last_one():
    """Below the transition both starts end alike, and chance lets their difference cross zero."""
    gaps = noisy_line(np.random.default_rng(0), 0.0)
    gaps.iloc[:4] = np.array([1e-9, -1e-9, 1e-9, 1e-9])[:, None]
    assert crossing(gaps, 50)[0] == pytest.approx(1.3)
    assert np.isnan(crossing(-noisy_line(np.random.default_rng(0), 0.0), 10)).all()


def test_no_shift_without_a_fall():
    falling = noisy_line(np.random.default_rng(0), 0.0)
    assert np.isnan(shift_against_control(falling, -falling)).all()
    level = noisy_line(np.random.default_rng(1), 0.1) * 0
    level.iloc[:, 0], level.iloc[5, 1] = [1, -1] * 5 + [1], 3  # falls again and again, and on the whole not at all
    assert np.isfinite(crossing(level, 10)[0])
    assert np.isnan(shift_against_control(level, level)).all()


def test_errors_of_a_mean_and_of_a_moved_threshold_are_those_of_its_parts():
    assert lines_of_theory.mean_of(pd.Series([1.0, 2.0]), [3.0, 4.0]) == (1.5, 2.5)
    shifted = dict.fromkeys(lines_of_theory.SHIFTED, 0.04)
    table = pd.DataFrame([{"what": "critical", "omega": 0.1, "reason": "", **shifted}])
    moved = lines_of_theory.with_one_step(table, lines=lines([("critical", 0.1, 0.75, 0.03)]))
    assert moved.loc[0.1, ["alpha", "alpha_error"]].tolist() == pytest.approx([0.79, 0.05])


def test_the_names_of_rows_of_theory_are_known_and_a_slip_is_refused():
    of_theory = [
        name for name in GRIDS if isinstance(grid(name, "smoke")[0], (LineCell, RuleCell, OneStepThresholdsCell))
    ]
    assert len(of_theory) > 10
    for name in of_theory:
        assert set(load(DATA / f"{name}.parquet")["what"]) <= set(ROWS), name
    table = lines([("semantic at critical", 0.3, 1.2, 0.1)])
    assert len(rows_of(table, "semantic at critical")) == 1
    with pytest.raises(BadInput, match=r"^row of theory = 'semantic at critcal': must be one of "):
        rows_of(table, "semantic at critcal")


# Lines of theory that several pages read


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
