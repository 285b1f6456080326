"""Minima of the training loss: followed along alpha, many of one valley, a search for lower ones, a plane through two.

Where a valley holds many minima, they differ in how they fit a few sentences. The search changes these one by one.
Langevin descent, which disturbs all weights at once, is the control.
"""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from attention_phases.attention import own_attention
from attention_phases.model.sentences import sentence_count
from attention_phases.model.two_tokens import Dataset, risk, sample
from attention_phases.model.weights import overlaps
from attention_phases.training.optimizers import GD_RATE, LOWER, Fit, fit, lbfgs, start_weights

SAME = 1e-2  # two ends are one minimum if they are closer than this, over their size
TRIED = 1e-3  # gradient at which a trial is judged; its loss is then too high by some 1e-7
PLANE_BORDERS = (-0.35, 1.35)  # of each minimum, at the borders of the plane through both


def follow(cell):
    """Rows of a `cells.LoopCell`, for each `way` and `at` (alpha), each start from the last minimum.

    One data set is drawn at the largest alpha; its first sentences are those of a smaller one. The student of the way
    "up" starts from the encoding at the smallest alpha, that of the way "down" from the teacher at the largest. The
    `excess` is the training loss without the part that no student can fit.
    """
    task, rng = cell.task, cell.rng()
    whole = sample(task, cell.alpha, cell.d, rng)
    ways = (("up", "positional", sorted(cell.alphas)), ("down", "semantic", sorted(cell.alphas, reverse=True)))
    rows = []
    for way, start, alphas in ways:
        weights = start_weights(start, whole.teacher, rng)
        for alpha in alphas:
            count = sentence_count(alpha, cell.d)
            kept = {name: getattr(whole, name)[:count] for name in ("inputs", "stiffness", "targets")}
            student = fit(replace(whole, **kept, floor=0.0), task.lam, weights[None])[0]
            weights = student.weights
            row = {"way": way, "at": alpha, **overlaps(task, weights, whole.teacher).named}
            rows.append(row | {"excess": student.train_loss, "grad_norm": student.grad_norm})
    return rows


def descend(cell):
    """Where each start of a `ValleyCell` ends by L-BFGS; the first, `number` 0, has no noise.

    Beside train_loss, q, m and theta: `minimum`, which of the distinct ends it is; `nearest`, its distance to the
    nearest other end over the size of both; `aligned`, ``|cosine|`` with the next start's (Q and -Q are one).
    """
    data, students, _ = _descents(cell)
    cosines = _cosines(students)
    distances = np.sqrt(2 * np.maximum(1 - cosines, 0)) + 2 * np.eye(cell.count)
    return [
        {
            "number": k,
            "train_loss": student.train_loss,
            **overlaps(cell.task, student.weights, data.teacher).named,
            "minimum": label,
            "nearest": distances[k].min(),
            "aligned": cosines[k, (k + 1) % cell.count],
        }
        for k, (student, label) in enumerate(zip(students, _labels(distances)))
    ]


def search(cell):
    """What searches from the ends of a `SearchCell` find.

    Two rows for each start, by `search`: "descent", where L-BFGS ends, and "hop", what is found from there by way of
    single sentences (`hops`, how often a lower minimum was). Then one for each `temperature` of "anneal", from where
    the start without noise ends. Each has train_loss, q, m, theta and `aligned`, its ``|cosine|`` with the lowest.
    """
    data, starts, rng = _descents(cell)
    rows, students = [], []
    for k, student in enumerate(starts):
        lower, hops = hop(data, cell.task.lam, student, cell.worst)
        rows += [{"search": "descent", "number": k}, {"search": "hop", "number": k, "hops": hops}]
        students += [student, lower]
    for temperature in cell.temperatures:
        rows.append({"search": "anneal", "number": 0, "temperature": temperature})
        students.append(anneal(data, cell.task.lam, starts[0], temperature, rng))
    lowest = int(np.argmin([student.train_loss for student in students]))
    for row, student, aligned in zip(rows, students, _cosines(students)[lowest]):
        row |= {"train_loss": student.train_loss, **overlaps(cell.task, student.weights, data.teacher).named}
        row["aligned"] = float(aligned)
    return rows


def search_first(cell):
    """The first two rows of `search`: from the start without noise."""
    return search(replace(cell, count=1, temperatures=()))


def _descents(cell):
    """Training set of a `ValleyCell`, where its starts end, and the generator after all that."""
    rng = cell.rng()
    data = sample(cell.task, cell.alpha, cell.d, rng)
    start = start_weights(cell.valley, data.teacher, rng)
    noise = torch.from_numpy(rng.standard_normal((cell.count, data.d), dtype=np.float32))
    noise[0] = 0
    return data, fit(data, cell.task.lam, start + cell.noise * noise), rng


