"""Students of a cell: draw a training set, train from each start, measure (paper, Section 5 and Appendix E.3)."""

import numpy as np
import torch

from attention_phases.errors import check_choice
from attention_phases.model import students, two_tokens
from attention_phases.model.architectures import STANDARD
from attention_phases.model.sentences import fit_both_linear
from attention_phases.model.two_tokens import column_overlaps
from attention_phases.theory.baseline import linear_test_error
from attention_phases.theory.equations import flat_overlaps
from attention_phases.theory.optimal import prediction_error
from attention_phases.theory.prediction_error import general_test_error, test_error
from attention_phases.training.optimizers import displace, fit, gradient_descent, start_weights
from attention_phases.training.recovery import recover

from .cells import SLIPS, ArchitectureCell, PositionsGivenCell


def train_students(cell, device="cpu", displaced=0.0):
    """Train from every start of a cell; a row for each.

    A row has start, q, m, theta, train_loss, test_mse, linear_mse, grad_norm, steps and seconds. The test errors are
    exact expectations over test sentences at this d, up to 1e-3 of their value. With several columns of fields q is
    ``sigma^2 tr(q)``, and m and theta are norms over the columns; the overlaps themselves follow without sigma^2, as
    q_11, q_12, m_1 and so on.

    cell: a `StudentCell` or an `ArchitectureCell`.
    device: where to train; the numbers agree between devices to float32 accuracy.
    displaced: relative displacement of every weight of the starts; the data stay the same.
    """
    rng = cell.rng()
    return train_on(cell, _sample(cell, rng, device), rng, displaced)


def train_beside_positions(cell, displaced=0.0):
    """The rows of `train_students`, for students that add omega A themselves to (1 - omega) S."""
    rng = cell.rng()
    data = two_tokens.beside_positions(cell.task, _sample(cell, rng))
    return train_on(cell, data, rng, displaced)


def train_with_slip(cell, displaced=0.0):
    """The rows of `train_students`, by gradient descent with other settings than published."""
    rng = cell.rng()
    return train_on(cell, _sample(cell, rng), rng, displaced, **SLIPS[cell.slip])


def train_on(cell, data, rng, displaced=0.0, **settings):
    """The rows of `train_students` on a training set that `rng` has drawn; `settings` are of the optimizer."""
    form = cell.architecture.form if isinstance(cell, ArchitectureCell) else "tied"
    risk = students.risk if isinstance(data, students.Sentences) else two_tokens.risk
    starts = torch.stack([start_weights(start, data.teacher, rng, form) for start in cell.starts])
    task, starts = cell.task, displace(starts, displaced, rng)
    fits = fit(data, task.lam, starts, cell.optimizer, risk, task.l1, **settings)
    return [_row(cell, data, start, trained) for start, trained in zip(cell.starts, fits)]


def _sample(cell, rng, device="cpu"):
    size = cell.alpha, cell.d, rng, device
    if not isinstance(cell, ArchitectureCell) or cell.architecture.reducible:
        return two_tokens.sample(cell.task, *size)  # the same sentences, and a gradient in half the time
    return students.sample(cell.task, cell.architecture, *size)


def _row(cell, data, start, student):
    overlaps, errors = _measure(cell, student.weights, data.teacher, data.linear())
    trained = {name: getattr(student, name) for name in ("grad_norm", "steps", "seconds")}
    test_errors = dict(zip(("test_mse", "linear_mse"), errors))
    return {"start": start, **overlaps, "train_loss": student.train_loss, **test_errors, **trained}


