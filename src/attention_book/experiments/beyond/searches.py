"""Descents from the starts of a valley, and searches for lower minima of the training loss that begin at their ends.

In a valley with many minima, the minima differ in how they fit a few sentences. The search therefore changes the
sentences one by one. Langevin descent, which disturbs all weights at once, is the control.
"""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from attention_phases.attention import own_attention
from attention_phases.model.two_tokens import Dataset, risk
from attention_phases.training.optimizers import GD_RATE, LOSS_RESOLUTION, Fit, fit, lbfgs, start_weights

TRIAL_GRADIENT = 1e-3  # gradient at which a trial descent ends; its loss is then too high by about 1e-7


def descents(cell) -> tuple[Dataset, list[Fit], np.random.Generator]:
    """Draw the data of a `ValleyCell`, train a student from each start, and return data, students and generator."""
    data, rng = cell.draw()
    start = start_weights(cell.valley, data.teacher, rng)
    noise = torch.from_numpy(rng.standard_normal((cell.count, data.d), dtype=np.float32))
    noise[0] = 0
    return data, fit(data, cell.task.lam, start + cell.noise * noise), rng


def cosines(students: list[Fit]) -> np.ndarray:
    """Return the matrix of absolute cosines between the weights of all pairs of students."""
    weights = torch.stack([student.weights for student in students]).double()
    unit = weights / torch.linalg.vector_norm(weights, dim=1, keepdim=True)
    return (unit @ unit.mT).abs().numpy()


def hop(data: Dataset, lam: float, minimum: Fit, worst: float) -> tuple[Fit, int]:
    """Search for lower minima: minimise without one sentence, then with all, until no omission helps.

    One sentence is left out and the student is trained. Then the sentence is put back and the student is trained again.
    If this ends in a lower minimum, the search continues there. The sentences with the largest misfits come first, and
    at each minimum the share `worst` of all sentences is tried. Returns the last minimum and the number of times that a
    lower one was found.
    """
    count, hops = max(1, round(worst * len(data.stiffness))), 0
    while (lower := _first_lower(data, lam, minimum, count)) is not None:
        minimum, hops = lower, hops + 1
    return minimum, hops


def _first_lower(data: Dataset, lam: float, minimum: Fit, count: int) -> Fit | None:
    """Return the first lower minimum found by leaving out one of the `count` worst fitted sentences, or None."""
    for number in torch.argsort(misfits(data, minimum.weights), descending=True)[:count]:
        stiffness = data.stiffness.clone()
        stiffness[number] = 0
        weights, _ = lbfgs(replace(data, stiffness=stiffness), lam, minimum.weights[None], risk, TRIAL_GRADIENT)
        weights, _ = lbfgs(data, lam, weights, risk, TRIAL_GRADIENT)
        if risk(data, weights, lam)[0].item() / data.d < minimum.train_loss - LOSS_RESOLUTION:
            return fit(data, lam, weights)[0]
    return None


def anneal(
    data: Dataset, lam: float, minimum: Fit, temperature: float, rng: np.random.Generator, steps: int = 3000
) -> Fit:
    """Search for a lower minimum by Langevin dynamics, followed by L-BFGS.

    The `temperature` falls linearly to zero. Each step is Q <- Q - rate grad R(Q) + sqrt(2 rate T) N(0, 1), with the
    rate of gradient descent. T is in units of R. Returns the minimum that L-BFGS finds afterwards.
    """
    weights = minimum.weights[None].clone()
    for step in range(steps):
        weights.sub_(risk(data, weights, lam)[1], alpha=GD_RATE)
        noise = torch.from_numpy(rng.standard_normal(tuple(weights.shape), dtype=np.float32))
        weights.add_(noise, alpha=(2 * GD_RATE * temperature * (1 - step / steps)) ** 0.5)
    return fit(data, lam, weights)[0]


def misfits(data: Dataset, weights: Tensor) -> Tensor:
    """Return the loss of each sentence for a given student.

    The risk R of a student (d,) is the sum of the losses (n,), the penalty and `floor`.
    """
    s = own_attention((data.inputs @ weights).mT).mT  # shape (n, 2)
    return 0.5 * data.stiffness * (s - data.targets).square().sum(1)
