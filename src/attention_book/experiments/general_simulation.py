"""Cells of the experiments on other architectures: draw sentences, train, measure (Figures 10 to 15)."""

import numpy as np
import torch

from attention_phases.model import rank_one, students
from attention_phases.theory.general.prediction_error import general_test_error, project
from attention_phases.theory.general.state_evolution import flat_overlaps
from attention_phases.training.optimizers import displace, fit


def train_architecture(cell, device="cpu", displaced=0.0):
    """Train from every start of a cell.

    Parameters
    ----------
    cell : ArchitectureCell
    device : str
    displaced : float
        As for `simulation.train_students`.

    Returns
    -------
    list of dict
        One for each start, as from `simulation.train_students`. With several columns of fields q is ``sigma^2 tr(q)``,
        and m and theta are norms over the columns; the overlaps themselves follow without sigma^2, as q_11, q_12, m_1
        and so on.
    """
    task, architecture, rng = cell.task, cell.architecture, cell.rng()
    if architecture.reducible:  # the same sentences, and a gradient in half the time
        data, kind = rank_one.sample(task, cell.alpha, cell.d, rng, device), rank_one
    else:
        data, kind = students.sample(task, architecture, cell.alpha, cell.d, rng, device), students
    starts = torch.stack([students.start_weights(architecture.form, start, data.teacher, rng) for start in cell.starts])
    starts = displace(starts, displaced, rng)
    linear = kind.fit_linear(data)
    return [
        _measure(task, architecture, data.teacher, linear, start, trained)
        for start, trained in zip(cell.starts, fit(data, task.lam, starts, cell.optimizer, kind.risk))
    ]


def teacher_length(cell):
    """``|Q*|^2/d`` of a cell's teacher, the first that is drawn: 1 in the mean and at infinite d."""
    teacher = cell.rng().standard_normal(cell.d, dtype=np.float32).astype(float)
    return float(teacher @ teacher) / cell.d


def _measure(task, architecture, teacher, linear, start, trained):
    d, r, form = len(teacher), architecture.rank, architecture.form
    weights, teacher = trained.weights.double().cpu().numpy(), teacher.double().cpu().numpy()
    columns, rest = weights[: r * d].reshape(r, d), weights[r * d :]
    if form == "rank2":
        columns = _gauge(columns, teacher)
    student = project(
        columns,
        teacher,
        value=rest.reshape(d, d) if form == "full_value" else None,
        pair=rest.reshape(2, d) if form == "value" else None,
    )
    return {
        "start": start,
        **overlaps(task, columns, teacher),
        "train_loss": trained.train_loss,
        "test_mse": general_test_error(task, architecture, student)[0],
        "linear_mse": general_test_error(task, architecture, student, linear)[0],
        "grad_norm": trained.grad_norm,
        "steps": trained.steps,
        "seconds": trained.seconds,
    }


def overlaps(task, columns, teacher):
    """Overlaps of weights (r, d), as `train_architecture` returns them."""
    d = columns.shape[1]
    q, m, theta = columns @ columns.T / d, columns.mean(axis=1), columns @ teacher / d
    return {name: float(each) for name, each in flat_overlaps(task.sigma**2, q, m[None], theta).items()}


def _gauge(columns, teacher):
    """Two columns whose scores add up, rotated so that the second has no overlap with the teacher, and m_2 >= 0."""
    along = columns @ teacher
    cos, sin = along / np.linalg.norm(along)
    rotated = np.array([[cos, sin], [-sin, cos]]) @ columns
    return rotated * np.array([[1.0], [1.0 if rotated[1].mean() >= 0 else -1.0]])
