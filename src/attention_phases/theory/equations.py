"""One step of the state evolution, for every student that the theory covers.

The equations are Eqs. 7 to 14 (Result 4.2). A sentence has L tokens, the student has r columns W of weights, and the
teacher has t columns W*. The overlaps include the covariance Sigma of a token's entries: ``q = W^T Sigma W/d``, ``theta
= W^T Sigma W*/d``, ``m = W^T p/sqrt(d)`` with the encoding p of a token of mark 1, and ``V = Sigma chi``. For one
column and entries of variance sigma^2 these are the scalars of the main text. A token's fields are ``w = root(q) x + m
u`` and ``y = theta^T root(q)^-T x + rest z``. Here u is its mark, and x and z are standard normal variables that are
correlated between tokens. The tokens have the same law, k = 1, or each has its own, k = L.
"""

from math import gcd
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from ..attention import own_attention, softmax
from ..errors import BadInput
from ..model.weights import flat_overlaps
from ..quadrature import map_scrambles
from ..task import Task
from .kernels import general, two_tokens
from .setting import Hats, Setting, cholesky, largest_eigenvalue, mean_weights, mix, solve_linear

# These bounds only keep large steps of a solver in the domain of the equations. No fixed point reaches them.
SMALLEST_REST = 1e-9  # smallest share of the variance of the teacher's field that the student cannot explain
LEAST_Q = 1e-12  # smallest q, in units of sigma^2


class Scalars(NamedTuple):
    """The overlaps of a student with one column and a teacher with one column, as numbers or arrays.

    They are the overlaps of the main text of the paper.
    """

    q: Any  #: ``sigma^2 |Q|^2/d``, overlap of the weights with themselves
    m: Any  #: Q.1/d, overlap with the positions
    theta: Any  #: sigma^2 Q.Q*/d, overlap with the teacher
    V: Any  #: response of a field


class Overlaps(NamedTuple):
    """The overlaps of a student of any architecture, with an optional first axis for scrambled quadrature sets."""

    q: Any  #: (k, r, r), overlaps of the columns of weights with each other
    m: Any  #: (r,), overlaps with the positional encoding
    theta: Any  #: (k, r, t), overlaps with the teacher
    V: Any  #: (k, r, r), response of the fields

    @classmethod
    def of(cls, q: Any, m: Any, theta: Any, V: Any) -> "Overlaps":
        """Convert scalar overlaps, of one student column and one teacher column, to arrays."""
        q, m, theta, V = (np.asarray(value)[..., None] for value in (q, m, theta, V))
        return cls(q[..., None, None], m, theta[..., None, None], V[..., None, None])

    @property
    def scalars(self) -> Scalars:
        """The overlaps as scalars, if student and teacher have one column of weights and all tokens one law."""
        values = self.q[..., 0, 0, 0], self.m[..., 0], self.theta[..., 0, 0, 0], self.V[..., 0, 0, 0]
        return Scalars(*(map(float, values) if self.m.ndim == 1 else values))

    @property
    def plain(self) -> "Scalars | Overlaps":
        """The overlaps as `Scalars` if each overlap is a single number, and otherwise as `Overlaps`."""
        return self.scalars if self.q.shape[-3:] == self.theta.shape[-3:] == (1, 1, 1) else self


class Averages(NamedTuple):
    """Expectations over the fields, as arrays with an optional first axis for scrambled sets of quadrature points.

    They contain g = (c x V)^-1 (h* - w) with the Kronecker product c x V. A sum over tokens is over the tokens of one
    law. For independent tokens c = 1, and for one column g = (h* - w)/V.
    """

    power: Any  #: E[g^T c g] (k, r, r), which is q_hat divided by alpha
    student_noise: Any  #: E[g^T x] (k, r, r)
    pull: Any  #: E[g^T u] (r,), which is m_hat divided by alpha
    teacher_noise: Any  #: E[g^T z] (k, r, t)
    teacher_pull: Any  #: E[g^T l] (r,), with the displacements l of y_1 by clusters
    fitted_loss: Any  #: E[ell(h*)]
    moreau: Any  #: E[Moreau envelope]
    test_loss: Any  #: E[ell(w)]
    teacher_slope: Any  #: E[g^T z (z^T c^-1 x)] (t, r, r), from which d E[g^T z]/d theta at theta = 0 follows
    pull_slope: Any  #: d E[g^T u]/dm (r, r), integrated by parts
    response: Any  #: ``E[|d(h* - w)/dw|_F^2]``; NaN except for the standard student


