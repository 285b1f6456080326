"""Optimisers of the empirical risk, and the initial weights from which they start (paper, Section 5 and Appendix E)."""

import time
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from typing import Any, Protocol

import numpy as np
import scipy.optimize
import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError, gradcheck

from ..errors import BadInput, check_choice, check_count, check_kind, check_positive, check_real
from ..machine import torch_defaults
from ..model import students, two_tokens
from ..model.architectures import FORMS

STARTS = ("semantic", "positional", "random", "near_semantic", "near_positional", "second", "encoding")
# Standard deviation of the noise that is added to a start. With "near_semantic" the noise is as large as Q*, but the
# student remains in the semantic valley.
START_NOISE = {"random": 0.1, "near_semantic": 1.0, "near_positional": 0.1}
ENCODING_START = 0.3  # value of all weights of the start "encoding"
GD_RATE, GD_STEPS = 0.15, 5000  # learning rate and number of steps, as published
ADAM_RATE, ADAM_STEPS = 0.01, 2500  # learning rate and number of steps, as published
LBFGS_TOLERANCE = 1e-4  # largest Euclidean norm of the gradient of R at convergence
LBFGS_STEPS = 5000  # largest number of steps of L-BFGS
# For the check of a user-defined gradient: the change of the weights, and the accepted error relative to the risk.
NUDGE, GRADIENT_ERROR = 1e-3, 1e-3
LOSS_RESOLUTION = 1e-7  # minima with a smaller difference of R/d may be one minimum, reached only approximately


class TrainingSet(Protocol):
    """The interface that data must have if `fit` is called with a user-defined `risk`.

    Data from `data_set` have it.
    """

    @property
    def d(self) -> int:
        """The embedding dimension, by which the risk is divided to give the training loss."""

    def double(self) -> Any:
        """Return a copy in float64, with which L-BFGS continues if rounding in float32 has stopped the minimisation."""


class Risk(Protocol):
    """The interface of a user-defined loss for `fit`: a function of data, weights (k, p) of k students, and lam.

    The function returns the risks of the students, (k,), which include the ridge penalty lam, and their gradients (k,
    p).
    """

    def __call__(self, data: Any, weights: Tensor, lam: float, /) -> tuple[Tensor, Tensor]: ...


def starts_of(form: str) -> tuple[str, ...]:
    """Return the names of the initial weights that are available for a variant of the student.

    "mixed" needs more than one column of weights.
    """
    mixed = ("mixed",) if len(FORMS[form].score) > 1 else ()
    return STARTS if form == "tied" else ("semantic", "positional", *mixed, "random")


