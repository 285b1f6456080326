"""Approximate message passing on sampled sentences (Algorithm 1).

Message passing minimises the risk in its limiting form, see `limiting_data`. A state consists of the weights Q, the
Onsager term V g, which is subtracted from the next cavity field, and V. One step computes

    w = x Q/sqrt(d) - V g,   g = (h*(w) - w)/V,   A = -(sigma^2/d) sum tr dg/dw,
    Q = chi (sum x g/sqrt(d) + A Q),   chi = 1/(lambda + A),   V = sigma^2 chi,

and damping keeps a share of every part of the old state. At a fixed point w + V g = x Q/sqrt(d), which means that the
gradient of the risk is zero. With a spectrum, sigma^2 is a separate number for each weight, and V is a mean over the
weights. An l1 penalty keeps a weight at zero if the force on the weight is smaller than the penalty.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

from ..errors import LIMITS_NOTE, BadInput, check_count, check_kind, check_real
from ..machine import torch_defaults
from ..model.sentences import positional_encoding
from ..model.two_tokens import Dataset, risk, sample
from ..model.weights import StudentOverlaps, measure_student, overlaps
from ..records import origin_of, record_of, seed_sequence
from ..task import Task, variances
from ..theory.branches import MINIMA
from ..theory.equations import bends, teacher_fit, unfitted_loss
from ..theory.kernels.two_tokens import forces
from ..theory.solver import solve
from ..training.optimizers import start_weights
from .stability import modes

# Largest number of iterations, and the largest relative change of Q per iteration that counts as converged.
STEPS, CONVERGED_CHANGE = 1000, 1e-12
DAMPING = 0.7  # share of the old state that a step keeps; modes with an eigenvalue between -5.7 and 1 then decay
# Safety margin of the damping, as a fraction of the distance between the smallest sufficient damping and 1, and number
# of points per scramble with which the modes are computed.
SAFETY_MARGIN, MODE_POINTS = 0.25, 2**10


class State(NamedTuple):
    """The variables that message passing updates in each iteration."""

    weights: np.ndarray  #: weights Q (d,)
    onsager: np.ndarray  #: Onsager term V g (2, n)
    V: float  #: response of a field, sigma^2 chi


@dataclass(frozen=True)
class Run:
    """A run of message passing from given initial weights: its final state and its history."""

    state: State  #: final state
    #: Table with a row for the start and for each iteration: q, m, theta, V, and the relative change of Q (`change`).
    history: pd.DataFrame
    converged: bool  #: whether the last change is at most the tolerance


@dataclass(frozen=True)
class MessagePassingResult:
    """The result of message passing on one data set.

    Its attributes have the same names as in the results of training and theory.
    """

    overlaps: StudentOverlaps  #: order parameters of the final weights
    V: float  #: V of the final state
    train_loss: float  #: R/d of the sentences in their limiting form, see `limiting_data`
    test_mse: float  #: test error of a student with these weights, exact at this d
    damping: float  #: share of the old state that each step kept
    reason: str  #: why message passing has not converged, and what may help; empty if it has converged
    run: Run = field(repr=False)  #: the run, with its history
    origin: dict[str, Any] = field(repr=False)  #: arguments, version, commit, and how to cite

    @property
    def converged(self) -> bool:
        """Whether the weights have converged, which means that `reason` is empty."""
        return not self.reason


@torch_defaults()
def message_passing(
    task: Task,
    alpha: float,
    d: int,
    seed: int = 0,
    start: str = "semantic",
    damping: float | None = None,
    steps: int = STEPS,
    report: Callable[[int, float], object] | None = None,
) -> MessagePassingResult:
    """Run message passing (Algorithm 1) on the data set that `train` draws for the same seed.

    >>> from attention_phases import Task, message_passing
    >>> passed = message_passing(Task(omega=0.3), alpha=2.0, d=200, seed=1)
    >>> passed.converged, passed.overlaps.theta > 0.1
    (True, True)
    >>> undamped = message_passing(Task(omega=0.3), alpha=2.0, d=200, seed=1, damping=0.0, steps=100)
    >>> undamped.reason.split(":")[0]
    'did not settle in 100 iterations'

    Args:
        start: name of the initial weights, see `optimizers.start_weights`.
        damping: share of the old state that each step keeps, in [0, 1). The default is `enough_damping`.
        steps: largest number of iterations.
        report: as for `iterate`.
    """
    rng = np.random.default_rng(seed_sequence(record_of(task, alpha, d, seed)))
    whole = sample(task, alpha, d, rng)
    data, weights = limiting_data(task, whole), start_weights(start, whole.teacher, rng)
    kept = enough_damping(task, alpha, start) if damping is None else damping
    with np.errstate(all="ignore"):  # an overflow is reported in `reason`
        run = iterate(task, data, start_state(task, data, weights), kept, steps, report=report)
    reached = torch.from_numpy(run.state.weights)
    point, loss = StudentOverlaps(*[nan] * 5), nan
    if reached.isfinite().all():
        point, loss = overlaps(task, reached, data.teacher), risk(data, reached[None], task.lam)[0].item() / d
    test_mse = measure_student(task, whole, reached, loss)["test_mse"]
    reason = ""
    if not run.converged:
        enough = kept if damping is None else enough_damping(task, alpha, start)
        more = enough if kept < enough else (1 + kept) / 2
        done, last = len(run.history) - 1, run.history["change"].iloc[-1]
        reason = f"did not settle in {done} iterations: relative change {last:.1e}"
        reason += f"; with the damping {kept:.3f}, theory asks for {enough:.3f}: try {more:.3f}, or more steps; "
        reason += "if neither helps, replica symmetry may be unstable here"
    origin = origin_of(task=task, alpha=alpha, d=d, seed=seed, start=start, steps=steps)
    return MessagePassingResult(point, run.state.V, loss, test_mse, kept, reason, run, origin)


def enough_damping(task: Task, alpha: float, start: str) -> float:
    """Return a damping factor for which perturbations of the overlaps decay in message passing on a branch.

    The branch is the one that the start is named after. For any other start the damping suffices for both branches.

    Damping turns an eigenvalue mu of the state-evolution map into kappa + (1 - kappa) mu. The modulus of this number is
    1 at ``kappa = (|mu|^2 - 1)/|1 - mu|^2``, which is ``(|mu| - 1)/(|mu| + 1)`` for a negative mu. The gain of the
    overlap that is zero on the branch counts only if it is negative. If this gain is above 1, the branch is a
    saddle, and no damping can change that. The returned damping lies a quarter of the way from the smallest sufficient
    value to 1, because a finite data set deviates from the limit.
    """
    named = [branch for branch in MINIMA if start.endswith(branch)] or MINIMA
    least = 0.0
    for branch in named:
        try:
            solution = solve(task, alpha, branch, MODE_POINTS)
        except (ArithmeticError, np.linalg.LinAlgError):  # the theory cannot be solved at extreme parameters
            continue
        if solution.converged:
            values, _ = modes(task, alpha, branch, solution.overlaps, MODE_POINTS)
            values = np.append(values, min(solution.gain, 0.0))
            least = max(least, *((np.abs(values) ** 2 - 1) / np.abs(1 - values) ** 2))
    return float(least + SAFETY_MARGIN * (1 - least))


def limiting_data(task: Task, data: Dataset) -> Dataset:
    """Replace the fluctuating coefficients in the risk of a training set by their limits for large d.

    The result is in float64. Its risk is the risk that message passing minimises. In the risk of a sample,
    ``|x_1 - x_2|^2/d`` and the projections of the labels fluctuate by about 1/sqrt(d) around their limits. Here the
    limits replace both, so that the loss of a sentence is ell(h; Y), as in the theory.
    """
    if task.clusters or len(task.teachers) > 1 or np.ndim(task.directions[0].eigenvalue):
        raise BadInput("message passing covers one teacher, tokens with one law and no clusters" + LIMITS_NOTE)
    data = data.to("cpu", torch.float64)
    d, n = data.d, len(data.stiffness)
    encoding = positional_encoding(task, torch.zeros(2, 1, d, dtype=torch.float64)).to(data.inputs)[:, 0] / d**0.5
    # Subtract the encoding, which the teacher does not read, from the fields (n, 2).
    y = data.inputs @ data.teacher - encoding @ data.teacher
    targets = teacher_fit(task, y.T.cpu().numpy()).T
    return replace(
        data,
        stiffness=torch.full_like(data.stiffness, 2 * task.sigma**2),
        targets=torch.from_numpy(targets).to(data.targets).contiguous(),
        floor=n * unfitted_loss(task),
    )


def start_state(task: Task, data: Dataset, weights: np.ndarray | torch.Tensor) -> State:
    """Return the initial state of message passing for given weights (d,).

    The forces are zero, and V is the same initial value as in the theory.
    """
    alpha = len(data.stiffness) / data.d
    V = task.sigma**2 / (2 * task.lam * max(1.0, alpha))
    return State(np.asarray(weights, dtype=float), np.zeros(tuple(data.targets.T.shape)), V)


def step(task: Task, data: Dataset, state: State, width: float = 0.0) -> State:
    """Return the state of message passing after one iteration without damping.

    The training set comes from `limiting_data`.

    If `width` is 0, the response dg/dw is the derivative, as in Algorithm 1. The derivative misses the jumps of h*.
    Otherwise the response is the slope between w - e and w + e, which includes the jumps. Here e is `width` times the
    root mean square of w.
    """
    x, targets, variance = data.inputs.numpy().reshape(-1, data.d), data.targets.numpy().T.copy(), task.sigma**2
    weight_variances = variances(task, data.d) if task.spectrum else variance
    w = (x @ state.weights).reshape(-1, 2).T - state.onsager
    g, _ = forces(w, targets, state.V, variance)
    if width:
        trace = _slopes(w, targets, state.V, variance, width * np.sqrt(np.mean(w**2)))
    else:
        trace = _derivatives(w + state.V * g, targets, state.V, variance)
    A = np.maximum(-weight_variances * trace.sum() / data.d, 0.0)  # A is negative only far from any fixed point
    chi, pull = 1 / (task.lam + A), g.T.ravel() @ x + A * state.weights
    if task.l1:
        chi, pull = chi * (np.abs(pull) > task.l1), pull - task.l1 * np.sign(pull)
    weights = chi * pull
    V = float(np.mean(weight_variances * chi))
    return State(weights, V * g, V)


def _derivatives(h: np.ndarray, targets: np.ndarray, V: float, variance: float) -> np.ndarray:
    """Return the trace (N,) of the Jacobian of the forces (h - w)/V, given the proximal points h (2, N).

    The jumps of the proximal points are not included.
    """
    h11, h12, h22 = (V * bend for bend in bends(h, targets, variance))
    return ((2 + h11 + h22) / ((1 + h11) * (1 + h22) - h12**2) - 2) / V


def _slopes(w: np.ndarray, targets: np.ndarray, V: float, variance: float, e: float) -> np.ndarray:
    """Return the trace (N,) of the Jacobian of the forces (h* - w)/V, by central differences with step e."""
    shifts = e * np.eye(2)[:, :, None]  # (a, 2, 1)
    above, below = ([forces(w + side * shift, targets, V, variance)[0] for shift in shifts] for side in (1, -1))
    first, second = ((above[a][a] - below[a][a]) / (2 * e) for a in range(2))
    return first + second


def damp(old: State, new: State, damping: float) -> State:
    """Return a weighted average of two states, in which the old state has the weight `damping`."""
    return State(*(damping * before + (1 - damping) * after for before, after in zip(old, new)))


def iterate(
    task: Task,
    data: Dataset,
    state: State,
    damping: float = DAMPING,
    steps: int = STEPS,
    report: Callable[[int, float], object] | None = None,
) -> Run:
    """Iterate message passing until the weights have converged.

    Args:
        data: a training set, which `limiting_data` converts.
        state: a state from `start_state` or from an earlier run.
        damping, steps: as for `message_passing`.
        report: function that is called after each iteration with the number of iterations and the change.
    """
    check_real("damping", damping, "in [0, 1)", lambda v: 0 <= v < 1)
    check_count("steps", steps)
    check_kind("report", report, Callable | None)
    data = limiting_data(task, data)  # leaves a training set that is already in its limiting form unchanged

    def measured(state: State, change: float) -> dict[str, float]:
        point = overlaps(task, torch.from_numpy(state.weights), data.teacher)
        return point.named | {"V": state.V, "change": change}

    history = [measured(state, np.inf)]
    while len(history) <= steps and history[-1]["change"] > CONVERGED_CHANGE:
        new = damp(state, step(task, data, state), damping)
        change = np.linalg.norm(new.weights - state.weights) / np.linalg.norm(new.weights)
        state = new
        history.append(measured(state, float(change)))
        if report:
            report(len(history) - 1, float(change))
    return Run(state, pd.DataFrame(history).rename_axis("iteration"), history[-1]["change"] <= CONVERGED_CHANGE)
