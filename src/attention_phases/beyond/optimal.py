"""What any learner could do with the sentences: the Bayes-optimal one, in the high-dimensional limit.

A label Y, with omega and A known, gives the differences ``y_a (y_a - y_b)`` of the teacher's fields, and so the fields
up to one sign common to the L tokens of a sentence. Learning Q* from them is a sequence multi-index model (Troiani et
al. 2025, arXiv 2502.00901); neither omega nor A changes it. In units where the fields have variance 1, let the fields
of the estimate be ``w = sqrt(q) G`` and ``y = w + sqrt(1 - q) Z``. Knowing y up to its sign, one expects
``y tanh(y.w/(1 - q))``, and

    q_hat = alpha E g.g,   g = (y tanh(y.w/(1 - q)) - w)/(1 - q),   q = q_hat/(1 + q_hat).

Given y, ``y.w/(1 - q)`` is Gaussian with mean and variance ``a = y.y q/(1 - q)``, for which ``1 - E tanh`` is
``exp(-a/2) E sech(sqrt(a) n)``. The fixed point is then explicit in alpha (`alpha_of`): it rises from zero at
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

NODES = (80, 160)  # of the sizes and of the signs of the fields
TEST_NET = (2**13, 16)
LONGEST = 64  # tokens of a sentence


@dataclass(frozen=True)
class Optimal:
    """The optimal learner at one alpha; the errors are those of the quadrature."""

    q: Measured  #: squared cosine of its estimate with Q*
    test_mse: Measured  #: of its predictions
    reached: str  #: "nothing", "part" or "all" of the teacher


def optimal(task: Task, alpha: float, tokens: int = 2) -> Optimal:
    """Return what the optimal learner reaches with ``n = alpha d`` independent sentences of `tokens` tokens.

    At omega = 1 that is nothing, however many there are: the labels are A, predicted exactly, and say nothing of Q*.
    """
    alpha, tokens = check_positive("alpha", alpha), check_count("tokens", tokens, at_least=2)
    if tokens > LONGEST:
        raise BadInput("tokens", tokens, f"at most {LONGEST} for the optimal learner, whose quadrature grows as L^2")
    if task.omega == 1:
        alpha = 0.0
    weak, exact = thresholds_of_learning(tokens)
    reached = "nothing" if alpha <= weak else "all" if alpha >= exact else "part"
    q = overlap(alpha, tokens)
    coarse = overlap(alpha, tokens, nodes=(NODES[0] // 2, NODES[1] // 2))
    return Optimal(Measured(q, abs(q - coarse)), estimate_error(task, q, tokens), reached)


def thresholds_of_learning(tokens: int = 2) -> tuple[float, float]:
    """Return the alpha above which something is learnt of the teacher, and that from which it is known."""
    return 1 / (tokens * (tokens + 1)), 1 / tokens


def overlap(alpha: float, tokens: int = 2, nodes: tuple[int, int] = NODES) -> float:
    """Return the squared cosine q of the optimal estimate with Q*."""
    weak, exact = thresholds_of_learning(tokens)
    if alpha <= weak or alpha >= exact:
        return float(alpha >= exact)
    return root_scalar(lambda q: alpha_of(q, tokens, nodes) - alpha, bracket=(1e-12, 1 - 1e-12), xtol=1e-14).root


def alpha_of(q: float, tokens: int, nodes: tuple[int, int] = NODES) -> float:
    """Return the alpha at which q in (0, 1) is a fixed point: ``q/(L (1 - (1 - q)^(L/2) E sech(sqrt(q u) n)))``.

    u has the law chi^2 with L + 2 degrees of freedom, n that of N(0, 1).
    """
    u, of_u, n, of_n = _rule(tokens, nodes)
    hidden = of_u @ (1 / np.cosh(np.sqrt(q * u)[:, None] * n.T)) @ of_n
    # (1 - q)^(L/2) hidden is 1 - q L(L+1)/L + ...: its difference from one keeps its digits only so
    known = -np.expm1(tokens / 2 * np.log1p(-q) + np.log(hidden))
    return float(q / (tokens * known))


@lru_cache
def _rule(tokens: int, nodes: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Nodes and weights for u of chi^2 with L + 2 degrees of freedom, and for n of N(0, 1)."""
    halves, of_u = roots_genlaguerre(nodes[0], tokens / 2)
    return 2 * halves, of_u / of_u.sum(), *tensor_rule(nodes[1], 1)


def estimate_error(task: Task, q: float, tokens: int = 2) -> Measured:
    """Return the test error of the prediction E[Y | w], with w the fields of an estimate of squared cosine q.

    It is ``sigma^2/L`` times the summed variance of the entries of Y given w: half the mean square difference between
    the labels of two fields that share w, whose entries have the correlation q. At q = 0 it is the linear model's.
    """
    y, rest = np.split(gaussian_points(*TEST_NET, dimensions=2 * tokens), 2, axis=2)
    other = q * y + np.sqrt(1 - q**2) * rest
    differences = [  # one scramble at a time, which bounds the memory of long sentences
        ((attention(task.sigma * first) - attention(task.sigma * second)) ** 2).sum((1, 2)).mean()
        for first, second in zip(y, other)
    ]
    return Measured.mean(task.sigma**2 / tokens * (1 - task.omega) ** 2 * np.array(differences) / 2)
