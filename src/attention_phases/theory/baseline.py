"""What no amount of data improves: the purely positional linear model (Result 5.1), the floors of the test errors.

With infinitely many sentences each mechanism's student is at its best. Weights ``kappa Q* + m 1_d`` give a token the
field ``kappa y + m (sigma n + p)``: the encoding ``p = +-1`` comes with Gaussian noise, as weights along 1_d read the
entries of the token too. The linear model, which mixes by E[Y], has no such noise. Above an end omega* the semantic
floor is the higher one, and no number of sentences makes the semantic minimum win. Where weights of the other kind
lower its error, a student is a saddle of the population loss. Also the test error of a linear model in finite d.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import isnan, nan

import numpy as np
from scipy.optimize import minimize_scalar, root_scalar

from ..attention import attention, softmax, target_attention
from ..errors import BadInput, ResultError
from ..measured import UNKNOWN, Measured
from ..model.architectures import STANDARD, Architecture
from ..quadrature import tensor_rule
from ..task import Task
from .equations import bends, teacher_fit
from .setting import Setting

# Gauss-Hermite nodes an axis, by the number of tokens: the integrand is smooth, and for two 40 nodes agree to 1e-13.
# A rule for each of six tokens would have 2e8 nodes.
LINEAR_NODES = {2: 80, 3: 40, 4: 24}
FLOOR_MET = {"critical": "positional", "linear": "linear"}  # what the semantic floor meets at each end
FLOOR_NODES = 40  # of each number that is averaged over; 20 give the ends to 1e-9
RULES = FLOOR_NODES, FLOOR_NODES // 2  # for an end and its error
BRACKET = (0.2, 0.8)  # of kappa and m, from which their best values are searched
TIE = 1e-12  # relative difference of two floors that rounding makes
XTOL = 1e-12  # of an end
SCAN = 20  # steps of omega between which a minimum is looked for to become a saddle
ROUNDED = 1e-6  # an end below it, as of very small tokens, is a matter of rounding
VANISHING = 1e-4  # weights so small, for tokens of size one, are none
UNSURE_END = 0.2  # an omega* whose error is a larger share of it is not known


def linear_baseline(task: Task, architecture: Architecture = STANDARD, nodes: int | None = None) -> float:
    """Return the test error of the best linear mixing of the tokens (Eq. 20), which no amount of data improves.

    The optimal matrix is E[Y] (Eq. 19), and the error ``(1/L) E tr[(Y - E[Y]) C (Y - E[Y])^T]``; with two independent
    tokens this is ``(sigma^2/2) E|Y - E[Y]|_F^2``.

    >>> from attention_phases import Task, linear_baseline
    >>> round(linear_baseline(Task(omega=0.3)), 6)
    0.001971

    nodes: of each teacher field, by default `LINEAR_NODES`
    """
    setting = Setting(task, architecture)
    count, C, rho = architecture.tokens, setting.covariance, setting.rho[setting.law_of]
    fields = rho.size
    if fields not in LINEAR_NODES:
        allowed = f"such that teachers have at most {max(LINEAR_NODES)} fields, for the linear model"
        raise BadInput("tokens", count, allowed)
    z, weights = tensor_rule(LINEAR_NODES[fields] if nodes is None else nodes, fields)
    mixing = np.linalg.cholesky(architecture.correlations)
    y = np.einsum("ab,nbs->nas", mixing, z.reshape(-1, *rho.shape)) * np.sqrt(rho)
    y = np.concatenate([y + lean[:, None] * (np.arange(rho.shape[1]) == 0) for lean in setting.leans])
    weights = np.concatenate([odds * weights for odds in setting.odds])
    # The part of Y that varies: without the constant 1/L small fields leave a small number, not a small difference.
    varying = (1 - task.omega) * (softmax(y @ y.swapaxes(1, 2)) - 1 / count)
    centred = varying - np.einsum("n,nab->ab", weights, varying)
    return float(np.einsum("n,nab,bc,nac->", weights, centred, C, centred) / count)


def mean_attention(task: Task, nodes: int = LINEAR_NODES[2]) -> np.ndarray:
    """Return the teacher's mean attention E[Y] (Eq. 19), a (2, 2) array; `nodes` as for `linear_baseline`."""
    z, weights = tensor_rule(nodes, 2)
    return np.einsum("n,nab->ab", weights, target_attention(task.sigma * z, task.omega, STANDARD.attention(task)))


