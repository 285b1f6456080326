"""What the state evolution says of message passing: its course, what perturbs it, and where two copies of it settle.

Two copies of the iteration that share their data and their overlaps, and whose cavity fields differ by
``E(w_a - w'_a)^2 = D``, have after one more iteration ``D' = alpha V^2 E|r(w) - r(w')|^2``. The gain ``D'/D`` tends to
the replicon Lambda (Appendix B.5) as the copies come close, if the proximal point does not jump. A jump is passed by a
share of the sentences that is proportional to sqrt(D), each of which contributes a finite amount: the gain then grows
like 1/sqrt(D), and the copies come no closer than where it is 1. Jumps are everywhere: a proximal point that moved
continuously with w would reach every h, and it cannot be where the objective curves down. Where they are rare, the
distance is below what `gains` tries.
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
from ..theory.thresholds import falls

RESPONSE_STEPS = 1000  # iterations of the response to small forces, from none
HALVINGS = 6  # from copies that share nothing but the teacher, down to 1/64 of their distance


def modes(
    task: Task, alpha: float, branch: str, overlaps: Scalars, points: int, scrambles=SCRAMBLES
) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of the state-evolution map within its branch, and their errors: two (3,) arrays.

    They are the factors of collective deviations, the largest modulus first; that of what is held at zero is the gain.
    """
    model = BranchMap(task, alpha, branch)
    x, net = model.pack(Overlaps.of(*overlaps)), Net(gaussian_points(points, scrambles), model.fields)
    net.averages(model, x)  # searches in the middle
    jacobians = derivatives(lambda x: model.step(x, net.averages(model, x)), x)  # (scrambles, to, from)

    def eigenvalues(jacobian):
        return np.array(sorted(np.linalg.eigvals(jacobian), key=lambda value: (-abs(value), -value.imag)))

    return jackknife(eigenvalues, jacobians)


def contraction(replicon: float, damping: float, steps: int) -> np.ndarray:
    """Return the size of a small random perturbation of message passing by iteration (steps + 1,), over that at first.

    Undamped steps turn a random perturbation into fresh ones, orthogonal to each other, of squared sizes Lambda^k.
    After t damped steps it is the sum over k of binomial(t, k) kappa^(t-k) (1-kappa)^k times the k-th, so that its
    squared size is the sum of the squares. For large t it falls by kappa + (1 - kappa) sqrt(Lambda) a step.

    Args:
        damping: kappa, the share of the old state that is kept
    """
    shares, sizes = np.ones(1), []
    for _ in range(steps + 1):
        sizes.append(sqrt(shares**2 @ replicon ** np.arange(len(shares))))
        shares = np.convolve(shares, [damping, 1 - damping])
    return np.array(sizes)