def _measure(cell, weights, teacher, linear):
    """Overlaps of a student, its test error and that of the linear model."""
    task = cell.task
    if not (task.structured or isinstance(cell, ArchitectureCell)):  # the same errors in a tenth of the time
        point = two_tokens.overlaps(task, weights, teacher)
        given = task.omega if isinstance(cell, PositionsGivenCell) else 0.0
        errors = [test_error(task, point, cell.d, fixed, given)[0] for fixed in (None, linear)]
        return {name: point[name] for name in ("q", "m", "theta")}, errors
    architecture = cell.architecture if isinstance(cell, ArchitectureCell) else STANDARD
    weights, teachers = (part.double().cpu().numpy().reshape(-1, cell.d) for part in (weights, teacher))
    columns, rest = np.split(weights, [architecture.rank])
    if architecture.rotates and not task.structured:
        columns = _gauge(columns, teachers[0])
    kind = check_choice("value matrix of the test error", architecture.value, ("none", "pair", "full"))
    value = {"none": None, "full": rest}[kind] if kind != "pair" else np.outer(*rest) / cell.d
    models = ((value, None), (None, linear))
    errors = [general_test_error(task, architecture, columns, teachers, *model)[0] for model in models]
    if task.structured:
        return _structured_overlaps(task, columns, teachers), errors
    q, m, theta = columns @ columns.T / cell.d, columns.mean(axis=1), columns @ teachers[0] / cell.d
    overlaps = flat_overlaps(task.sigma**2, q, m, theta)
    return {name: float(value) for name, value in overlaps.items()}, errors


def _structured_overlaps(task, columns, teachers):
    """Overlaps with the covariance of a task with structure.

    With several columns, of the teacher or the student, q is a trace and m and theta are norms; teacher_1, teacher_2
    are then those of the overlaps with each column of the teacher. `length` is Q*^T Sigma Q*/d over its limit, minus 1,
    the mean over columns: a control variate.
    """
    point = column_overlaps(task, columns, teachers)
    variance = sum(direction.weight * direction.variance * direction.teacher for direction in task.directions)
    length = {"length": float(np.mean(np.diag(point["rho"]) / (variance * np.array(task.teachers)))) - 1}
    if point["theta"].size == 1:
        return {name: point[name].item() for name in ("q", "m", "theta")} | length
    of_teachers = np.linalg.norm(point["theta"], axis=0)
    sizes = {"q": np.trace(point["q"]), "m": np.linalg.norm(point["m"]), "theta": np.linalg.norm(of_teachers)}
    sizes |= {f"teacher_{k + 1}": size for k, size in enumerate(of_teachers)}
    return {name: float(size) for name, size in sizes.items()} | length


def _gauge(columns, teacher):
    """Two columns whose scores add up, rotated so that the second has no overlap with the teacher, and m_2 >= 0."""
    along = columns @ teacher
    cos, sin = along / np.linalg.norm(along)
    rotated = np.array([[cos, sin], [-sin, cos]]) @ columns
    return rotated * np.array([[1.0], [1.0 if rotated[1].mean() >= 0 else -1.0]])


def take_first_steps(cell):
    """Rows of a `FirstStepsCell`: q, m and theta of each student, by its `number`, after each `step`."""
    rng, rows = cell.rng(), []
    data = two_tokens.sample(cell.task, cell.alpha, cell.d, rng)
    weights = torch.stack([start_weights("random", data.teacher, rng) for _ in range(cell.count)])
    for before, step in zip((0, *cell.steps), cell.steps):
        weights, _ = gradient_descent(data, cell.task.lam, weights, steps=step - before)
        for number, student in enumerate(weights):
            point = two_tokens.overlaps(cell.task, student, data.teacher)
            rows.append({"step": step, "number": number, **{name: point[name] for name in ("q", "m", "theta")}})
    return rows


def look_for_teacher(cell):
    """Row of a `RecoveryCell`: how much of the teacher it knows, and the test error of what it would predict."""
    q, steps, converged = recover(cell.task, cell.alpha, cell.d, cell.rng())
    test_mse = prediction_error(cell.task, min(q, 1.0)).value
    return [{"squared_cosine": q, "test_mse": test_mse, "steps": steps, "converged": converged}]


def linear_baselines(cell):
    """Test errors of the linear models fitted on a cell's data set, exact at its d, by what they read.

    This is "tokens", and "tokens and positions" (see `sentences.fit_both_linear`).
    """
    teacher, fits = fit_both_linear(cell.task, cell.alpha, cell.d, cell.rng())
    length = (teacher.double() @ teacher.double()).item() / cell.d
    return {
        name: linear_test_error(cell.task, attention, cell.d, length, positions=name != "tokens")
        for name, attention in fits.items()
    }