def start_weights(start: str, teacher: Tensor, rng: np.random.Generator, form: str = "tied") -> Tensor:
    """Return flat initial weights (p,): the columns that define the fields, then the weights of the value matrix.

    The starts of a column are Q* ("semantic"), 1_d/sqrt(d) ("positional") and 0.1 N(0, 1) ("random"). With "mixed" the
    first column starts at Q* and the others at 1_d/sqrt(d). The form "tied" has further starts: close to Q* or to
    1_d/sqrt(d), displaced by noise ("near_semantic", "near_positional"); the second column of a teacher with several
    columns ("second"); and 0.3 times 1_d, which is about what a positional student learns ("encoding"). An l1 penalty
    would reduce weights as small as 1_d/sqrt(d) to zero. If Q* has several columns, each column of the student starts
    at its own column of Q* ("semantic").

    Two columns that can be exchanged (rank 2) would remain equal if they started equal, so both are displaced by
    0.1 N(0, 1). The rank-one correction u v^T/d of the value matrix starts at u = 0 and v ~ N(0, 1). This correction is
    zero, but not a stationary point, as it would be with v = 0. The full value matrix starts at V = 0.

    Args:
        teacher: Q*, (d,), or (t, d) for t columns.
        rng: random generator of the noise.
    """
    teachers = teacher.reshape(-1, teacher.shape[-1])
    check_choice("start", start, [name for name in starts_of(form) if name != "second" or len(teachers) > 1])
    d, score = teachers.shape[1], np.array(FORMS[form].score)
    if start == "second":
        teachers = teachers[1:]
    apart = start == "mixed" or (start == "semantic" and len(teachers) > 1)
    exchangeable = len(score) > 1 and (score == score[::-1, ::-1]).all() and not apart
    noise = START_NOISE["random"] if exchangeable else START_NOISE.get(start, 0.0)

    def drawn(size: float) -> Tensor:
        return torch.from_numpy(size * rng.standard_normal(d, dtype=np.float32)).to(teachers)

    vectors = []
    for column in range(len(score)):
        if start == "random":
            weights = torch.zeros_like(teachers[0])
        elif start.endswith(("semantic", "second")) or (start == "mixed" and column == 0):
            weights = teachers[min(column, len(teachers) - 1)].clone()
        else:
            weights = torch.full_like(teachers[0], ENCODING_START if start == "encoding" else d**-0.5)
        vectors.append(weights + drawn(noise) if noise else weights)
    if FORMS[form].value == "pair":
        vectors += [torch.zeros_like(teachers[0]), drawn(1.0)]
    if FORMS[form].value == "full":
        vectors.append(torch.zeros(d * d).to(teachers))
    return torch.cat(vectors)


@dataclass(frozen=True)
class Fit:
    """A trained student, with its training loss and whether training converged."""

    weights: Tensor = field(repr=False)  #: final weights (p,)
    train_loss: float  #: training loss R/d
    grad_norm: float  #: Euclidean norm of the gradient of R
    steps: int  #: number of gradient evaluations; a line search of L-BFGS may need several in one iteration
    seconds: float  #: wall time; students trained together share it equally
    converged: bool  #: whether grad_norm is at most the tolerance of L-BFGS, for any optimizer


@torch_defaults()
def fit(
    data: Any,
    lam: float,
    starts: Tensor,
    optimizer: str = "lbfgs",
    risk: Risk | None = None,
    l1: float = 0.0,
    **settings: float,
) -> list[Fit]:
    """Train one student from each start on the same data.

    >>> from attention_phases import Task, data_set, fit
    >>> data = data_set(Task(), 2.0, 50)
    >>> (student,) = fit(data, 0.01, data.teacher[None])
    >>> student.converged, student.weights.shape
    (True, torch.Size([50]))

    Args:
        data: from `data_set`, `two_tokens.sample` or `students.sample`; or any `TrainingSet`, together with a `risk`.
        lam: ridge penalty, at least 0.
        starts: initial weights, (k, p).
        optimizer: "lbfgs", L-BFGS until ``|grad R| <= 1e-4``; "gd" or "adam", with the published rates and steps.
        risk: a user-defined loss with the interface `Risk`; the default is the risk of the data. The theory does not
            apply to a user-defined loss.
        l1: additional penalty ``l1 |w|`` on each weight w, available for L-BFGS only.
        settings: settings of the optimizer: `tolerance` for "lbfgs", `rate` and `steps` for "gd".
    """
    began = time.perf_counter()
    lam = check_real("lam", lam, "a finite number >= 0", lambda v: v >= 0)
    l1 = check_real("l1", l1, "a finite number >= 0", lambda v: v >= 0)
    minimise = OPTIMIZERS[check_choice("optimizer", optimizer, ("lbfgs",) if l1 else tuple(OPTIMIZERS))]
    for name, value in settings.items():
        if name not in SETTINGS[optimizer]:
            raise BadInput(f"{optimizer} has no setting {name} (it has: {', '.join(SETTINGS[optimizer]) or 'none'})")
        settings[name] = (check_count if name == "steps" else check_positive)(name, value)
    starts = _check_starts(data, starts)
    if risk is None:
        check_kind("data", data, two_tokens.Dataset | students.Sentences)
        risk = students.risk if isinstance(data, students.Sentences) else two_tokens.risk
    elif missing := [name for name in ("d", "double") if not hasattr(data, name)]:
        raise BadInput(f"data is not a TrainingSet: it lacks {' and '.join(missing)}")
    else:
        _ask_once(risk, data, lam, starts)
    ends, steps = minimise(data, lam, starts, risk, **settings, **({"l1": l1} if l1 else {}))
    if "rate" in settings and not ends.isfinite().all():
        raise BadInput("rate", settings["rate"], "smaller, because gradient descent diverges")
    seconds = (time.perf_counter() - began) / len(ends)
    risk, tolerance, fits = with_l1(risk, l1), settings.get("tolerance", LBFGS_TOLERANCE), []
    for weights, count in zip(ends, steps):
        # Evaluate one student at a time, because a batch of students would change the digits.
        value, gradient = risk(data, weights[None], lam)
        size = torch.linalg.vector_norm(gradient).item()
        converged = size <= tolerance and bool(value.isfinite())
        fits.append(Fit(weights, value.item() / data.d, size, count, seconds, converged))
    return fits


