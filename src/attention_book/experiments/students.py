"""Cells on one data set, of which most train students, and how their experiments are written down."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from attention_phases.model.architectures import STANDARD, Architecture
from attention_phases.records import record_of, seed_sequence
from attention_phases.task import Task

from .grids import completed, register
from .kinds import BY_ROUNDING, Kind, Tolerances, displaced_runs

INFORMED = ("semantic", "positional")
RANDOM = ("random",)
CONTROLS = ("length", "blind", "aligned", "encoded")  # what `control_variates` know of a cell's data
OF_COLUMNS = ("q_11", "q_12", "q_22", "m_1", "m_2", "theta_1", "theta_2")  # of two columns, without sigma^2
OF_TEACHERS = ("teacher_1", "teacher_2")
# Two runs of one cell whose sums are rounded in another order end in points that differ by |grad R| over the softest
# curvature: up to 3e-5 in the overlaps at d = 1000, and 3e-10 in the loss, which is flat there. The tolerances are ten
# times that and more, and a hundredth of the spread between seeds.
STUDENTS: Tolerances = {
    **dict.fromkeys(("q", "m", "theta", *OF_TEACHERS), (0, 3e-4)),
    **dict.fromkeys(OF_COLUMNS, (0, 1e-3)),
    **dict.fromkeys(CONTROLS, (0, 1e-9)),
    "train_loss": (0, 1e-8),
    "test_mse": (0, 3e-6),
    "linear_mse": (0, 5e-7),
}
UNREPEATABLE = {"seconds": "a time", "steps": BY_ROUNDING["grad_norm"], **BY_ROUNDING}


def train_students(cell, displaced=0.0, device="cpu"):
    """Train from every start of a cell; a row for each.

    A row has the columns of `trials.train` but `seed` and `converged`, and those of `tested`, see `trials.train_on`.

    cell: a `StudentCell`, or one of its kind.
    displaced: relative displacement of every weight of the starts; the data stay the same.
    device: as for `trials.train`.
    """
    from attention_phases.machine import choose_device
    from attention_phases.training import trials

    rng, device = cell.rng(), choose_device(device, cell.d)
    data = cell.seen(trials.sample(cell.task, cell.alpha, cell.d, rng, cell.architecture, device))
    setting = cell.optimizer, cell.architecture
    rows = trials.train_on(cell.task, data, cell.starts, rng, *setting, displaced=displaced, **cell.settings)
    return [{name: row[name] for name in row if name != "converged"} for row in rows]  # as stored tables have them


@dataclass(frozen=True)
class OnData:
    """Work on one data set, whose number is the seed."""

    architecture: ClassVar = None  #: the standard one

    experiment: str
    task: Task
    alpha: float
    d: int
    seed: int

    def sentences(self) -> dict:
        """What fixes the data set: cells that agree in it share their sentences, whatever is done with them."""
        return record_of(self.task, self.alpha, self.d, self.seed, self.architecture or STANDARD)

    def rng(self) -> np.random.Generator:
        """The generator that draws the teacher, the sentences and then the starts."""
        return np.random.default_rng(seed_sequence(self.sentences()))


@dataclass(frozen=True)
class StudentCell(OnData):
    """Students trained from several starts.

    The starts share one data set, so that their difference is not blurred by the draw of the data, and gradient steps
    of several students cost one pass over it. The optimiser does not enter the seed either: all meet on the same data.
    """

    kind: ClassVar = Kind(train_students, STUDENTS, UNREPEATABLE, runs=displaced_runs)

    optimizer: str
    starts: tuple = INFORMED

    @property
    def settings(self) -> dict:
        """What `trials.train_on` is told beside that."""
        return {}

    def seen(self, data):
        """The training set as these students see it."""
        return data


@dataclass(frozen=True)
class ArchitectureCell(StudentCell):
    """Students of another architecture, or of tokens, teachers or penalties with structure.

    The form does not enter the seed: all meet on the same sentences, of two independent tokens those of `StudentCell`.
    """

    architecture: Architecture = field(kw_only=True)  # pyright: ignore


def students(name, fixed=None, cell_type=StudentCell):
    """Enter an experiment on students: of the standard task and by L-BFGS, unless a table says otherwise."""
    return register(cell_type, name, completed(fixed or {}, {"task": Task(), "optimizer": "lbfgs"}))


def variants(name, fixed=None):
    """Enter an experiment on students of other architectures, or of the standard one and tasks with structure."""
    return students(name, {"architecture": STANDARD} | (fixed or {}), ArchitectureCell)


def both(seeds, repeated):
    """An axis "optimizer seed": L-BFGS, and on the first data sets again gradient descent as published."""
    return [("lbfgs", seed) for seed in range(seeds)] + [("gd", seed) for seed in range(repeated)]