def average(setting: Setting, overlaps: Overlaps, points: np.ndarray, lowest=None, anew: bool = True) -> Averages:
    """Return averages over the fields at given overlaps, one for each scrambled set of quadrature points.

    Args:
        points: (scrambles, N, L (r + t)), from `gaussian_points`
        lowest: (scrambles, N, 2, L r), the two lowest minima of each point, see `branch.Net`
        anew: whether to search for the minima and store them in `lowest`; otherwise descents start from `lowest`
    """
    if lowest is None:
        lowest = np.empty((*points.shape[:2], 2, setting.fields))
    if points.shape[2] != setting.dimensions:  # compiled code would read beyond the end of the array
        raise BadInput("points", points.shape, f"an array (scrambles, N, {setting.dimensions})")
    if not setting.fast:
        means = _general_means(points, lowest, setting, overlaps, anew)
        return Averages(*means, response=np.full(len(points), np.nan))
    task, axes = setting.task, (3, 3, 1, 3, 1, 0, 0, 0, 3, 2, 0)  # axes of each entry, without the axis of scrambles
    arguments = (*overlaps.scalars, setting.rho.item(), *loss_of(task))
    (means,) = map_scrambles(two_tokens.scramble_means, (points, lowest), anew, *arguments)
    means[:, 5:8] += unfitted_loss(task)
    return Averages(*(column.reshape(-1, *(1,) * count) for column, count in zip(means.T, axes)))