def linear_test_error(task: Task, attention: np.ndarray, d: int, length: float, positions: bool) -> float:
    """Return the test error ``E|Y xi - W x|_F^2/(2 d)`` of a fixed mixing matrix W, exact at finite d.

    The error (Y - W) xi is odd in xi. The encoding, which the model passes on if it reads positions, therefore adds
    ``|W p|^2/(2 d)`` and nothing else (`encoding_error`). Along Q* the entries of a token are the field y.

    Args:
        attention: W (2, 2)
        d: embedding dimension
        length: ``|Q*|^2/d`` of the teacher
        positions: whether the model reads x = xi + p, or xi alone
    """
    z, weights = tensor_rule(FLOOR_NODES, 2)
    target = target_attention(task.sigma * np.sqrt(length) * z, task.omega, STANDARD.attention(task))
    miss = target - np.asarray(attention)  # (nodes^2, 2, 2)
    bulk = weights @ (miss**2).sum((1, 2))
    along = weights @ (np.einsum("nab,nb->na", miss, z) ** 2).sum(1)
    own = task.sigma**2 * (bulk + (along - bulk) / d) / 2
    return float(own + (encoding_error(attention, d) if positions else 0))


def encoding_error(attention: np.ndarray, d: float) -> float:
    """Return ``|W p|^2/(2 d)``: the test error that a mixing matrix W (2, 2) adds by passing on the encoding."""
    passed = np.asarray(attention) @ [1, -1]
    return float(passed @ passed) / (2 * d)


def floors(task: Task, nodes: int = FLOOR_NODES) -> dict[str, float]:
    """Return the floors "semantic", "positional" and "linear" of the test errors."""
    levels = {branch: level for branch, (level, _) in best_students(task, nodes).items()}
    return levels | {"linear": linear_baseline(task, nodes=nodes)}


def best_students(task: Task, nodes: int = FLOOR_NODES) -> dict[str, tuple[float, float]]:
    """Return the floors "semantic" and "positional", each with the kappa or m that reaches it."""
    z, weights = tensor_rule(nodes, 2)
    target, mean = target_attention(task.sigma * z, task.omega, STANDARD.attention(task)), mean_attention(task, nodes)

    def miss(fields, aim) -> float:
        return float(task.sigma**2 / 2 * (weights @ ((aim - attention(fields)) ** 2).sum((1, 2))))

    def lowest(miss_of) -> tuple[float, float]:
        # large tokens may want weights that are as much smaller, and no student needs to be worse than weights of zero
        scales = {1.0, max(task.sigma, 1.0)}
        found = (minimize_scalar(miss_of, bracket=(BRACKET[0] / scale, BRACKET[1] / scale)).x for scale in scales)
        return min((miss_of(weight), float(weight)) for weight in (*found, 0.0))

    level, m = lowest(lambda m: miss(m * (task.sigma * z + [1, -1]), mean))
    return {
        "semantic": lowest(lambda kappa: miss(kappa * task.sigma * z, target)),
        "positional": (level + linear_baseline(task, nodes=nodes), m),  # its attention is independent of Y
    }


