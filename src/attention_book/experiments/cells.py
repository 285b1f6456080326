"""What fixes the outcome of one piece of an experiment, a training or a line of theory, and how it is computed.

The values of a cell name its results (`records.canonical`) and seed its random draws. Its `Kind` has the worker, and
how far a result may differ when it is computed again. Tolerances are (relative, absolute) by column, as
`verification.agree` takes them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np

from attention_phases.model.architectures import STANDARD, Architecture
from attention_phases.records import record_of, seed_sequence
from attention_phases.task import Task

INFORMED = ("semantic", "positional")
SLIPS = {"rate": {"rate": 0.1}, "steps": {"steps": 4500}}  # of gradient descent, published with 0.15 and 5,000
CONTROLS = ("length", "blind", "aligned", "encoded")  # what `simulation.controls` knows of a cell's data
_ROW_PLACES = ("at critical", "at linear", "start", "stop", "border", "limit")
# What a row of theory may be about, in its column `what`, see `theory_lines`.
ROWS = ("baseline", "gap", "symmetric gap", "critical", "linear", "second", "symmetric", "both", *INFORMED)
ROWS += tuple(f"{branch} {place}" for branch in (*INFORMED, "both") for place in _ROW_PLACES)
EXCHANGED = 4  # epochs of the counting task on several data sets

Tolerances = dict[str, tuple[float, float]]


class Kind(NamedTuple):
    """What all cells of one type share.

    Functions are named "MODULE:FUNCTION" and loaded when they are called, so that reading results does not load torch.

    Attributes:
        worker: gives the rows of a cell.
        unrepeatable: columns that no two runs share.
        unsettled: value of a column in rows of what does not settle and amplifies rounding without end: another
            machine has other ones, or none.
        beginning: a shorter run, which gives the first `rows` rows. Set where a whole run is too long, or too
            sensitive to rounding, to be repeated.
        runs: gives the rows of several runs of a cell whose students may end in another minimum, see `verification`.
    """

    worker: str
    tolerances: Tolerances
    unrepeatable: tuple[str, ...] = ()
    unsettled: tuple[str, Any] | None = None
    beginning: str | None = None
    rows: int | None = None
    runs: str | None = None

    def repeat(self, cell) -> list[dict]:
        """Rows of a cell, computed again: those of `repeatable`."""
        return [row for row in function(self.beginning or self.worker)(cell) if self.unsettled not in row.items()]

    def repeatable(self, rows):
        """Those of the stored rows (a frame) of one cell that another machine finds again."""
        rows = rows.head(self.rows) if self.beginning else rows
        return rows[rows[self.unsettled[0]] != self.unsettled[1]] if self.unsettled else rows

    def tolerances_of(self, rows) -> Tolerances:
        """The tolerances for the stored rows (a frame) of one cell."""
        if "d" not in rows:
            return self.tolerances
        alpha, d = rows[["alpha", "d"]].iloc[0]
        rounded = {"linear_mse": LINEAR_TERM * alpha * d**2, "train_loss": FLOOR_TERM * (alpha / d) ** 0.5}
        return {
            name: (relative, max(absolute, rounded.get(name, 0)))
            for name, (relative, absolute) in self.tolerances.items()
        }


def work(cell, **options) -> list[dict]:
    """Rows of a cell of any kind."""
    return function(cell.kind.worker)(cell, **options)


def function(name: str) -> Callable:
    """The function with a name such as ".simulation:train_students" (of this folder) or "package.module:function"."""
    module, attribute = name.split(":")
    return getattr(import_module(module, __package__), attribute)


def _with_errors(names: Iterable[str], value: tuple[float, float], error: tuple[float, float]) -> Tolerances:
    return dict.fromkeys(names, value) | dict.fromkeys([f"{name}_error" for name in names], error)


_COLUMNS = ("q_11", "q_12", "q_22", "m_1", "m_2", "theta_1", "theta_2")  # of two columns, without sigma^2
_TEACHERS = ("teacher_1", "teacher_2")

# Two runs of one cell whose sums are rounded in another order end in points that differ by |grad R| over the softest
# curvature: up to 3e-5 in the overlaps at d = 1000, and 3e-10 in the loss, which is flat there. The tolerances are ten
# times that and more, and a hundredth of the spread between seeds.
STUDENTS: Tolerances = {
    **dict.fromkeys(("q", "m", "theta", *_TEACHERS), (0, 3e-4)),
    **dict.fromkeys(_COLUMNS, (0, 1e-3)),
    **dict.fromkeys(CONTROLS, (0, 1e-9)),
    "train_loss": (0, 1e-8),
    "test_mse": (0, 3e-6),
    "linear_mse": (0, 5e-7),
}
TESTED = STUDENTS | dict.fromkeys(("tested_mse", "tested_linear_mse"), (1.5e-3, 0))
UNREPEATABLE = ("seconds", "steps", "grad_norm")  # the last digits decide when L-BFGS stops
# The linear fit's sums have alpha d^2 terms in float32. Where these are a million or more, recomputed fits differ by up
# to 3.9e-13 a term (in 262 cells). Data sets scatter by 2e-4.
LINEAR_TERM = 1e-12
# The part of a training loss that no student can avoid was stored as a difference of squares in float32: off by up to
# 1.1e-7 (alpha/d)^(1/2) in 155 data sets of d = 10 to 1000, as the machine rounds. Computed again it has no such error.
FLOOR_TERM = 2e-7
VALLEYS = STUDENTS | {"nearest": (0, 2e-3), "aligned": (0, 1e-4), "minimum": (0, 0)}

# On the plane through two minima the loss away from them changes as they do.
PLANE: Tolerances = {"m": (0, 3e-4), "theta": (0, 3e-4), "train_loss": (1e-4, 1e-8)}
FIRST_STEPS: Tolerances = {name: (1e-3, 3e-6) for name in ("q", "m", "theta")}

# Where the prox jumps the solver ends within a fifth of an error bar of the fixed point, and rounding decides where.
_OF_THEORY = ("alpha", "resolved", "q", "m", "theta", "V", "train_loss", "test_mse", "replicon", "gain")
THEORY = _with_errors((*_OF_THEORY, *_COLUMNS, *_TEACHERS), (1e-3, 1e-9), (5e-2, 1e-9))
COPIES = THEORY | {"apart": (1e-2, 0), "apart_error": (0.1, 0)}
RULE = _with_errors(("alpha", "many"), (1e-3, 1e-9), (5e-2, 1e-9)) | {"rule": (5e-3, 1e-9), "exact": (5e-3, 0)}

# The maximum of Phi is flat: of y, and of what follows it, fewer digits are found again.
_OF_ONE_STEP = ("alpha", "symmetric", "q0", "q1", "m", "theta", "V", "phi", "energy", "slope")
_FLAT: Tolerances = {"y": (0.1, 0), "complexity": (0.1, 3e-5), "shift": (5e-2, 1e-7)}
ONE_STEP = _with_errors((*_OF_ONE_STEP, *_FLAT), (2e-3, 1e-9), (0.3, 1e-8)) | _FLAT

# A perturbation contracts from 1e-5 while rounding is 1e-12. Damped copies that do not settle amplify rounding slowly:
# their distance belongs to one run, and their overlaps agree within what they fluctuate by at d = 1000. Undamped ones
# forget where they began, and may run away.
PASSING: Tolerances = {"distance": (1e-3, 1e-6), "q": (0.1, 0), "m": (0, 0.02), "theta": (0, 0.01), "V": (0.1, 0)}
# The same from its first step: no rounding has grown yet. L-BFGS ends where it does.
TRACK: Tolerances = {name: (1e-3, 1e-6) for name in ("q", "m", "theta", "V")} | {"cosine": (0, 1e-5)}
# Along a way the minima are many, and rounding decides in which of them a student goes on: tolerances as above. On
# another processor m was off by up to 5e-3 and theta by 1e-3, at omega = 0.1.
LOOPS: Tolerances = {"q": (0.1, 0), "m": (0, 0.02), "theta": (0, 0.01), "excess": (0.02, 0)}

# Ends to |grad R| <= 1e-6: of two that differ in rounding the smallest eigenvalues differed by less than 1e-6. Which
# directions are the softest eight is less sharp.
STAYING = STUDENTS | {"softest": (0, 1e-5), "leaning": (0, 1e-2), "same": (0, 1e-3), "train_loss": (0, 1e-8)}
STAYING |= dict.fromkeys(("stiff_teacher", "stiff_any"), (1e-2, 0))

# Where little is learnt the fixed point is approached slowly, and the change at which it ends is 1e-8.
RECOVERY: Tolerances = {"squared_cosine": (0, 1e-3), "test_mse": (1e-3, 1e-12), "converged": (0, 0)}

# Of one epoch from the start (of two, what is told of letters), ten times what a start displaced by 2e-7 of its size
# changes: another machine sums in another order. On the same machine and versions the bits are the same.
COUNTING: Tolerances = {"train_loss": (5e-3, 0), "test_loss": (3e-2, 0), "accuracy": (0, 2e-3)}
OF_LETTERS = COUNTING | {"there": (0, 0.1), "elsewhere": (0, 1e-3)}


@dataclass(frozen=True)
class _OnData:
    """Work on one data set, whose number is the seed."""

    architecture: ClassVar = None  # the standard one

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

    The starts share one data set, so that their difference is not blurred by the draw of the data and
    gradient steps of several students cost one pass over it. The optimiser does not enter the seed either:
    two optimisers meet on the same data.
    """

    kind: ClassVar = Kind(".simulation:train_students", STUDENTS, UNREPEATABLE, runs=".verification:displaced_runs")

    optimizer: str
    starts: tuple = INFORMED


