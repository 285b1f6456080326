"""Where students cross, and thresholds of the pages, on data with known answers."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from frames import lines, students

from attention_book import published
from attention_book.analysis.thresholds import (
    against_theory,
    crossing,
    last_fall,
    later,
    mean_later,
    mean_shift,
    shift,
    shifts,
)
from attention_book.pages import parameters, phase_diagram
from attention_book.pages import thresholds as page
from attention_phases.measured import Measured

RNG = np.random.default_rng
ALPHAS = np.linspace(0, 2, 11)
MATRIX = "[[0.6,0.4],[0.4,0.6]]"


def noisy_line(rng, noise, instances=24):
    """Gaps 1.3 - alpha with independent noise; alpha by instance."""
    values = (1.3 - ALPHAS)[:, None] + noise * rng.standard_normal((len(ALPHAS), instances))
    return pd.DataFrame(values, index=pd.Index(ALPHAS, name="alpha"))


def test_crossing_of_a_line_without_noise():
    alpha, stderr = crossing(noisy_line(np.random.default_rng(0), 0.0), np.random.default_rng(1), 50)
    assert alpha == pytest.approx(1.3, abs=1e-12) and stderr == pytest.approx(0, abs=1e-12)


def test_the_error_of_a_crossing_is_the_scatter_of_crossings():
    rng = np.random.default_rng(2)
    crossings = np.array([crossing(noisy_line(rng, 0.3), rng, 300) for _ in range(150)])
    scatter = crossings[:, 0].std(ddof=1)
    # The scatter of 150 is known to 6 %, the bootstrap underestimates by 1/(2 * 24): 4 standard errors and that.
    assert crossings[:, 1].mean() == pytest.approx(scatter, rel=0.26)
    assert crossings[:, 0].mean() == pytest.approx(1.3, abs=4 * scatter / 150**0.5)


def test_no_fall_no_crossing():
    rising = -noisy_line(np.random.default_rng(0), 0.0)
    assert np.isnan(crossing(rising, np.random.default_rng(0), 10)).all()


@pytest.mark.parametrize(
    "means, expected",
    [
        ([0.1, -0.1, 0.2, 0.1, -0.1], 3.5),  # the first fall is chance
        ([1.0, 0.0, 0.0, 3.0, -1.0], 3.75),
        ([1.0, 0.0], 1.0),
        ([0.5, 1.0, -3.0, -1.0, -1.0], 1.25),
        ([-1.0, 1.0], np.nan),
        ([-1.0, 1.0, 2.0, 0.5, 0.1], np.nan),
    ],
)
def test_the_last_fall_through_zero(means, expected):
    fall = last_fall(np.arange(float(len(means))), np.array(means))
    assert fall == pytest.approx(expected, nan_ok=True)


def test_a_crossing_is_the_last_one():
    """Below the transition both starts end alike, and chance lets their difference cross zero."""
    gaps = noisy_line(np.random.default_rng(0), 0.0)
    gaps.iloc[:4] = np.array([1e-9, -1e-9, 1e-9, 1e-9])[:, None]
    assert crossing(gaps, np.random.default_rng(1), 50)[0] == pytest.approx(1.3)


def test_a_shift_against_a_control_on_the_same_instances():
    rng = np.random.default_rng(3)
    moves = []
    for _ in range(150):
        control = noisy_line(rng, 0.3)
        student = control + 0.05 + 0.02 * rng.standard_normal(control.shape)
        moves.append(shift(student, control.iloc[:, ::-1]))
    moves, alone = np.array(moves), crossing(control, rng, 300)[1]
    scatter = moves[:, 0].std(ddof=1)
    assert moves[:, 0].mean() == pytest.approx(0.05, abs=4 * scatter / 150**0.5)
    assert moves[:, 1].mean() == pytest.approx(scatter, rel=0.24)  # as above
    assert scatter < alone / 4


def test_no_shift_without_a_fall():
    falling = noisy_line(np.random.default_rng(0), 0.0)
    assert np.isnan(shift(falling, -falling)).all()
    level = noisy_line(np.random.default_rng(1), 0.1) * 0
    level.iloc[:, 0], level.iloc[5, 1] = [1, -1] * 5 + [1], 3  # falls again and again, and on the whole not at all
    assert np.isfinite(crossing(level, np.random.default_rng(0), 10)[0])
    assert np.isnan(shift(level, level)).all()


def test_a_shift_is_a_difference_over_a_slope():
    """Gaps with slope -2 that are 0.1 higher cross 0.05 later; the error is that of a mean over 6 alphas."""
    alphas, noise = np.arange(6.0), 0.03
    control = pd.DataFrame(np.tile(-2 * (alphas - 2.5), (2, 1)).T, index=alphas)
    gaps = control + 0.1 + noise * np.array([1, -1])
    later, error = shift(gaps, control)
    assert later == pytest.approx(0.05)
    assert error == pytest.approx(noise / 6**0.5 / 2)  # of two instances: noise; over the slope


def straight(omega, critical, linear, instances=4):
    """Students at one omega without noise: training losses cross at `critical`, test errors at `linear`."""
    rows = []
    for alpha in ALPHAS:
        for seed in range(instances):
            same = {"omega": omega, "sigma": 0.5, "alpha": alpha, "seed": seed, "linear_mse": 2.0}
            rows.append(same | {"start": "semantic", "train_loss": critical - alpha, "test_mse": 2.0 + linear - alpha})
            rows.append(same | {"start": "positional", "train_loss": 0.0, "test_mse": 9.0})
    return pd.DataFrame(rows)


def test_shifts_of_both_thresholds_at_each_omega():
    control = pd.concat([straight(0.1, 0.7, 0.9), straight(0.3, 1.2, 9.0)])
    table = pd.concat([straight(0.1, 0.8, 0.85, 2), straight(0.3, 1.5, 9.0, 2)])
    moved = shifts(table, control)
    assert moved["critical"]["alpha"].to_dict() == pytest.approx({0.1: 0.1, 0.3: 0.3})
    assert moved["linear"]["alpha"].to_dict() == pytest.approx({0.1: -0.05})
    assert all((abs(frame["alpha_error"]) < 1e-12).all() for frame in moved.values())
    assert shifts(table, control, ["omega", "sigma"])["critical"]["alpha"][0.1, 0.5] == pytest.approx(0.1)
    two = pd.DataFrame({"alpha": [1.0, 2.0], "alpha_error": [0.3, 0.4]}, [0.1, 0.2])
    assert mean_shift(two) == pytest.approx((1.5, 0.25)) and np.isnan(mean_shift(two[:0])).all()


def test_shifts_by_omega_end_with_their_mean():
    control = pd.concat([students(0.1, 0.7, 0.9), students(0.3, 1.2, 9.0), students(0.5, 9.0, 9.0)])
    table = pd.concat([students(0.1, 0.8, 0.85, 0.02), students(0.3, 1.4, 9.0, 0.05), students(0.5, 9.0, 9.0)])
    rows = later(table, control)
    assert rows["omega_or_mean"].to_list() == pytest.approx([0.1, 0.3, np.nan], nan_ok=True)
    assert rows["critical_later"].to_list() == pytest.approx([0.1, 0.2, 0.15])
    assert rows["linear_later"].to_list() == pytest.approx([-0.05, np.nan, np.nan], nan_ok=True)
    one, two, mean = rows["critical_later_error"]
    assert one > 0 and mean == pytest.approx((one**2 + two**2) ** 0.5 / 2)


def test_students_beside_theory():
    columns = ["alpha", "alpha_error"]
    trained = pd.DataFrame([(0.7, 0.03), (1.2, 0.06), (1.5, np.nan), (1.9, 0.0)], [0.1, 0.3, 0.4, 0.5], columns)
    theory = pd.DataFrame([(0.75, 0.04), (1.1, 0.08), (1.4, 0.1), (1.8, 0.1)], [0.1, 0.3, 0.4, 0.5], columns)
    rows = against_theory(trained, theory)
    assert list(rows) == ["omega", "trained", "trained_error", "theory", "theory_error", "sigma_off"]
    assert rows["omega"].to_list() == [0.1, 0.3]
    assert rows["sigma_off"].to_list() == pytest.approx([-1.0, 1.0])  # 0.05 over 0.05 and 0.1 over 0.1
    assert against_theory(trained, theory, [0.3])["theory"].to_list() == [1.1]


def test_no_crossing_has_no_mean():
    assert np.isnan(mean_later(against_theory(*[lines([])[["alpha", "alpha_error"]]] * 2))).all()


def test_thresholds_of_theory_beside_the_published_ones():
    theory = lines(
        [("critical", 0.1, 0.750, 0.002), ("critical", 0.3, 1.243, 0.001), ("critical", 0.12, 0.8, 0.1),
         ("linear", 0.3, 1.490, 0.001), ("semantic", 0.3, 1.0, np.nan)], scrambles=16,
    )  # fmt: skip
    rows = page.theory_beside_published(theory)
    assert [(row.quantity, row.parameters, row.published) for row in rows.itertuples()] == [
        ("critical", {"omega": 0.1}, "0.707"), ("critical", {"omega": 0.3}, "1.241"),
        ("linear", {"omega": 0.3}, "1.451"),
    ]  # fmt: skip
    assert rows["difference"].to_list() == pytest.approx([0.043, 0.002, 0.039])
    rounding = 0.001 / 12**0.5
    assert rows["sigma"].to_list() == pytest.approx([
        0.043 / (4e-6 + rounding**2) ** 0.5, 0.002 / (1e-6 + rounding**2) ** 0.5, 0.039 / (1e-6 + rounding**2) ** 0.5,
    ])  # fmt: skip
    assert rows["verdict"].to_list() == ["differs", "agrees", "differs"] and set(rows["n"]) == {16}


def test_the_stored_shifts_are_those_that_were_seen():
    """One step of breaking lowers alpha_c of the standard task, less and less as omega grows."""
    shifts = [page.breaking_shift("critical", omega) for omega in (0.02, 0.1, 0.3)]
    assert all(-0.02 < shift < -5 * error < 0 for shift, error in shifts)
    assert shifts == sorted(shifts) and np.isnan(page.breaking_shift("critical", 0.45)).all()
    assert page.breaking_shift("linear", 0.3) == (0, 0) and np.isnan(page.breaking_shift("linear", 0.35)).all()


def test_published_thresholds_beside_those_of_students():
    table = pd.concat([students(0.1, 0.708, 0.9), students(0.12, 0.7, 0.9), students(0.3, 1.23, 1.49)])
    rows = page.students_beside_published(table, RNG(0))
    assert [(row.quantity, row.parameters["omega"], row.published) for row in rows.itertuples()] == [
        ("critical", 0.1, "0.707"), ("critical", 0.3, "1.241"), ("linear", 0.1, "0.851"), ("linear", 0.3, "1.451"),
    ]  # fmt: skip
    assert rows["value"].to_list() == pytest.approx([0.708, 1.23, 0.9, 1.49])
    assert {where["optimizer"] for where in rows["parameters"]} == {"lbfgs"}
    assert set(rows["evidence"]) == {"students"} and set(rows["n"]) == {2}
    for row in rows.itertuples():
        assert row.sigma == pytest.approx(row.difference / (row.error**2 + row.rounding**2) ** 0.5)
    assert rows["verdict"].to_list() == ["agrees", "differs", "differs", "differs"]
    assert rows["reason"].to_list()[1:] == ["unknown", "many minima", "quadrature"]
    assert page.students_beside_published(students(0.3, 9.0, 9.0), RNG(0)).empty  # no crossing on the grid


def quadrature(value, error, other, other_error):
    """Difference in errors, written out."""
    return (value - other) / (error**2 + other_error**2) ** 0.5


def test_thresholds_of_a_slice_by_optimizer():
    table = pd.concat([students(0.3, 1.2, 1.5), students(0.3, 1.3, 9.0, optimizer="gd")])
    theory = {"critical": Measured(1.25, 0.001), "linear": Measured(1.49, 0.002)}
    rows = page.of_slice(theory, table, RNG(0))
    assert list(zip(rows["threshold"], rows["optimizer"])) == [
        ("critical", "gd"), ("critical", "lbfgs"), ("linear", "lbfgs"),
    ]  # fmt: skip
    assert rows["trained"].to_list() == pytest.approx([1.3, 1.2, 1.5])
    assert rows["theory"].to_list() == [1.25, 1.25, 1.49] and rows["theory_error"].to_list() == [0.001, 0.001, 0.002]
    for row in rows.itertuples():
        off = quadrature(row.trained, row.trained_error, row.theory, row.theory_error)
        assert row.sigma_off == pytest.approx(off)


def test_thresholds_by_task():
    tasks = [{"omega": 0.3, "sigma": 0.5, "lam": 0.01}, {"omega": 0.3, "sigma": 0.7, "lam": 0.01}]
    table = pd.concat([
        students(critical=1.2, linear=1.5, **tasks[0]), students(critical=1.2, linear=1.6, **tasks[0], optimizer="gd"),
        students(critical=1.2, linear=9.0, **tasks[1]), students(critical=1.2, linear=9.0, **tasks[1], optimizer="gd"),
    ])  # fmt: skip
    theory = pd.concat([
        lines([("critical", 0.3, 1.25, 0.01), ("linear", 0.3, 1.49, 0.02)], sigma=0.5, lam=0.01),
        lines([("baseline", 0.3, np.nan, np.nan)], sigma=0.7, lam=0.01),
    ])  # fmt: skip
    first, second = parameters.thresholds_by_task(table, theory, RNG(0)).to_dict("records")
    assert [first[name] for name in ("omega", "sigma", "lam")] == [0.3, 0.5, 0.01] and second["sigma"] == 0.7
    assert (first["critical"], first["critical_error"]) == (1.25, 0.01)
    assert (first["linear"], first["linear_error"]) == (1.49, 0.02)
    assert first["linear_lbfgs"] == pytest.approx(1.5) and first["linear_gd"] == pytest.approx(1.6)
    assert first["moved"] == pytest.approx(0.1)  # gradient descent comes later
    assert all(np.isnan(second[name]) for name in ("critical", "linear", "linear_lbfgs", "linear_gd", "moved"))


def test_thresholds_by_size_end_with_theory():
    table = pd.concat([students(0.1, 0.7, 0.9, d=100), students(0.1, 0.71, 9.0, d=200)])
    theory = lines([("critical", 0.1, 0.75, 0.001), ("critical", 0.3, 1.25, 0.001), ("linear", 0.1, 0.89, 0.002)])
    rows = page.by_size(table, theory, RNG(0))
    assert rows["dimension"].to_list() == pytest.approx([100, 200, np.nan], nan_ok=True)
    assert rows["critical"].to_list() == pytest.approx([0.7, 0.71, 0.75])
    assert rows["linear"].to_list() == pytest.approx([0.9, np.nan, 0.89], nan_ok=True)
    assert rows["critical_error"].iloc[-1] == 0.001 and rows["linear_error"].iloc[-1] == 0.002


def test_thresholds_by_optimizer():
    lbfgs = pd.concat([students(0.1, 0.7, 0.9, matrix=MATRIX), students(0.12, 0.75, 9.0, matrix=MATRIX)])
    gd = students(0.1, 0.8, 0.95, matrix=MATRIX, optimizer="gd")
    theory = lines([("critical", 0.1, 0.75, 0.001), ("linear", 0.12, 0.93, 0.002)])
    rows = page.by_optimizer(pd.concat([lbfgs, gd]), theory, RNG(0))
    assert list(zip(rows["threshold"], rows["omega"])) == list(product(("critical", "linear"), (0.1, 0.12)))
    first, second, third, fourth = rows.to_dict("records")
    assert (first["published"], third["published"]) == ("0.707", "0.851") and pd.isna(second["published"])
    assert first["theory"] == 0.75 and first["theory_error"] == 0.001 and np.isnan(second["theory"])
    assert first["lbfgs"] == pytest.approx(0.7) and first["gd"] == pytest.approx(0.8)
    assert first["moved"] == pytest.approx(0.1) and third["moved"] == pytest.approx(0.05) and np.isnan(second["moved"])
    assert second["lbfgs"] == pytest.approx(0.75) and np.isnan(second["gd"]) and np.isnan(fourth["lbfgs"])
    other = page.by_optimizer(lbfgs.assign(matrix="[[0.3,0.7],[0.8,0.2]]"), theory, RNG(0))
    assert "published" not in other and "moved" not in other


def test_agreement_over_a_range(monkeypatch):
    """Differences -0.03, 0.01, 0.04 with errors 0.01, 0.02 and 0.02 of both sides together."""
    trained = pd.DataFrame(
        {"alpha": [0.72, 1.21, 1.54, 1.7, 1.9], "alpha_error": [0.006, 0.012, 0.012, 0.0, np.nan]},
        [0.1, 0.3, 0.4, 0.45, 0.5],
    )  # one crossing with no spread, which has no known error, and one that is missing
    monkeypatch.setattr(page, "crossings", lambda table, gap, rng: trained)
    monkeypatch.setattr(page, "GAPS", {"critical": None})
    theory = lines([("critical", 0.1, 0.75, 0.008), ("critical", 0.3, 1.2, 0.016), ("critical", 0.4, 1.5, 0.016),
                    ("critical", 0.45, 1.6, 0.02), ("critical", 0.5, 1.9, 0.02)])  # fmt: skip
    table = pd.DataFrame({"optimizer": ["lbfgs"]})
    small, large = page.agreement(table, theory, RNG(0), {"small": (0, 0.2), "large": (0.2, 0.6)}).to_dict("records")
    assert (small["threshold"], small["optimizer"], large["range"]) == ("critical", "lbfgs", "large")
    assert (small["count"], small["largest_at"], large["count"], large["largest_at"]) == (1, 0.1, 2, 0.4)
    assert (small["mean"], small["mean_error"], small["rms"]) == pytest.approx((-0.03, 0.01, 3.0))
    assert large["mean"] == pytest.approx(0.025) and large["mean_error"] == pytest.approx(0.02 * 2**0.5 / 2)
    assert large["rms"] == pytest.approx(((0.25 + 4) / 2) ** 0.5) and large["largest"] == pytest.approx(2.0)


def test_published_thresholds_to_draw():
    ((alphas, panel, label, _),) = phase_diagram.published_marks("linear")
    assert (panel, label) == (2, r"published $\alpha_l$")
    assert alphas["alpha"][0.38] == 1.993 and alphas["alpha_error"].isna().all() and len(alphas) == 12


@pytest.fixture
def rule():
    critical, linear = published.CRITICAL_ALPHA, published.LINEAR_ALPHA
    rows = [
        ("critical", 0.1, critical[0.1].value + 0.03, critical[0.1].value - 0.01, critical[0.1].value + 0.2),
        ("critical", 0.2, critical[0.2].value - 0.04, critical[0.2].value + 0.01, critical[0.2].value + 0.2),
        ("critical", 0.3, 1.0, 1.0, np.nan),
        ("linear", 0.3, linear[0.3].value + 0.05, linear[0.3].value + 0.02, linear[0.3].value + 0.01),
        ("linear", 0.123, 1.0, 1.0, 1.0),  # no published omega
    ]
    table = pd.DataFrame(rows, columns=["what", "omega", "alpha", "exact", "rule"]).assign(alpha_error=0.001)
    lines = pd.DataFrame({"what": ["linear"], "omega": 0.3, "alpha": linear[0.3].value + 0.03, "alpha_error": 0.0001})
    return page.on_144_points(table, lines)


def test_every_published_omega_has_a_row(rule):
    assert list(zip(rule["threshold"], rule["omega"])) == [
        ("critical", 0.1), ("critical", 0.2), ("critical", 0.3), ("linear", 0.3),
    ]  # fmt: skip
    assert rule["published_alpha"].tolist() == [0.707, 0.928, 1.241, 1.451]


def test_differences_are_root_mean_squares_over_the_same_omega(rule):
    critical, linear = page.off_published(rule).itertuples()
    assert (critical.count, linear.count) == (2, 1)
    assert critical.theory_off == pytest.approx(((0.03**2 + 0.04**2) / 2) ** 0.5)
    assert (critical.exact_off, critical.rule_off) == (pytest.approx(0.01), pytest.approx(0.2))
    assert (linear.rule_off, linear.exact_off, linear.theory_off) == (
        pytest.approx(0.01), pytest.approx(0.02), pytest.approx(0.03),
    )  # fmt: skip
