"""What fixes the outcome of one piece of an experiment: a training, or a line of theory.

The values of a cell name its results (`provenance.canonical`) and seed its random draws.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from attention_phases.errors import check_count
from attention_phases.model.architectures import Architecture
from attention_phases.task import Task

from ..store.provenance import flattened, seed_sequence
from . import kinds
from .kinds import Kind

INFORMED = ("semantic", "positional")
SLIPS = {"rate": {"rate": 0.1}, "steps": {"steps": 4500}}  # of gradient descent, published with 0.15 and 5,000
CONTROLS = ("length", "blind", "aligned", "encoded")  # what `controls` knows of the data of a `ControlledCell`
EXCHANGED = 4  # epochs of the counting task on several data sets


@dataclass(frozen=True)
class _OnData:
    """Work on one data set, whose number is the seed."""

    experiment: str
    task: Task
    alpha: float
    d: int
    seed: int

    def sentences(self) -> dict:
        """What fixes the data set: cells that agree in it share their sentences, whatever is done with them."""
        return {"task": flattened(self.task), "alpha": self.alpha, "d": self.d, "seed": self.seed}

    def rng(self) -> np.random.Generator:
        """The generator that draws the teacher, the sentences and then the starts."""
        check_count("seed", self.seed, at_least=0)
        return np.random.default_rng(seed_sequence(self.sentences()))


@dataclass(frozen=True)
class StudentCell(_OnData):
    """Students trained from several starts.

    The starts share one data set, so that their difference is not blurred by the draw of the data and
    gradient steps of several students cost one pass over it. The optimiser does not enter the seed either:
    two optimisers meet on the same data.
    """

    kind: ClassVar = Kind(
        ".simulation:train_students", kinds.STUDENTS, kinds.UNREPEATABLE, ends=".verification:displaced_ends"
    )

    optimizer: str
    starts: tuple = INFORMED


@dataclass(frozen=True)
class SlipCell(StudentCell):
    """The same students, trained with one of `SLIPS` on purpose: would the comparison with published means show it?"""

    kind: ClassVar = StudentCell.kind._replace(worker=".simulation:train_with_slip", ends=None)

    slip: str = field(kw_only=True)


class ControlledCell(StudentCell):
    """The same students, and control variates of their data, see `controls.train_controlled`."""

    kind: ClassVar = Kind(".controls:train_controlled", kinds.CONTROLLED, kinds.UNREPEATABLE)


class PositionsGivenCell(StudentCell):
    """The same students, which add omega A themselves to their attention, see `two_tokens.beside_positions`."""

    kind: ClassVar = StudentCell.kind._replace(worker=".simulation:train_beside_positions")


@dataclass(frozen=True)
class RecoveryCell(_OnData):
    """Message passing of the optimal learner from random weights, see `training.recovery`."""

    kind: ClassVar = Kind(".simulation:look_for_teacher", kinds.RECOVERY, ("steps",))


@dataclass(frozen=True)
class ArchitectureCell(StudentCell):
    """Students of another architecture.

    The form does not enter the seed: all forms meet on the same sentences. Two independent tokens are the sentences
    of `StudentCell`.
    """

    kind: ClassVar = StudentCell.kind._replace(tolerances=kinds.ARCHITECTURES)

    architecture: Architecture = field(kw_only=True)

    def sentences(self) -> dict:
        tokens, correlation = self.architecture.tokens, self.architecture.correlation
        usual = (tokens, correlation) == (2, 0.0)
        return super().sentences() | ({} if usual else {"tokens": tokens, "correlation": correlation})


class StructuredCell(ArchitectureCell):
    """Students of tokens, teachers or penalties with structure."""

    kind: ClassVar = ArchitectureCell.kind._replace(tolerances=kinds.STRUCTURED)


@dataclass(frozen=True)
class LoopCell(_OnData):
    """Students followed along `alphas` and back, the largest of which is `alpha`, see `landscape.follow`."""

    kind: ClassVar = Kind(".landscape:follow", kinds.LOOPS, ("grad_norm",))

    alphas: tuple


@dataclass(frozen=True)
class ValleyCell(_OnData):
    """Many starts in one valley: `count` students, displaced by noise of standard deviation `noise`."""

    kind: ClassVar = Kind(".landscape:descend", kinds.VALLEYS, ends=".verification:valley_ends")

    valley: str
    noise: float
    count: int


@dataclass(frozen=True)
class SearchCell(ValleyCell):
    """Searches for the lowest minimum of the valley, from where such starts end, see `optimizers.hop`."""

    kind: ClassVar = Kind(
        ".landscape:search",
        kinds.STUDENTS,
        ("hops", "aligned"),
        beginning=".landscape:search_first",
        rows=2,
        ends=".verification:search_ends",
    )

    worst: float
    temperatures: tuple


@dataclass(frozen=True)
class MessagePassingCell(_OnData):
    """Message passing from one start."""

    kind: ClassVar = Kind(".convergence:measure", kinds.PASSING, ("change", "apart"))

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

    kind: ClassVar = Kind(".theory_lines:standard_line", kinds.THEORY)

    alphas: tuple = field(kw_only=True)


class CopiesCell(LineCell):
    """A line along which two copies of message passing are compared, see `theory_lines.copies_line`."""

    kind: ClassVar = Kind(".theory_lines:copies_line", kinds.COPIES)


@dataclass(frozen=True)
class ArchitectureLineCell(LineCell):
    """A line of theory for another architecture, see `theory_lines.variant_line`."""

    kind: ClassVar = Kind(".theory_lines:variant_line", kinds.VARIANTS)

    architecture: Architecture = field(kw_only=True)
    branches: tuple = INFORMED


class RuleCell(_OnNets):
    """Both thresholds on the published kind of quadrature, see `theory_lines.rule_thresholds`."""

    kind: ClassVar = Kind(".theory_lines:rule_thresholds", kinds.RULE)


class OneStepThresholdsCell(_OnNets):
    """Both thresholds with one step of replica symmetry breaking, see `theory_lines.broken_thresholds`."""

    kind: ClassVar = Kind(".theory_lines:broken_thresholds", kinds.ONE_STEP)


@dataclass(frozen=True)
class CountingCell:
    """A run of the counting task.

    The variant does not enter the seed: both see the same data in the same order and start from the same numbers,
    of which each freezes its own part at zero.
    """

    kind: ClassVar = Kind(".counting:train_and_measure", kinds.COUNTING, beginning=".counting:train_beginning", rows=2)

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
        ".counting:train_exchanged",
        kinds.EXCHANGED,
        ("letter",),
        beginning=".counting:train_exchanged_beginning",
        rows=EXCHANGED,
    )

    experiment: str
    variant: str
    data_seed: int
    start_seed: int
    sequences: int
    epochs: int
