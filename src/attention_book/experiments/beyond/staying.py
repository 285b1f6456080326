"""The end points of training in the positional valley, and the smallest curvatures of the risk at these points.

Experiments:
    staying: End points of training on both sides of the positional border: their softest directions, and whether
        training from small weights, or from displaced end points, ends there too.
    responses: End points of training from the teacher and from the encoding, with their curvature, at the
        replica-symmetric alpha_c and beyond.
"""

from dataclasses import dataclass

import numpy as np

from attention_phases.task import Task

from ..grids import data_sets, register, with_tasks
from ..kinds import ROUNDING, Kind, displaced_runs
from ..students import STUDENTS, OnData

# |grad R| at end points whose curvature is measured. It is small, because small eigenvalues depend on the exact point.
TIGHT_GRADIENT = 1e-6


def stay_rows(cell, displaced=0.0):
    """Train students from several kinds of starts, and return rows with their overlaps, losses and gradients.

    For end points from the encoding, from the teacher and from small weights, the rows also have the smallest
    curvatures of the risk.

    cell: a `StayCell`.
    displaced: relative displacement of every weight of the starts; the data are not displaced.
    """
    import torch

    from attention_phases.beyond.curvature import hessian, smallest_curvatures
    from attention_phases.model.two_tokens import risk
    from attention_phases.training.optimizers import fit, gradient_descent, start_weights

    (data, rng), rows, valleys = cell.draw(), [], ("positional", "semantic")

    def drawn(count):
        return torch.from_numpy(rng.standard_normal((count, cell.d), dtype=np.float32))

    def end(starts):
        """Train by L-BFGS from several starts, and return the final weights (k, d) in float64."""
        near = torch.stack([student.weights for student in fit(data, cell.task.lam, starts.float())])
        fits = fit(data.double(), cell.task.lam, near.double(), tolerance=TIGHT_GRADIENT)
        return torch.stack([student.weights for student in fits])

    def add(what, student, soft=False, **known):
        """Append a row for a student with weights (d,), and include curvatures of the risk if `soft` is true."""
        value, gradient = risk(data, student[None].to(data.inputs), cell.task.lam)
        row = {"what": what, **known, **cell.overlaps(data, student)}
        row |= {"train_loss": value.item() / cell.d, "grad_norm": torch.linalg.vector_norm(gradient).item()}
        row["same"] = torch.nn.functional.cosine_similarity(student.double(), ends[0], dim=0).abs().item()
        if soft:
            row |= smallest_curvatures(hessian(data, student, cell.task.lam), data.teacher.double().numpy())
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


@dataclass(frozen=True)
class StayCell(OnData):
    """A cell (one unit of an experiment) that measures the curvature at positional minima in which training ends.

    Columns:
        what: what the row is about
            - semantic: end point of L-BFGS from the semantic start
            - positional: end point of L-BFGS from the positional start
            - descent: a student of gradient descent from small random weights, after a number of steps
            - small: end point of L-BFGS from the last of these students
            - toward: end point of L-BFGS from the positional end point plus size times the teacher, towards its overlap
            - aside: end point of L-BFGS from the positional end point plus size N(0, 1)
        sizes: standard deviations of the small random weights at which training starts, as JSON
        kicks: sizes of the displacements of the positional end point, as JSON
        size [1]: standard deviation of the small random weights, or size of the displacement of the end point
        same [1]: |cosine| with the end point of L-BFGS from the encoding, on the same data
        softest [1]: smallest eigenvalue of the Hessian of R
        leaning [1]: squared cosine of the teacher with the span of the eight directions of smallest curvature
        stiff_teacher [1]: force along the teacher divided by the shift along the teacher that it causes
        stiff_any [1]: the same ratio for a random direction: the harmonic mean of the Hessian's eigenvalues
    """

    kind = Kind(
        stay_rows,
        # These tolerances are for end points with |grad R| <= 1e-6. Rounding changed the smallest eigenvalue by less
        # than 1e-6. The span of the eight directions of smallest curvature is less well defined.
        STUDENTS
        | {"softest": (0, 1e-5), "leaning": (0, 1e-2), "same": (0, 1e-3), "train_loss": (0, 1e-8)}
        | dict.fromkeys(("stiff_teacher", "stiff_any"), (1e-2, 0)),
        ROUNDING,
        runs=displaced_runs,
    )

    sizes: tuple = ()
    steps: tuple = ()
    kicks: tuple = ()


# The positional solution of theory becomes a saddle at alpha = 1.088 for omega = 0.1, and near alpha = 16 for omega =
# 0.3. These alphas are on both sides of this border.
BORDER_ALPHAS = {0.1: (0.8, 1.3, 1.8, 2.3, 3.0), 0.3: (1.5, 4.0, 12.0, 25.0)}
EARLY_BORDER, LATE_BORDER = ({"task": Task(omega=omega), "alpha": [*alphas]} for omega, alphas in BORDER_ALPHAS.items())
PUSHES = {"sizes": (0.002, 0.1), "steps": (300, 1000, 3000, 10_000), "kicks": (0.1, 0.2, 0.4)}
register(StayCell, "staying")(
    paper=[
        {"d seed": data_sets({250: 12, 500: 4, 1000: 1}), **EARLY_BORDER, **PUSHES},
        {"d": 1000, "seed": range(4, 8), **EARLY_BORDER},
        {"d": 2000, "seed": range(2, 6), **EARLY_BORDER},
        {"d seed": data_sets({250: 4, 500: 2}), **LATE_BORDER, **PUSHES},
        {"d seed": data_sets({250: 8, 500: 8, 1000: 4, 2000: 4}), **LATE_BORDER, "alpha": [6.0, 8.0]},
        {"d": 1000, "seed": range(2), **LATE_BORDER, "alpha": [12.0, 25.0]},
    ],
    laptop=[
        {"seed": range(4), **EARLY_BORDER, "d": [125, 250], **PUSHES},
        {"seed": range(2), **LATE_BORDER, "alpha": [1.5, 4.0], "d": [125, 250], **PUSHES},
    ],
    smoke={"seed": range(3), **EARLY_BORDER, "alpha": [0.8, 2.3], "d": [50, 100], **PUSHES, "steps": (300, 1000)},
)
# The two responses are compared at the replica-symmetric alpha_c and, for omega = 0.3, also at larger alpha. Their data
# sets differ from the data sets of the experiment "staying".
CRITICAL_POINTS = with_tasks((0.1, 0.7514), (0.2, 0.9484), (0.3, 1.2514))
register(StayCell, "responses")(
    paper=[
        {"d seed": data_sets({250: 8, 500: 8, 1000: 8, 2000: 4}), "task alpha": CRITICAL_POINTS},
        {"d": [250, 500, 1000], "seed": range(4, 12), "task alpha": with_tasks((0.3, 1.5), (0.3, 2.5), (0.3, 4.0))},
    ],
    laptop={"d": [125, 250], "seed": range(4), "task alpha": CRITICAL_POINTS[::2]},
    smoke={"d": [50, 100], "seed": range(2), "task alpha": CRITICAL_POINTS[::2]},
)
