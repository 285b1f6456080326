"""What fixes the outcome of one piece of an experiment, a training or a line of theory.

The values of a cell name its results (`records.canonical`) and seed its random draws. Its `Kind` says how it is
computed, and how far a result may differ when it is computed again.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from attention_phases.model.architectures import STANDARD, Architecture
from attention_phases.records import record_of, seed_sequence
from attention_phases.task import Task

from . import tolerances
from .kinds import Kind

INFORMED = ("semantic", "positional")
SLIPS = {"rate": {"rate": 0.1}, "steps": {"steps": 4500}}  # of gradient descent, published with 0.15 and 5,000
EXCHANGED = 4  # epochs of the counting task on several data sets


@dataclass(frozen=True)
class _OnData:
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
class StudentCell(_OnData):
    """Students trained from several starts.

    The starts share one data set, so that their difference is not blurred by the draw of the data, and gradient steps
    of several students cost one pass over it. The optimiser does not enter the seed either: all meet on the same data.
    """

    kind: ClassVar = Kind(
        ".simulation:train_students", tolerances.STUDENTS, tolerances.UNREPEATABLE, runs=".verification:displaced_runs"
    )

    optimizer: str
    starts: tuple = INFORMED

    @property
    def settings(self) -> dict:
        """What `trials.train_on` is told beside that."""
        return {}


@dataclass(frozen=True)
class SlipCell(StudentCell):
    """The same students, trained with one of `SLIPS` on purpose: would the comparison with published means show it?"""

    kind: ClassVar = StudentCell.kind._replace(runs=None)

    slip: str = field(kw_only=True)

    @property
    def settings(self) -> dict:
        return SLIPS[self.slip]


class ControlledCell(StudentCell):
    """The same students, and control variates of their data, see `simulation.train_controlled`."""

    kind: ClassVar = Kind(".simulation:train_controlled", tolerances.STUDENTS, tolerances.UNREPEATABLE)


@dataclass(frozen=True)
class AnotherTaskCell(StudentCell):
    """The same students, and their errors on another task: `tested` has what differs in it, by name."""

    kind: ClassVar = StudentCell.kind._replace(tolerances=tolerances.TESTED)

    tested: tuple = field(kw_only=True)

    @property
    def settings(self) -> dict:
        return {"tested": replace(self.task, **dict(self.tested))}


class PositionsGivenCell(StudentCell):
    """The same students, which add omega A themselves to their attention, see `simulation.beside_positions`."""

    @property
    def settings(self) -> dict:
        return {"given": self.task.omega}


@dataclass(frozen=True)
class RecoveryCell(_OnData):
    """Message passing of the optimal learner from random weights, see `amp.recovery`."""

    kind: ClassVar = Kind(
        ".simulation:look_for_teacher", tolerances.RECOVERY, ("steps",), unsettled=("converged", False)
    )


@dataclass(frozen=True)
class FirstStepsCell(_OnData):
    """Gradient descent from `count` random starts, measured after each of `steps`: `simulation.take_first_steps`."""

    kind: ClassVar = Kind(".simulation:take_first_steps", tolerances.FIRST_STEPS)

    count: int
    steps: tuple


@dataclass(frozen=True)
class PlaneCell(_OnData):
    """The training loss at `across` x `across` students of a plane, see `minima.loss_on_plane`."""

    kind: ClassVar = Kind(".minima:loss_on_plane", tolerances.PLANE)

    across: int


@dataclass(frozen=True)
class ArchitectureCell(StudentCell):
    """Students of another architecture, or of tokens, teachers or penalties with structure.

    The form does not enter the seed: all meet on the same sentences, of two independent tokens those of `StudentCell`.
    """

    architecture: Architecture = field(kw_only=True)  # pyright: ignore


@dataclass(frozen=True)
class LoopCell(_OnData):
    """Students followed along `alphas` and back, the largest of which is `alpha`, see `minima.follow`."""

    kind: ClassVar = Kind(".minima:follow", tolerances.LOOPS, ("grad_norm",))

    alphas: tuple


@dataclass(frozen=True)
class ValleyCell(_OnData):
    """Many starts in one valley: `count` students, displaced by noise of standard deviation `noise`."""

    kind: ClassVar = Kind(".minima:descend", tolerances.VALLEYS, runs=".verification:valley_runs")

    valley: str
    noise: float
    count: int


@dataclass(frozen=True)
class SearchCell(ValleyCell):
    """Searches for the lowest minimum of the valley, from where such starts end, see `minima.hop`."""

    kind: ClassVar = Kind(
        ".minima:search",
        tolerances.STUDENTS,
        ("hops", "aligned"),
        beginning=".minima:search_first",
        runs=".verification:search_runs",
    )

    worst: float
    temperatures: tuple


@dataclass(frozen=True)
class StayCell(_OnData):
    """Ends of descent in the positional valley and how soft they are, see `staying.stay`."""

    kind: ClassVar = Kind(".staying:stay", tolerances.STAYING, ("grad_norm",), runs=".verification:displaced_runs")

    sizes: tuple = ()
    steps: tuple = ()
    kicks: tuple = ()


@dataclass(frozen=True)
class DescentCell(_OnData):
    """Students from small random weights, with and without hints of the teacher: `descents.descend_by_legs`."""

    kind: ClassVar = Kind(
        ".descents:descend_by_legs", tolerances.STUDENTS, ("grad_norm",), runs=".verification:displaced_runs"
    )

    way: str
    noise: float = 0.1
    hints: tuple = (0.0,)
    count: int = 4


@dataclass(frozen=True)
class MessagePassingCell(_OnData):
    """Message passing from one start."""

    kind: ClassVar = Kind(".convergence:measure", tolerances.PASSING, ("change", "apart"), unsettled=("damping", 0.0))

    start: str


@dataclass(frozen=True)
class _OnNets:
    """Theory of one task, on `points` points in each of `scrambles` scrambles that `seed` draws."""

    experiment: str
    task: Task
    points: int
    scrambles: int
    seed: int = 0


@dataclass(frozen=True)
class LineCell(_OnNets):
    """A line of theory along alpha, see `theory_lines.standard_line`; without alphas the thresholds alone."""

    kind: ClassVar = Kind(".theory_lines:standard_line", tolerances.THEORY)

    alphas: tuple = field(kw_only=True)


class CopiesCell(LineCell):
    """A line along which two copies of message passing are compared, see `theory_lines.copies_line`."""

    kind: ClassVar = Kind(".theory_lines:copies_line", tolerances.COPIES)


@dataclass(frozen=True)
class ArchitectureLineCell(LineCell):
    """A line of theory for another architecture, see `theory_lines.variant_line`."""

    kind: ClassVar = Kind(".theory_lines:variant_line", tolerances.THEORY)

    architecture: Architecture = field(kw_only=True)
    branches: tuple = INFORMED


class ArchitectureCopiesCell(ArchitectureLineCell):
    """How close two copies come for another architecture, see `theory_lines.variant_copies`."""

    kind: ClassVar = Kind(".theory_lines:variant_copies", tolerances.COPIES)


@dataclass(frozen=True)
class RuleCell(_OnNets):
    """The published rules: both thresholds, or branches over `alphas`, see `theory_lines.by_published_rule`."""

    kind: ClassVar = Kind(".theory_lines:by_published_rule", tolerances.RULE)

    alphas: tuple = ()
    branches: tuple = ()


class OneStepThresholdsCell(_OnNets):
    """Both thresholds with one step of replica symmetry breaking, see `theory_lines.broken_thresholds`."""

    kind: ClassVar = Kind(".theory_lines:broken_thresholds", tolerances.ONE_STEP)


@dataclass(frozen=True)
class OneStepCell(_OnNets):
    """A ground state with one step of replica symmetry breaking, see `theory_lines.broken_state`."""

    kind: ClassVar = Kind(".theory_lines:broken_state", tolerances.ONE_STEP)

    alpha: float = field(kw_only=True)
    branch: str = field(kw_only=True)


@dataclass(frozen=True)
class CountingCell:
    """A run of the counting task.

    The variant does not enter the seed: both see the same data in the same order and start from the same numbers,
    of which each freezes its own part at zero.
    """

    kind: ClassVar = Kind(".counting:train_and_measure", tolerances.COUNTING, beginning=".counting:train_beginning")

    experiment: str
    variant: str
    seed: int
    sequences: int
    adam_epochs: int
    sgd_epochs: int


@dataclass(frozen=True)
class ExchangedCell:
    """The start of one run of the counting task on the data of another one or its own, trained by Adam."""

    kind: ClassVar = Kind(
        ".counting:train_exchanged", tolerances.OF_LETTERS, ("letter",), beginning=".counting:train_exchanged_beginning"
    )

    experiment: str
    variant: str
    data_seed: int
    start_seed: int
    sequences: int
    epochs: int