@dataclass(frozen=True)
class SlipCell(StudentCell):
    """The same students, trained with one of `SLIPS` on purpose: would the comparison with published means show it?"""

    kind: ClassVar = StudentCell.kind._replace(worker=".simulation:train_with_slip", runs=None)

    slip: str = field(kw_only=True)


class ControlledCell(StudentCell):
    """The same students, and control variates of their data, see `simulation.train_controlled`."""

    kind: ClassVar = Kind(".simulation:train_controlled", STUDENTS, UNREPEATABLE)


@dataclass(frozen=True)
class AnotherTaskCell(StudentCell):
    """The same students, and their errors on another task: `tested` has what differs in it, by name."""

    kind: ClassVar = StudentCell.kind._replace(worker=".simulation:train_and_test", tolerances=TESTED)

    tested: tuple = field(kw_only=True)


class PositionsGivenCell(StudentCell):
    """The same students, which add omega A themselves to their attention, see `simulation.beside_positions`."""

    kind: ClassVar = StudentCell.kind._replace(worker=".simulation:train_beside_positions")


@dataclass(frozen=True)
class RecoveryCell(_OnData):
    """Message passing of the optimal learner from random weights, see `training.recovery`."""

    kind: ClassVar = Kind(".simulation:look_for_teacher", RECOVERY, ("steps",), unsettled=("converged", False))


