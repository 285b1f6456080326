"""Students: means and gaps over data sets by hand, and the test errors of their dimension."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cells import cell
from frames import students

from attention_book.analysis import instances
from attention_book.analysis.instances import in_errors
from attention_book.experiments.cells import StudentCell
from attention_book.experiments.simulation import train_students
from attention_book.paths import DATA
from attention_phases import Task
from attention_phases.model.two_tokens import sample
from attention_phases.theory.prediction_error import test_error as expected_error


def of_slice(own, task, **given):
    """Names of the cell of Figure 2 that alone binds one of them, from given values."""
    known = {"task": task, "omega": task.omega, "sigma": task.sigma, "points": 0}
    return cell("fig02_slice", own, **known, **given)


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