@np.errstate(all="ignore")  # a large step of a search may overflow
def _general_means(points, lowest, setting, overlaps, anew):
    """Compute averages over the fields with the kernel for any student and any number of tokens.

    The result has all entries of `Averages` except the last. Arrays in this function are (scrambles, L, r or t, n),
    with n points.
    """
    architecture, (scrambles, n, _) = setting.architecture, points.shape
    tokens, r, of, c = architecture.tokens, architecture.rank, setting.law_of, architecture.correlations
    mixing, root = np.linalg.cholesky(c), np.linalg.cholesky(overlaps.q)
    aligned, rest = teacher_given_student(setting, root, overlaps.theta)
    numbers = np.ascontiguousarray(points.swapaxes(1, 2))[:, : tokens * (r + rest.shape[-1])]
    independent = [part.reshape(scrambles, tokens, -1, n) for part in np.split(numbers, [tokens * r], axis=1)]
    x, z = (_mix_tokens(mixing, part) for part in independent)
    # The last variable of a point selects the cluster.
    choices = np.searchsorted(setting.odds.cumsum()[:-1], ndtr(points[..., -1]))
    marks, leans = (np.moveaxis(of_choice[choices], 2, 1)[:, :, None] for of_choice in (setting.marks, setting.leans))
    w = root[of] @ x + marks * overlaps.m[:, None] + leans * overlaps.theta[0, :, :1] / setting.rho[0, 0]
    y = aligned.mT[of] @ x + rest[of] @ z
    y[:, :, :1] += leans
    scores = (y[:, :, None] * y[:, None]).sum(3).transpose(0, 3, 1, 2)  # (scrambles, n, L, L)
    Y = (1 - setting.task.omega) * softmax(scores) + setting.task.omega * architecture.attention(setting.task)
    A = np.einsum("ab,akl->akbl", np.linalg.inv(c), np.linalg.inv(overlaps.V)[of]).reshape(tokens * r, -1)
    reach = np.sqrt(np.diag(c)[:, None] * np.einsum("akk->ak", overlaps.V)[of]).ravel()
    w = np.ascontiguousarray(np.moveaxis(w.reshape(scrambles, tokens * r, n), 1, 2))
    # The number of points per call, so that a call takes less than a second if possible. The time of a search grows
    # like the fourth power of the number of fields.
    some = gcd(scrambles * n, 2 ** max(0, (10 if anew else 12) - tokens * r // 2))
    parts = tuple(part.reshape(-1, some, *part.shape[2:]) for part in (w, np.ascontiguousarray(Y), lowest))
    problem = anew, setting.covariance, architecture.score, A, reach
    found = map_scrambles(general.proximal_points, parts, *problem, apart=True)
    h, moreau, test_loss = (part.reshape(scrambles, n, *part.shape[2:]) for part in found)
    forces = (h - w) @ A
    g = np.ascontiguousarray(np.moveaxis(forces, 1, 2)).reshape(scrambles, tokens, r, n)
    pulls = (g * marks).sum(1)
    # Derivatives of the independent variables with respect to m: a small m is equivalent to a shift of the variables.
    shift_x = np.linalg.solve(mixing, setting.marks.T).T[..., None, None] * np.linalg.inv(root)[of]  # (K, L, r, r)
    shift_z = -np.linalg.solve(rest, aligned.mT)[of] @ shift_x  # (K, L, t, r)
    shifts = np.concatenate([part.reshape(len(shift_x), -1, r) for part in (shift_x, shift_z)], axis=1)
    of_choices = ((pulls * (choices == k)[:, None], shift.mT @ numbers) for k, shift in enumerate(shifts))
    to_teacher, told = ((a[:, :, None] * b[:, :, :, None]).sum(1) for a, b in ((g, z), independent))
    sums = (
        _sum_by_law(setting, g, _mix_tokens(c, g)),
        _sum_by_law(setting, g, x),
        pulls.sum(2),
        _sum_by_law(setting, g, z),
        (g * leans).sum((1, 3)),
        (moreau - ((h - w) * forces).sum(2) / 2).sum(1),
        moreau.sum(1),
        test_loss.sum(1),
        to_teacher @ told.mT,
        sum(pull @ shifted.mT for pull, shifted in of_choices),
    )
    return [values / n for values in sums]


def _mix_tokens(matrix, fields):
    """Multiply fields (scrambles, L, i, n) by a matrix (L, L) along the axis of the tokens."""
    return (matrix @ fields.reshape(*fields.shape[:2], -1)).reshape(fields.shape)


def _sum_by_law(setting, left, right):
    """Sum the products of two arrays of fields over the points, and over all tokens that have the same law.

    The fields are (scrambles, L, i, n) and (scrambles, L, j, n).
    """
    by_token = left @ right.mT
    return by_token if len(setting.rho) > 1 else by_token.sum(1, keepdims=True)


def loss_of(task: Task) -> tuple[float, float, float, float]:
    """Return the parameters of the loss for two-token sentences: omega, sigma^2, and A_aa - A_ab for each token a.

    Token b is the other one.
    """
    (a11, a12), (a21, a22) = task.matrix
    return task.omega, task.sigma**2, a11 - a12, a22 - a21


def teacher_fit(task: Task, y: np.ndarray) -> np.ndarray:
    """Return the attention values S_11 and S_22 that fit the teacher best, given the teacher's fields y (2, N).

    They are T_a = (1 + Y_aa - Y_ab)/2.
    """
    omega, _, *leans = loss_of(task)
    return (1 - omega) * own_attention(y) + omega * (1 + np.array(leans)[:, None]) / 2


def bends(h, targets, variance: float) -> tuple:
    """Return the entries 11, 12 and 22 of the Hessian of the loss at given fields and targets.

    Fields h and targets are (2, ...).
    """
    return two_tokens.derivatives.py_func(*own_attention(h), *h, *targets, variance)[2:]


def hessians(h: np.ndarray, targets: np.ndarray, variance: Any) -> np.ndarray:
    """Return the Hessians (N, 2, 2) of the loss at given fields and targets.

    Fields h and targets are (2, N). The variance is a number or (N,).
    """
    h11, h12, h22 = bends(h, targets, variance)
    return np.array([[h11, h12], [h12, h22]]).T


def unfitted_loss(task: Task) -> float:
    """Return the constant part of the loss for two-token sentences, which no student can reduce.

    It is not zero if the rows of A do not sum to 1, because the rows of S do.
    """
    (a11, a12), (a21, a22) = task.matrix
    return task.sigma**2 * task.omega**2 * ((a11 + a12 - 1) ** 2 + (a21 + a22 - 1) ** 2) / 4


def teacher_given_student(setting: Setting, root: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the conditional distribution of the teacher's fields, given the student's fields.

    The first result is ``root^-1 theta`` (k, r, t), which gives the conditional mean. The second result holds
    the Cholesky factors (k, t, t) of the conditional covariance.
    """
    aligned, rho = solve_linear(root, theta), setting.rho
    left = rho[:, None] * np.eye(rho.shape[1]) - aligned.mT @ aligned
    return aligned, cholesky(np.maximum(left, SMALLEST_REST * rho[:, None]) if rho.shape[1] == 1 else left)


def conjugates(setting: Setting, alpha: float, overlaps: Overlaps, averages: Averages) -> Hats:
    """Compute the conjugates of the overlaps from the averages over the fields.

    This is Eq. 7. V_hat is computed from E[g^T x] and E[g^T z], which Gaussian integration by parts turns into mean
    derivatives of g by w and y. The mean of the derivative itself would miss the jumps of the proximal point. The
    conjugate of an overlap that is zero on a branch is zero, too. Clusters along the teacher add a force on the weights
    towards the teacher.
    """
    root, free = cholesky(overlaps.q), overlaps.q != 0
    aligned, rest = teacher_given_student(setting, root, overlaps.theta)
    theta = solve_linear(rest.mT, (alpha * averages.teacher_noise).mT).mT
    V = solve_linear(root.mT, aligned @ theta.mT - alpha * averages.student_noise.mT)
    theta = (theta + alpha * averages.teacher_pull[..., None, :, None] / setting.rho[:, None]) * (overlaps.theta != 0)
    m = alpha * averages.pull * (overlaps.m != 0)
    return Hats(alpha * averages.power * free, m, theta, (V + V.mT) / 2 * free)


def update(setting: Setting, hats: Hats) -> Overlaps:
    """Compute the overlaps of the next iteration from the conjugates.

    This is Eq. 8.
    """
    moments, shares = mean_weights(setting, hats), setting.shares.T
    m = setting.weights @ moments.encoding
    q, least = mix(shares, moments.square), LEAST_Q * setting.task.sigma**2
    q = np.maximum(q, least) if q.shape[-1] == 1 else q + least * np.eye(q.shape[-1])  # keeps q positive definite
    return Overlaps(q, m, mix(shares, moments.teacher), mix(shares, moments.response))


def free_energy(setting: Setting, alpha: float, overlaps: Overlaps, hats: Hats, moreau):
    """Return the zero-temperature free energy, which equals the training loss at a fixed point.

    This is Eq. 108. At a fixed point it is stationary in all overlaps and conjugates. `moreau` is E[Moreau envelope].
    """
    coupling = (hats.q * overlaps.V - hats.V * overlaps.q).sum((-3, -2, -1)) / 2
    coupling += (hats.m * overlaps.m).sum(-1) + (hats.theta * overlaps.theta).sum((-3, -2, -1))
    return alpha * moreau + coupling + mean_weights(setting, hats).energy @ setting.weights


def penalty(setting: Setting, hats: Hats):
    """Return the penalty on the weights, divided by d."""
    return mean_weights(setting, hats).penalty @ setting.weights


def gains(setting: Setting, alpha: float, overlaps: Overlaps, averages: Averages) -> tuple:
    """Return the largest factors (gains) by which one iteration multiplies a small theta and a small m.

    They matter for an overlap that is zero on the branch. If a gain is above 1 the solution is a saddle: a student
    close to the semantic solution moves towards the positions, or a student close to the positional solution moves
    towards the teacher. All tokens must have the same law. The derivatives are computed with integration by parts, as
    for V_hat.
    """
    response = mean_weights(setting, conjugates(setting, alpha, overlaps, averages)).response
    by_direction = setting.shares * setting.eigenvalues * setting.teacher / setting.rho
    to_theta = np.einsum("nt,...nkl->...tkl", by_direction, response)
    to_m = np.einsum("n,...nkl->...kl", setting.weights * setting.encoding, response)
    by_theta = (averages.teacher_slope - averages.student_noise) @ np.linalg.inv(cholesky(overlaps.q))
    products = to_theta @ by_theta, to_m @ averages.pull_slope
    of_theta, of_m = (alpha * largest_eigenvalue(product) for product in products)
    return of_theta.max(axis=-1), of_m


def named_overlaps(overlaps: Scalars | Overlaps, variance: float) -> dict:
    """Return a dictionary of the overlaps, averaged over the tokens.

    For one column and one teacher they are q, m, theta and V. Otherwise they are the scalars of `flat_overlaps`.
    """
    if isinstance(overlaps, Scalars):
        return overlaps._asdict()
    q, theta, V = (value.mean(axis=-3) for value in (overlaps.q, overlaps.theta, overlaps.V))
    if theta.shape[-2:] == (1, 1):
        return {"q": q[..., 0, 0], "m": overlaps.m[..., 0], "theta": theta[..., 0, 0], "V": V[..., 0, 0]}
    return flat_overlaps(variance, q / variance, overlaps.m, theta / variance)
