"""The loss of trained students as a landscape: a surface through two minima, and the minima of one valley."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from attention_phases.model.two_tokens import overlaps, risk, sample
from attention_phases.training.optimizers import fit
from attention_phases.training.searches import anneal, hop
from attention_phases.training.starts import start_weights

from .cells import StudentCell

SAME = 1e-2  # two ends are one minimum if they are closer than this, over their size


def descend(cell):
    """Where each start of a `ValleyCell` ends by L-BFGS; the first, `number` 0, has no noise.

    Beside train_loss, q, m and theta: `minimum`, which of the distinct ends it is; `nearest`, its distance to the
    nearest other end over the size of both; `aligned`, ``|cosine|`` with the end of the next start (a student and its
    negative are the same).
    """
    data, fits, _ = _ends(cell)
    cosines = _cosines(torch.stack([each.weights for each in fits]).double()).numpy()
    distances = np.sqrt(2 * np.maximum(1 - cosines, 0)) + 2 * np.eye(cell.count)
    return [
        {
            "number": k,
            "train_loss": each.train_loss,
            **_own(cell, data, each),
            "minimum": label,
            "nearest": distances[k].min(),
            "aligned": cosines[k, (k + 1) % cell.count],
        }
        for k, (each, label) in enumerate(zip(fits, _labels(distances)))
    ]


def search(cell):
    """What searches from the ends of a `SearchCell` find.

    There are two rows for each start, by `search`: "descent", where L-BFGS ends, and "hop", what is found from there by
    way of single sentences (`hops`, how often a lower minimum was). Then one for each `temperature` of the search
    "anneal", from where the start without noise ends. Each has train_loss, q, m and theta of its end, and `aligned`,
    its ``|cosine|`` with the lowest of all.
    """
    data, fits, rng = _ends(cell)
    rows = []
    for k, each in enumerate(fits):
        found, hops = hop(data, cell.task.lam, each, cell.worst)
        rows += [({"search": "descent", "number": k}, each), ({"search": "hop", "number": k, "hops": hops}, found)]
    for temperature in cell.temperatures:
        found = anneal(data, cell.task.lam, fits[0], temperature, rng)
        rows.append(({"search": "anneal", "number": 0, "temperature": temperature}, found))
    weights = torch.stack([each.weights for _, each in rows]).double()
    lowest = min(range(len(rows)), key=lambda k: rows[k][1].train_loss)
    return [
        {**row, "train_loss": each.train_loss, **_own(cell, data, each), "aligned": float(aligned)}
        for (row, each), aligned in zip(rows, _cosines(weights)[lowest])
    ]


def search_first(cell):
    """The first two rows of `search`: from the start without noise."""
    return search(replace(cell, count=1, temperatures=()))


def _own(cell, data, found):
    point = overlaps(cell.task, found.weights, data.teacher)
    return {name: point[name] for name in ("q", "m", "theta")}


def _ends(cell):
    """Training set of a `ValleyCell`, where its starts end, and the generator after all that."""
    data, rng = _draw(cell)
    start = start_weights(cell.valley, data.teacher, rng)
    noise = torch.from_numpy(rng.standard_normal((cell.count, data.d), dtype=np.float32))
    noise[0] = 0
    return data, fit(data, cell.task.lam, start + cell.noise * noise), rng


def _draw(cell):
    """Training set and random numbers, as `simulation.train_students` draws them."""
    rng = cell.rng()
    return sample(cell.task, cell.alpha, cell.d, rng), rng


def _cosines(weights):
    """``|cosine|`` of each pair of students (k, d), as (k, k)."""
    unit = weights / torch.linalg.vector_norm(weights, dim=1, keepdim=True)
    return (unit @ unit.mT).abs()


def _labels(distances):
    """A number for each end, the same for ends that are `SAME`: that of the first of them."""
    labels = []
    for k, row in enumerate(distances):
        equal = np.flatnonzero(row[:k] < SAME)
        labels.append(labels[equal[0]] if len(equal) else max(labels, default=-1) + 1)
    return labels


class Surface(NamedTuple):
    """The loss on a plane, by the overlaps of its points, and the two minima that span it."""

    m: np.ndarray  # (G, G)
    theta: np.ndarray  # (G, G)
    loss: np.ndarray  # (G, G), R/d
    minima: dict  # valley to (m, theta, loss)


def surface(task, alpha, d, seed=0, grid=61, reach=1.35):
    """Training loss on the plane through the two trained minima and the origin.

    Args:
        seed: of the data set.
        grid: points an axis.
        reach: the plane is Q = a Q_positional + b Q_semantic, with a and b from -0.35 to this.
    """
    pair = StudentCell("surface", task, alpha, d, seed, "lbfgs", starts=("positional", "semantic"))
    data, rng = _draw(pair)
    starts = torch.stack([start_weights(start, data.teacher, rng) for start in pair.starts])
    corners = torch.stack([each.weights for each in fit(data, task.lam, starts)])  # (2, d)
    shares = torch.linspace(-0.35, reach, grid)
    a, b = torch.meshgrid(shares, shares, indexing="xy")
    students = torch.stack([a.ravel(), b.ravel()], dim=1) @ corners
    loss = torch.cat([risk(data, some, task.lam)[0] for some in students.split(256)]) / data.d
    m = students.double().mean(1)
    theta = task.sigma**2 * (students.double() @ data.teacher.double()) / data.d
    ends = risk(data, corners, task.lam)[0] / data.d
    points = [overlaps(task, each, data.teacher) for each in corners]
    minima = {start: (point["m"], point["theta"], end) for start, point, end in zip(pair.starts, points, ends.tolist())}
    return Surface(*(each.reshape(grid, grid).numpy() for each in (m, theta, loss)), minima)
