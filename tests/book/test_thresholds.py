"""Where students cross, and thresholds of the pages, on data with known answers."""

import numpy as np
import pandas as pd
import pytest
from cells import cell
from frames import lines, students

from attention_book import published
from attention_book.analysis.beside_published import thresholds_beside_published
from attention_book.analysis.instances import test_gap as gap_of_errors
from attention_book.analysis.thresholds import (
    against_theory,
    crossing,
    crossings,
    last_fall,
    rows_of,
    shift_against_control,
    shifts_by,
    with_one_step,
)
from attention_book.experiments import GRIDS, grid
from attention_book.experiments.cells import LineCell, OneStepThresholdsCell, RuleCell
from attention_book.experiments.theory_lines import ROWS
from attention_book.paths import DATA
from attention_book.store.parquet import load
from attention_phases import BadInput

RNG = np.random.default_rng
ALPHAS = np.linspace(0, 2, 11)


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
    assert crossing(gaps, 50)[0] == pytest.approx(1.3)
    assert np.isnan(crossing(-noisy_line(np.random.default_rng(0), 0.0), 10)).all()


def test_a_shift_against_a_control_on_the_same_instances():
    rng = np.random.default_rng(3)
    moves = []
    for _ in range(600):
        control = noisy_line(rng, 0.3)
        student = control + 0.05 + 0.02 * rng.standard_normal(control.shape)
        moves.append(shift_against_control(student, control.iloc[:, ::-1]))
    moves, alone = np.array(moves), crossing(control, 300)[1]
    scatter = moves[:, 0].std(ddof=1)
    assert moves[:, 0].mean() == pytest.approx(0.05, abs=4 * scatter / 600**0.5)
    # The scatter is known to 2.9 %, a mean error of 24 data sets is too small by 1/(4 * 24).
    assert moves[:, 1].mean() == pytest.approx(scatter, rel=4 / 1200**0.5 + 1 / 96)
    assert scatter < alone / 4


def test_no_shift_without_a_fall():
    falling = noisy_line(np.random.default_rng(0), 0.0)
    assert np.isnan(shift_against_control(falling, -falling)).all()
    level = noisy_line(np.random.default_rng(1), 0.1) * 0
    level.iloc[:, 0], level.iloc[5, 1] = [1, -1] * 5 + [1], 3  # falls again and again, and on the whole not at all
    assert np.isfinite(crossing(level, 10)[0])
    assert np.isnan(shift_against_control(level, level)).all()


def test_shifts_by_omega_end_with_their_mean():
    control = pd.concat([students(0.1, 0.7, 0.9), students(0.3, 1.2, 9.0), students(0.5, 9.0, 9.0)])
    table = pd.concat([students(0.1, 0.8, 0.85, 0.02), students(0.3, 1.4, 9.0, 0.05), students(0.5, 9.0, 9.0)])
    rows = cell("fig14_maps", "shifted", value=table, without=control, SHOWN=[0.1])["shifted"]
    assert rows["omega"].to_list() == pytest.approx([0.1, 0.3, np.nan], nan_ok=True)
    assert rows["critical_later"].to_list() == pytest.approx([0.1, 0.2, 0.15])
    assert rows["linear_later"].to_list() == pytest.approx([-0.05, np.nan, np.nan], nan_ok=True)
    one, two, mean = rows["critical_later_error"]
    assert one > 0 and mean == pytest.approx((one**2 + two**2) ** 0.5 / 2)
    by_task = shifts_by(table.assign(sigma=0.5), control.assign(sigma=0.5), ["omega", "sigma"])
    assert by_task["critical"]["alpha"][0.1, 0.5] == pytest.approx(0.1)


def test_students_beside_theory():
    columns = ["alpha", "alpha_error"]
    trained = pd.DataFrame([(0.7, 0.03), (1.2, 0.06), (1.5, np.nan), (1.9, 0.0)], [0.1, 0.3, 0.4, 0.5], columns)
    theory = pd.DataFrame([(0.75, 0.04), (1.1, 0.08), (1.4, 0.1), (1.8, 0.1)], [0.1, 0.3, 0.4, 0.5], columns)
    rows = against_theory(trained, theory)
    assert list(rows) == ["omega", "trained", "trained_error", "theory", "theory_error", "sigma_off"]
    assert rows["omega"].to_list() == [0.1, 0.3]
    assert rows["sigma_off"].to_list() == pytest.approx([-1.0, 1.0])  # 0.05 over 0.05 and 0.1 over 0.1
    assert against_theory(trained, theory, [0.3])["theory"].to_list() == [1.1]


