"""Whether descent stays in the positional valley, and how soft its ends are."""

import numpy as np
import torch

from attention_phases.beyond.curvature import hessian, softness
from attention_phases.model.two_tokens import risk, sample
from attention_phases.model.weights import overlaps
from attention_phases.training.optimizers import fit, gradient_descent, start_weights

TIGHT = 1e-6  # |grad R| of ends whose curvature is measured: a soft eigenvalue depends on where exactly they are


def stay(cell, displaced=0.0):
    """Rows of a `cells.StayCell`, by `what` they are, each with q, m, theta, train_loss and grad_norm.

    "positional" and "semantic": where L-BFGS ends from the encoding and from the teacher. "descent": gradient descent
    from ``size N(0, 1)`` after each `step`; then "small", where L-BFGS goes on to. "toward" and "aside": where L-BFGS
    ends from the positional end that is displaced by `size` times the teacher, to the side where it leans, or by
    ``size N(0, 1)``. `same` is the ``|cosine|`` with the positional end, and ends from the first three have the
    `softness` of the risk there.

    displaced: relative displacement of every weight of the starts; the data stay the same.
    """
    rng, rows = cell.rng(), []
    data, valleys = sample(cell.task, cell.alpha, cell.d, rng), ("positional", "semantic")

    def drawn(count):
        return torch.from_numpy(rng.standard_normal((count, cell.d), dtype=np.float32))

    def end(starts):
        """Weights (k, d) in float64 where L-BFGS ends."""
        near = torch.stack([student.weights for student in fit(data, cell.task.lam, starts.float())])
        fits = fit(data.double(), cell.task.lam, near.double(), tolerance=TIGHT)
        return torch.stack([student.weights for student in fits])

    def add(what, student, soft=False, **known):
        """Add the row of a student (d,), with the softness there if it is asked for."""
        value, gradient = risk(data, student[None].to(data.inputs), cell.task.lam)
        row = {"what": what, **known, **overlaps(cell.task, student, data.teacher).named}
        row |= {"train_loss": value.item() / cell.d, "grad_norm": torch.linalg.vector_norm(gradient).item()}
        row["same"] = torch.nn.functional.cosine_similarity(student.double(), ends[0], dim=0).abs().item()
        if soft:
            row |= softness(hessian(data, student, cell.task.lam), data.teacher.double().numpy())
        rows.append(row)

    starts = torch.stack([start_weights(valley, data.teacher, rng) for valley in valleys])
    away = 1 + displaced * drawn(len(starts))
    ends = end(starts * away)
    for what, student in zip(valleys, ends):
        add(what, student, soft=True)
    if not cell.sizes:
        return rows
    weights = torch.tensor(cell.sizes)[:, None] * drawn(len(cell.sizes)) * away[:1]
    for before, step in zip((0, *cell.steps), cell.steps):
        weights, _ = gradient_descent(data, cell.task.lam, weights, steps=step - before)
        for size, student in zip(cell.sizes, weights):
            add("descent", student, size=size, step=step)
    for size, student in zip(cell.sizes, end(weights)):
        add("small", student, soft=True, size=size)
    side = torch.sign(ends[0] @ data.teacher.double()).float()
    for size in cell.kicks:
        moved = ends[0] + size * torch.stack([side * data.teacher, *drawn(1)])
        for what, student in zip(("toward", "aside"), end(moved)):
            add(what, student, size=size)
    return rows
