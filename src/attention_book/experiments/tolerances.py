"""How far results may differ when they are computed again, by kind of cell: (relative, absolute) by column.

`verification.agree` takes them so. A column without a tolerance must be equal.
"""

from collections.abc import Iterable

Tolerances = dict[str, tuple[float, float]]
CONTROLS = ("length", "blind", "aligned", "encoded")  # what `simulation.controls` knows of a cell's data


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
UNREPEATABLE = ("seconds", "steps", "grad_norm")  # columns: the last digits decide when L-BFGS stops
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