def curvature(task: Task, branch: str, nodes: int = FLOOR_NODES) -> float:
    """Return the second derivative of the population loss at a branch's best student, by the other one's weights.

    That is by m of the semantic student, by kappa of the positional one; below zero this student is a saddle, however
    many sentences there are. NaN where the best weights vanish: there is no such student.
    """
    _, weight = best_students(task, nodes)[branch]
    if abs(weight) * max(task.sigma, 1) < VANISHING:
        return nan
    z, of_z = tensor_rule(nodes, 2)
    y, variance = task.sigma * z.T, task.sigma**2
    targets = teacher_fit(task, y)
    if branch == "semantic":
        h11, h12, h22 = np.array(bends(weight * y, targets, variance)) @ of_z
        return float((1 + variance) * (h11 + h22) - 2 * h12)  # m times the noise of a token, and its place
    fields = weight * (y + np.array([[1], [-1]]))
    unaimed, *aimed = (np.array(bends(fields, aims, variance)) @ of_z for aims in ((0, 0), (1, 0), (0, 1)))
    squares = np.array([y[0] ** 2, 2 * y[0] * y[1], y[1] ** 2])  # independent of the fields, of which H is linear in T
    moved = sum((some - unaimed) * target for some, target in zip(aimed, (squares * targets[:, None]) @ of_z))
    return float((unaimed * (squares @ of_z) + moved).sum())


def minimum_bound(task: Task, branch: str) -> Measured:
    """Return up to which omega the semantic student, or from which on the positional one, is a minimum with all data.

    Whatever the omega of `task`. Beyond, it is a saddle, or its best weights vanish. NaN if it is a minimum at no
    omega or at all, or that is not known.
    """

    def bend(omega: float, nodes: int = FLOOR_NODES) -> float:
        value = curvature(replace(task, omega=omega), branch, nodes)
        return -1.0 if isnan(value) else value

    places = [(float(omega), bend(omega, FLOOR_NODES // 2) > 0) for omega in np.linspace(0, 1, SCAN + 1)]
    ordered = pairwise(places if branch == "semantic" else places[::-1])
    bracket = next(((inside, outside) for (inside, lasts), (outside, beyond) in ordered if lasts and not beyond), None)
    if bracket is None or not all(bend(bracket[0], nodes) > 0 >= bend(bracket[1], nodes) for nodes in RULES):
        return UNKNOWN
    end = _crossing(bend, bracket)
    return end if end.value > ROUNDED else UNKNOWN


def _crossing(gap: Callable[[float, int], float], bracket: tuple[float, float]) -> Measured:
    """Where ``gap(omega, nodes)`` is zero, with the difference between two rules as its error."""
    value, rough = (root_scalar(gap, args=(nodes,), bracket=bracket, xtol=XTOL).root for nodes in RULES)
    return Measured(value, max(abs(value - rough), XTOL))


def diverges_at(task: Task, kind: str) -> Measured:
    """Return the omega* at which a threshold goes to infinity, whatever the omega of `task`.

    NaN if at none: if both students of A alone are best with weights of zero, which makes them one. `ResultError` if
    the floors do not tell, as those of very small tokens, which vanish.

    kind: "critical", where the semantic floor meets the positional one, or "linear", where it meets the linear one
    """

    def gap(omega: float, nodes: int = FLOOR_NODES) -> float:
        level = floors(replace(task, omega=omega), nodes)
        return level["semantic"] - level[FLOOR_MET[kind]]

    first, last, semantic = gap(0.0), gap(1.0), floors(replace(task, omega=1.0))["semantic"]
    unread = task.sigma**2 / 2 * ((STANDARD.attention(task) - 0.5) ** 2).sum()  # of A, by weights of zero
    if first < 0 and last <= TIE * unread and semantic >= (1 - TIE) * unread:
        return UNKNOWN
    if first < 0 < min(last, gap(1.0, FLOOR_NODES // 2)):
        crossing = _crossing(gap, (0.0, 1.0))
        if crossing.error <= UNSURE_END * crossing.value:
            return crossing
    why = "floors of this sigma and A are not precise enough"
    raise ResultError(f"the {kind} end is not known at sigma = {task.sigma:g}: {why}")