def _check_starts(data: Any, starts: Any) -> Tensor:
    """Return initial weights as a tensor; raise `BadInput` if they are not finite or have a wrong shape."""
    try:
        starts = torch.as_tensor(starts).detach().clone()  # inference tensors cannot be differentiated
    except (TypeError, ValueError, RuntimeError):
        raise BadInput("starts", starts, "an array of weights (k, p)") from None
    sizes = getattr(data, "sizes", None)
    if starts.ndim != 2 or not len(starts) or (sizes and starts.shape[1] not in sizes):
        of_each = " or ".join(map(str, sizes)) if sizes else "p"
        raise BadInput("shape of starts", tuple(starts.shape), f"(k, {of_each}), a row of weights for each student")
    if not starts.isfinite().all():
        raise BadInput("starts", starts, "finite")
    return starts.to(data.inputs) if sizes else starts


def _ask_once(risk: Any, data: Any, lam: float, starts: Tensor) -> None:
    """Raise `BadInput` if a user-defined risk does not have the interface `Risk`, or returns a wrong gradient."""
    try:
        signature(risk).bind(data, starts, lam)
    except (TypeError, ValueError):
        raise BadInput("risk", risk, "a function (data, weights, lam), see Risk") from None
    returned, wanted = risk(data, starts, lam), [(len(starts),), tuple(starts.shape)]
    parts = returned if isinstance(returned, tuple) else (returned,)
    shapes = [tuple(part.shape) if isinstance(part, Tensor) else type(part).__name__ for part in parts]
    if shapes != wanted:
        raise BadInput(f"risk must return two tensors, of the shapes {wanted}; it returned {shapes}")
    if not parts[0].isfinite().all():
        raise BadInput("risk of the starts", parts[0].detach(), "finite")

    def as_told(weights: Tensor) -> Tensor:
        """Return the risk, with the user's gradient as its derivative in autograd."""
        values, gradient = (part.detach().double() for part in risk(data, weights.detach().to(starts), lam))
        return values + (gradient * (weights - weights.detach())).sum(1)

    size = max(1.0, float(parts[0].detach().abs().max()))
    try:
        gradcheck(
            as_told, starts.double().requires_grad_(), eps=NUDGE, atol=GRADIENT_ERROR * size, rtol=0.1, fast_mode=True
        )
    except GradcheckError:
        raise BadInput("risk returns a wrong gradient, or is not continuous; see torch.autograd.gradcheck") from None


def gradient_descent(
    data: Any, lam: float, starts: Tensor, risk: Risk = two_tokens.risk, rate: float = GD_RATE, steps: int = GD_STEPS
) -> tuple[Tensor, list[int]]:
    """Minimise the risk, including the penalty, by full-batch gradient descent.

    Each of the `steps` steps is Q <- Q - rate grad R(Q).
    """
    weights = starts.clone()
    for _ in range(steps):
        weights.sub_(risk(data, weights, lam)[1], alpha=rate)
    return weights, [steps] * len(weights)


