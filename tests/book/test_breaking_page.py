"""What the page on one step of breaking says, on frames computed by hand; and the shift of alpha_l."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from attention_book.analysis.controlled import Limit
from attention_book.experiments import theory_lines as lines
from attention_book.pages import breaking
from attention_book.render.style import COLOURS
from attention_phases import Task
from attention_phases.measured import Measured
from attention_phases.theory import Threshold
from attention_phases.theory.one_step import threshold
from attention_phases.theory.one_step.equations import Valley
from attention_phases.theory.one_step.solution import NO_MAXIMUM, OneStep
from attention_phases.theory.one_step.threshold import MovedThreshold
from attention_phases.theory.prediction_error import test_error as prediction_error


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
    ground, typical = solution(0.06, 0.003, 0.09, 1e-4, 2e-4), solution(0.058, 0.004, 0.088)
    shift, error = threshold.linear_shift(task, slope, ground, typical)
    change = at(task, 0.063, 0.09) - at(task, 0.062, 0.088)
    assert shift == pytest.approx(change / 2e-3) and change < 0  # predicts better: needs fewer data
    steps = at(task, 0.0631, 0.09) - at(task, 0.063, 0.09), at(task, 0.063, 0.0902) - at(task, 0.063, 0.09)
    assert error == pytest.approx(np.abs(steps).sum() / 2e-3)
    assert threshold.linear_shift(task, slope, solution(0.06, 0.0, 0.09), typical) == (0.0, 0.0)


def state(y, reason=""):
    """A ground state whose every quantity has one error."""
    spread = dict.fromkeys(("q0", "q1", "m", "theta", "V", "y", "phi", "energy", "complexity", "shift"), np.arange(4))
    return OneStep(Valley(0.06, 0.003, 0.0, 0.09, 20.0, y), 0.02, 0.021, 5e-5, 0.03, 0.0, reason, 9, spread)


def test_the_rows_of_both_thresholds(monkeypatch):
    """Without what is not a finite number."""
    quadrature = {"points": 64, "scrambles": 4, "seed": 3}
    branches = {"semantic": state(300.0), "positional": state(200.0)}
    critical = MovedThreshold(Threshold(Measured(0.75, 0.004), {}), Measured(-0.01, 0.003), "", branches)
    linear = MovedThreshold(
        Threshold(Measured(0.9, 0.004), {}), Measured(np.nan, np.nan), NO_MAXIMUM, {"semantic": state(250.0)}
    )
    for name, moved in (("broken_critical", critical), ("broken_linear", linear)):
        monkeypatch.setattr(lines, name, lambda task, moved=moved, **given: moved if given == quadrature else None)
    rows = lines.broken_thresholds(SimpleNamespace(task=Task(omega=0.1), **quadrature))
    rows = {row.pop("what"): row for row in rows}
    common = {"symmetric_error": 0.004, "shift": -0.01, "shift_error": 0.003}
    assert rows.pop("critical") == pytest.approx(
        {"reason": "", "alpha": 0.74, "alpha_error": 0.005, "symmetric": 0.75, **common}
    )
    assert rows.pop("linear") == {"reason": NO_MAXIMUM, "symmetric": 0.9, "symmetric_error": 0.004}
    assert {what: (row["alpha"], row["y"], row["q1"]) for what, row in rows.items()} == {
        "semantic": (0.75, 300.0, 0.063),
        "positional": (0.75, 200.0, 0.063),
        "semantic at linear": (0.9, 250.0, 0.063),
    }
    lost = critical._replace(reason="none", solutions={})
    assert lines._moved_rows("critical", "", lost) == [{"what": "critical", "reason": "none"}]


def test_alpha_l_takes_the_ground_state_and_the_solution_at_y_zero(monkeypatch):
    slope, asked = SimpleNamespace(test_slope=-2.0), []

    def one_step(task, alpha, branch, y, *quadrature):
        asked.append((alpha, branch, y, quadrature))
        return state(250.0 if y is None else y, NO_MAXIMUM if y is None else "")

    def shift(task, slope, lowest, typical):
        assert (slope, lowest.valley.y, typical.valley.y) == (-2.0, 250.0, 0.0)
        return Measured(-0.02, 0.003)

    monkeypatch.setattr(threshold, "threshold", lambda *_, **__: Threshold(Measured(0.9, 0.004), {"semantic": slope}))
    monkeypatch.setattr(threshold, "one_step", one_step)
    monkeypatch.setattr(threshold, "linear_shift", shift)
    moved = threshold.broken_linear(Task(omega=0.1), 64, 4, 3)
    assert (moved.shift, moved.reason, [*moved.solutions]) == ((-0.02, 0.003), NO_MAXIMUM, ["semantic"])
    assert asked == [(0.9, "semantic", y, (64, 4, 3)) for y in (None, 0.0)]


def test_a_failed_search_at_alpha_l_says_so(monkeypatch):
    def fails(*_, **__):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(threshold, "threshold", lambda *_, **__: Threshold(Measured(0.9, 0.01), {}))
    monkeypatch.setattr(threshold, "one_step", fails)
    moved = threshold.broken_linear(Task(), 64, 4, 0)
    assert (moved.reason, moved.solutions) == ("no ground state: division by zero", {}) and np.isnan(moved.shift).all()


def test_thresholds_that_were_not_found_are_left_out():
    kept = [
        ("critical", 0.2, "", -0.004),
        ("critical", 0.1, "", -0.006),
        ("critical", 0.25, f"semantic: {NO_MAXIMUM}", -0.001),
        ("linear", 0.1, "", 0.5),
    ]
    table = pd.DataFrame(kept, columns=["what", "omega", "reason", "shift"])
    table = table.assign(alpha=0.69, alpha_error=1e-3, shift_error=1e-4)
    lost = pd.DataFrame([{"what": "critical", "omega": 0.3, "reason": "positional: did not settle"}])
    table = pd.concat([table, lost], ignore_index=True).assign(symmetric=0.7, symmetric_error=1e-3)
    shifts = breaking.moved(table)
    assert shifts.index.tolist() == [0.1, 0.2, 0.25] and shifts["resolved"].tolist() == [True, True, False]
    assert shifts["model_error"].tolist() == [0.006, 0.004, 0.001]
    assert breaking.moved(table[["what", "omega", "reason", "symmetric", "symmetric_error"]]).empty  # of none at all


def test_complexity_is_the_slope_of_phi():
    """A cubic in log y with its maximum at y = 500: what is fitted is found again, and ends where the loss turns."""
    top, ys = np.log(500.0), np.array([100.0, 200.0, 400.0, 800.0, 1600.0])
    phi = lambda x: 4e-6 - 1e-6 * (x - top) ** 2 + 1e-7 * (x - top) ** 3  # noqa: E731
    table = pd.DataFrame({"y": ys, "shift": phi(np.log(ys)), "shift_error": 1e-8, "q0": 0.04, "q1": 0.05, "reason": ""})
    curve = breaking.complexity(table)
    x = np.log(curve["y"])
    slope = -2e-6 * (x - top) + 3e-7 * (x - top) ** 2
    assert curve["complexity"].to_numpy() == pytest.approx((curve["y"] * slope).to_numpy(), abs=1e-9)
    assert curve["above"].to_numpy() == pytest.approx((phi(x) + slope - 4e-6).to_numpy(), abs=1e-12)
    assert curve["above"].iloc[0] == pytest.approx(0, abs=1e-12) and curve["above"].is_monotonic_increasing
    assert 100 < curve["y"].iloc[-1] < 400  # de/dlog y vanishes there, not at the smallest y
    # A ten times larger error at one y moves the fit only a little, and counts: by hand, least squares with weights.
    errors = np.array([1e-8, 1e-8, 1e-7, 1e-8, 1e-8])
    moved = table.assign(shift=table["shift"] + [0, 0, 1e-7, 0, 0], shift_error=errors)
    curve, x = breaking.complexity(moved), np.log(ys)
    fit, covariance = np.polyfit(x, moved["shift"], 3, w=1 / errors, cov="unscaled")
    at = np.log(curve["y"].to_numpy())
    assert curve["complexity"].to_numpy() == pytest.approx(np.exp(at) * np.polyval(np.polyder(fit), at), rel=1e-4)
    slopes = np.stack([3 * at**2, 2 * at, np.ones(len(at)), np.zeros(len(at))], axis=1)
    spread = np.sqrt(np.einsum("ai,ij,aj->a", slopes, covariance, slopes))
    assert curve["complexity_error"].to_numpy() == pytest.approx(np.exp(at) * spread, rel=1e-4)
    empty = breaking.complexity(table.assign(reason="residual"))
    assert empty.empty and [*empty] == [*curve]
    assert breaking.complexity(table.assign(shift=1e-6 * np.log(ys))).empty


def test_students_are_told_from_theory_in_errors_of_both():
    theory = pd.DataFrame(
        {"alpha": [0.745], "alpha_error": [0.003], "shift": [-0.007], "shift_error": [2e-4]}, index=[0.1]
    )
    trained = pd.DataFrame(
        {"informed": [0.705], "informed_error": [0.004], "searched": [0.735], "searched_error": [0.004]}, index=[0.1]
    )
    row = breaking.three_ways(theory, trained).loc[0.1]
    assert row["informed_off"] == pytest.approx(-8.0) and row["searched_off"] == pytest.approx(-2.0)
    assert row["published"] == "0.707"


def valleys(d, gains, same=1.0):
    """Rows of "searched" in which hops gain `gains` on two data sets, and Langevin descent loses 1e-6."""
    loss = 2e-3
    rows = []
    for seed, sign in ((0, 1), (1, -1)):
        for valley, gain in gains.items():
            hop = gain * (1 + sign / 4)
            ends = [("descent", 0, 0), ("hop", 0, hop), ("descent", 1, hop / 2), ("hop", 1, hop * same)]
            each = {"omega": 0.1, "alpha": 0.7, "d": d, "seed": seed, "valley": valley}
            rows += [{**each, "search": s, "number": k, "train_loss": loss - gained} for s, k, gained in ends]
            rows.append({**each, "search": "anneal", "number": 0, "temperature": 0.01, "train_loss": loss + 1e-6})
    return pd.DataFrame(rows)


def test_students_with_lower_minima_cross_later_by_what_the_positional_ones_gain_more(monkeypatch):
    """By hand: 6e-6 over a slope of 6e-4 at d = 500, twice that at d = 250, so nothing at infinite d."""
    index = pd.MultiIndex.from_product([[0.1], [250, 500]], names=["omega", "d"])
    slopes = pd.DataFrame({"slope": [-1.0, -6e-4]}, index=index)
    limits = pd.DataFrame([Limit(Measured(0.7, 0.003), Measured(0.0, 0.0), 1.0, 0.5).row("alpha")], index=[0.1])
    monkeypatch.setattr(breaking.controlled, "by_dimension", lambda table: (slopes, limits))
    for factor, later in ((2, 0.0), (1, 0.01)):
        small = valleys(250, {"semantic": 1e-6 * factor, "positional": 7e-6 * factor})
        table = pd.concat([small, valleys(500, {"semantic": 1e-6, "positional": 7e-6})])
        row = breaking.students(None, table).loc[0.1]
        assert row["later"] == pytest.approx(later, abs=1e-9)
        assert row["searched"] == pytest.approx(0.7 + later)
        # On two data sets 6e-6 (1 ± 1/4): an error of 1.5e-6/6e-4 at d = 500; the limit is twice that less the other.
        assert row["later_error"] == pytest.approx(2.5e-3 * np.hypot(2, factor))
        assert row["searched_error"] == pytest.approx(np.hypot(0.003, row["later_error"]))


def test_what_searches_gain_is_a_mean_over_data_sets():
    one_set = {"omega": 0.1, "alpha": 0.7, "d": 500, "valley": "positional", "number": range(3), "count": 3}
    one_set = pd.DataFrame(one_set | {"train_loss": [2e-3, 1.999e-3, 1.998e-3]})
    starts = pd.concat([one_set.assign(seed=seed) for seed in (0, 1)], ignore_index=True)
    large = valleys(500, {"positional": 8e-6, "semantic": 0.0}, same=0.9)
    table = pd.concat([large, valleys(250, {"positional": 4e-6, "semantic": 0})])
    means = breaking.searches(table, starts).set_index(["branch", "d"])
    row = means.loc["positional", 500]
    assert row[["hop", "hop_error", "hop_share"]].tolist() == pytest.approx([8e-6, 2e-6, 4e-3])
    # Many starts gain 2e-6 on both data sets, hops 10e-6 and 6e-6.
    assert row[["same", "ahead", "ahead_error"]].tolist() == pytest.approx([0.5, 6e-6, 2e-6])
    assert row[["annealed_0.01", "annealed_0.01_error"]].tolist() == pytest.approx([-1e-6, 0.0])
    assert np.isnan(means.loc["positional", 250]["ahead"]) and means["data_sets"].tolist() == [2] * 4


def test_the_figure_of_searches_shows_each_valley_in_its_colour_and_hops_beyond_all_starts():
    def frame(values, searches):
        index = pd.MultiIndex.from_tuples([(0.1, 500, k) for k in searches], names=["omega", "d", "search"])
        semantic = np.array(values) / 2
        columns = {"positional": values, "positional_error": 1e-7, "semantic": semantic, "semantic_error": 1e-7}
        return pd.DataFrame(columns, index=index)

    figure = breaking.draw_gained(frame([2e-6, 4e-6], [1, 49]), frame([9e-6], ["hop"]))
    (axes,) = figure.axes
    lines = [line for line in axes.lines if len(line.get_xdata())]
    drawn = {(line.get_color(), len(line.get_xdata())): line.get_xydata() for line in lines}
    assert drawn[COLOURS["positional"], 2].ravel().tolist() == pytest.approx([1, 2, 49, 4])
    assert drawn[COLOURS["semantic"], 2].ravel().tolist() == pytest.approx([1, 1, 49, 2])
    (x, height), (_, half) = drawn[COLOURS["positional"], 1][0], drawn[COLOURS["semantic"], 1][0]
    assert x > 49 and (height, half) == pytest.approx((9, 4.5))


def test_a_followed_student_is_described_by_its_cosines():
    row = {"omega": 0.2, "way": "up", "at": 0.8, "excess": 1e-3, "q": 0.04, "m": 0.2, "theta": -0.03}
    cosines = breaking.loops(pd.DataFrame([row | {"seed": seed} for seed in (0, 1)]), 0.5).loc[(0.2, "up", 0.8)]
    assert cosines["semantic"] == pytest.approx(0.03 / (0.5 * 0.2))  # sigma^2 Q.Q*/d over sigma^2 |Q||Q*|/d
    assert cosines["positional"] == pytest.approx(0.5 * 0.2 / 0.2)


def test_a_student_has_turned_where_the_other_mechanism_is_larger():
    """Up: at 0.8 on one data set, nowhere on the other. Down: at 0.4, from larger alpha. Cosines theta/sigma^2, m."""
    semantic = {(0, "up"): (0.1, 0.9, 0.8), (1, "up"): (0.1, 0.2, 0.3), (0, "down"): (0.2, 0.6, 0.9)}
    tables = []
    for (seed, way), shares in semantic.items():
        rows = pd.DataFrame({"at": (0.4, 0.8, 1.2), "theta": -0.09 * np.array(shares), "m": 0.5})
        tables.append(rows.assign(omega=0.2, seed=seed, way=way))
    table = pd.concat(tables, ignore_index=True)
    turned = breaking.turned(table, 0.3)
    assert [*turned] == ["data_sets", "turned", "first", "last"]
    assert turned.loc[(0.2, "up")].tolist() == [2, 1, 0.8, 0.8]
    assert turned.loc[(0.2, "down")].tolist() == [1, 1, 0.4, 0.4]


def test_sizes_are_taken_against_theory_and_against_the_informed_end():
    lines = pd.DataFrame({"omega": 0.1, "what": "positional", "alpha": [0.6, 0.8], "q": [0.04, 0.06]})
    rng, rows = np.random.default_rng(0), []
    for d in (250, 500):
        q = 0.05 * (0.9 + 10 / d) * (1 + 1e-3 * rng.standard_normal(200))
        rows.append(pd.DataFrame({"omega": 0.1, "start": "positional", "alpha": 0.7, "d": d, "q": q}))
    ends = [("descent", 0, 2.0, 0.04), ("hop", 0, 1.0, 0.044), ("descent", 1, 3.0, 0.08), ("anneal", 0, 0.5, 0.9)]
    ends = pd.DataFrame(ends, columns=["search", "number", "train_loss", "q"]).assign(omega=0.1, valley="positional")
    large = [ends.assign(d=500, seed=seed) for seed in (0, 1)]
    searches = pd.concat([*large, ends.assign(d=250, seed=0, q=1.0)], ignore_index=True)
    (row,) = breaking.sizes(pd.concat(rows), searches, lines).to_dict("records")
    assert (row["omega"], row["branch"]) == (0.1, "positional")
    assert row["smaller"] == pytest.approx(-0.1, abs=4 * row["smaller_error"]) and row["smaller_error"] < 1e-3
    assert row["grows"] == pytest.approx(0.1) and row["grows_error"] == pytest.approx(0, abs=1e-12)