@dataclass(frozen=True)
class FirstStepsCell(_OnData):
    """Gradient descent from `count` random starts, measured after each of `steps`: `simulation.take_first_steps`."""

    kind: ClassVar = Kind(".simulation:take_first_steps", FIRST_STEPS)

    count: int
    steps: tuple


@dataclass(frozen=True)
class PlaneCell(_OnData):
    """The training loss at `across` x `across` students of a plane, see `minima.loss_on_plane`."""

    kind: ClassVar = Kind(".minima:loss_on_plane", PLANE)

    across: int


@dataclass(frozen=True)
class ArchitectureCell(StudentCell):
    """Students of another architecture, or of tokens, teachers or penalties with structure.

    The form does not enter the seed: all forms meet on the same sentences. Two independent tokens are the sentences
    of `StudentCell`.
    """

    architecture: Architecture = field(kw_only=True)  # pyright: ignore


@dataclass(frozen=True)
class LoopCell(_OnData):
    """Students followed along `alphas` and back, the largest of which is `alpha`, see `minima.follow`."""

    kind: ClassVar = Kind(".minima:follow", LOOPS, ("grad_norm",))

    alphas: tuple


@dataclass(frozen=True)
class ValleyCell(_OnData):
    """Many starts in one valley: `count` students, displaced by noise of standard deviation `noise`."""

    kind: ClassVar = Kind(".minima:descend", VALLEYS, runs=".verification:valley_runs")

    valley: str
    noise: float
    count: int


