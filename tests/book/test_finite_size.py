"""Numbers of a finite dimension are those of that dimension, and Figure 2 draws them on the right side of zero."""

import numpy as np
import pandas as pd
import pytest
from frames import students

from attention_book.analysis import instances
from attention_book.experiments.cells import StudentCell
from attention_book.experiments.simulation import train_students
from attention_book.pages.slice import draw_slice
from attention_book.paths import DATA
from attention_phases import Task
from attention_phases.measured import Measured
from attention_phases.model.two_tokens import sample
from attention_phases.theory.prediction_error import test_error as expected_error


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


def curve(loss, alphas):
    names = ("train_loss", "test_mse", "theta", "m")
    return pd.DataFrame({"alpha": alphas, **dict.fromkeys(names, loss), **{f"{name}_error": 1e-3 for name in names}})


def test_figure_2_shows_the_semantic_loss_less_the_positional_one():
    alphas = np.linspace(0.5, 2, 7)
    theory = {"semantic": curve(3 - alphas, alphas), "positional": curve(2.0, alphas)}
    theory |= {"gap": curve(1 - alphas, alphas), "symmetric gap": curve(2.0, alphas[:1])}
    table = students(0.3, critical=1.0, linear=1.5, q=1.0, m=1.0, theta=1.0)
    means, gaps = instances.instance_means(table), instances.training_gap(table)
    thresholds = {"critical": Measured(1.0, 0.01), "linear": Measured(1.5, 0.01)}
    top = draw_slice(theory, 0.5, means, gaps, thresholds, 0.5, 0.5).axes[0]
    (line,) = [line for line in top.lines if line.get_label() == "theory"]
    assert dict(zip(*line.get_data())) == pytest.approx(dict(zip(alphas, 1 - alphas)))
    (points,) = [container for container in top.containers if len(container.get_children())]
    at, gap = points[0].get_data()
    assert dict(zip(at, gap))[2.0] == pytest.approx(-2.0) and dict(zip(at, gap))[0.5] == pytest.approx(1.0)
