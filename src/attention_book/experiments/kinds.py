"""How cells of a kind are computed, and how far a result may differ when it is computed again.

Tolerances are (relative, absolute) by column, as `verification.agree` takes them.
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import NamedTuple

Tolerances = dict[str, tuple[float, float]]


class Kind(NamedTuple):
    """What belongs to all cells of one type.

    Functions are named "MODULE:FUNCTION" and loaded when they are called: who only reads results loads no torch.

    Attributes:
        worker: gives the rows of a cell.
        unrepeatable: columns that no two runs share.
        beginning: gives the first rows of a cell, `rows` in number, where the whole takes too long to be computed
            again, or rounding grows too much on the way.
        ends: gives the rows of several runs of a cell whose students may end in another minimum, see `verification`.
    """

    worker: str
    tolerances: Tolerances
    unrepeatable: tuple[str, ...] = ()
    beginning: str | None = None
    rows: int | None = None
    ends: str | None = None

    def tolerances_of(self, rows) -> Tolerances:
        """The tolerances for the stored rows (a frame) of one cell."""
        if "linear_mse" not in self.tolerances:
            return self.tolerances
        relative, absolute = self.tolerances["linear_mse"]
        terms = rows["alpha"].iloc[0] * rows["d"].iloc[0] ** 2
        return self.tolerances | {"linear_mse": (relative, max(absolute, LINEAR_TERM * terms))}


def work(cell, **options) -> list[dict]:
    """Rows of a cell of any kind."""
    return function(cell.kind.worker)(cell, **options)


def function(name: str) -> Callable:
    """The function with a name such as ".simulation:train_students" (of this folder) or "package.module:function"."""
    module, attribute = name.split(":")
    return getattr(import_module(module, __package__), attribute)


def _with_errors(names: Iterable[str], value: tuple[float, float], error: tuple[float, float]) -> Tolerances:
    return dict.fromkeys(names, value) | dict.fromkeys([f"{name}_error" for name in names], error)


# Two runs of one cell whose sums are rounded in another order end in points that differ by |grad R| over the softest
# curvature: up to 3e-5 in the overlaps at d = 1000, and 3e-10 in the loss, which is flat there. The tolerances are ten
# times that and more, and a hundredth of the spread between seeds.
STUDENTS: Tolerances = {
    "q": (0, 3e-4),
    "m": (0, 3e-4),
    "theta": (0, 3e-4),
    "train_loss": (0, 1e-8),
    "test_mse": (0, 3e-6),
    "linear_mse": (0, 5e-7),
}
UNREPEATABLE = ("seconds", "steps", "grad_norm")  # the last digits decide when L-BFGS stops
# The linear fit's sums have alpha d^2 terms in float32. Where these are a million or more, recomputed fits differ by up
# to 3.9e-13 a term (in 262 cells). Data sets scatter by 2e-4.
LINEAR_TERM = 1e-12
CONTROLLED = STUDENTS | dict.fromkeys(("length", "blind", "aligned", "encoded"), (0, 1e-9))
_COLUMNS = ("q_11", "q_12", "q_22", "m_1", "m_2", "theta_1", "theta_2")  # of two columns, without sigma^2
ARCHITECTURES = STUDENTS | dict.fromkeys(_COLUMNS, (0, 1e-3))
STRUCTURED = ARCHITECTURES | {"teacher_1": (0, 3e-4), "teacher_2": (0, 3e-4), "length": (0, 1e-9)}
VALLEYS = STUDENTS | {"nearest": (0, 2e-3), "aligned": (0, 1e-4), "minimum": (0, 0)}

# Where the prox jumps the solver ends within a fifth of an error bar of the fixed point, and rounding decides where.
_OF_THEORY = ("alpha", "resolved", "q", "m", "theta", "V", "train_loss", "test_mse", "replicon")
THEORY = _with_errors((*_OF_THEORY, "gain"), (1e-3, 1e-9), (5e-2, 1e-9))
VARIANTS = _with_errors((*_OF_THEORY, *_COLUMNS, "gain"), (1e-3, 1e-9), (5e-2, 1e-9))
COPIES = THEORY | {"apart": (1e-2, 0), "apart_error": (0.1, 0)}
RULE = THEORY | {"rule": (5e-3, 0), "exact": (5e-3, 0)}

# The maximum of Phi is flat: of y, and of what follows it, fewer digits are found again.
_OF_ONE_STEP = ("alpha", "symmetric", "q0", "q1", "m", "theta", "V", "phi", "energy", "slope")
_FLAT: Tolerances = {"y": (0.1, 0), "complexity": (0.1, 1e-4), "shift": (5e-2, 1e-7)}
ONE_STEP = _with_errors((*_OF_ONE_STEP, *_FLAT), (2e-3, 1e-9), (0.3, 1e-8)) | _FLAT

# A perturbation contracts from 1e-5 while rounding is 1e-12. Copies that do not settle amplify rounding: their distance
# belongs to one run, and their overlaps agree within what they fluctuate by.
PASSING: Tolerances = {"distance": (1e-3, 1e-6), "q": (0.1, 0), "m": (0, 0.05), "theta": (0, 0.02), "V": (0.1, 0)}
# Along a way the minima are many, and rounding decides in which of them a student goes on: tolerances as above.
LOOPS: Tolerances = {"q": (0.1, 0), "m": (0, 0.05), "theta": (0, 0.02), "excess": (0.02, 0)}

# Where little is learnt the fixed point is approached slowly, and the change at which it ends is 1e-8.
RECOVERY: Tolerances = {"squared_cosine": (0, 1e-3), "test_mse": (1e-3, 1e-12), "converged": (0, 0)}

# Of one epoch from the start, ten times what a start displaced by 2e-7 of its size changes: another machine sums in
# another order. On the same machine and versions the bits are the same.
COUNTING: Tolerances = {"train_loss": (5e-3, 0), "test_loss": (3e-2, 0), "accuracy": (0, 2e-3)}
EXCHANGED = COUNTING | {"there": (0, 0.1), "elsewhere": (0, 0.02)}
