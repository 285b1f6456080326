"""Students of a cell: draw a training set, train from each start, measure (paper, Section 5 and Appendix E.3).

Also control variates for the crossing of the training losses. Trained students share most of the scatter between data
sets with students of fixed weights, whose mean loss is known: subtracting it leaves much less (`analysis.instances`).
"""

from dataclasses import replace
from math import sqrt

import numpy as np
import torch

from attention_phases.amp.recovery import recover
from attention_phases.attention import own_attention
from attention_phases.beyond.optimal import estimate_error
from attention_phases.model import two_tokens
from attention_phases.model.sentences import draw, fit_linear, labels, moments, positional_encoding
from attention_phases.model.weights import overlaps
from attention_phases.quadrature import tensor_rule
from attention_phases.theory.baseline import linear_test_error
from attention_phases.training import trials
from attention_phases.training.optimizers import gradient_descent, start_weights

from .tolerances import CONTROLS

# Sizes of the two students with fixed weights: near those of the trained ones, theta/sigma^2 and m, at alpha_c.
ALIGNED_SIZE, ENCODED_SIZE = 0.4, 0.22
CONTROL_NODES = 60  # of Gauss and Hermite's rule, for each of two fields


def train_students(cell, displaced=0.0):
    """Train from every start of a cell; a row for each.

    A row has the columns of `trials.train` but `seed` and `converged`, and those of `tested`, see `trials.train_on`.

    cell: a `StudentCell`, or one of its kind.
    displaced: relative displacement of every weight of the starts; the data stay the same.
    """
    rng = cell.rng()
    data = trials.sample(cell.task, cell.alpha, cell.d, rng, cell.architecture)
    if "given" in cell.settings:
        data = beside_positions(cell.task, data)
    setting = cell.optimizer, cell.architecture
    rows = trials.train_on(cell.task, data, cell.starts, rng, *setting, displaced=displaced, **cell.settings)
    return [{name: row[name] for name in row if name != "converged"} for row in rows]  # as stored tables have them


def beside_positions(task, data):
    """Return the training set as a student sees it that adds omega A itself to (1 - omega) S.

    Its misses ``(1 - omega) s + omega A_aa - target`` are those of S on the teacher's semantic part, times 1 - omega.
    """
    known = task.omega * torch.tensor(np.diag(task.matrix), dtype=data.targets.dtype)
    share = 1 - task.omega
    return replace(data, stiffness=share**2 * data.stiffness, targets=(data.targets - known) / share)


def train_controlled(cell):
    """The rows of `train_students`, each with the `controls` of its data."""
    known = controls(cell.task, trials.sample(cell.task, cell.alpha, cell.d, cell.rng()))
    return [{**row, **known} for row in train_students(cell)]


def controls(task, data):
    """Numbers of mean zero over data sets, whatever the teacher.

    "length" is ``|Q*|^2/d - 1``. The others are of three students: what their mean squared misfit
    ``(S_11 - Y_11)^2 + (S_22 - Y_22)^2`` on the data differs by from its mean over sentences, times alpha sigma^2 (the
    loss of Eq. 14 at their fields). "blind" has weights zero; "aligned" has weights `ALIGNED_SIZE` Q*; "encoded" has
    weights `ENCODED_SIZE` times the part of 1_d that is orthogonal to Q*.
    """
    teacher = data.teacher.double()
    length, lean = teacher @ teacher / data.d, teacher.mean().item()  # |Q*|^2/d, Q*.1/d
    encoded = ENCODED_SIZE * (1 - lean / length * teacher)
    fields = torch.stack([teacher, encoded]) @ data.inputs.double().reshape(-1, data.d).T
    (y, h) = fields.reshape(2, -1, 2).transpose(1, 2)  # (2 tokens, n) each
    y = y - lean * torch.tensor([[1.0], [-1.0]])  # the teacher reads no positions
    aligned = ALIGNED_SIZE * (y + lean * torch.tensor([[1.0], [-1.0]]))
    target = _target(task, y)
    misfits = [((own_attention(fields) - target) ** 2).mean(dim=1).sum().item() for fields in (0 * y, aligned, h)]
    size = task.sigma * sqrt(float(encoded @ encoded) / data.d)
    known = expected_misfits(task, task.sigma * sqrt(length), lean, size, float(encoded.mean()))
    scale = task.sigma**2 * y.shape[1] / data.d
    excesses = [scale * (misfit - mean) for misfit, mean in zip(misfits, known)]
    return dict(zip(CONTROLS, [float(length) - 1, *excesses]))


def expected_misfits(task, spread, lean, size, shift):
    """Means over sentences of the three misfits of `controls`.

    spread, size: standard deviations of the fields of the teacher and of the encoded student.
    lean, shift: overlaps with the encoding, 1_d/d, of the teacher and of the encoded student.
    """
    points, weights = tensor_rule(CONTROL_NODES, 2)
    grid = torch.from_numpy(points.T)
    sides = torch.tensor([[1.0], [-1.0]])
    y, encoded = spread * grid, own_attention(size * grid + shift * sides)
    target = _target(task, y)
    blind, aligned = ((own_attention(h) - target) ** 2 for h in (0 * y, ALIGNED_SIZE * (y + lean * sides)))

    def mean(values):
        return values.numpy() @ weights

    # The encoded student's fields are independent of the teacher's: all means factorise.
    apart = mean(encoded**2) - 2 * mean(encoded) * mean(target) + mean(target**2)
    return mean(blind).sum(), mean(aligned).sum(), apart.sum()


def _target(task, y):
    """Y_11 and Y_22 of teacher fields (2, n)."""
    return (1 - task.omega) * own_attention(y) + task.omega * torch.tensor(task.matrix, dtype=y.dtype).diag()[:, None]


def take_first_steps(cell):
    """Rows of a `FirstStepsCell`: q, m and theta of each student, by its `number`, after each `step`."""
    rng, rows = cell.rng(), []
    data = two_tokens.sample(cell.task, cell.alpha, cell.d, rng)
    weights = torch.stack([start_weights("random", data.teacher, rng) for _ in range(cell.count)])
    for before, step in zip((0, *cell.steps), cell.steps):
        weights, _ = gradient_descent(data, cell.task.lam, weights, steps=step - before)
        for number, student in enumerate(weights):
            point = overlaps(cell.task, student, data.teacher)
            rows.append({"step": step, "number": number, **point.named})
    return rows


def look_for_teacher(cell):
    """Row of a `RecoveryCell`: how much of the teacher it knows, and the test error of what it would predict."""
    q, steps, converged = recover(cell.task, cell.alpha, cell.d, cell.rng())
    test_mse = estimate_error(cell.task, min(q, 1.0)).value
    return [{"squared_cosine": q, "test_mse": test_mse, "steps": steps, "converged": converged}]


def linear_baselines(cell):
    """Test errors of linear models fitted to a cell's data, exact at d, by what they read: see `fit_both_linear`."""
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