def _cosines(students):
    """``|cosine|`` of each pair of k students, (k, k)."""
    weights = torch.stack([student.weights for student in students]).double()
    unit = weights / torch.linalg.vector_norm(weights, dim=1, keepdim=True)
    return (unit @ unit.mT).abs().numpy()


def _labels(distances):
    """A number for each end, the same for ends that are `SAME`: that of the first of them."""
    labels = []
    for k, row in enumerate(distances):
        equal = np.flatnonzero(row[:k] < SAME)
        labels.append(labels[equal[0]] if len(equal) else max(labels, default=-1) + 1)
    return labels


def hop(data: Dataset, lam: float, minimum: Fit, worst: float) -> tuple[Fit, int]:
    """Leave a minimum for a lower one by way of single sentences, until none leads lower.

    One sentence is left out, the student descends, the sentence comes back, the student descends again. Where that
    ends lower, the search goes on from there. The worst fitted sentences come first: the share `worst` of all is tried
    at each minimum. The last minimum is returned, and how often a lower one was found.
    """
    count, hops = max(1, round(worst * len(data.stiffness))), 0
    while (lower := _first_lower(data, lam, minimum, count)) is not None:
        minimum, hops = lower, hops + 1
    return minimum, hops


def _first_lower(data: Dataset, lam: float, minimum: Fit, count: int) -> Fit | None:
    """The first lower minimum that leaving out one of the `count` worst fitted sentences leads to, if any does."""
    for number in torch.argsort(misfits(data, minimum.weights), descending=True)[:count]:
        stiffness = data.stiffness.clone()
        stiffness[number] = 0
        weights, _ = lbfgs(replace(data, stiffness=stiffness), lam, minimum.weights[None], risk, TRIED)
        weights, _ = lbfgs(data, lam, weights, risk, TRIED)
        if risk(data, weights, lam)[0].item() / data.d < minimum.train_loss - LOWER:
            return fit(data, lam, weights)[0]
    return None


def anneal(
    data: Dataset, lam: float, minimum: Fit, temperature: float, rng: np.random.Generator, steps: int = 3000
) -> Fit:
    """Langevin descent from a minimum, with a `temperature` that falls linearly to zero, then L-BFGS.

    Each step is Q <- Q - rate grad R(Q) + sqrt(2 rate T) N(0, 1), at the rate of gradient descent; T is in units of R.
    """
    weights = minimum.weights[None].clone()
    for step in range(steps):
        weights.sub_(risk(data, weights, lam)[1], alpha=GD_RATE)
        noise = torch.from_numpy(rng.standard_normal(tuple(weights.shape), dtype=np.float32))
        weights.add_(noise, alpha=(2 * GD_RATE * temperature * (1 - step / steps)) ** 0.5)
    return fit(data, lam, weights)[0]


def misfits(data: Dataset, weights: Tensor) -> Tensor:
    """Loss of each sentence (n,) under a student (d,); their sum, the penalty and `floor` are R."""
    s = own_attention((data.inputs @ weights).mT).mT  # (n, 2)
    return 0.5 * data.stiffness * (s - data.targets).square().sum(1)


def loss_on_plane(cell):
    """Rows of a `cells.PlaneCell`, by `what` they are, each with m, theta and train_loss.

    "positional" and "semantic": the minima that L-BFGS finds from the encoding and from the teacher. "plane": students
    Q = a Q_positional + b Q_semantic, with a (fastest) and b in `PLANE_BORDERS`, `across` values of each.
    """
    task, rng = cell.task, cell.rng()
    data = sample(task, cell.alpha, cell.d, rng)
    valleys = ("positional", "semantic")
    starts = torch.stack([start_weights(valley, data.teacher, rng) for valley in valleys])
    corners = torch.stack([student.weights for student in fit(data, task.lam, starts)])  # (2, d)
    shares = torch.linspace(*PLANE_BORDERS, cell.across)
    a, b = torch.meshgrid(shares, shares, indexing="xy")
    students = torch.cat([corners, torch.stack([a.ravel(), b.ravel()], dim=1) @ corners])
    losses = torch.cat([risk(data, some, task.lam)[0] for some in students.split(256)]) / cell.d
    m = students.double().mean(1)
    theta = task.sigma**2 * (students.double() @ data.teacher.double()) / cell.d
    points = zip([*valleys, *["plane"] * cell.across**2], m.tolist(), theta.tolist(), losses.tolist())
    return [dict(zip(("what", "m", "theta", "train_loss"), point)) for point in points]
