"""State-evolution predictions for message passing: convergence, size of perturbations, distance between two runs.

Two runs of the iteration (copies) that share their data and their overlaps, and whose cavity fields differ by
``E(w_a - w'_a)^2 = D``, have after one more iteration ``D' = alpha V^2 E|r(w) - r(w')|^2``. If the proximal point does
not jump, the gain ``D'/D`` tends to the replicon Lambda (Appendix B.5) as the copies come close. If it jumps, a share
of the sentences proportional to sqrt(D) passes a jump between the copies, and each of these sentences contributes a
finite amount. The gain then grows like 1/sqrt(D), and the copies come no closer than the distance at which the gain is
1. Jumps always exist: a proximal point that moved continuously with w would reach every h, but it cannot lie where the
curvature of the objective is negative. Where jumps are rare, this distance is below the smallest distance of `gains`.
"""

from math import sqrt

import numpy as np

from ..measured import Measured
from ..model.architectures import Architecture
from ..quadrature import SCRAMBLES, gaussian_points, jackknife
from ..task import Task
from ..theory.branch import BranchMap, Net
from ..theory.equations import Overlaps, Scalars, Setting, average, hessians, teacher_fit
from ..theory.kernels.two_tokens import forces
from ..theory.solver import derivatives
from ..theory.thresholds import last_fall

RESPONSE_STEPS = 1000  # number of iterations of chi, starting at 0, in `gain_without_jumps`
HALVINGS = 6  # number of times the distance is halved; the first copies share only their overlap with the teacher


