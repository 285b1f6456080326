"""Students of a cell: draw a training set, train from each start, measure (paper, Section 5 and Appendix E.3)."""

from dataclasses import replace

import numpy as np
import torch

from attention_phases.model import two_tokens
from attention_phases.model.sentences import draw, fit_linear, labels, moments, positional_encoding
from attention_phases.theory.baseline import linear_test_error
from attention_phases.theory.optimal import prediction_error
from attention_phases.training import trials
from attention_phases.training.optimizers import gradient_descent, start_weights
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
    data = beside_positions(cell.task, _sample(cell, rng))
    return train_on(cell, data, rng, displaced)


def beside_positions(task, data):
    """Return the training set as a student sees it that adds omega A itself to (1 - omega) S.

    Its misses ``(1 - omega) s + omega A_aa - target`` are those of S on the teacher's semantic part, times 1 - omega.
    """
    known = task.omega * torch.tensor(np.diag(task.matrix), dtype=data.targets.dtype)
    share = 1 - task.omega
    return replace(data, stiffness=share**2 * data.stiffness, targets=(data.targets - known) / share)


def train_with_slip(cell, displaced=0.0):
    """The rows of `train_students`, by gradient descent with other settings than published."""
    rng = cell.rng()
    return train_on(cell, _sample(cell, rng), rng, displaced, **SLIPS[cell.slip])


def train_on(cell, data, rng, displaced=0.0, **settings):
    """The rows of `train_students` on a training set that `rng` has drawn; `settings` are of the optimizer."""
    given = cell.task.omega if isinstance(cell, PositionsGivenCell) else 0.0
    options = {"architecture": _architecture(cell), "given": given, "displaced": displaced}
    rows = trials.train_on(cell.task, data, cell.starts, rng, cell.optimizer, **options, **settings)
    return [{name: row[name] for name in row if name != "converged"} for row in rows]  # as stored tables have them


def _sample(cell, rng, device="cpu"):
    return trials.sample(cell.task, cell.alpha, cell.d, rng, _architecture(cell), device)


def _architecture(cell):
    return cell.architecture if isinstance(cell, ArchitectureCell) else None


def take_first_steps(cell):
    """Rows of a `FirstStepsCell`: q, m and theta of each student, by its `number`, after each `step`."""
    rng, rows = cell.rng(), []
    data = two_tokens.sample(cell.task, cell.alpha, cell.d, rng)
    weights = torch.stack([start_weights("random", data.teacher, rng) for _ in range(cell.count)])
    for before, step in zip((0, *cell.steps), cell.steps):
        weights, _ = gradient_descent(data, cell.task.lam, weights, steps=step - before)
        for number, student in enumerate(weights):
            point = two_tokens.overlaps(cell.task, student, data.teacher)
            rows.append({"step": step, "number": number, **point.named})
    return rows


def look_for_teacher(cell):
    """Row of a `RecoveryCell`: how much of the teacher it knows, and the test error of what it would predict."""
    q, steps, converged = recover(cell.task, cell.alpha, cell.d, cell.rng())
    test_mse = prediction_error(cell.task, min(q, 1.0)).value
    return [{"squared_cosine": q, "test_mse": test_mse, "steps": steps, "converged": converged}]


def linear_baselines(cell):
    """Test errors of the linear models fitted on a cell's data set, exact at its d, by what they read.

    This is "tokens", and "tokens and positions" (see `fit_both_linear`).
    """
    teacher, fits = fit_both_linear(cell.task, cell.alpha, cell.d, cell.rng())
    length = (teacher.double() @ teacher.double()).item() / cell.d
    return {
        name: linear_test_error(cell.task, attention, cell.d, length, positions=name != "tokens")
        for name, attention in fits.items()
    }


def fit_both_linear(task, alpha, d, rng):
    """The teacher, and linear models fitted on the data that `two_tokens.sample` draws, by what they read.

    "tokens" is the ridge regression of the labels on xi, as in the published experiments; "tokens and positions" is
    that on x, which the student reads.
    """
    teacher, xi, y = draw(task, alpha, d, rng)
    goal = labels(task, xi, y)
    read = {"tokens": xi, "tokens and positions": positional_encoding(task, xi)}
    return teacher, {name: fit_linear(moments(x, x), moments(goal, x)) for name, x in read.items()}
