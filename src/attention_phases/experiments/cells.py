"""What fixes the outcome of one piece of an experiment: a run on data, or a line of theory.

The values of a cell name its results (`identity.canonical`) and seed its random draws. See `Task` for omega, sigma,
lam and matrix, and `Architecture` for form, tokens and correlation.
"""

from dataclasses import dataclass

from ..model.architectures import Architecture
from ..task import Task


@dataclass(frozen=True)
class _OnTask:
    experiment: str
    omega: float
    sigma: float
    lam: float
    matrix: tuple

    def task(self):
        return Task(omega=self.omega, sigma=self.sigma, lam=self.lam, matrix=self.matrix)


@dataclass(frozen=True)
class _OnData(_OnTask):
    """One data set, which the seed means in all of these."""

    alpha: float
    d: int
    seed: int


@dataclass(frozen=True)
class Cell(_OnData):
    """Students trained from several starts.

    The starts share one data set, so that their difference is not blurred by the draw of the data and
    gradient steps of several students cost one pass over it. The optimiser does not enter the seed either:
    two optimisers meet on the same data.
    """

    optimizer: str
    starts: tuple


class Controlled(Cell):
    """The same students, and control variates of their data, see `controls.run_controlled`."""


@dataclass(frozen=True)
class Loop(_OnData):
    """Students followed along `alphas` and back, the largest of which is `alpha`, see `hysteresis.follow`."""

    alphas: tuple


@dataclass(frozen=True)
class Variant(Cell):
    """Students of another architecture.

    The form does not enter the seed: all forms meet on the same sentences, for two independent tokens those of `Cell`.
    """

    form: str
    tokens: int
    correlation: float

    def architecture(self):
        return Architecture(self.form, self.tokens, self.correlation)


@dataclass(frozen=True)
class Starts(_OnData):
    """Many starts in one valley: `count` students, displaced by noise of standard deviation `noise`."""

    valley: str
    noise: float
    count: int


@dataclass(frozen=True)
class Passing(_OnData):
    """Message passing from one start."""

    start: str


@dataclass(frozen=True)
class Line(_OnTask):
    """A line of theory along alpha, see `theory.theory_line`; without alphas the thresholds alone."""

    alphas: tuple
    points: int
    scrambles: int
    seed: int


@dataclass(frozen=True)
class GroundStates(_OnTask):
    """Both thresholds with one step of replica symmetry breaking, see `theory.one_step.line.ground_states`."""

    points: int
    scrambles: int
    seed: int


@dataclass(frozen=True)
class Valleys(GroundStates):
    """The minima of one branch at several y, see `theory.one_step.line.valleys`."""

    alpha: float
    branch: str
    ys: tuple


class Copies(Line):
    """A line along which two copies of message passing are compared, see `theory.copies.copies_line`."""


@dataclass(frozen=True)
class VariantLine(Line):
    """A line of theory for another architecture, see `theory.general.lines.general_line`."""

    form: str
    tokens: int
    correlation: float
    branches: tuple

    architecture = Variant.architecture


def cell(experiment, task, alpha, d, seed, optimizer, starts=("semantic", "positional")):
    """The cell of one task at one alpha."""
    return Cell(experiment, alpha=alpha, d=d, seed=seed, optimizer=optimizer, starts=starts, **vars(task))


def line(experiment, task, alphas, points, scrambles, seed=0):
    """The line of one task."""
    return Line(experiment, alphas=tuple(alphas), points=points, scrambles=scrambles, seed=seed, **vars(task))