def adam(data: Any, lam: float, starts: Tensor, risk: Risk) -> tuple[Tensor, list[int]]:
    """Minimise the risk by full-batch Adam, for all students at once."""
    weights = starts.clone()
    optimizer = torch.optim.Adam([weights], lr=ADAM_RATE)
    for _ in range(ADAM_STEPS):
        weights.grad = risk(data, weights, lam)[1].to(weights)
        optimizer.step()
    return weights, [ADAM_STEPS] * len(weights)


def lbfgs(
    data: Any, lam: float, starts: Tensor, risk: Risk, tolerance: float = LBFGS_TOLERANCE, l1: float = 0.0
) -> tuple[Tensor, list[int]]:
    """Minimise the risk by SciPy's L-BFGS until ``|grad R| <= tolerance``, one student after another."""
    ends, steps = [], []
    for start in starts:
        end, count = _lbfgs_one(data, lam, start, risk, tolerance, l1)
        if torch.linalg.vector_norm(with_l1(risk, l1)(data, end[None], lam)[1]) > tolerance:
            # Rounding of the risk has stopped the line search, so the minimisation continues in float64.
            end, more = _lbfgs_one(data.double(), lam, end.double(), risk, tolerance, l1)
            count += more
        ends.append(end.to(start))
        steps.append(count)
    return torch.stack(ends), steps


def _lbfgs_one(data: Any, lam: float, start: Tensor, risk: Risk, tolerance: float, l1: float) -> tuple[Tensor, int]:
    """Return the minimum from one start (d,), and the number of gradient evaluations.

    With an l1 penalty each weight is the difference of two parts that are at least 0, in which the penalty is smooth.
    """

    def value_and_gradient(flat):
        value, gradient = risk(data, torch.from_numpy(flat).to(start)[None], lam)
        return value.item(), gradient[0].double().cpu().numpy()

    def of_parts(parts):
        value, gradient = value_and_gradient(np.subtract(*np.split(parts, 2)))
        return value + l1 * parts.sum(), np.concatenate([l1 + gradient, l1 - gradient])

    options = {
        "gtol": tolerance / len(start) ** 0.5,  # SciPy's tolerance is for the largest component
        "ftol": 0,
        "maxcor": 20,
        "maxiter": LBFGS_STEPS,
        "maxfun": LBFGS_STEPS,
    }
    x0 = start.double().cpu().numpy()
    search = partial(scipy.optimize.minimize, jac=True, method="L-BFGS-B", options=options)
    if not l1:
        result = search(value_and_gradient, x0)
        return torch.from_numpy(result.x).to(start), result.nfev
    parts = np.concatenate([np.maximum(x0, 0), np.maximum(-x0, 0)])
    result = search(of_parts, parts, bounds=[(0, None)] * len(parts))
    return torch.from_numpy(np.subtract(*np.split(result.x, 2))).to(start), result.nfev


def with_l1(risk: Risk, l1: float) -> Risk:
    """Add the penalty ``l1 |w|`` on each weight to a risk function, with the subgradient of smallest norm."""
    if l1 == 0:
        return risk

    def penalised(data, weights, lam):
        value, gradient = risk(data, weights, lam)
        at_zero = torch.sign(gradient) * (gradient.abs() - l1).clamp(min=0)
        gradient = torch.where(weights == 0, at_zero, gradient + l1 * torch.sign(weights))
        return value + l1 * weights.abs().sum(1, dtype=torch.float64), gradient

    return penalised


OPTIMIZERS = {"lbfgs": lbfgs, "gd": gradient_descent, "adam": adam}
SETTINGS = {"lbfgs": ("tolerance",), "gd": ("rate", "steps"), "adam": ()}
