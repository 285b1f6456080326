"""Figure 1: the training loss on the plane through both minima and the origin.

Experiments:
    plane: The training loss on the plane through both minima and the origin.
"""

from dataclasses import dataclass

from attention_phases.task import Task

from ..grids import register
from ..kinds import Kind
from ..students import OnData

PLANE_BORDERS = (-0.35, 1.35)  # smallest and largest coefficient of each minimum in the plane


def loss_on_plane(cell):
    """Compute overlaps and training losses of students in the plane through both minima and the origin.

    L-BFGS finds the minima from the encoding and from the teacher. The students of the plane are Q = a Q_positional + b
    Q_semantic, where a (which varies fastest) and b are in `PLANE_BORDERS`.
    """
    import torch

    from attention_phases.model.two_tokens import risk
    from attention_phases.training.optimizers import fit, start_weights

    task, (data, rng), valleys = cell.task, cell.draw(), ("positional", "semantic")
    starts = torch.stack([start_weights(valley, data.teacher, rng) for valley in valleys])
    corners = torch.stack([student.weights for student in fit(data, task.lam, starts)])  # shape (2, d)
    shares = torch.linspace(*PLANE_BORDERS, cell.across)
    a, b = torch.meshgrid(shares, shares, indexing="xy")
    students = torch.cat([corners, torch.stack([a.ravel(), b.ravel()], dim=1) @ corners])
    losses = torch.cat([risk(data, some, task.lam)[0] for some in students.split(256)]) / cell.d
    m = students.double().mean(1)
    theta = task.sigma**2 * (students.double() @ data.teacher.double()) / cell.d
    points = zip([*valleys, *["plane"] * cell.across**2], m.tolist(), theta.tolist(), losses.tolist())
    return [dict(zip(("what", "m", "theta", "train_loss"), point)) for point in points]


@dataclass(frozen=True)
class PlaneCell(OnData):
    """A cell (one unit of an experiment) that computes training losses in the plane through both minima and the origin.

    The losses are those of students on a grid.

    Columns:
        what: what the row is about
            - positional: the positional minimum
            - semantic: the semantic minimum
            - plane: a student of the plane
        across: number of students along each side of the plane
    """

    kind = Kind(
        loss_on_plane,
        # The plane passes through two minima. If rounding moves the minima, the losses in the plane change by as much.
        {"m": (0, 3e-4), "theta": (0, 3e-4), "train_loss": (1e-4, 1e-8)},
    )

    across: int


register(PlaneCell, "plane", {"task": Task(), "alpha": [1.0, 2.0], "seed": 0})(
    paper={"d": 1000, "across": 61}, laptop={"d": 1000, "across": 61}, smoke={"d": 100, "across": 15}
)
