"""What fixes the outcome of one piece of an experiment: a run on data, or a line of theory.

The values of a cell name its results (`identity.canonical`) and seed its random draws.
"""

from dataclasses import dataclass, field

import numpy as np

from attention_phases.errors import check_count
from attention_phases.model.architectures import Architecture
from attention_phases.task import Task

from ..store.identity import seed_sequence

INFORMED = ("semantic", "positional")


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
        return {"task": vars(self.task), "alpha": self.alpha, "d": self.d, "seed": self.seed}

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

    optimizer: str
    starts: tuple = INFORMED


class ControlledCell(StudentCell):
    """The same students, and control variates of their data, see `controls.train_controlled`."""


@dataclass(frozen=True)
class ArchitectureCell(StudentCell):
    """Students of another architecture.

    The form does not enter the seed: all forms meet on the same sentences. Two independent tokens are the sentences
    of `StudentCell`.
    """

    architecture: Architecture = field(kw_only=True)

    def sentences(self) -> dict:
        tokens, correlation = self.architecture.tokens, self.architecture.correlation
        usual = (tokens, correlation) == (2, 0.0)
        return super().sentences() | ({} if usual else {"tokens": tokens, "correlation": correlation})


@dataclass(frozen=True)
class LoopCell(_OnData):
    """Students followed along `alphas` and back, the largest of which is `alpha`, see `hysteresis.follow`."""

    alphas: tuple


@dataclass(frozen=True)
class ValleyCell(_OnData):
    """Many starts in one valley: `count` students, displaced by noise of standard deviation `noise`."""

    valley: str
    noise: float
    count: int


@dataclass(frozen=True)
class SearchCell(ValleyCell):
    """Searches for the lowest minimum of the valley, from where such starts end, see `training.searches`."""

    worst: float
    temperatures: tuple


@dataclass(frozen=True)
class MessagePassingCell(_OnData):
    """Message passing from one start."""

    start: str


@dataclass(frozen=True)
class LineCell:
    """A line of theory along alpha, see `theory_lines.theory_line`; without alphas the thresholds alone."""

    experiment: str
    task: Task
    alphas: tuple
    points: int
    scrambles: int
    seed: int = 0


class CopiesCell(LineCell):
    """A line along which two copies of message passing are compared, see `theory.copies.copies_line`."""


@dataclass(frozen=True)
class ArchitectureLineCell(LineCell):
    """A line of theory for another architecture."""

    architecture: Architecture = field(kw_only=True)
    branches: tuple = INFORMED


@dataclass(frozen=True)
class _OnNets:
    """Theory of one task, on `points` points in each of `scrambles` scrambles that `seed` draws."""

    experiment: str
    task: Task
    points: int
    scrambles: int
    seed: int = 0


class RuleCell(_OnNets):
    """Both thresholds on the published kind of quadrature, see `theory.published_rule.coarse_line`."""


class OneStepThresholdsCell(_OnNets):
    """Both thresholds with one step of replica symmetry breaking, see `one_step_lines.ground_states`."""


@dataclass(frozen=True)
class OneStepCell(_OnNets):
    """The minima of one branch at several y, see `one_step_lines.along_y`."""

    alpha: float = field(kw_only=True)
    branch: str = field(kw_only=True)
    ys: tuple = field(kw_only=True)
