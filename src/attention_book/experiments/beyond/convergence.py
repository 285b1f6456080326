"""The convergence of message passing on sampled data.

It is measured with perturbations of the fixed point, and with copies from two starts.
"""

import numpy as np
import torch

from attention_phases.amp.message_passing import DAMPING, damp, step
from attention_phases.model.weights import overlaps

# The size of a perturbation, divided by the size of Q, is small enough for a linear response but far above rounding
# errors.
PERTURBATION = 1e-5
# Each schedule consists of the damping, the number of iterations before two copies are compared, and the number of
# iterations during which they are compared. The positional branch has a collective mode that only strong damping
# suppresses.
SCHEDULES = {"semantic": ((0.0, 40, 20), (DAMPING, 100, 20)), "positional": ((0.9, 200, 20),)}


def contraction(task, data, fixed, noise, steps):
    """Return the distance of displaced weights from a fixed point after each step of message passing.

    The distances (steps + 1,) are divided by the first distance.

    data: from `limiting_data`.
    fixed: the state at the fixed point.
    noise: direction of the displacement, (d,).
    """
    size = PERTURBATION * np.linalg.norm(fixed.weights)
    state = fixed._replace(weights=fixed.weights + size * noise / np.linalg.norm(noise))
    distances = [1.0]
    for _ in range(steps):
        state = damp(state, step(task, data, state), DAMPING)
        distances.append(float(np.linalg.norm(state.weights - fixed.weights) / size))
    return np.array(distances)


def copies(task, data, starts, damping, width, before, over):
    """Run two copies of message passing on one data set, and return their distance and the first copy's overlaps.

    `apart` (the distance) and `change` (of the first copy in one iteration) are root mean squares in units of the size
    of Q. q, m, theta and V are of the first copy.

    data: from `limiting_data`.
    starts: two states.
    before: number of iterations before the measurement.
    over: number of iterations over which means are taken.
    """
    pair, measured = starts, []
    for k in range(before + over):
        last, pair = pair, [damp(state, step(task, data, state, width), damping) for state in pair]
        if k >= before:
            first, second = (state.weights for state in pair)
            point = overlaps(task, torch.from_numpy(first), data.teacher)
            gap = min(np.sum((first - second) ** 2), np.sum((first + second) ** 2))  # Q and -Q are the same student
            moved = np.sum((first - last[0].weights) ** 2)
            values = [*point.named.values(), pair[0].V]
            measured.append([gap / np.sum(first**2), moved / np.sum(first**2), *values])
    means = np.mean(measured, axis=0)
    return dict(zip(("apart", "change", "q", "m", "theta", "V"), [*np.sqrt(means[:2]), *means[2:]]))