def test_thresholds_of_theory_beside_the_published_ones():
    theory = lines(
        [
            ("critical", 0.1, 0.750, 0.002),
            ("critical", 0.3, 1.243, 0.001),
            ("critical", 0.12, 0.8, 0.1),
            ("linear", 0.3, 1.490, 0.001),
            ("semantic", 0.3, 1.0, np.nan),
        ],
        scrambles=16,
    )
    rules = pd.DataFrame({"what": ["critical", "linear"], "omega": 0.3, "rule": [1.26356, 1.44759]})
    rows = thresholds_beside_published(theory, rules)
    assert [(row.quantity, row.parameters, row.published) for row in rows.itertuples()] == [
        ("critical", {"omega": 0.1}, "0.7071599"),
        ("critical", {"omega": 0.3}, "1.2410177"),
        ("linear", {"omega": 0.3}, "1.4505799"),
    ]
    differences = [0.0428401, 0.0019823, 0.0394201]
    assert rows["difference"].to_list() == pytest.approx(differences)
    assert rows["sigma"].to_list() == pytest.approx(np.divide(differences, [0.002, 0.001, 0.001]))  # rounding is small
    assert rows["verdict"].to_list() == ["differs", "agrees", "differs"] and set(rows["n"]) == {16}
    assert rows["reason"].dropna().to_list() == ["cause unknown", "quadrature"]


def test_the_stored_shifts_are_those_that_were_seen():
    """One step of breaking lowers alpha_c of the standard task, less and less as omega grows."""
    table = load(DATA / "one_step.parquet")
    critical, linear = (with_one_step(table, kind).query("resolved") for kind in ("critical", "linear"))
    shifts = critical.loc[[0.02, 0.1, 0.3]]
    assert (shifts["shift"] > -0.02).all() and (shifts["shift"] < -5 * shifts["shift_error"]).all()
    assert shifts["shift"].is_monotonic_increasing and 0.45 not in critical.index
    assert (linear.loc[0.3, ["shift", "shift_error"]] == 0).all() and 0.35 not in linear.index


def test_published_thresholds_beside_those_of_students():
    table = pd.concat([students(0.1, 0.708, 0.9), students(0.12, 0.7, 0.9), students(0.3, 1.2, 1.49)])
    rules = pd.DataFrame({"what": ["critical", "linear"], "omega": 0.3, "rule": [1.26356, 1.44759]})
    rows = thresholds_beside_published(table, rules)
    assert [(row.quantity, row.parameters["omega"], row.published) for row in rows.itertuples()] == [
        ("critical", 0.1, "0.7071599"),
        ("critical", 0.3, "1.2410177"),
        ("linear", 0.1, "0.8505675"),
        ("linear", 0.3, "1.4505799"),
    ]
    assert rows["value"].to_list() == pytest.approx([0.708, 1.2, 0.9, 1.49])
    assert {where["optimizer"] for where in rows["parameters"]} == {"lbfgs"}
    assert set(rows["evidence"]) == {"students"} and set(rows["n"]) == {2}
    for row in rows.itertuples():
        assert row.sigma == pytest.approx(row.difference / (row.error**2 + row.rounding**2) ** 0.5)
    assert rows["verdict"].to_list() == ["agrees", "differs", "differs", "differs"]
    assert rows["reason"].to_list()[1:] == ["cause unknown", "many minima", "quadrature"]
    assert thresholds_beside_published(students(0.3, 9.0, 9.0), rules).empty  # no crossing on the grid


