"""Optimisers for training from small random weights, used alone or one after another."""

from collections import deque
from dataclasses import replace
from functools import partial
from itertools import count

import numpy as np
import torch
from scipy.optimize import LbfgsInvHessProduct, minimize_scalar

from attention_phases.model.two_tokens import risk
from attention_phases.training import optimizers

MEMORY = 20  # number of steps that L-BFGS stores, each with its change of the gradient
ARMIJO, FLOOR = 1e-4, 1e-6  # sufficient share of the expected decrease (Armijo), and smallest share of a step
CAP = optimizers.GD_RATE  # longest capped step: as long as a step of the published gradient descent
BATCHES = 8  # number of minibatches in one epoch


def momentum_descent(data, lam, starts, rng, rate=optimizers.GD_RATE, steps=optimizers.GD_STEPS, momentum=0.9):
    """Return the weights after gradient descent with heavy-ball momentum."""
    weights, velocity = starts.clone(), torch.zeros_like(starts)
    for _ in range(steps):
        velocity = momentum * velocity - rate * risk(data, weights, lam)[1]
        weights += velocity
    return weights


def minibatch_descent(data, lam, starts, rng, rate=optimizers.GD_RATE, steps=optimizers.GD_STEPS):
    """Return the weights after stochastic gradient descent on minibatches.

    Each step uses one of `BATCHES` parts of the sentences.
    """
    order, names = torch.from_numpy(rng.permutation(len(data.targets))), ("inputs", "stiffness", "targets")
    parts = [replace(data, **{name: getattr(data, name)[some] for name in names}) for some in order.chunk(BATCHES)]
    turns = (parts[number] for _ in count() for number in rng.permutation(BATCHES))

    def risk_of_part(data, weights, lam):
        return risk(next(turns), weights, lam / BATCHES)

    return optimizers.gradient_descent(data, lam, starts, risk_of_part, rate * BATCHES, steps)[0]


def step_to_lowest(data, lam, starts, rng):
    """Take one gradient step, of the size that lowers the risk most, and return the weights."""
    return torch.stack([_step_of_one(data, lam, start) for start in starts])


def _step_of_one(data, lam, start):
    gradient = risk(data, start[None], lam)[1][0]
    length = minimize_scalar(lambda size: risk(data, (start - size * gradient)[None], lam)[0].item()).x
    return start - length * gradient


def backtracking_lbfgs(data, lam, starts, rng, cap=None):
    """Return the weights after L-BFGS with a backtracking line search, which only shortens steps.

    cap: longest step, in units of the length of the gradient; None for no limit.
    """
    return torch.stack([_backtracking_one(data, lam, start, cap) for start in starts])


def _backtracking_one(data, lam, start, cap):
    def value_and_gradient(weights):
        value, gradient = risk(data, torch.from_numpy(weights).to(start)[None], lam)
        return value.item(), gradient[0].double().numpy()

    pairs, weights = deque(maxlen=MEMORY), start.double().numpy()
    value, gradient = value_and_gradient(weights)
    for _ in range(optimizers.LBFGS_STEPS):
        size = np.linalg.norm(gradient)
        if size <= optimizers.LBFGS_TOLERANCE:
            break
        step = -_times_inverse_hessian(pairs, gradient)
        if cap:
            step *= min(1.0, cap * size / np.linalg.norm(step))
        slope, share = step @ gradient, 1.0
        while (new := value_and_gradient(weights + share * step))[0] > value + ARMIJO * share * slope and share > FLOOR:
            share /= 2
        if share <= FLOOR:
            break  # rounding errors of the risk hide any further decrease
        moved, bent = share * step, new[1] - gradient
        if moved @ bent > 0:
            pairs.append((moved, bent))
        weights, (value, gradient) = weights + moved, new
    return torch.from_numpy(weights).to(start)


def _times_inverse_hessian(pairs, gradient):
    """Return the gradient multiplied by the approximate inverse Hessian of L-BFGS."""
    if not pairs:
        return gradient
    moved, bent = map(np.array, zip(*pairs))
    # L-BFGS begins with `scale` times the unit matrix, but SciPy's product begins with the unit matrix itself.
    scale = (moved[-1] @ bent[-1]) / (bent[-1] @ bent[-1])
    return scale * LbfgsInvHessProduct(moved / scale**0.5, bent * scale**0.5).matvec(gradient)


def _library_descent(minimise, data, lam, starts, rng, **settings):
    return minimise(data, lam, starts, risk=risk, **settings)[0]


gd, adam, lbfgs = (partial(_library_descent, optimizers.OPTIMIZERS[name]) for name in ("gd", "adam", "lbfgs"))

# Each way of training is a list of legs. A leg is a method with its settings, and students are measured at the end of
# each leg.
WAYS = {
    "gd": [(gd, {})],
    "adam": [(adam, {})],
    "lbfgs": [(lbfgs, {})],
    "rate 1.5": [(gd, {"rate": 1.5, "steps": steps}) for steps in (500, 1500, 6000)],
    "rate 1.5 after a long step": [(step_to_lowest, {}), (gd, {"rate": 1.5, "steps": 8000})],
    "rate 3": [(gd, {"rate": 3.0, "steps": steps}) for steps in (250, 750, 3000)],
    "momentum": [(momentum_descent, {"steps": steps}) for steps in (500, 1500, 6000)],
    "minibatches": [(minibatch_descent, {}), (gd, {"steps": 15_000})],
    "minibatches, rate 1.5": [(minibatch_descent, {"rate": 1.5, "steps": 500}), (gd, {"rate": 1.5, "steps": 1500})],
    **{f"lbfgs after {steps}": [(gd, {"steps": steps}), (lbfgs, {})] for steps in (10, 100, 1000)},
    "backtracking": [(backtracking_lbfgs, {})],
    "capped": [(backtracking_lbfgs, {"cap": CAP})],
    "gd longer": [(gd, {"steps": steps}) for steps in (5000, 15_000, 60_000)],
    "rate 0.015": [(gd, {"rate": 0.015, "steps": 50_000})],
}
