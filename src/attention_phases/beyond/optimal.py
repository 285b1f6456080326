"""The Bayes-optimal learner in the high-dimensional limit: a bound on the performance of every learner.

If omega and A are known, a label Y determines the differences ``y_a (y_a - y_b)`` of the teacher's fields, and
therefore the fields up to one sign, which is common to the L tokens of a sentence. To learn Q* from these fields is a
sequence multi-index model (Troiani et al. 2025, arXiv 2502.00901), in which neither omega nor A appears. In units in
which the fields have variance 1, let the fields of the estimate be ``w = sqrt(q) G`` and the teacher's fields ``y = w +
sqrt(1 - q) Z``. If y is known up to its sign, its expectation is ``y tanh(y.w/(1 - q))``, and

    q_hat = alpha E g.g,   g = (y tanh(y.w/(1 - q)) - w)/(1 - q),   q = q_hat/(1 + q_hat).

Given y, ``y.w/(1 - q)`` is Gaussian, with mean and variance ``a = y.y q/(1 - q)``. For such a variable ``1 - E tanh``
is ``exp(-a/2) E sech(sqrt(a) n)``. The fixed point is therefore explicit in alpha (`alpha_of`): q rises from zero at
``alpha = 1/(L (L + 1))`` and reaches one at ``1/L``.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import root_scalar
from scipy.special import roots_genlaguerre

from ..attention import attention
from ..errors import BadInput, check_count, check_positive
from ..measured import Measured
from ..quadrature import gaussian_points, tensor_rule
from ..task import Task

NODES = (80, 160)  # numbers of nodes for u and for n in `alpha_of`
TEST_NET = (2**13, 16)  # numbers of points per scramble and of scrambles for the test error
LONGEST = 64  # largest number of tokens in a sentence


@dataclass(frozen=True)
class OptimalResult:
    """The optimal learner at one alpha: its test error and its overlap with the teacher, with quadrature errors."""

    q: Measured  #: squared cosine of the angle between its estimate and Q*
    test_mse: Measured  #: test error of its predictions
    reached: str  #: how much of the teacher it recovers: "nothing", "part" or "all"


def optimal(task: Task, alpha: float, tokens: int = 2) -> OptimalResult:
    """Return the overlap with the teacher and the test error of the Bayes-optimal learner, for n = alpha d sentences.

    The sentences are independent and have `tokens` tokens. At omega = 1 the learner learns nothing about Q* from any
    number of sentences, because all labels equal A.
    """
    task.check_unstructured()
    alpha, tokens = check_positive("alpha", alpha), check_count("tokens", tokens, at_least=2)
    if tokens > LONGEST:
        raise BadInput("tokens", tokens, f"at most {LONGEST} for the optimal learner, whose quadrature grows as L^2")
    if task.omega == 1:
        alpha = 0.0
    weak, exact = thresholds_of_learning(tokens)
    reached = "nothing" if alpha <= weak else "all" if alpha >= exact else "part"
    q = overlap(alpha, tokens)
    coarse = overlap(alpha, tokens, nodes=(NODES[0] // 2, NODES[1] // 2))
    return OptimalResult(Measured(q, abs(q - coarse)), estimate_error(task, q, tokens), reached)


def thresholds_of_learning(tokens: int = 2) -> tuple[float, float]:
    """Return the values of alpha at which partial and full recovery of the teacher begin."""
    return 1 / (tokens * (tokens + 1)), 1 / tokens


def overlap(alpha: float, tokens: int = 2, nodes: tuple[int, int] = NODES) -> float:
    """Return the squared cosine q of the angle between the optimal estimate and Q*."""
    weak, exact = thresholds_of_learning(tokens)
    if alpha <= weak or alpha >= exact:
        return float(alpha >= exact)
    return root_scalar(lambda q: alpha_of(q, tokens, nodes) - alpha, bracket=(1e-12, 1 - 1e-12), xtol=1e-14).root


def alpha_of(q: float, tokens: int, nodes: tuple[int, int] = NODES) -> float:
    """Return the alpha at which a given overlap q in (0, 1) solves the fixed-point equation.

    This alpha is ``q/(L (1 - (1 - q)^(L/2) E sech(sqrt(q u) n)))``, where u has the law chi^2 with L + 2 degrees of
    freedom and n has the law N(0, 1).
    """
    u, of_u, n, of_n = _rule(tokens, nodes)
    hidden = of_u @ (1 / np.cosh(np.sqrt(q * u)[:, None] * n.T)) @ of_n
    # For small q, (1 - q)^(L/2) hidden is almost 1. expm1 and log1p keep the digits of the difference from 1.
    known = -np.expm1(tokens / 2 * np.log1p(-q) + np.log(hidden))
    return float(q / (tokens * known))


@lru_cache
def _rule(tokens: int, nodes: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return quadrature rules for a chi-squared variable u and a standard normal variable n.

    u has L + 2 degrees of freedom. The results are the nodes and the weights for u, and those for n.
    """
    halves, of_u = roots_genlaguerre(nodes[0], tokens / 2)
    return 2 * halves, of_u / of_u.sum(), *tensor_rule(nodes[1], 1)


def estimate_error(task: Task, q: float, tokens: int = 2) -> Measured:
    """Return the test error of the prediction E[Y | w], where w are the fields of an estimate of the teacher.

    The squared cosine of this estimate with the teacher is q.

    The test error is ``sigma^2/L`` times the sum of the variances of the entries of Y given w. This variance is half
    the mean square difference between the labels of two fields that share w; the entries of the two fields have the
    correlation q. At q = 0 the result is the test error of the linear model.
    """
    y, rest = np.split(gaussian_points(*TEST_NET, dimensions=2 * tokens), 2, axis=2)
    other = q * y + np.sqrt(1 - q**2) * rest
    differences = [  # one scramble at a time, because all scrambles of long sentences need too much memory
        ((attention(task.sigma * first) - attention(task.sigma * second)) ** 2).sum((1, 2)).mean()
        for first, second in zip(y, other)
    ]
    return Measured.mean(task.sigma**2 / tokens * (1 - task.omega) ** 2 * np.array(differences) / 2)