def modes(task: Task, alpha: float, branch: str, overlaps: Scalars, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of the linearised state-evolution map of one branch, and their standard errors.

    Both are (3,). The eigenvalues are the factors of collective deviations per iteration, sorted by descending modulus.
    The factor of the overlap that is zero on the branch is the gain, and is not among the eigenvalues.
    """
    model = BranchMap(task, alpha, branch)
    x, net = model.pack(Overlaps.of(*overlaps)), Net(gaussian_points(points), model.fields)
    net.averages(model, x)  # stores the minima at the fixed point, from which the derivatives then start
    jacobians = derivatives(lambda x: model.step(x, net.averages(model, x)), x)  # (scrambles, to, from)

    def eigenvalues(jacobian):
        return np.array(sorted(np.linalg.eigvals(jacobian), key=lambda value: (-abs(value), -value.imag)))

    return jackknife(eigenvalues, jacobians)


def contraction(replicon: float, damping: float, steps: int) -> np.ndarray:
    """Return the size of a small random perturbation after each iteration, in units of its initial size.

    The result is (steps + 1,). Undamped steps turn a random perturbation into fresh ones, orthogonal to each other, of
    squared sizes Lambda^k. After t damped steps the perturbation is the sum over k of binomial(t, k) kappa^(t-k)
    (1-kappa)^k times the k-th of these, and its squared size is the sum of their squared sizes. For large t the size
    falls by the factor kappa + (1 - kappa) sqrt(Lambda) per step.

    Args:
        damping: kappa, the share of the old state that each step keeps
    """
    shares, sizes = np.ones(1), []
    for _ in range(steps + 1):
        sizes.append(sqrt(shares**2 @ replicon ** np.arange(len(shares))))
        shares = np.convolve(shares, [damping, 1 - damping])
    return np.array(sizes)


def gains(
    task: Task, alpha: float, overlaps: Scalars, points: int = 2**13, scrambles=SCRAMBLES, seed=0
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the factor by which one iteration multiplies the squared distance between two message-passing runs.

    The two runs (copies) are at a solution of the state evolution. The first result has several distances (k,) in
    descending order: root mean square differences of the weights, divided by the size of Q. The second result has the
    factors D'/D (scrambles, k), which are called gains.
    """
    shares, by_share, (q, m, theta, V) = 2.0 ** -np.arange(HALVINGS + 1), [], overlaps
    # Standard deviation of the part of a field that is independent of the teacher.
    own = sqrt(q - theta**2 / task.sigma**2)
    nets = gaussian_points(points, scrambles, seed, dimensions=6)
    y, noise, other = nets.reshape(-1, 6).T.reshape(3, 2, -1)
    fields = np.array([[m], [-m]]) + theta / task.sigma * y + own * noise
    targets = teacher_fit(task, task.sigma * y)
    r, _ = forces(fields, targets, V, task.sigma**2)
    for share in shares:
        together = 1 - share**2  # correlation between the copies, in the part that is independent of the teacher
        shift = own * ((together - 1) * noise + sqrt(1 - together**2) * other)
        moved = forces(fields + shift, targets, V, task.sigma**2)[0] - r
        power = np.sum(moved**2, axis=0).reshape(len(nets), -1).mean(axis=1)
        by_share.append(alpha * V**2 * power / (2 * own**2 * share**2))
    return sqrt(2 / q) * own * shares, np.array(by_share).T


def gain_without_jumps(task: Task, alpha: float, overlaps: Scalars, points: int) -> Measured:
    """Return the growth factor of a small overlap with the teacher at a positional solution.

    The jumps of the proximal points are ignored. If each sentence remains at its proximal point, fields respond with
    the second derivatives B of its loss there. Then ``1/chi = lam + alpha sigma^2 E tr K`` with ``K = B (1 + sigma^2
    chi B)^-1``. Along the teacher, whose fields y determine B, the Hessian has ``1/chi + alpha sigma^2 E[z^T K z - tr
    K]`` instead of 1/chi, with z = y/sigma. One minus the ratio of the two is the gain. If the gain is below 1, a
    student close to the positional solution does not move towards the teacher. See `Solution` for the gain with jumps.
    """
    variance, usual, parts = task.sigma**2, overlaps.V / task.sigma**2, []
    for net in gaussian_points(points):
        z, noise = net.T.reshape(2, 2, -1)
        targets = teacher_fit(task, task.sigma * z)
        w = np.array([[overlaps.m], [-overlaps.m]]) + sqrt(overlaps.q) * noise
        h = w + overlaps.V * forces(w, targets, overlaps.V, variance)[0]
        bends, axes = np.linalg.eigh(hessians(h, targets, variance))
        parts.append((bends, np.einsum("an,nab->nb", z, axes) ** 2))
    bends, along = map(np.array, zip(*parts))  # curvatures, and squares of z along the axes, (scrambles, points, 2)

    def at(chi: float) -> np.ndarray:
        """Return the next iterate of 1/chi and the gain, for each scrambled set of points."""
        responses = bends / (1 + variance * chi * bends)
        free, own = (alpha * variance * part.sum(2).mean(1) for part in (responses, responses * along))
        return np.array([task.lam + free, chi * (free - own)])

    chi = 0.0
    # Start at 0, so that chi increases to the smallest solution. The response with jumps is an upper bound of chi.
    for _ in range(RESPONSE_STEPS):
        chi = min(usual, 1 / at(chi)[0].mean())
    (inverse, gains), (before, gains_before) = at(chi), at(nearby := (1 - 1e-4) * chi)
    excess, slope = 1 / chi - inverse, 1 / chi - 1 / nearby - (inverse - before).mean()
    shift = (gains - gains_before).mean() / slope if chi < usual else 0.0
    return Measured.mean(gains - shift * excess)  # corrected to first order, because chi differs between scrambles


def gains_of_columns(
    task: Task, architecture: Architecture, alpha: float, overlaps: Scalars | Overlaps, points: int, scrambles: int
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the growth factor of the squared distance between two message-passing runs, for any architecture.

    The factor is for one iteration, and the results are as for `gains`. All columns of the student are included. The
    parts of the copies that are independent of the teacher differ by a matrix ``D`` proportional to ``q - theta
    theta^T/rho``, and the gain is the ratio of traces. All tokens must have the same law.
    """
    setting, r = Setting(task, architecture, general=True), architecture.rank
    overlaps = overlaps if isinstance(overlaps, Overlaps) else Overlaps.of(*overlaps)
    (q,), m, (theta,), (V,) = overlaps
    c = architecture.correlations
    mixing, root = np.linalg.cholesky(c), np.linalg.cholesky(q)
    aligned = np.linalg.solve(root, theta[:, 0]) / task.sigma
    rest = sqrt(1 - aligned @ aligned)
    nets = gaussian_points(points, scrambles, dimensions=2 * len(c) * (r + 1))

    size, shape = np.trace(q - theta @ theta.T / task.sigma**2), (*nets.shape[:2], len(c), r)
    parts = np.split(nets, np.cumsum([len(c) * r, len(c), len(c) * r]), axis=2)
    columns, others = (part.reshape(shape) for part in parts[::2])  # variables of each copy, (scrambles, points, L, r)

    # Subtract the part along the teacher's fields, which are columns @ aligned + rest * remainder.
    def own_part(columns, remainder):
        return columns - (columns @ aligned + rest * remainder)[..., None] * aligned

    def forces_at(shift):  # forces after `shift` is added to the part that is independent of the teacher
        normal = [(columns + shift).reshape(*shape[:2], -1), parts[1] - shift @ aligned / rest]
        lowest = np.empty((*shape[:2], 2, len(c) * r))
        average(setting, overlaps, np.concatenate(normal, axis=2), lowest)
        fields = np.outer(architecture.positions, m) + mixing @ (columns + shift) @ root.T
        return np.linalg.solve(c, lowest[:, :, 0].reshape(shape) - fields) @ np.linalg.inv(V)

    own, other = own_part(columns, parts[1]), own_part(others, parts[3])
    still = forces_at(np.zeros(shape))
    shares, by_share = 2.0 ** -np.arange(HALVINGS + 1), []
    for share in shares:
        together = 1 - share**2
        moved = forces_at((together - 1) * own + sqrt(1 - together**2) * other) - still
        power = np.einsum("snak,ab,snbj->skj", moved, c, moved) / points
        after = np.trace(alpha * V @ power @ V, axis1=1, axis2=2)
        by_share.append(after / (2 * size * share**2))
    return sqrt(2 * size / np.trace(q)) * shares, np.array(by_share).T


def settling_distance(distances: np.ndarray, gains: np.ndarray) -> Measured:
    """Return the distance at which two runs of message passing stop approaching each other.

    At larger distances the gain is below 1. The distance is in units of the size of Q and is interpolated between the
    logarithms of the results of `gains`. If the gain is above 1 at the largest distance, that distance is returned. If
    the gain is below 1 at all distances, the result is 0, although smaller distances were not examined. The error is
    the jackknife error over the scrambles.
    """

    def closest(gain):
        if gain[0] > 1:
            return distances[0]
        return np.nan_to_num(np.exp(last_fall(np.log(distances[::-1]), np.log(gain[::-1]))))

    value, error = jackknife(closest, gains)
    return Measured(float(value), float(error))
