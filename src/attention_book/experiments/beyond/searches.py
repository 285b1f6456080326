"""Ways from a minimum of the training loss to a lower one.

Where a valley holds many minima, they differ in how they fit a few sentences. The search changes these one by one.
Langevin descent, which disturbs all weights at once, is the control.
"""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from attention_phases.attention import own_attention
from attention_phases.model.two_tokens import Dataset, risk
from attention_phases.training.optimizers import GD_RATE, LOSS_RESOLUTION, Fit, fit, lbfgs

TRIED = 1e-3  # gradient at which a trial is judged; its loss is then too high by some 1e-7


def hop(data: Dataset, lam: float, minimum: Fit, worst: float) -> tuple[Fit, int]:
    """Leave a minimum for a lower one by way of single sentences, until none leads lower.

    One sentence is left out, the student descends, the sentence comes back, the student descends again. Where that
    ends lower, the search goes on from there. The worst fitted sentences come first: the share `worst` of all is tried
    at each minimum. The last minimum is returned, and how often a lower one was found.
    """
    count, hops = max(1, round(worst * len(data.stiffness))), 0
    while (lower := _first_lower(data, lam, minimum, count)) is not None:
        minimum, hops = lower, hops + 1
    return minimum, hops


def _first_lower(data: Dataset, lam: float, minimum: Fit, count: int) -> Fit | None:
    """The first lower minimum that leaving out one of the `count` worst fitted sentences leads to, if any does."""
    for number in torch.argsort(misfits(data, minimum.weights), descending=True)[:count]:
        stiffness = data.stiffness.clone()
        stiffness[number] = 0
        weights, _ = lbfgs(replace(data, stiffness=stiffness), lam, minimum.weights[None], risk, TRIED)
        weights, _ = lbfgs(data, lam, weights, risk, TRIED)
        if risk(data, weights, lam)[0].item() / data.d < minimum.train_loss - LOSS_RESOLUTION:
            return fit(data, lam, weights)[0]
    return None


def anneal(
    data: Dataset, lam: float, minimum: Fit, temperature: float, rng: np.random.Generator, steps: int = 3000
) -> Fit:
    """Langevin descent from a minimum, with a `temperature` that falls linearly to zero, then L-BFGS.

    Each step is Q <- Q - rate grad R(Q) + sqrt(2 rate T) N(0, 1), at the rate of gradient descent; T is in units of R.
    """
    weights = minimum.weights[None].clone()
    for step in range(steps):
        weights.sub_(risk(data, weights, lam)[1], alpha=GD_RATE)
        noise = torch.from_numpy(rng.standard_normal(tuple(weights.shape), dtype=np.float32))
        weights.add_(noise, alpha=(2 * GD_RATE * temperature * (1 - step / steps)) ** 0.5)
    return fit(data, lam, weights)[0]


def misfits(data: Dataset, weights: Tensor) -> Tensor:
    """Loss of each sentence (n,) under a student (d,); their sum, the penalty and `floor` are R."""
    s = own_attention((data.inputs @ weights).mT).mT  # (n, 2)
    return 0.5 * data.stiffness * (s - data.targets).square().sum(1)