def test_thresholds_by_task():
    tasks = [{"omega": 0.3, "sigma": 0.5, "lam": 0.01}, {"omega": 0.3, "sigma": 0.7, "lam": 0.01}]
    table = pd.concat([students(critical=1.2, linear=linear, **task) for linear, task in zip((1.5, 9.0), tasks)])
    theory = pd.concat(
        [
            lines([("critical", 0.3, 1.25, 0.01), ("linear", 0.3, 1.49, 0.02)], sigma=0.5, lam=0.01),
            lines([("baseline", 0.3, np.nan, np.nan)], sigma=0.7, lam=0.01),
        ]
    )
    beyond = lines([("critical", 0.3, 7.0, 0.1), ("semantic", 0.3, 2.0, np.nan)], sigma=0.5, lam=0.1)
    names = ["omega", "sigma", "lam"]
    trained = crossings(table, gap_of_errors, along=names)
    given = {"trained": trained, "lines": theory, "ridge": beyond, "TASK": names}
    rows = cell("fig08_parameters", "thresholds", **given)["thresholds"].reset_index()
    first, strong, second = rows.to_dict("records")
    assert [first[name] for name in names] == [0.3, 0.5, 0.01] and second["sigma"] == 0.7
    assert (strong["lam"], strong["critical"]) == (0.1, 7.0) and np.isnan(strong["linear"])
    assert (first["critical"], first["critical_error"]) == (1.25, 0.01)
    assert (first["linear"], first["linear_error"]) == (1.49, 0.02) and first["trained"] == pytest.approx(1.5)
    assert all(np.isnan(second[name]) for name in ("critical", "linear", "trained"))


def test_what_descent_leaves_on_each_map():
    """Of four students from the encoding three are far above, and L-BFGS has taken one of them to the semantic side."""
    rows = [
        ("positional", 0, "lbfgs", 1.0, 0.1, 0.5),
        ("positional", 0, "gd", 1.2, 0.5, 0.1),
        ("positional", 1, "lbfgs", 1.0, 0.5, 0.1),
        ("positional", 1, "gd", 1.3, 0.5, 0.1),
        ("positional", 2, "lbfgs", 1.0, 0.5, 0.1),
        ("positional", 2, "gd", 1.04, 0.5, 0.1),
        ("positional", 3, "lbfgs", 1.0, 0.5, 0.1),
        ("positional", 3, "gd", 1.3, 0.5, 0.1),
        ("positional", 4, "lbfgs", 1.0, 0.1, 0.5),  # without descent
        ("semantic", 0, "lbfgs", 1.0, 0.1, 0.5),
        ("semantic", 0, "gd", 1.001, 0.1, 0.5),
    ]
    table = pd.DataFrame(rows, columns=["start", "seed", "optimizer", "train_loss", "m", "theta"])
    table = table.assign(alpha=1.0, omega=0.3)
    left = cell("fig03_phase_diagram", "left", table=table, read=lambda *_: table, profile="")["left"]
    left = left[left["map"] == "this figure"].set_index("start")
    assert left.loc["positional", ["alike", "left", "gone"]].to_list() == [0.0, 3, 1 / 3]  # the mean is 21 % above
    assert left.loc["semantic", ["alike", "left"]].to_list() == [1.0, 0] and np.isnan(left.loc["semantic", "gone"])


def test_published_thresholds_and_rules_minus_theory():
    known = published.CRITICAL_ALPHA
    rows = [
        ("critical", 0.1, 0.76, 0.72, 0.9),
        ("critical", 0.3, 1.26, 1.25, np.nan),
        ("critical", 0.123, 1, 1, 1),
        ("linear", 0.3, 1.5, 1.5, 1.5),
    ]
    table = pd.DataFrame(rows, columns=["what", "omega", "alpha", "exact", "rule"]).assign(alpha_error=0.001)
    given = {"rules": table, "lines": lines([("critical", 0.3, 1.25, 0.0001)])}
    names = ["omega", "trained", "trained_error", "theory", "theory_error"]
    students_of = pd.DataFrame([(0.1, 0.71, 0.003, 0.76, 0.004)], columns=names)
    page = cell("fig03_phase_diagram", "away", **given, compared={"critical": students_of, "linear": students_of})
    rules = page["away"]["critical"]
    assert list(rules.index) == [0.1, 0.3]  # the one published omega has its own, and the other the better, theory
    assert rules["rule"].to_list() == pytest.approx([0.14, np.nan], nan_ok=True)
    assert rules["exact"].to_list() == pytest.approx([-0.04, 0.0])
    assert rules["published"].to_list() == pytest.approx([known[0.1].value - 0.76, known[0.3].value - 1.25])
    points, _, (bars,) = page["panels"][0].containers[0]
    assert points.get_xydata().tolist() == [pytest.approx([0.1, -0.05])]
    assert bars.get_segments()[0][:, 1] == pytest.approx([-0.055, -0.045])  # 0.003 and 0.004 in quadrature


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
