"""Minimise the empirical risk from given starts (paper, Section 5 and Appendix E)."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.optimize
import torch
from torch import Tensor

from ..errors import check_choice
from ..model import two_tokens

GD_RATE, GD_STEPS = 0.15, 5000  # as published
ADAM_RATE, ADAM_STEPS = 0.01, 2500  # as published
LBFGS_TOLERANCE = 1e-4  # on the Euclidean norm of the gradient of R
LBFGS_STEPS = 5000

Risk = Callable[[Any, Tensor, float], tuple[Tensor, Tensor]]  # of a training set, weights (k, p) and the ridge penalty


@dataclass(frozen=True)
class Fit:
    """A trained student."""

    weights: Tensor  # (p,)
    train_loss: float  # R/d
    grad_norm: float  # Euclidean norm of the gradient of R
    steps: int  # gradient evaluations
    seconds: float  # wall time; students trained together share it equally


def fit(
    data: Any,
    lam: float,
    starts: Tensor,
    optimizer: str = "lbfgs",
    risk: Risk = two_tokens.risk,
    l1: float = 0.0,
    **settings: float,
) -> list[Fit]:
    """Train one student from each start on the same data.

    Args:
        data: the training set, of the model whose `risk` is minimised.
        lam: ridge penalty.
        starts: initial weights, (k, p).
        optimizer: "lbfgs", L-BFGS to ``|grad R| <= 1e-4``; "gd" or "adam", with the published rates and steps.
        risk: `two_tokens.risk`, or that of other students, such as `students.risk`.
        l1: further penalty ``l1 |w|`` on each weight w, by L-BFGS alone.
        settings: of the optimizer, in the place of its own.
    """
    began = time.perf_counter()
    minimise = OPTIMIZERS[check_choice("optimizer", optimizer, ("lbfgs",) if l1 else tuple(OPTIMIZERS))]
    if l1:
        settings["l1"] = l1
    ends, steps = minimise(data, lam, starts, risk, **settings)
    seconds = (time.perf_counter() - began) / len(ends)
    risk = with_l1(risk, l1)
    fits = []
    for weights, count in zip(ends, steps):
        value, gradient = risk(data, weights[None], lam)  # alone: who is beside it changes no digit
        fits.append(Fit(weights, value.item() / data.d, torch.linalg.vector_norm(gradient).item(), count, seconds))
    return fits


def gradient_descent(
    data: Any,
    lam: float,
    starts: Tensor,
    risk: Risk = two_tokens.risk,
    rate: float = GD_RATE,
    steps: int = GD_STEPS,
) -> tuple[Tensor, list[int]]:
    """Full-batch gradient descent, the ridge penalty as weight decay: `steps` steps Q <- Q - rate grad R(Q)."""
    weights = starts.clone()
    for _ in range(steps):
        weights.sub_(risk(data, weights, lam)[1], alpha=rate)
    return weights, [steps] * len(weights)


def adam(data: Any, lam: float, starts: Tensor, risk: Risk = two_tokens.risk) -> tuple[Tensor, list[int]]:
    """Full-batch Adam on R, all students at once."""
    weights = starts.clone()
    optimizer = torch.optim.Adam([weights], lr=ADAM_RATE)
    for _ in range(ADAM_STEPS):
        weights.grad = risk(data, weights, lam)[1]
        optimizer.step()
    return weights, [ADAM_STEPS] * len(weights)


def lbfgs(
    data: Any,
    lam: float,
    starts: Tensor,
    risk: Risk = two_tokens.risk,
    tolerance: float = LBFGS_TOLERANCE,
    l1: float = 0.0,
) -> tuple[Tensor, list[int]]:
    """SciPy's L-BFGS, one student after the other, down to ``|grad R| <= tolerance``."""
    ends, steps = [], []
    for start in starts:
        end, count = _lbfgs_one(data, lam, start, risk, tolerance, l1)
        if torch.linalg.vector_norm(with_l1(risk, l1)(data, end[None], lam)[1]) > tolerance:
            # Rounding of the risk has stopped the line search: finish with more digits.
            end, more = _lbfgs_one(data.double(), lam, end.double(), risk, tolerance, l1)
            count += more
        ends.append(end.to(start))
        steps.append(count)
    return torch.stack(ends), steps


def _lbfgs_one(data: Any, lam: float, start: Tensor, risk: Risk, tolerance: float, l1: float) -> tuple[Tensor, int]:
    """Minimum from one start (d,), and the number of gradient evaluations.

    An l1 penalty is smooth where a weight is the difference of two parts that are at least 0.
    """

    def value_and_gradient(flat):
        value, gradient = risk(data, torch.from_numpy(flat).to(start)[None], lam)
        return value.item(), gradient[0].double().cpu().numpy()

    def of_parts(parts):
        value, gradient = value_and_gradient(np.subtract(*np.split(parts, 2)))
        return value + l1 * parts.sum(), np.concatenate([l1 + gradient, l1 - gradient])

    options = {
        "gtol": tolerance / len(start) ** 0.5,  # SciPy bounds the largest component
        "ftol": 0,
        "maxcor": 20,
        "maxiter": LBFGS_STEPS,
        "maxfun": LBFGS_STEPS,
    }
    x0 = start.double().cpu().numpy()
    search = partial(scipy.optimize.minimize, jac=True, method="L-BFGS-B", options=options)
    if l1:
        parts = np.concatenate([np.maximum(x0, 0), np.maximum(-x0, 0)])
        result = search(of_parts, parts, bounds=[(0, None)] * len(parts))
        weights = np.subtract(*np.split(result.x, 2))
    else:
        result = search(value_and_gradient, x0)
        weights = result.x
    return torch.from_numpy(weights).to(start), result.nfev


def with_l1(risk: Risk, l1: float) -> Risk:
    """The risk with the further penalty ``l1 |w|`` on each weight, and its subgradient of the smallest norm."""
    if l1 == 0:
        return risk

    def penalised(data, weights, lam):
        value, gradient = risk(data, weights, lam)
        at_zero = torch.sign(gradient) * (gradient.abs() - l1).clamp(min=0)
        gradient = torch.where(weights == 0, at_zero, gradient + l1 * torch.sign(weights))
        return value + l1 * weights.abs().sum(1, dtype=torch.float64), gradient

    return penalised


OPTIMIZERS = {"lbfgs": lbfgs, "gd": gradient_descent, "adam": adam}
