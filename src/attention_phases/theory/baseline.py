"""Test errors with unlimited data, for the linear model (Result 5.1) and for the best student of each kind.

With infinitely many sentences the student of each mechanism is at its best. Weights ``kappa Q* + m 1_d`` give a token
the field ``kappa y + m (sigma n + p)``. The encoding ``p = +-1`` comes with Gaussian noise n, because weights along 1_d
also read the entries of the token. The linear model, which mixes by E[Y], has no such noise. The limit of a test error
is called its floor. Above some omega* the semantic floor is the higher one, and the semantic minimum does not win for
any number of sentences. If weights of the other kind lower the error of a student, the student is a saddle of the
population loss. This module also computes the test error of a linear model at finite d.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import isnan, nan

import numpy as np
from scipy.optimize import minimize_scalar, root_scalar

from ..attention import attention, softmax, target_attention
from ..errors import BadInput, ResultError
from ..measured import NO_VALUE, Measured
from ..model.architectures import STANDARD, Architecture
from ..quadrature import tensor_rule
from ..task import Task
from .equations import bends, teacher_fit
from .setting import Setting

# Number of Gauss-Hermite nodes per axis, by the number of the teacher's fields. For two fields, 40 nodes already give
# the same result to 1e-13, because the integrand is smooth. For six fields, 24 nodes per axis would be 2e8 nodes.
LINEAR_NODES = {2: 80, 3: 40, 4: 24}
MATCHING_FLOOR = {"critical": "positional", "linear": "linear"}  # the floor that equals the semantic floor at omega*
FLOOR_NODES = 40  # number of nodes per normal variable; 20 nodes already give omega* to 1e-9
RULES = FLOOR_NODES, FLOOR_NODES // 2  # numbers of nodes for omega* and for the estimate of its error
BRACKET = (0.2, 0.8)  # initial interval of the searches for the best kappa and for the best m
TIE = 1e-12  # largest relative difference between two floors that rounding may explain
XTOL = 1e-12  # tolerance of omega*
SCAN = 20  # number of steps in the search for the omega at which a minimum becomes a saddle
SMALLEST_END = 1e-6  # an omega* below this value is a rounding error, for example for very small sigma
ZERO_WEIGHT = 1e-4  # weights below this value count as zero, if tokens have at most unit variance
LARGEST_END_ERROR = 0.2  # largest relative error of an omega* that is returned


def linear_baseline(task: Task, architecture: Architecture = STANDARD, nodes: int | None = None) -> float:
    """Return the test error of the best linear mixing of the tokens, for unlimited data.

    This is Eq. 20. The optimal matrix is E[Y] (Eq. 19), and its error is ``(1/L) E tr[(Y - E[Y]) C (Y - E[Y])^T]``.
    With two independent tokens the error is ``(sigma^2/2) E|Y - E[Y]|_F^2``.

    >>> from attention_phases import Task, linear_baseline
    >>> round(linear_baseline(Task(omega=0.3)), 6)
    0.001971

    nodes: number of nodes for each teacher field; the default is `LINEAR_NODES`
    """
    setting = Setting(task, architecture)
    count, C, rho = architecture.tokens, setting.covariance, setting.rho[setting.law_of]
    fields = rho.size
    if fields not in LINEAR_NODES:
        allowed = f"such that tokens times columns of the teacher are at most {max(LINEAR_NODES)}, for the linear model"
        raise BadInput("tokens", count, allowed)
    z, weights = tensor_rule(LINEAR_NODES[fields] if nodes is None else nodes, fields)
    mixing = np.linalg.cholesky(architecture.correlations)
    y = np.einsum("ab,nbs->nas", mixing, z.reshape(-1, *rho.shape)) * np.sqrt(rho)
    y = np.concatenate([y + lean[:, None] * (np.arange(rho.shape[1]) == 0) for lean in setting.leans])
    weights = np.concatenate([odds * weights for odds in setting.odds])
    # Leave out the constant part 1/L of Y, so that small fields give a small number without a loss of digits.
    varying = (1 - task.omega) * (softmax(y @ y.swapaxes(1, 2)) - 1 / count)
    centred = varying - np.einsum("n,nab->ab", weights, varying)
    return float(np.einsum("n,nab,bc,nac->", weights, centred, C, centred) / count)


def mean_attention(task: Task, nodes: int = LINEAR_NODES[2]) -> np.ndarray:
    """Return the teacher's mean attention E[Y] for two tokens.

    This is Eq. 19, a (2, 2) array. `nodes` is the number of nodes for each teacher field.
    """
    z, weights = tensor_rule(nodes, 2)
    return np.einsum("n,nab->ab", weights, target_attention(task.sigma * z, task.omega, STANDARD.attention(task)))


def linear_test_error(task: Task, attention: np.ndarray, d: int, length: float, positions: bool) -> float:
    """Return the test error ``E|Y xi - W x|_F^2/(2 d)`` of a fixed mixing matrix W, exact at finite d.

    The error (Y - W) xi is odd in xi. If the model reads positions, it passes on the encoding, which therefore adds
    ``|W p|^2/(2 d)`` and nothing else (`encoding_error`). Along Q* the entries of a token are its field y.

    Args:
        attention: the mixing matrix W (2, 2)
        d: embedding dimension
        length: ``|Q*|^2/d`` of the teacher
        positions: true if the model reads x = xi + p, false if it reads xi
    """
    z, weights = tensor_rule(FLOOR_NODES, 2)
    target = target_attention(task.sigma * np.sqrt(length) * z, task.omega, STANDARD.attention(task))
    miss = target - np.asarray(attention)  # (nodes^2, 2, 2)
    bulk = weights @ (miss**2).sum((1, 2))
    along = weights @ (np.einsum("nab,nb->na", miss, z) ** 2).sum(1)
    own = task.sigma**2 * (bulk + (along - bulk) / d) / 2
    return float(own + (encoding_error(attention, d) if positions else 0))


def encoding_error(attention: np.ndarray, d: float) -> float:
    """Return the contribution of the positional encoding p to the test error of a linear model, ``|W p|^2/(2 d)``.

    attention: the mixing matrix W (2, 2)
    """
    passed = np.asarray(attention) @ [1, -1]
    return float(passed @ passed) / (2 * d)


def floors(task: Task, nodes: int = FLOOR_NODES) -> dict[str, float]:
    """Return a dictionary of test errors with unlimited data, with the keys "semantic", "positional" and "linear"."""
    levels = {branch: level for branch, (level, _) in best_students(task, nodes).items()}
    return levels | {"linear": linear_baseline(task, nodes=nodes)}


def best_students(task: Task, nodes: int = FLOOR_NODES) -> dict[str, tuple[float, float]]:
    """Return the lowest test errors of semantic and positional students with unlimited data, and their weights.

    The keys are "semantic", with the weight kappa, and "positional", with the weight m.
    """
    task.check_unstructured()
    z, weights = tensor_rule(nodes, 2)
    target, mean = target_attention(task.sigma * z, task.omega, STANDARD.attention(task)), mean_attention(task, nodes)

    def miss(fields, aim) -> float:
        return float(task.sigma**2 / 2 * (weights @ ((aim - attention(fields)) ** 2).sum((1, 2))))

    def lowest(miss_of) -> tuple[float, float]:
        # Large tokens may need small weights, so for sigma > 1 the search is repeated with weights divided by sigma.
        # Zero weights are also a candidate.
        scales = {1.0, max(task.sigma, 1.0)}
        found = (minimize_scalar(miss_of, bracket=(BRACKET[0] / scale, BRACKET[1] / scale)).x for scale in scales)
        return min((miss_of(weight), float(weight)) for weight in (*found, 0.0))

    level, m = lowest(lambda m: miss(m * (task.sigma * z + task.encoding * np.array([1, -1])), mean))
    return {
        "semantic": lowest(lambda kappa: miss(kappa * task.sigma * z, target)),
        # The attention of the positional student is independent of Y.
        "positional": (level + linear_baseline(task, nodes=nodes), m),
    }


def curvature(task: Task, branch: str, nodes: int = FLOOR_NODES) -> float:
    """Return the curvature of the population loss at the best student of a branch, along the other overlap.

    It is the second derivative with respect to m at the semantic student and to kappa at the positional student. If it
    is negative, the student is a saddle for any number of sentences. It is NaN if the best weights are zero, because
    then there is no such student.
    """
    _, weight = best_students(task, nodes)[branch]
    if abs(weight) * max(task.sigma, 1) < ZERO_WEIGHT:
        return nan
    z, of_z = tensor_rule(nodes, 2)
    y, variance, square = task.sigma * z.T, task.sigma**2, task.encoding**2
    targets = teacher_fit(task, y)
    if branch == "semantic":
        h11, h12, h22 = np.array(bends(weight * y, targets, variance)) @ of_z
        return float((square + variance) * (h11 + h22) - 2 * square * h12)  # m multiplies noise and mark
    fields = weight * (y + task.encoding * np.array([[1], [-1]]))
    unaimed, *aimed = (np.array(bends(fields, aims, variance)) @ of_z for aims in ((0, 0), (1, 0), (0, 1)))
    # The averages factorise: the teacher's fields y are independent of the fields, and the Hessian is linear in the
    # targets.
    squares = np.array([y[0] ** 2, 2 * y[0] * y[1], y[1] ** 2])
    moved = sum((some - unaimed) * target for some, target in zip(aimed, (squares * targets[:, None]) @ of_z))
    return float((unaimed * (squares @ of_z) + moved).sum())


def minimum_bound(task: Task, branch: str) -> Measured:
    """Return the omega at which the best student of a branch stops being a minimum, with unlimited data.

    The semantic student is a minimum up to this omega, and the positional student from this omega on. Outside its range
    the student is a saddle, or its best weights are zero. The result does not depend on the omega of `task`. It is NaN
    if the student is a minimum at all omega or at none, or if the quadrature cannot decide.
    """

    def bend(omega: float, nodes: int = FLOOR_NODES) -> float:
        value = curvature(replace(task, omega=omega), branch, nodes)
        return -1.0 if isnan(value) else value

    places = [(float(omega), bend(omega, FLOOR_NODES // 2) > 0) for omega in np.linspace(0, 1, SCAN + 1)]
    ordered = pairwise(places if branch == "semantic" else places[::-1])
    bracket = next(((inside, outside) for (inside, lasts), (outside, beyond) in ordered if lasts and not beyond), None)
    if bracket is None or not all(bend(bracket[0], nodes) > 0 >= bend(bracket[1], nodes) for nodes in RULES):
        return NO_VALUE
    end = _crossing(bend, bracket)
    return end if end.value > SMALLEST_END else NO_VALUE


def _crossing(gap: Callable[[float, int], float], bracket: tuple[float, float]) -> Measured:
    """Return the zero of ``gap(omega, nodes)``, with the difference between two quadrature rules as its error."""
    value, rough = (root_scalar(gap, args=(nodes,), bracket=bracket, xtol=XTOL).root for nodes in RULES)
    return Measured(value, max(abs(value - rough), XTOL))


def divergence_omega(task: Task, kind: str) -> Measured:
    """Return the omega* at which a threshold in alpha diverges.

    The result does not depend on the omega of `task`. It is NaN if the threshold does not diverge, because zero weights
    are best for both students of A alone, which are then the same student. `ResultError` is raised if the floors are
    not precise enough, as for very small tokens.

    kind: "critical", where the semantic floor equals the positional floor, or "linear", where it equals the linear one
    """

    def gap(omega: float, nodes: int = FLOOR_NODES) -> float:
        level = floors(replace(task, omega=omega), nodes)
        return level["semantic"] - level[MATCHING_FLOOR[kind]]

    first, last, semantic = gap(0.0), gap(1.0), floors(replace(task, omega=1.0))["semantic"]
    unread = task.sigma**2 / 2 * ((STANDARD.attention(task) - 0.5) ** 2).sum()  # error of zero weights at omega = 1
    if first < 0 and last <= TIE * unread and semantic >= (1 - TIE) * unread:
        return NO_VALUE
    if first < 0 < min(last, gap(1.0, FLOOR_NODES // 2)):
        crossing = _crossing(gap, (0.0, 1.0))
        if crossing.error <= LARGEST_END_ERROR * crossing.value:
            return crossing
    why = "the limits of the test errors are not precise enough at this sigma and A"
    raise ResultError(f"no omega* of the {kind} threshold at sigma = {task.sigma:g}: {why}")
