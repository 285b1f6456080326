"""Minimise the empirical risk from given starts (paper, Section 5 and Appendix E)."""

import time
from dataclasses import dataclass

import numpy as np
import scipy.optimize
import torch

from ..errors import check_choice
from ..model.rank_one import risk

STARTS = ("semantic", "positional", "random", "near_semantic", "near_positional")
GD_RATE, GD_STEPS = 0.15, 5000  # as published
ADAM_RATE, ADAM_STEPS = 0.01, 2500  # as published
LBFGS_TOLERANCE = 1e-4  # on the Euclidean norm of the gradient of R
LBFGS_STEPS = 5000


@dataclass(frozen=True)
class Fit:
    """A trained student.

    Attributes
    ----------
    weights : (d,) tensor
    train_loss : float
        R/d.
    grad_norm : float
        Euclidean norm of the gradient of R.
    steps : int
        Gradient evaluations.
    seconds : float
        Wall time; students trained together share it equally.
    """

    weights: torch.Tensor
    train_loss: float
    grad_norm: float
    steps: int
    seconds: float


def start_weights(start, teacher, rng):
    """Initial weights (d,), as published: Q* (semantic), 1_d/sqrt(d) (positional) or 0.1 N(0, 1) (random).

    "near_semantic" and "near_positional" are displaced by noise that leaves them in the valley: N(0, 1), which is of
    the size of Q*, and 0.1 N(0, 1).
    """
    noise = {"random": 0.1, "near_semantic": 1.0, "near_positional": 0.1}.get(check_choice("init", start, STARTS), 0)
    weights = torch.zeros_like(teacher)
    if "semantic" in start:
        weights = teacher.clone()
    elif "positional" in start:
        weights = torch.full_like(teacher, len(teacher) ** -0.5)
    if noise:
        drawn = torch.from_numpy(noise * rng.standard_normal(len(teacher), dtype=np.float32))
        weights += drawn.to(teacher.device)
    return weights


def displace(starts, size, rng):
    """Starts (k, p) with each weight off by `size` times its own value, N(0, 1) times that."""
    noise = torch.from_numpy(rng.standard_normal(tuple(starts.shape), dtype=np.float32)).to(starts)
    return starts * (1 + size * noise)


def fit(data, lam, starts, optimizer="lbfgs", risk=risk):
    """Train one student from each start on the same data.

    Parameters
    ----------
    data : Dataset
    lam : float
        Ridge penalty.
    starts : (k, d) tensor
        Initial weights.
    optimizer : {"lbfgs", "gd", "adam"}
        L-BFGS to ``|grad R| <= 1e-4``; gradient descent and Adam with the published rates and steps.
    risk : callable
        `rank_one.risk`, or that of other students with the same arguments, such as `students.risk`.

    Returns
    -------
    list of k Fit
    """
    began = time.perf_counter()
    weights, steps = OPTIMIZERS[check_choice("optimizer", optimizer, tuple(OPTIMIZERS))](data, lam, starts, risk)
    seconds = (time.perf_counter() - began) / len(weights)
    fits = []
    for each, count in zip(weights, steps):
        value, gradient = risk(data, each[None], lam)  # alone: who is beside it changes no digit
        fits.append(Fit(each, value.item() / data.d, torch.linalg.vector_norm(gradient).item(), count, seconds))
    return fits


def gradient_descent(data, lam, starts, risk=risk, rate=GD_RATE, steps=GD_STEPS):
    """Full-batch gradient descent, the ridge penalty as weight decay: `steps` steps Q <- Q - rate grad R(Q)."""
    weights = starts.clone()
    for _ in range(steps):
        weights.sub_(risk(data, weights, lam)[1], alpha=rate)
    return weights, [steps] * len(weights)


def adam(data, lam, starts, risk=risk, rate=ADAM_RATE, steps=ADAM_STEPS):
    """Full-batch Adam on R, all students at once."""
    weights = starts.clone()
    optimizer = torch.optim.Adam([weights], lr=rate)
    for _ in range(steps):
        weights.grad = risk(data, weights, lam)[1]
        optimizer.step()
    return weights, [steps] * len(weights)


def lbfgs(data, lam, starts, risk=risk, tolerance=LBFGS_TOLERANCE):
    """SciPy's L-BFGS, one student after the other, down to ``|grad R| <= tolerance``."""
    ends, steps = [], []
    for start in starts:
        end, count = _lbfgs_one(data, lam, start, risk, tolerance)
        if torch.linalg.vector_norm(risk(data, end[None], lam)[1]) > tolerance:
            # Rounding of the risk has stopped the line search: finish with more digits.
            end, more = _lbfgs_one(data.double(), lam, end.double(), risk, tolerance)
            count += more
        ends.append(end.to(start))
        steps.append(count)
    return torch.stack(ends), steps


def _lbfgs_one(data, lam, start, risk, tolerance):
    """Minimum from one start (d,), and the number of gradient evaluations."""

    def value_and_gradient(flat):
        value, gradient = risk(data, torch.from_numpy(flat).to(start)[None], lam)
        return value.item(), gradient[0].double().cpu().numpy()

    options = {
        "gtol": tolerance / len(start) ** 0.5,  # SciPy bounds the largest component
        "ftol": 0,
        "maxcor": 20,
        "maxiter": LBFGS_STEPS,
        "maxfun": LBFGS_STEPS,
    }
    x0 = start.double().cpu().numpy()
    result = scipy.optimize.minimize(value_and_gradient, x0, jac=True, method="L-BFGS-B", options=options)
    return torch.from_numpy(result.x).to(start), result.nfev


OPTIMIZERS = {"lbfgs": lbfgs, "gd": gradient_descent, "adam": adam}
