"""Students: means and gaps over data sets, beside the published ones and theory, and of their dimension; by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cells import cell
from frames import lines, students

from attention_book.analysis import instances
from attention_book.analysis.beside_published import sizes_beside_published
from attention_book.analysis.instances import in_errors
from attention_book.analysis.thresholds import losses_of
from attention_book.experiments.cells import StudentCell
from attention_book.experiments.simulation import train_students
from attention_book.paths import DATA
from attention_book.published import compare
from attention_phases import Task
from attention_phases.measured import Measured
from attention_phases.model.two_tokens import sample
from attention_phases.theory.prediction_error import test_error as expected_error


def of_slice(own, task, **given):
    """Names of the cell of Figure 2 that alone binds one of them, from given values."""
    known = {"task": task, "omega": task.omega, "sigma": task.sigma, "points": 0}
    return cell("fig02_slice", own, **known, **given)


def solution(**values):
    overlaps = SimpleNamespace(_asdict=lambda: {name: values.get(name, 0.0) for name in ("q", "m", "theta", "V")})
    errors = dict.fromkeys(("q", "m", "theta", "V", "train_loss", "test_mse"), 1e-5)
    return SimpleNamespace(overlaps=overlaps, train_loss=0.003600, test_mse=0.0014, stderr=errors | {"V": 0.1})


def test_theory_of_figure_2():
    solutions = {"semantic": solution(q=0.1143, V=12.0, theta=0.1580), "positional": solution(q=0.05, V=11.0, m=0.26)}
    known = {"critical": Measured(1.25, 0.0006), "linear": Measured(1.49, 0.0006)}
    rules = pd.DataFrame({"what": ["critical", "linear"], "omega": 0.3, "rule": [1.26, 1.46]})
    by_rules = {
        branch: dict.fromkeys(("q", "m", "theta", "V", "train_loss", "test_mse"), np.nan) for branch in solutions
    }
    given = {"solutions": solutions, "thresholds": known, "rules": rules, "by_rules": by_rules}
    rows = compare(of_slice("QUANTITIES", Task(), **given)["comparisons"])
    assert len(rows) == 12 and rows["difference"].to_list()[:2] == pytest.approx([1.25 - 1.2410177, 1.49 - 1.4505799])
    by = {(row.quantity, row.parameters.get("branch")): row for row in rows.itertuples()}
    assert by["theta", "semantic"].difference == pytest.approx(-0.0006)
    assert by["V", "positional"].sigma == pytest.approx(-0.04 / (0.01 + 1e-4 / 12) ** 0.5)
    assert by["train_loss", "semantic"].value == 0.0036 and by["test_mse", "semantic"].value == 0.0014
    assert by["m", "positional"].parameters == {"alpha": 2.0, "branch": "positional"}


def test_a_task_that_is_not_the_papers_has_a_table_of_its_own_solutions():
    """And says which branch it lacks, and why."""
    columns = ("q", "m", "theta", "V", "train_loss", "test_mse")
    row = {f"{name}{part}": k + len(part) for k, name in enumerate(columns) for part in ("", "_error")}
    there, ended = (SimpleNamespace(converged=not reason, reason=reason) for reason in ("", "branch has ended"))
    given = {"solutions": {"semantic": there, "positional": ended}, "thresholds": {}, "row_of": lambda *_: row}
    shown = of_slice("QUANTITIES", Task(sigma=0.7), **given)
    assert shown["frame"]["semantic"].tolist() == [0, 1, 2, 3, 4, 5] and "positional" not in shown["frame"]
    assert shown["frame"]["semantic_error"].tolist() == [6, 7, 8, 9, 10, 11]
    assert shown["title"] == "Theory: solutions at α = 2; no positional one: branch has ended"


def trained(alpha, start, optimizer, seed, **values):
    same = dict.fromkeys(instances.MEASURED, 0.0)
    return {"alpha": alpha, "start": start, "optimizer": optimizer, "seed": seed, "d": 1000} | same | values


def of_experiment(task, table):
    return compare(of_slice("optimizer", task, table=table)["comparisons"])


def test_experiments_of_figure_2():
    rows = [
        trained(0.5075, "positional", "gd", 0, m=0.21, test_mse=0.0031, train_loss=0.0011, linear_mse=0.0019),
        trained(0.5075, "positional", "gd", 1, m=-0.23, test_mse=0.0033, train_loss=0.0013, linear_mse=0.0021),
        trained(0.5075, "semantic", "gd", 0, m=9.0),
        trained(0.5075, "semantic", "gd", 1, m=9.0),
        trained(0.5075, "positional", "lbfgs", 0, m=9.0),
        trained(0.5075, "positional", "lbfgs", 1, m=9.0),
        trained(0.25, "positional", "gd", 0),
        trained(0.25, "positional", "gd", 1),
    ]
    frame = of_experiment(Task(), pd.DataFrame(rows)).set_index("quantity")
    assert list(frame["published"]) == ["0.00322", "0.00197", "0.001162", "0.899"]
    assert frame["value"].to_list() == pytest.approx([0.0032, 0.0020, 0.0012, 0.88])  # |m|, as published
    assert frame["error"].to_list() == pytest.approx([1e-4, 1e-4, 1e-4, 0.04])
    assert frame.loc["linear_mse", "verdict"] == "not comparable" and frame.loc["linear_mse", "reason"] == "definition"
    assert frame.loc["test_mse", "verdict"] == "agrees" and set(frame["n"]) == {2}
    far = pd.DataFrame(rows).assign(test_mse=lambda table: 2 * table["test_mse"])
    off = of_experiment(Task(), far).set_index("quantity").loc["test_mse"]
    assert (off["verdict"], off["reason"]) == ("differs", "instances")
    of_both = 0.04**2 * (1 + 2 / 24)  # the published means are of 24 data sets
    assert frame.loc["m/sigma^2", "sigma"] == pytest.approx(-0.019 / (of_both + 1e-6 / 12) ** 0.5)
    assert of_experiment(Task(omega=0.4), pd.DataFrame(rows)).empty


def test_students_by_dimension():
    values = ({"theta": 0.09, "m": -0.16, "test_mse": 0.004}, {"theta": -0.11, "m": 0.18, "test_mse": 0.0042})
    rows = [
        trained(1.5, start, "gd", seed, **measured) | {"d": d}
        for start in ("semantic", "positional")
        for d in (10, 15, 36)
        for seed, measured in enumerate(values)
    ]
    frame = sizes_beside_published(pd.DataFrame(rows), Task(), ("theta/sigma^2", "m/sigma^2", "test_mse"))
    assert [(row.quantity, *row.parameters.values(), row.published) for row in frame.itertuples()] == [
        ("theta/sigma^2", 10, "semantic", "0.381"),
        ("theta/sigma^2", 36, "semantic", "0.444"),
        ("m/sigma^2", 10, "positional", "0.68"),
        ("m/sigma^2", 36, "positional", "0.86"),
        ("test_mse", 10, "semantic", "0.00424"),
        ("test_mse", 36, "semantic", "0.00263"),
    ]
    # Absolute overlaps over sigma^2 = 1/4, as published; the errors of two values are half their distance.
    assert frame["value"].to_list() == pytest.approx([0.4, 0.4, 0.68, 0.68, 0.0041, 0.0041])
    assert frame["error"].to_list() == pytest.approx([0.04, 0.04, 0.04, 0.04, 1e-4, 1e-4])
    assert set(frame["published_n"]) == {30} and set(frame["n"]) == {2}


# Means and gaps


def test_means_and_paired_differences():
    rows = [
        {"start": start, "alpha": 1.0, "seed": seed, **{name: value for name in instances.MEASURED}}
        for start, values in (("semantic", (1.0, 4.0)), ("positional", (0.5, 3.0)))
        for seed, value in enumerate(values)
    ]
    table = pd.DataFrame(rows)
    means = instances.instance_means(table)
    assert means.loc[("semantic", 1.0), "theta"] == 2.5
    assert means.loc[("semantic", 1.0), "theta_error"] == pytest.approx(1.5)  # (4 - 1)/sqrt 2 over sqrt 2
    assert instances.training_gap(table).loc[1.0].tolist() == [0.5, 1.0]
    shuffled = table.sample(frac=1, random_state=1)
    assert instances.training_gap(shuffled).loc[1.0].tolist() == [0.5, 1.0]


def test_standard_errors_are_of_the_mean():
    rows = [
        {"start": "semantic", "d": 10, "seed": seed, **dict.fromkeys(instances.MEASURED, value)}
        for seed, value in enumerate((1.0, 2.0, 3.0, 6.0))
    ]
    means = instances.instance_means(pd.DataFrame(rows), along="d").loc[("semantic", 10)]
    assert (means["q"], means["q_error"]) == (3.0, pytest.approx((14 / 3 / 4) ** 0.5))


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


def test_maps_by_alpha_and_omega():
    table = pd.concat([students(0.1, 0.5, 1.0), students(0.3, 1.0, 1.5)])
    means = instances.gap_map(table, instances.training_gap)
    assert means.loc[0.0].to_dict() == pytest.approx({0.1: 1.0, 0.3: 2.0})
    named = {
        "semantic": [(1.0, 3.0, 1.0), (2.0, 5.0, 0.5)],
        "symmetric": [(0.5, 9.0, 2.0), (1.0, 9.0, 2.0)],
        "positional": [(1.0, 4.0, 0.7), (2.0, 4.0, 0.7)],
    }
    theory = [
        {"what": what, "omega": 0.3, "alpha": alpha, "train_loss": loss, "test_mse": error, "q": 0, "m": 0, "theta": 0}
        for what, rows in named.items()
        for alpha, loss, error in rows
    ]
    theory = pd.DataFrame([*theory, {"what": "baseline", "omega": 0.3, "test_mse": 0.6}])

    # Where a minimum is missing the student without overlaps takes its place.
    semantic, positional = (losses_of(theory, branch, "train_loss") for branch in ("semantic", "positional"))
    assert (semantic - positional)[0.3].to_dict() == pytest.approx({0.5: 0.0, 1.0: -1.0, 2.0: 1.0})
    theory = pd.concat([theory, lines([("critical", 0.3, 1.0, 0.01)])])  # a line on the map
    page = cell("fig03_phase_diagram", "in_theory", lines=theory, trained=table, marks={"linear": []})
    in_theory = page["in_theory"]
    assert in_theory[0.3].to_dict() == pytest.approx({0.5: -1.4, 1.0: -0.4, 2.0: -0.1})


# Of a finite dimension


def errors(task, row, d, length=1.0, mean=0.0):
    """Test error at d and at infinite d of a student with these overlaps; length and mean are the teacher's."""
    overlaps = {name: row[name] for name in ("q", "m", "theta")} | {"rho": length * task.sigma**2, "m_teacher": mean}
    return expected_error(task, overlaps, d)[0], expected_error(task, overlaps)[0]


@pytest.mark.slow
def test_a_run_stores_the_test_error_of_its_dimension(monkeypatch):
    seen = []
    name = "attention_phases.model.two_tokens.sample"
    monkeypatch.setattr(name, lambda *given: seen.append(sample(*given)) or seen[0])
    cell = StudentCell("test", Task(), alpha=1.5, d=20, seed=0, optimizer="lbfgs")
    for row in train_students(cell):
        teacher = seen[0].teacher.double()
        at_d, limit = errors(Task(), row, 20, teacher.square().mean().item(), teacher.mean().item())
        assert row["test_mse"] == pytest.approx(at_d, rel=1e-9) != limit


def test_stored_test_errors_are_those_of_their_dimension():
    """d = 10, where the limit is far. Means over the teachers, whose length is 1 and whose mean is 0 on average."""
    table = pd.read_parquet(DATA / "fig07.parquet")
    table = table[(table["d"] == 10) & (table["start"] == "positional") & (table["optimizer"] == "gd")][:20]
    both = np.array([errors(Task(), row, 10) for row in table.to_dict("records")])
    at_d, limit = np.abs(table["test_mse"].mean() - both.mean(0))
    assert at_d < 0.3 * limit
