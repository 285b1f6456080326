"""Cells (units of experiments) that each use one data set, and functions that register experiments.

Most of the cells train students on their data set.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from attention_phases.model.architectures import STANDARD, Architecture
from attention_phases.records import record_of, seed_sequence
from attention_phases.task import Task

from .grids import fill_table, register
from .kinds import ROUNDING, Kind, Tolerances, displaced_runs

INFORMED = ("semantic", "positional")
RANDOM = ("random",)
CONTROLS = ("length", "blind", "aligned", "encoded")  # control variates, see `control_variates.controls`
PAIR_OVERLAPS = ("q_11", "q_12", "q_22", "m_1", "m_2", "theta_1", "theta_2")  # overlaps of two columns, without sigma^2
TEACHER_OVERLAPS = ("teacher_1", "teacher_2")
# Two runs of one cell may sum in a different order. Their end points then differ by |grad R| divided by the smallest
# curvature. At d = 1000 this is up to 3e-5 in the overlaps, and 3e-10 in the loss, which is flat at a minimum. The
# tolerances are at least ten times larger, and a hundredth of the standard deviation between seeds.
STUDENTS: Tolerances = {
    **dict.fromkeys(("q", "m", "theta", *TEACHER_OVERLAPS), (0, 3e-4)),
    **dict.fromkeys(PAIR_OVERLAPS, (0, 1e-3)),
    **dict.fromkeys(CONTROLS, (0, 1e-9)),
    "train_loss": (0, 1e-8),
    "test_mse": (0, 3e-6),
    "linear_mse": (0, 5e-7),
}
NOISE_COLUMNS = {"seconds": "a time", "steps": ROUNDING["grad_norm"], **ROUNDING}


def train_students(cell, displaced=0.0, device="cpu"):
    """Train a student from each initial point specified by a cell, and return a row for each student.

    A row has the columns of `trials.train` except `seed` and `converged`, and the columns of `tested`, see
    `trials.train_on`.

    cell: a `StudentCell` or a cell of a derived type.
    displaced: relative displacement of every weight of the starts; the data are not displaced.
    device: as for `trials.train`.
    """
    from attention_phases.machine import choose_device
    from attention_phases.training import trials

    rng, device = cell.rng(), choose_device(device, cell.d)
    data = cell.seen(trials.sample(cell.task, cell.alpha, cell.d, rng, cell.architecture, device))
    setting = cell.optimizer, cell.architecture
    rows = trials.train_on(cell.task, data, cell.starts, rng, *setting, displaced=displaced, **cell.settings)
    return [{name: row[name] for name in row if name != "converged"} for row in rows]  # stored tables lack `converged`


@dataclass(frozen=True)
class OnData:
    """A cell (one unit of an experiment) that uses one data set, numbered by `seed`."""

    architecture: ClassVar = None  #: None means the standard architecture

    experiment: str
    task: Task
    alpha: float
    d: int
    seed: int

    def sentences(self) -> dict:
        """Return the parameters and the seed that determine the data set.

        Cells that agree in these values share their sentences, whatever is computed from them.
        """
        return record_of(self.task, self.alpha, self.d, self.seed, self.architecture or STANDARD)

    def rng(self) -> np.random.Generator:
        """Return a newly seeded random generator for this cell.

        It draws first the teacher, then the sentences and then the starts.
        """
        return np.random.default_rng(seed_sequence(self.sentences()))

    def draw(self):
        """Draw the data set of a cell of two independent tokens, and return it with the generator for the starts."""
        from attention_phases.model.two_tokens import sample

        rng = self.rng()
        return sample(self.task, self.alpha, self.d, rng), rng

    def overlaps(self, data, weights) -> dict[str, float]:
        """Return the overlaps q, m and theta of a student with weights (d,) by name."""
        from attention_phases.model.weights import overlaps

        return overlaps(self.task, weights, data.teacher).named


@dataclass(frozen=True)
class StudentCell(OnData):
    """A cell (one unit of an experiment) that trains students from several starts.

    All starts share one data set. Therefore the difference between the starts is not blurred by the random data, and
    gradient steps of several students cost one pass over the data. The optimiser does not enter the seed either, so all
    optimisers train on the same data.
    """

    kind: ClassVar = Kind(train_students, STUDENTS, NOISE_COLUMNS, runs=displaced_runs)

    optimizer: str
    starts: tuple = INFORMED

    @property
    def settings(self) -> dict:
        """Additional options that this cell passes to `trials.train_on`."""
        return {}

    def seen(self, data):
        """Return the training set that the students of this cell receive, by default `data` itself."""
        return data


@dataclass(frozen=True)
class ArchitectureCell(StudentCell):
    """A cell (one unit of an experiment) that trains students of a given architecture.

    Experiments with structured tokens, structured teachers or an l1 penalty use it, too.

    The form of the student does not enter the seed, so all forms train on the same sentences. For two independent
    tokens these are the sentences of `StudentCell`.
    """

    architecture: Architecture = field(kw_only=True)  # pyright: ignore


def students(name, fixed=None, cell_type=StudentCell):
    """Return a function that registers an experiment that trains students (see `register`).

    The default task is the standard task, and the default optimiser is L-BFGS.
    """
    return register(cell_type, name, fill_table(fixed or {}, {"task": Task(), "optimizer": "lbfgs"}))


def variants(name, fixed=None):
    """Return a function that registers an experiment on students of given architectures (see `students`).

    The default is the standard architecture, for experiments with structured tasks.
    """
    return students(name, {"architecture": STANDARD} | (fixed or {}), ArchitectureCell)


def seed_pairs(seeds, repeated):
    """Return pairs (optimizer, seed): L-BFGS for all data sets, gradient descent for some of them.

    The pairs are the values of an axis "optimizer seed" (see `grids.register`).

    seeds: number of all data sets.
    repeated: number of data sets on which the published gradient descent trains, too.
    """
    return [("lbfgs", seed) for seed in range(seeds)] + [("gd", seed) for seed in range(repeated)]
