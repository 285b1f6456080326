"""Whether descent stays in the positional valley, and how soft its ends are."""

import numpy as np
import torch

from attention_phases.model.curvature import hessian, softness
from attention_phases.model.two_tokens import overlaps, risk, sample
from attention_phases.training.optimizers import fit, gradient_descent, start_weights

TIGHT = 1e-6  # |grad R| of ends whose curvature is measured: a soft eigenvalue hangs on where exactly they are


def ends(cell, displaced=0.0):
    """The first two rows of `stay`: where L-BFGS ends from the encoding and from the teacher.

    displaced: relative displacement of every weight of the starts; the data stay the same.
    """
    return _ends(cell, displaced)[0]


def displaced_ends(cell):
    """`ends` of starts that are displaced more and more, the first not at all, see `verification`."""
    from .verification import DISPLACEMENTS

    return [ends(cell, size) for size in (0.0, *DISPLACEMENTS)]


def stay(cell):
    """Rows of a `cells.StayCell`, by `what` they are, each with q, m, theta, train_loss and grad_norm.

    "positional" and "semantic": `ends`. "descent": gradient descent from ``size N(0, 1)`` after each `step`; then
    "small", where L-BFGS goes on to. "toward" and "aside": where L-BFGS ends from the positional end that is displaced
    by `size` times the teacher, to the side where it leans, or by ``size N(0, 1)``. `same` is the ``|cosine|`` with the
    positional end, and ends from the first three have the `softness` of the risk there.
    """
    rows, data, first, rng = _ends(cell)
    if not cell.sizes:
        return rows
    noise = torch.from_numpy(rng.standard_normal((len(cell.sizes), cell.d), dtype=np.float32))
    weights = torch.tensor(cell.sizes)[:, None] * noise
    for before, step in zip((0, *cell.steps), cell.steps):
        weights, _ = gradient_descent(data, cell.task.lam, weights, steps=step - before)
        for size, student in zip(cell.sizes, weights):
            rows.append(_row(cell, data, first, student, "descent", size=size, step=step))
    for size, student in zip(cell.sizes, _fit(cell, data, weights)):
        rows.append(_row(cell, data, first, student, "small", size=size) | _softness(cell, data, student))
    side = torch.sign(first @ data.teacher.double()).float()
    for size in cell.kicks:
        aside = torch.from_numpy(rng.standard_normal(cell.d, dtype=np.float32))
        moved = first + size * torch.stack([side * data.teacher, aside])
        for what, student in zip(("toward", "aside"), _fit(cell, data, moved)):
            rows.append(_row(cell, data, first, student, what, size=size))
    return rows


def _ends(cell, displaced=0.0):
    """Rows of `ends`, the training set, the positional end and the generator that has drawn them."""
    rng = cell.rng()
    data, starts = sample(cell.task, cell.alpha, cell.d, rng), ("positional", "semantic")
    weights = torch.stack([start_weights(start, data.teacher, rng) for start in starts])
    noise = torch.from_numpy(rng.standard_normal(tuple(weights.shape), dtype=np.float32))
    found = _fit(cell, data, weights * (1 + displaced * noise))
    rows = [
        _row(cell, data, found[0], student, start) | _softness(cell, data, student)
        for start, student in zip(starts, found)
    ]
    return rows, data, found[0], rng


def _fit(cell, data, starts):
    """Weights (k, d) in float64 where L-BFGS ends."""
    near = torch.stack([student.weights for student in fit(data, cell.task.lam, starts.float())])
    fits = fit(data.double(), cell.task.lam, near.double(), tolerance=TIGHT)
    return torch.stack([student.weights for student in fits])


def _row(cell, data, first, student, what, **known):
    value, gradient = risk(data, student[None].to(data.inputs), cell.task.lam)
    return {
        "what": what,
        **known,
        **overlaps(cell.task, student, data.teacher).named,
        "train_loss": value.item() / cell.d,
        "grad_norm": torch.linalg.vector_norm(gradient).item(),
        "same": torch.nn.functional.cosine_similarity(student.double(), first, dim=0).abs().item(),
    }


def _softness(cell, data, student):
    return softness(hessian(data, student, cell.task.lam), data.teacher.double().numpy())