@dataclass(frozen=True)
class SearchCell(ValleyCell):
    """Searches for the lowest minimum of the valley, from where such starts end, see `minima.hop`."""

    kind: ClassVar = Kind(
        ".minima:search",
        STUDENTS,
        ("hops", "aligned"),
        beginning=".minima:search_first",
        rows=2,
        runs=".verification:search_runs",
    )

    worst: float
    temperatures: tuple


@dataclass(frozen=True)
class StayCell(_OnData):
    """Ends of descent in the positional valley and how soft they are, see `staying.stay`."""

    kind: ClassVar = Kind(
        ".staying:stay", STAYING, ("grad_norm",), beginning=".staying:ends", rows=2, runs=".staying:displaced_ends"
    )

    sizes: tuple = ()
    steps: tuple = ()
    kicks: tuple = ()


@dataclass(frozen=True)
class MessagePassingCell(_OnData):
    """Message passing from one start."""

    kind: ClassVar = Kind(".convergence:measure", PASSING, ("change", "apart"), unsettled=("damping", 0.0))

    start: str


@dataclass(frozen=True)
class TrackingCell(_OnData):
    """Message passing in its first `steps`, and where it settles, see `convergence.track`."""

    kind: ClassVar = Kind(".convergence:track", TRACK)

    steps: int


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

    kind: ClassVar = Kind(".theory_lines:standard_line", THEORY)

    alphas: tuple = field(kw_only=True)


class CopiesCell(LineCell):
    """A line along which two copies of message passing are compared, see `theory_lines.copies_line`."""

    kind: ClassVar = Kind(".theory_lines:copies_line", COPIES)


@dataclass(frozen=True)
class ArchitectureLineCell(LineCell):
    """A line of theory for another architecture, see `theory_lines.variant_line`."""

    kind: ClassVar = Kind(".theory_lines:variant_line", THEORY)

    architecture: Architecture = field(kw_only=True)
    branches: tuple = INFORMED


class ArchitectureCopiesCell(ArchitectureLineCell):
    """How close two copies come for another architecture, see `theory_lines.variant_copies`."""

    kind: ClassVar = Kind(".theory_lines:variant_copies", COPIES)


@dataclass(frozen=True)
class RuleCell(_OnNets):
    """The published rules: both thresholds, or branches over `alphas`, see `theory_lines.by_published_rule`."""

    kind: ClassVar = Kind(".theory_lines:by_published_rule", RULE)

    alphas: tuple = ()
    branches: tuple = ()


class OneStepThresholdsCell(_OnNets):
    """Both thresholds with one step of replica symmetry breaking, see `theory_lines.broken_thresholds`."""

    kind: ClassVar = Kind(".theory_lines:broken_thresholds", ONE_STEP)


@dataclass(frozen=True)
class CountingCell:
    """A run of the counting task.

    The variant does not enter the seed: both see the same data in the same order and start from the same numbers,
    of which each freezes its own part at zero.
    """

    kind: ClassVar = Kind(".counting:train_and_measure", COUNTING, beginning=".counting:train_beginning", rows=2)

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
        ".counting:train_exchanged", OF_LETTERS, ("letter",), beginning=".counting:train_exchanged_beginning", rows=2
    )

    experiment: str
    variant: str
    data_seed: int
    start_seed: int
    sequences: int
    epochs: int
