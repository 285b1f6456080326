"""Tables of the pages on students and thresholds: frames of numbers, by hand."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from frames import lines, students

from attention_book import published as paper
from attention_book.analysis import instances
from attention_book.tables import starts, thresholds
from attention_book.tables import students as of_students
from attention_phases import Task

RNG = np.random.default_rng
MATRIX = "[[0.6,0.4],[0.4,0.6]]"


def quadrature(value, error, other, other_error):
    """Difference in errors, written out."""
    return (value - other) / (error**2 + other_error**2) ** 0.5


# Thresholds


@pytest.fixture
def known(monkeypatch):
    """What one step of breaking adds, by omega."""
    rows = pd.DataFrame({"shift": [-0.0066, -0.00044], "shift_error": [0.0014, 0.00004]}, index=[0.1, 0.3])
    none = rows.iloc[:0]
    monkeypatch.setattr(thresholds, "_shifts", lambda kind: rows if kind == "critical" else none)


def test_thresholds_of_theory_beside_the_published_ones(known):
    theory = lines(
        [("critical", 0.1, 0.750, 0.002), ("critical", 0.3, 1.243, 0.001), ("critical", 0.12, 0.8, 0.1),
         ("linear", 0.3, 1.490, 0.001), ("semantic", 0.3, 1.0, np.nan)], scrambles=16,
    )  # fmt: skip
    found = thresholds.of_theory(theory)
    assert [(row.quantity, row.parameters, row.published) for row in found.itertuples()] == [
        ("critical", {"omega": 0.1}, "0.707"), ("critical", {"omega": 0.3}, "1.241"),
        ("linear", {"omega": 0.3}, "1.451"),
    ]  # fmt: skip
    assert found["difference"].to_list() == pytest.approx([0.043, 0.002, 0.039])
    rounding = 0.001 / 12**0.5
    assert found["sigma"].to_list() == pytest.approx([
        0.043 / (4e-6 + rounding**2) ** 0.5, 0.002 / (1e-6 + rounding**2) ** 0.5, 0.039 / (1e-6 + rounding**2) ** 0.5,
    ])  # fmt: skip
    assert found["verdict"].to_list() == ["differs", "agrees", "differs"] and set(found["n"]) == {16}
    # One step of breaking lowers alpha_c; nothing is known of alpha_l.
    assert found["broken"].to_list() == pytest.approx([-0.0066, -0.00044, np.nan], nan_ok=True)
    assert found["broken_error"].to_list() == pytest.approx([0.0014, 0.00004, np.nan], nan_ok=True)


def test_published_thresholds_beside_those_of_students():
    table = pd.concat([students(0.1, 0.708, 0.9), students(0.12, 0.7, 0.9), students(0.3, 1.23, 1.49)])
    found = thresholds.of_students(table, RNG(0))
    assert [(row.quantity, row.parameters["omega"], row.published) for row in found.itertuples()] == [
        ("critical", 0.1, "0.707"), ("critical", 0.3, "1.241"), ("linear", 0.1, "0.851"), ("linear", 0.3, "1.451"),
    ]  # fmt: skip
    assert found["value"].to_list() == pytest.approx([0.708, 1.23, 0.9, 1.49])
    assert {each["optimizer"] for each in found["parameters"]} == {"lbfgs"}
    assert set(found["evidence"]) == {"students"} and set(found["n"]) == {2}
    for row in found.itertuples():
        assert row.sigma == pytest.approx(row.difference / (row.error**2 + row.rounding**2) ** 0.5)
    assert found["verdict"].to_list() == ["agrees", "differs", "differs", "differs"]
    assert found["reason"].to_list()[1:] == ["losses", "many minima", "quadrature"]
    assert thresholds.of_students(students(0.3, 9.0, 9.0), RNG(0)).empty  # no crossing on the grid


def test_students_beside_theory():
    columns = ["alpha", "alpha_error"]
    trained = pd.DataFrame([(0.7, 0.03), (1.2, 0.06), (1.5, np.nan), (1.9, 0.0)], [0.1, 0.3, 0.4, 0.5], columns)
    theory = pd.DataFrame([(0.75, 0.04), (1.1, 0.08), (1.4, 0.1), (1.8, 0.1)], [0.1, 0.3, 0.4, 0.5], columns)
    found = thresholds.against_theory(trained, theory)
    assert list(found) == ["omega", "trained", "trained_error", "theory", "theory_error", "sigma_off"]
    assert found["omega"].to_list() == [0.1, 0.3]
    assert found["sigma_off"].to_list() == pytest.approx([-1.0, 1.0])  # 0.05 over 0.05 and 0.1 over 0.1
    assert thresholds.against_theory(trained, theory, [0.3])["theory"].to_list() == [1.1]


def test_thresholds_of_a_slice_by_optimizer():
    table = pd.concat([students(0.3, 1.2, 1.5), students(0.3, 1.3, 9.0, optimizer="gd")])
    critical, linear = SimpleNamespace(alpha=1.25, stderr=0.001), SimpleNamespace(alpha=1.49, stderr=0.002)
    found = thresholds.of_slice(critical, linear, table, RNG(0))
    assert list(zip(found["threshold"], found["optimizer"])) == [
        ("critical", "gd"), ("critical", "lbfgs"), ("linear", "lbfgs"),
    ]  # fmt: skip
    assert found["trained"].to_list() == pytest.approx([1.3, 1.2, 1.5])
    assert found["theory"].to_list() == [1.25, 1.25, 1.49] and found["theory_error"].to_list() == [0.001, 0.001, 0.002]
    for row in found.itertuples():
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
    first, second = thresholds.by_task(table, theory, RNG(0)).to_dict("records")
    assert [first[name] for name in ("omega", "sigma", "lam")] == [0.3, 0.5, 0.01] and second["sigma"] == 0.7
    assert (first["critical"], first["critical_error"], first["linear"], first["linear_error"]) == (
        1.25,
        0.01,
        1.49,
        0.02,
    )
    assert first["linear_lbfgs"] == pytest.approx(1.5) and first["linear_gd"] == pytest.approx(1.6)
    assert first["moved"] == pytest.approx(0.1)  # gradient descent comes later
    assert all(np.isnan(second[name]) for name in ("critical", "linear", "linear_lbfgs", "linear_gd", "moved"))


def test_thresholds_by_size_end_with_theory():
    table = pd.concat([students(0.1, 0.7, 0.9, d=100), students(0.1, 0.71, 9.0, d=200)])
    theory = lines([("critical", 0.1, 0.75, 0.001), ("critical", 0.3, 1.25, 0.001), ("linear", 0.1, 0.89, 0.002)])
    found = thresholds.by_size(table, theory, RNG(0))
    assert found["dimension"].to_list() == pytest.approx([100, 200, np.nan], nan_ok=True)
    assert found["critical"].to_list() == pytest.approx([0.7, 0.71, 0.75])
    assert found["linear"].to_list() == pytest.approx([0.9, np.nan, 0.89], nan_ok=True)
    assert found["critical_error"].iloc[-1] == 0.001 and found["linear_error"].iloc[-1] == 0.002


def test_shifts_by_omega_end_with_their_mean():
    control = pd.concat([students(0.1, 0.7, 0.9), students(0.3, 1.2, 9.0), students(0.5, 9.0, 9.0)])
    table = pd.concat([students(0.1, 0.8, 0.85, 0.02), students(0.3, 1.4, 9.0, 0.05), students(0.5, 9.0, 9.0)])
    found = thresholds.later(table, control)
    assert found["omega_or_mean"].to_list() == pytest.approx([0.1, 0.3, np.nan], nan_ok=True)
    assert found["critical_later"].to_list() == pytest.approx([0.1, 0.2, 0.15])
    assert found["linear_later"].to_list() == pytest.approx([-0.05, np.nan, np.nan], nan_ok=True)
    one, two, mean = found["critical_later_error"]
    assert one > 0 and mean == pytest.approx((one**2 + two**2) ** 0.5 / 2)


def test_thresholds_by_optimizer():
    lbfgs = pd.concat([students(0.1, 0.7, 0.9, matrix=MATRIX), students(0.12, 0.75, 9.0, matrix=MATRIX)])
    gd = students(0.1, 0.8, 0.95, matrix=MATRIX, optimizer="gd")
    theory = lines([("critical", 0.1, 0.75, 0.001), ("linear", 0.12, 0.93, 0.002)])
    found = thresholds.by_optimizer(pd.concat([lbfgs, gd]), theory, RNG(0))
    assert list(zip(found["threshold"], found["omega"])) == list(product(("critical", "linear"), (0.1, 0.12)))
    first, second, third, fourth = found.to_dict("records")
    assert (first["published"], third["published"]) == ("0.707", "0.851") and pd.isna(second["published"])
    assert first["theory"] == 0.75 and first["theory_error"] == 0.001 and np.isnan(second["theory"])
    assert first["lbfgs"] == pytest.approx(0.7) and first["gd"] == pytest.approx(0.8)
    assert first["moved"] == pytest.approx(0.1) and third["moved"] == pytest.approx(0.05) and np.isnan(second["moved"])
    assert second["lbfgs"] == pytest.approx(0.75) and np.isnan(second["gd"]) and np.isnan(fourth["lbfgs"])
    other = thresholds.by_optimizer(lbfgs.assign(matrix="[[0.3,0.7],[0.8,0.2]]"), theory, RNG(0))
    assert "published" not in other and "moved" not in other


def test_agreement_over_a_range(monkeypatch):
    """Differences -0.03, 0.01, 0.04 with errors 0.01, 0.02 and 0.02 of both sides together."""
    trained = pd.DataFrame(
        {"alpha": [0.72, 1.21, 1.54, 1.7, 1.9], "alpha_error": [0.006, 0.012, 0.012, 0.0, np.nan]},
        [0.1, 0.3, 0.4, 0.45, 0.5],
    )  # one crossing with no spread, which has no known error, and one that is missing
    monkeypatch.setattr(thresholds, "crossings", lambda table, gap, rng: trained)
    monkeypatch.setattr(thresholds, "GAPS", {"critical": None})
    theory = lines([("critical", 0.1, 0.75, 0.008), ("critical", 0.3, 1.2, 0.016), ("critical", 0.4, 1.5, 0.016),
                    ("critical", 0.45, 1.6, 0.02), ("critical", 0.5, 1.9, 0.02)])  # fmt: skip
    table = pd.DataFrame({"optimizer": ["lbfgs"]})
    small, large = thresholds.agreement(table, theory, RNG(0), {"small": (0, 0.2), "large": (0.2, 0.6)}).to_dict(
        "records"
    )
    assert (small["threshold"], small["optimizer"], large["range"]) == ("critical", "lbfgs", "large")
    assert (small["count"], small["largest_at"], large["count"], large["largest_at"]) == (1, 0.1, 2, 0.4)
    assert (small["mean"], small["mean_error"], small["rms"]) == pytest.approx((-0.03, 0.01, 3.0))
    assert large["mean"] == pytest.approx(0.025) and large["mean_error"] == pytest.approx(0.02 * 2**0.5 / 2)
    assert large["rms"] == pytest.approx(((0.25 + 4) / 2) ** 0.5) and large["largest"] == pytest.approx(2.0)


def test_no_crossing_has_no_mean():
    assert np.isnan(thresholds.mean_later(thresholds.against_theory(*[lines([])] * 2))).all()


def test_published_thresholds_to_draw():
    found = thresholds.drawn({0.1: paper.Published("0.707", "here"), 0.3: paper.Published("1.2", "here", stderr=0.1)})
    assert found["alpha"].to_dict() == {0.1: 0.707, 0.3: 1.2} and found["alpha_error"][0.3] == 0.1


# Figures 2, 3 and 7


def solution(**values):
    overlaps = SimpleNamespace(_asdict=lambda: {name: values.get(name, 0.0) for name in ("q", "m", "theta", "V")})
    errors = dict.fromkeys(("q", "m", "theta", "V", "train_loss", "test_mse"), 1e-5)
    return SimpleNamespace(overlaps=overlaps, train_loss=0.003600, test_mse=0.0014, stderr=errors | {"V": 0.1})


def test_theory_of_figure_2(known):
    solutions = {"semantic": solution(q=0.1143, V=12.0, theta=0.1580), "positional": solution(q=0.05, V=11.0, m=0.26)}
    critical, linear = SimpleNamespace(alpha=1.25, stderr=0.0006), SimpleNamespace(alpha=1.49, stderr=0.0006)
    found = of_students.theory_of_slice(Task(), solutions, critical, linear)
    assert len(found) == 12 and found["difference"].to_list()[:2] == pytest.approx([0.009, 0.039])
    assert found["broken"][0] == -0.00044 and found["broken"][1:].isna().all()
    by = {(row.quantity, row.parameters.get("branch")): row for row in found.itertuples()}
    assert by["theta", "semantic"].difference == pytest.approx(-0.0006)
    assert by["V", "positional"].sigma == pytest.approx(-0.04 / (0.01 + 1e-4 / 12) ** 0.5)
    assert by["train_loss", "semantic"].value == 0.0036 and by["test_mse", "semantic"].value == 0.0014
    assert by["m", "positional"].parameters == {"alpha": 2.0, "branch": "positional"}
    assert len(of_students.theory_of_slice(Task(omega=0.4), solutions, critical, linear)) == 1  # alpha_c alone
    assert of_students.theory_of_slice(Task(sigma=0.7), solutions, critical, linear).empty


def trained(alpha, start, optimizer, seed, **values):
    same = dict.fromkeys(instances.MEASURED, 0.0)
    return {"alpha": alpha, "start": start, "optimizer": optimizer, "seed": seed, "d": 1000} | same | values


def test_experiments_of_figure_2():
    rows = [
        trained(0.5075, "positional", "gd", 0, m=0.21, test_mse=0.0031, train_loss=0.0011, linear_mse=0.0019),
        trained(0.5075, "positional", "gd", 1, m=-0.23, test_mse=0.0033, train_loss=0.0013, linear_mse=0.0021),
        trained(0.5075, "semantic", "gd", 0, m=9.0), trained(0.5075, "semantic", "gd", 1, m=9.0),
        trained(0.5075, "positional", "lbfgs", 0, m=9.0), trained(0.5075, "positional", "lbfgs", 1, m=9.0),
        trained(0.25, "positional", "gd", 0), trained(0.25, "positional", "gd", 1),
    ]  # fmt: skip
    found = of_students.students_of_slice(Task(), pd.DataFrame(rows)).set_index("quantity")
    assert list(found["published"]) == ["0.00322", "0.00197", "0.001162", "0.899"]
    assert found["value"].to_list() == pytest.approx([0.0032, 0.0020, 0.0012, 0.88])  # |m|, as published
    assert found["error"].to_list() == pytest.approx([1e-4, 1e-4, 1e-4, 0.04])
    assert found.loc["linear_mse", "verdict"] == "not comparable" and found.loc["linear_mse", "reason"] == "definition"
    assert found.loc["test_mse", "verdict"] == "agrees" and set(found["n"]) == {2}
    far = pd.DataFrame(rows).assign(test_mse=lambda each: 2 * each["test_mse"])
    off = of_students.students_of_slice(Task(), far).set_index("quantity").loc["test_mse"]
    assert (off["verdict"], off["reason"]) == ("differs", "instances")
    assert found.loc["m/sigma^2", "sigma"] == pytest.approx(-0.019 / (0.04**2 + 1e-6 / 12) ** 0.5)
    assert of_students.students_of_slice(Task(omega=0.4), pd.DataFrame(rows)).empty


def test_students_by_dimension():
    values = ({"theta": 0.09, "m": -0.16, "test_mse": 0.004}, {"theta": -0.11, "m": 0.18, "test_mse": 0.0042})
    rows = [
        trained(1.5, start, "gd", seed, **each) | {"d": d}
        for start in ("semantic", "positional") for d in (10, 15, 36) for seed, each in enumerate(values)
    ]  # fmt: skip
    found = of_students.by_dimension(pd.DataFrame(rows), Task(), ("theta/sigma^2", "m/sigma^2", "test_mse"))
    assert [(row.quantity, *row.parameters.values(), row.published) for row in found.itertuples()] == [
        ("theta/sigma^2", 10, "semantic", "0.381"), ("theta/sigma^2", 36, "semantic", "0.444"),
        ("m/sigma^2", 10, "positional", "0.68"), ("m/sigma^2", 36, "positional", "0.86"),
        ("test_mse", 10, "semantic", "0.00424"), ("test_mse", 36, "semantic", "0.00263"),
    ]  # fmt: skip
    # Absolute overlaps over sigma^2 = 1/4, as published; the errors of two values are half their distance.
    assert found["value"].to_list() == pytest.approx([0.4, 0.4, 0.68, 0.68, 0.0041, 0.0041])
    assert found["error"].to_list() == pytest.approx([0.04, 0.04, 0.04, 0.04, 1e-4, 1e-4])
    assert set(found["published_n"]) == {30} and set(found["n"]) == {2}


def test_distances_to_the_limit_carry_both_errors():
    index = pd.MultiIndex.from_product([["semantic", "positional"], [10, 500]], names=["start", "d"])
    means = pd.DataFrame({"test_mse": [0.004, 0.002, 0.006, 0.004], "test_mse_error": [4e-4, 2e-5, 6e-4, 4e-5]}, index)
    limits = {
        "semantic": SimpleNamespace(test_mse=0.002, stderr={"test_mse": 2e-5}),
        "positional": SimpleNamespace(test_mse=0.004, stderr={"test_mse": 0.0}),
    }
    found = of_students.distances_to_limit(means, limits)
    assert found["d"].to_list() == [10, 500]
    assert found["ratio_semantic"].to_list() == pytest.approx([2.0, 1.0])
    assert found["ratio_semantic_error"].to_list() == pytest.approx([2 * (0.1**2 + 0.01**2) ** 0.5, 0.01 * 2**0.5])
    assert found["ratio_positional"].to_list() == pytest.approx([1.5, 1.0])
    assert found["ratio_positional_error"].to_list() == pytest.approx([0.15, 0.01])


def test_optimizers_have_the_columns_of_a_page():
    rows = [
        trained(1.0, "semantic", optimizer, seed, theta=theta) | {"omega": 0.3}
        for optimizer, values in (("lbfgs", (1.0, 3.0)), ("gd", (1.5, 3.1))) for seed, theta in enumerate(values)
    ]  # fmt: skip
    found = of_students.optimizers(pd.DataFrame(rows)).set_index("quantity").loc["theta"]
    assert found["difference"] == pytest.approx(0.3) and found["difference_error"] == pytest.approx(0.2)
    assert found["rms_difference"] == pytest.approx(0.13**0.5) and found["spread"] == pytest.approx(2**0.5)


# Several starts


def test_no_scatter_where_all_starts_meet():
    losses = {0.1: {0: [0.0, 2e-4], 1: [0.0, 4e-4]}, 0.3: {0: [0.0, 1e-10], 1: [0.0, 1e-10]}}
    rows = [
        {"alpha": 1.0, "omega": omega, "start": start, "seed": seed, "train_loss": loss}
        for omega, sets in losses.items() for seed, values in sets.items()
        for start, loss in zip(["semantic", "near_semantic"], values)
    ]  # fmt: skip
    divided, single = starts.scatter(pd.DataFrame(rows)).to_dict("records")
    assert divided["scatter"] == pytest.approx(5e-8**0.5) and divided["minima"] == 2
    assert np.isnan(single["scatter"]) and np.isnan(single["scatter_error"]) and single["minima"] == 1


def test_memory_is_a_root_mean_square_over_data_sets():
    rows = [
        {"alpha": 0.5, "start": start, "d": 100, "seed": seed, "theta": theta, "m": m, "train_loss": loss}
        for start, seed, theta, m, loss in (
            ("semantic", 0, 0.3, 0.1, 1.0), ("semantic", 1, -0.5, -0.1, 3.0),
            ("random", 0, 0.1, 0.2, 1.0), ("random", 0, -0.3, 0.2, 2.0), ("random", 1, 0.1, -0.2, 2.5),
        )
    ]  # fmt: skip
    theory = pd.DataFrame({"what": ["symmetric", "symmetric", "semantic"], "alpha": [0.5, 0.6, 0.5],
                           "train_loss": [0.9, 5.0, 5.0], "train_loss_error": [0.01, 1.0, 1.0]})  # fmt: skip
    found = starts.memory(pd.DataFrame(rows), theory).set_index("start")
    assert found.loc["semantic", "theta_rms"] == pytest.approx(((0.09 + 0.25) / 2) ** 0.5)
    assert found.loc["semantic", "theta_rms_error"] == pytest.approx(0.08 / (2 * 0.17**0.5))
    # Starts on one data set are one instance: squares 0.05 and 0.01.
    assert found.loc["random", "theta_rms"] == pytest.approx(0.03**0.5)
    assert found.loc["random", "theta_rms_error"] == pytest.approx(0.02 / (2 * 0.03**0.5))
    assert found.loc["random", "train_loss"] == 2.0 and found.loc["random", "train_loss_error"] == pytest.approx(0.5)
    assert found.loc["any", ["theta_rms", "m_rms", "train_loss", "train_loss_error"]].to_list() == [0, 0, 0.9, 0.01]
    assert np.isnan(found.loc["any", "dimension"]) and found.loc["random", "dimension"] == 100
    assert "any" not in set(starts.memory(pd.DataFrame(rows), theory[:0])["start"])


def ends():
    """Two data sets, three starts on each: three minima on the first, one on the second."""
    found = pd.DataFrame({
        "seed": [0, 0, 0, 1, 1, 1], "minimum": [0, 1, 2, 0, 0, 0], "train_loss": [1.0, 1.1, 1.2, 2.0, 2.0, 2.0],
        "aligned": [0.5, 0.7, 0.6, 1.0, 1.0, 1.0], "nearest": [0.5, 0.05, 0.05, 0.0, 5e-4, 2e-3],
    })  # fmt: skip
    return found.assign(omega=0.3, alpha=1.5, valley="positional", noise=0.1)


def test_minima_of_a_valley():
    (row,) = starts.valleys(ends()).to_dict("records")
    assert (row["starts"], row["minima"], row["minima_low"], row["minima_high"]) == (3, 2.0, 1, 3)
    assert row["relative_scatter"] == pytest.approx((0.1 + 0) / 2)  # standard deviation over the lowest, on average
    assert row["aligned"] == pytest.approx(0.8) and row["aligned_std"] == pytest.approx((0.26 / 5) ** 0.5)
    (row,) = starts.valleys(ends().assign(train_loss=1.0)).to_dict("records")
    assert np.isnan(row["relative_scatter"])


def test_nearest_other_ends():
    found = starts.neighbours(ends(), edges=(0, 1e-3, 1e-2, 2))
    assert found.to_numpy().tolist() == [[0, 1e-3, 2], [1e-3, 1e-2, 1], [1e-2, 2, 3]]


def test_losses_of_the_ends_beside_theory():
    limit = SimpleNamespace(train_loss=1.4, stderr={"train_loss": 0.01})
    (row,) = starts.levels(ends(), {(0.3, 1.5, "positional"): limit}).to_dict("records")
    assert (row["lowest_loss"], row["lowest_loss_error"]) == pytest.approx((1.5, 0.5))
    assert (row["mean_loss"], row["mean_loss_error"]) == pytest.approx((1.55, 0.45))
    assert (row["theory_loss"], row["theory_loss_error"]) == (1.4, 0.01)


def test_basins_side_by_side():
    rows = [
        ("adam", 50, 1.0, "semantic", 0.2, 0.1, 0.3), ("adam", 50, 1.0, "positional", 0.7, 0.6, 0.8),
        ("adam", 50, 1.0, "neither", 0.1, 0.0, 0.2),
    ]  # fmt: skip
    found = starts.basins(pd.DataFrame(rows, columns=["optimizer", "d", "alpha", "basin", "fraction", "low", "high"]))
    assert found.to_dict("records") == [{
        "optimizer": "adam", "d": 50, "alpha": 1.0, "semantic": 0.2, "semantic_low": 0.1, "semantic_high": 0.3,
        "positional": 0.7, "positional_low": 0.6, "positional_high": 0.8,
        "neither": 0.1, "neither_low": 0.0, "neither_high": 0.2,
    }]  # fmt: skip


def test_starts_above_the_lowest_loss():
    losses = {"semantic": [1.0, 2.0, 3.2], "positional": [1.05, 2.5, 3.0]}  # lowest 1, 2, 3: spread 1
    rows = [
        {"alpha": 1.0, "seed": seed, "start": start, "train_loss": loss}
        for start, values in losses.items() for seed, loss in enumerate(values)
    ]  # fmt: skip
    (row,) = starts.between(pd.DataFrame(rows)).to_dict("records")
    assert (row["alpha"], row["semantic_above"], row["positional_above"]) == (1.0, 1, 1)  # by more than 0.1
    assert row["apart"] == pytest.approx(0.2) and row["loss_spread"] == pytest.approx(1.0)


def test_random_starts_beside_the_best_informed_ones():
    alphas = [0.1, 0.2, 0.3, 0.4, 0.5]
    informed = pd.DataFrame([
        {"alpha": alpha, "seed": seed, "start": start, "train_loss": loss + seed, "theta": theta, "test_mse": 2.0}
        for alpha in alphas for seed in (0, 1)
        for start, loss, theta in (("semantic", 1.0, 0.5), ("positional", 1.5, 9.0))
    ])  # fmt: skip
    random = pd.DataFrame([
        {"alpha": alpha, "seed": seed, "train_loss": 1.3 + seed, "theta": 0.4 - 0.1 * seed, "test_mse": 2.5}
        for alpha in alphas for seed in (0, 1)
    ])  # fmt: skip
    (row,) = starts.against_informed(informed, random).to_dict("records")
    assert row["alpha"] == 0.5  # the fifth
    assert row["train_loss_share"] == pytest.approx(0.3 / 1.5) and row["train_loss_share_error"] == pytest.approx(0)
    assert row["theta_share"] == pytest.approx(-0.3) and row["theta_share_error"] == pytest.approx(0.1)
    assert row["test_mse_share"] == pytest.approx(0.25)


def test_the_stored_shifts_are_those_that_were_seen():
    """One step of breaking lowers alpha_c of the standard task, less and less as omega grows."""
    shifts = [thresholds.broken("critical", omega) for omega in (0.02, 0.1, 0.3)]
    assert all(-0.02 < shift < -5 * error < 0 for shift, error in shifts)
    assert shifts == sorted(shifts) and np.isnan(thresholds.broken("critical", 0.45)).all()
    assert thresholds.broken("linear", 0.3) == (0, 0) and np.isnan(thresholds.broken("linear", 0.35)).all()
