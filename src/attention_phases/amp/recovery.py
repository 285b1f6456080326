"""Bayes-optimal message passing on sampled sentences, started at random weights.

`beyond.optimal` has the learner in the limit of large d.

In units in which the teacher's fields have variance 1, y = F Q* with rows F = xi/(sigma sqrt(d)). A state consists of
the estimate Q, the forces g of the sentences, and the posterior variance V of each weight. One step computes

    w = F Q - V g,   g = (y tanh(y.w/V) - w)/V,   A = -(1/d) sum tr dg/dw,   V = 1/(1 + A),   Q = V (F^T g + A Q).
"""

from typing import NamedTuple

import numpy as np

from ..attention import target_attention
from ..errors import ResultError, check_real
from ..model.architectures import Architecture
from ..model.sentences import draw
from ..task import Task

RECOVERY_STEPS = 500
RECOVERY_TOLERANCE = 1e-8  # largest change of the estimate per step at convergence, in units of the teacher's norm
SMALLEST_VARIANCE = 1e-12  # the teacher counts as known if its weights have a smaller posterior variance
LARGEST_FIELD_ERROR = 1e-3  # largest median error of the fields, in units of sigma, that rounding of labels may cause
START = 0.05  # standard deviation of the random initial weights, in units of the teacher's weights


class Recovery(NamedTuple):
    """The result of message passing: the overlap with the teacher, the number of steps, and whether it converged."""

    q: float  #: squared cosine of the angle between the estimate and the teacher
    steps: int  #: number of iterations
    converged: bool  #: whether the estimate no longer changes, or the teacher is known


def fields_from_labels(attention: np.ndarray, omega: float, matrix: np.ndarray) -> np.ndarray:
    """Compute the teacher's fields from the attention matrices in the labels, up to one sign per sentence.

    omega and A are known. The fields are (L, n).

    attention: the teacher's attention Y (n, L, L)

    The logarithms of the semantic part give ``u_ab = y_a (y_a - y_b)``, and ``u_ab + u_ba = (y_a - y_b)^2``.
    """
    logs = np.log((attention - omega * matrix) / (1 - omega))
    differences = np.diagonal(logs, axis1=1, axis2=2)[:, :, None] - logs  # u_ab = log(S_aa/S_ab), with the softmax S
    first = differences[:, 0, 1] / np.sqrt(differences[:, 0, 1] + differences[:, 1, 0])
    return first - differences[:, 0].T / first


def recover(task: Task, alpha: float, d: int, rng: np.random.Generator, tokens: int = 2) -> Recovery:
    """Draw a teacher and sentences, and estimate the teacher from the labels.

    The estimate starts at random weights. The sentences are the same as in `two_tokens.sample`, in float64. At omega =
    1 the labels do not depend on the teacher, and `BadInput` is raised.
    """
    task.check_unstructured()
    check_real("omega", task.omega, "below 1: at 1 the labels do not depend on the teacher", lambda omega: omega < 1)
    architecture = Architecture(tokens=tokens)
    teacher, xi, _ = (tensor.double().numpy() for tensor in draw(task, alpha, d, rng, architecture))
    matrix = architecture.attention(task)
    true_fields = np.moveaxis(xi @ teacher, 0, 1) / d**0.5  # (n, L)
    y = fields_from_labels(target_attention(true_fields, task.omega, matrix), task.omega, matrix) / task.sigma
    if not np.median(np.abs(np.abs(y) - np.abs(true_fields.T) / task.sigma)) < LARGEST_FIELD_ERROR:
        raise ResultError(f"rounding of the labels hides some of the teacher's fields at sigma = {task.sigma:g}")
    rows = xi.reshape(-1, d) / (task.sigma * d**0.5)
    weights, V, forces = START * rng.standard_normal(d), 1.0, np.zeros_like(y)
    change, made = np.inf, 0
    while made < RECOVERY_STEPS and change > RECOVERY_TOLERANCE and V > SMALLEST_VARIANCE:
        w = (rows @ weights).reshape(y.shape) - V * forces
        sign = np.tanh((y * w).sum(0) / V)
        forces = (y * sign - w) / V
        trace = ((y**2).sum(0) * (1 - sign**2) / V - tokens) / V
        A = max(-trace.sum() / d, 0.0)  # without the bound, A could fluctuate below 0 near the start
        V = 1 / (1 + A)
        new = V * (forces.ravel() @ rows + A * weights)
        change = np.linalg.norm(new - weights) / d**0.5
        weights, made = new, made + 1
    q = (weights @ teacher) ** 2 / ((weights @ weights) * (teacher @ teacher))
    return Recovery(float(q), made, bool(change <= RECOVERY_TOLERANCE or V <= SMALLEST_VARIANCE))