def gains(
    task: Task, alpha: float, overlaps: Scalars, points: int = 2**13, scrambles=SCRAMBLES, seed=0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gain of the distance of two copies at a solution, from large distances to small ones.

    Distances (k,) are root mean square differences of their weights over the size of Q, gains (scrambles, k) D'/D.
    """
    shares, by_share, (q, m, theta, V) = 2.0 ** -np.arange(HALVINGS + 1), [], overlaps
    own = sqrt(q - theta**2 / task.sigma**2)  # size of what the teacher does not share of a field
    nets = gaussian_points(points, scrambles, seed, dimensions=6)
    y, noise, other = nets.reshape(-1, 6).T.reshape(3, 2, -1)
    fields = np.array([[m], [-m]]) + theta / task.sigma * y + own * noise
    targets = teacher_fit(task, task.sigma * y)
    r, _ = forces(fields, targets, V, task.sigma**2)
    for share in shares:
        together = 1 - share**2  # correlation of the copies' own parts
        shift = own * ((together - 1) * noise + sqrt(1 - together**2) * other)
        moved = forces(fields + shift, targets, V, task.sigma**2)[0] - r
        power = np.sum(moved**2, axis=0).reshape(len(nets), -1).mean(axis=1)
        by_share.append(alpha * V**2 * power / (2 * own**2 * share**2))
    return sqrt(2 / q) * own * shares, np.array(by_share).T


def gain_without_jumps(
    task: Task, alpha: float, overlaps: Scalars, points: int, scrambles: int = SCRAMBLES
) -> Measured:
    """Return the gain of a small overlap with the teacher at a positional solution, see `Solution`, without jumps.

    As each sentence stays at its proximal point, fields respond with the second derivatives B of its loss there. Then
    ``1/chi = lam + alpha sigma^2 E tr K``, ``K = B (1 + sigma^2 chi B)^-1``, and along the teacher, whose fields y say
    what B is, the Hessian has ``1/chi + alpha sigma^2 E[z^T K z - tr K]`` in the place of 1/chi, z = y/sigma. One minus
    their ratio is the gain: below 1 a small student near this one does not leave it for the teacher.
    """
    variance, usual, parts = task.sigma**2, overlaps.V / task.sigma**2, []
    for net in gaussian_points(points, scrambles):
        z, noise = net.T.reshape(2, 2, -1)
        targets = teacher_fit(task, task.sigma * z)
        w = np.array([[overlaps.m], [-overlaps.m]]) + sqrt(overlaps.q) * noise
        h = w + overlaps.V * forces(w, targets, overlaps.V, variance)[0]
        bends, axes = np.linalg.eigh(hessians(h, targets, variance))
        parts.append((bends, np.einsum("an,nab->nb", z, axes) ** 2))
    bends, along = map(np.array, zip(*parts))  # each (scrambles, points, 2)

    def at(chi: float) -> np.ndarray:
        """By scramble 1/chi as it follows from this one, and the gain."""
        responses = bends / (1 + variance * chi * bends)
        free, own = (alpha * variance * part.sum(2).mean(1) for part in (responses, responses * along))
        return np.array([task.lam + free, chi * (free - own)])

    chi = 0.0
    for _ in range(RESPONSE_STEPS):  # rises to the smallest solution: with jumps the response is larger
        chi = min(usual, 1 / at(chi)[0].mean())
    (inverse, gains), (before, gains_before) = at(chi), at(nearby := (1 - 1e-4) * chi)
    excess, slope = 1 / chi - inverse, 1 / chi - 1 / nearby - (inverse - before).mean()
    shift = (gains - gains_before).mean() / slope if chi < usual else 0.0
    return Measured.mean(gains - shift * excess)  # to first order with the chi of each scramble


def gains_of_columns(
    task: Task, architecture: Architecture, alpha: float, overlaps: Scalars | Overlaps, points: int, scrambles: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return what `gains` does, of another architecture: distances over all columns of weights.

    The copies differ as what they do not share with the teacher is distributed, by ``D`` in proportion to
    ``q - theta theta^T/rho``, and the gain is of its trace. Tokens of one law.
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
    columns, others = (part.reshape(shape) for part in parts[::2])  # of each copy, (scrambles, points, L, r)

    def own_part(columns, remainder):  # what the teacher's fields, columns @ aligned + rest * remainder, do not tell
        return columns - (columns @ aligned + rest * remainder)[..., None] * aligned

    def forces_at(shift):  # of the first copy's own part
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
    """Return how close two copies come: the distance at which the gain falls through 1 with growing distance.

    It is over the size of Q, by interpolation of the logarithms of what `gains` returns; the largest distance tried
    where the gain is above 1 there, and 0 where it is below 1 at all, which says nothing of smaller ones. The error is
    the jackknife's, over the scrambles.
    """

    def closest(gain):
        if gain[0] > 1:
            return distances[0]
        crossings = falls(np.log(distances[::-1]), np.log(gain[::-1]))
        return np.exp(crossings[-1]) if len(crossings) else 0.0

    value, error = jackknife(closest, gains)
    return Measured(float(value), float(error))
