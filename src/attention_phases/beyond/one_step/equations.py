"""State evolution with one step of replica symmetry breaking, and the search for its fixed points.

A valley contains many minima. The minima have the mutual overlap q0 and the self-overlap q1, and gap = q1 - q0. A
minimum of the risk R has the weight exp(-y R). The outer fields w0 have the law of the fields in the replica-symmetric
equations, with q0 instead of q. The inner fields around an outer field are ``w = w0 + sqrt(gap) z`` with z ~ N(0, 1),
weighted by exp(-y M(w)), where M is the Moreau envelope. ``<.>`` is the weighted mean over the inner fields, E is the
mean over the outer fields, and r = (h* - w)/V. At gap = 0 the equations are the replica-symmetric equations of the
standard student, for any y.
"""

from dataclasses import dataclass
from math import exp, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...measured import standard_error
from ...quadrature import map_scrambles, pool
from ...task import Task
from ...theory.branch import BranchMap, Net
from ...theory.equations import SMALLEST_REST, Overlaps, teacher_fit, unfitted_loss
from ...theory.kernels.two_tokens import forces
from ...theory.solver import derivatives, displacement, is_present, is_settled

RADII, ANGLES = 3, 6  # number of circles on which the inner points lie, and number of points on each circle
DERIVATIVE_POINTS = 2**9  # number of points per scramble for derivatives
# Number of points per scramble for derivatives if Newton's method fails, which can happen where the gap is almost zero.
RETRY_POINTS = 4 * DERIVATIVE_POINTS
CHORDS = 12  # largest number of Newton steps with all points
LONGEST_STEP = 1.0  # largest change of a coordinate in one Newton step


class Valley(NamedTuple):
    """The order parameters and the Parisi parameter y.

    Each is a float, or an array with one value for each scrambled set of quadrature points.
    """

    q0: Any  #: overlap between two minima
    gap: Any  #: q1 - q0, where q1 is the overlap of a minimum with itself
    m: Any  #: overlap with the positional encoding
    theta: Any  #: overlap with the teacher
    V: Any  #: response within a minimum
    y: Any  #: Parisi parameter


class InnerAverages(NamedTuple):
    """Expectations over the fields.

    Each entry is a float, or an array with one value for each scrambled set of quadrature points.
    """

    pull: np.ndarray  #: E[<r_1> - <r_2>]
    power: np.ndarray  #: ``E<|r|^2>``
    mean_power: np.ndarray  #: ``E|<r>|^2``
    teacher_noise: np.ndarray  #: E[<r> . zeta]
    outer_noise: np.ndarray  #: E[<r> . xi]
    inner_noise: np.ndarray  #: E<r . z>
    fitted_loss: np.ndarray  #: E<ell(h*)>
    free: np.ndarray  #: E[-(1/y) log(mean of exp(-y M) over z)], which is E<M> at y = 0


class ValleyHats(NamedTuple):
    """The conjugates of the order parameters.

    Each entry is a float, or an array with one value for each scrambled set of quadrature points.
    """

    q0: Any  #: conjugate of q0
    q1: Any  #: conjugate of q1
    m: Any  #: conjugate of m
    theta: Any  #: conjugate of theta
    V: Any  #: conjugate of V


def inner_points(radii: int = RADII, angles: int = ANGLES) -> np.ndarray:
    """Return a quadrature rule for the standard normal distribution in the plane, with points on circles.

    The result is (radii * angles, 3), with the coordinates and the weight of each point. The radii are from the
    Gauss-Laguerre rule, and every second circle is turned by half a step. M has kinks along lines. The circles are
    turned by a different angle for each outer field, so that they cross these lines without bias.
    """
    squares, weights = np.polynomial.laguerre.laggauss(radii)
    turns = 2 * np.pi * (np.arange(angles) + np.arange(radii)[:, None] % 2 / 2) / angles
    circles = np.sqrt(2 * squares)[:, None]
    shares = np.broadcast_to(weights[:, None] / angles, turns.shape)
    return np.stack([circles * np.cos(turns), circles * np.sin(turns), shares], axis=-1).reshape(-1, 3)


class Fields(NamedTuple):
    """Samples for a nested average: the (outer) fields of N sentences, and K (inner) fields around each of them.

    The first axis indexes the two tokens.
    """

    xi: np.ndarray  #: (2, N), standard normal variables of the outer fields
    zeta: np.ndarray  #: (2, N), standard normal variables of the teacher's fields
    z: np.ndarray  #: (2, K, N), standard normal variables of the inner fields
    outer: np.ndarray  #: (2, 1, N), outer fields w0
    targets: np.ndarray  #: (2, 1, N), values of S_11 and S_22 that fit the teacher best

    @classmethod
    def of(cls, task: Task, valley: Valley, net: np.ndarray, inner: np.ndarray) -> "Fields":
        """Return the fields at the quadrature points `net` (N, 6).

        The columns of the net are xi, zeta and a vector in the plane, whose angle rotates the inner points `inner`.
        """
        xi, zeta, turn = net.T.reshape(3, 2, -1)
        cosine, sine = turn / np.hypot(*turn)
        x1, x2 = inner.T[:2, :, None]
        aligned = valley.theta / sqrt(valley.q0)
        rest = np.sqrt(task.sigma**2 - aligned**2)
        outer = sqrt(valley.q0) * xi + np.array([[valley.m], [-valley.m]])
        z = np.stack([cosine * x1 - sine * x2, sine * x1 + cosine * x2])
        return cls(xi, zeta, z, outer[:, None], teacher_fit(task, aligned * xi + rest * zeta)[:, None])

    def forces(self, task: Task, valley: Valley, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the forces (minus the gradient of the Moreau envelope) and the envelope at given inner fields.

        The forces r = (h* - w)/V and the inner fields z are (2, K, N), and the envelope M is (K, N).
        """
        w = self.outer + sqrt(valley.gap) * z
        targets = np.broadcast_to(self.targets, w.shape).reshape(2, -1)
        r, envelope = forces(w.reshape(2, -1), targets, valley.V, task.sigma**2)
        return r.reshape(w.shape), envelope.reshape(w.shape[1:]) + unfitted_loss(task)


def average(task: Task, valley: Valley, points, inner=None) -> InnerAverages:
    """Return averages over the fields, one for each scrambled set of quadrature points.

    points: a quadrature net (scrambles, N, 6)
    inner: inner points and their weights (K, 3), by default `inner_points`
    """
    inner = inner_points() if inner is None else inner

    def means(nets):
        return np.array([_net_means(net, task, valley, inner) for net in nets]).T

    return InnerAverages(*map_scrambles(means, (points,)))


def _net_means(net, task, valley, inner):
    """Return averages over the fields for one set of quadrature points `net` (N, 6)."""
    fields, y, V = Fields.of(task, valley, net, inner), valley.y, valley.V
    r, envelope = fields.forces(task, valley, fields.z)
    weights = inner[:, 2:] * np.exp(-y * (envelope - envelope[0]))
    mass = weights.sum(axis=0)
    weights /= mass
    force, power = np.einsum("kn,akn->an", weights, r), np.einsum("kn,akn,akn->n", weights, r, r)
    moreau = np.einsum("kn,kn->n", weights, envelope)
    means = (
        force[0] - force[1],
        power,
        (force * force).sum(axis=0),
        (force * fields.zeta).sum(axis=0),
        (force * fields.xi).sum(axis=0),
        np.einsum("kn,akn,akn->n", weights, r, fields.z),
        moreau - V * power / 2,
        envelope[0] - np.log(mass) / y if y > 0 else moreau,
    )
    return [values.mean() for values in means]


def conjugates(task: Task, alpha: float, valley: Valley, averages: InnerAverages) -> ValleyHats:
    """Compute the conjugates of the order parameters from the averages over the fields.

    V_hat = -alpha E<div r> is integrated by parts over the outer and the inner fields, in proportion to their
    variances: ``V_hat = alpha y (P1 - P0 q0/q1) - alpha E<r . (sqrt(q0) xi + sqrt(gap) z)>/q1 + theta theta_hat/q1``.
    """
    q0, gap, m, theta, _, y = valley
    untold = sqrt(max(task.sigma**2 - theta**2 / q0, SMALLEST_REST * task.sigma**2))
    theta_hat = (theta != 0) * alpha * averages.teacher_noise / untold
    weighted = y * ((q0 + gap) * averages.power - q0 * averages.mean_power)
    noise = sqrt(q0) * averages.outer_noise + sqrt(gap) * averages.inner_noise
    return ValleyHats(
        q0=alpha * averages.mean_power,
        q1=alpha * averages.power,
        m=(m != 0) * alpha * averages.pull,
        theta=theta_hat,
        V=(alpha * (weighted - noise) + theta * theta_hat) / (q0 + gap),
    )


def denominators(task: Task, y: float, hats: ValleyHats) -> tuple:
    """Return the denominators D and D0, clipped to positive values in case a large step made them negative.

    They are ``D = lambda + sigma^2 V_hat`` and ``D0 = D - y sigma^2 (q1_hat - q0_hat)``.
    """
    D = np.maximum(task.lam + task.sigma**2 * hats.V, 1e-3 * task.lam)
    return D, np.maximum(D - y * task.sigma**2 * (hats.q1 - hats.q0), 1e-3 * D)


def update(task: Task, y: float, hats: ValleyHats) -> Valley:
    """Compute the order parameters of the next iteration from the conjugates."""
    variance = task.sigma**2
    D, D0 = denominators(task, y, hats)
    signal = variance * hats.q0 + hats.m**2 + variance**2 * hats.theta**2
    gap = variance**2 * (hats.q1 - hats.q0) / (D * D0)
    return Valley(variance * signal / D0**2, gap, hats.m / D0, variance**2 * hats.theta / D0, variance / D, y)


def potential(task: Task, alpha: float, valley: Valley, hats: ValleyHats, free):
    """Return the potential Phi(y), which is stationary in all order parameters and conjugates at a solution.

    free: entry of the `InnerAverages` of that name
    """
    q0, gap, m, theta, V, y = valley
    D, D0 = denominators(task, y, hats)
    signal = task.sigma**2 * hats.q0 + hats.m**2 + task.sigma**4 * hats.theta**2
    entropy = np.log(D0 / D) / (2 * y) if y > 0 else -(task.sigma**2) * (hats.q1 - hats.q0) / (2 * D)
    coupling = m * hats.m + theta * hats.theta + (hats.q1 * V - (q0 + gap) * hats.V) / 2
    return alpha * free + entropy - signal / (2 * D0) + coupling + y * ((q0 + gap) * hats.q1 - q0 * hats.q0) / 2


def energy(task: Task, alpha: float, valley: Valley, averages: InnerAverages):
    """Return the training loss e(y), which at a solution is the derivative d(y Phi)/dy.

    It is ``alpha E<ell(h*)> + lambda q1/(2 sigma^2)``.
    """
    return alpha * averages.fitted_loss + task.lam * (valley.q0 + valley.gap) / (2 * task.sigma**2)


@dataclass
class BrokenBranch:
    """The equations of one branch at given alpha and y, with the interface that the `solver` expects.

    The coordinates are the coordinates of `BranchMap`, with q0 instead of q, and log gap.
    """

    task: Task  #: teacher, data and penalty
    alpha: float  #: sample complexity
    branch: str  #: name of the branch
    y: float  #: Parisi parameter

    dimensions: ClassVar[int] = 6
    own: ClassVar[slice] = slice(2, 3)

    def __post_init__(self):
        self.symmetric = BranchMap(self.task, self.alpha, self.branch)

    def pack(self, valley: Valley) -> np.ndarray:
        """Convert order parameters to the unconstrained coordinates (n,) in which the equations are solved.

        If the order parameters are arrays (scrambles,), the coordinates are (scrambles, n).
        """
        x = self.symmetric.pack(Overlaps.of(valley.q0, valley.m, valley.theta, valley.V))
        return np.array([*x.T, np.log(np.maximum(valley.gap, 1e-300))]).T

    def unpack(self, x: np.ndarray) -> Valley:
        """Convert coordinates x (n,) to order parameters."""
        q0, m, theta, V = self.symmetric.unpack(x[:3]).scalars
        return Valley(q0, exp(min(max(x[3], -40.0), 40.0)), m, theta, V, self.y)

    def average(self, x: np.ndarray, points: np.ndarray, *_: Any) -> InnerAverages:
        """Return averages over the fields at given order parameters, for each scrambled set of quadrature points.

        The points are (scrambles, N, 6). No minima are stored as warm starts, because the minima of all inner points
        would need too much memory.
        """
        return average(self.task, self.unpack(x), points)

    def step(self, x: np.ndarray, averages: InnerAverages) -> np.ndarray:
        """Return the coordinates after one state-evolution step from x, given the averages over the fields at x."""
        return self.pack(update(self.task, self.y, conjugates(self.task, self.alpha, self.unpack(x), averages)))

    def losses(self, x: np.ndarray, averages: InnerAverages) -> tuple:
        """Return the training loss e and the potential Phi at the order parameters with the coordinates x."""
        valley = self.unpack(x)
        hats = conjugates(self.task, self.alpha, valley, averages)
        phi = potential(self.task, self.alpha, valley, hats, averages.free)
        return energy(self.task, self.alpha, valley, averages), phi


@dataclass
class SplitBranch(BrokenBranch):
    """The replica-symmetric equations (y = 0), on the quadrature points of a solution with broken symmetry.

    The fields have the same ratio of inner to outer parts as in the broken solution.
    """

    share: float  #: ratio gap/q1 of the broken solution

    def pack(self, valley: Valley) -> np.ndarray:
        return self.symmetric.pack(Overlaps.of(valley.q0 + valley.gap, valley.m, valley.theta, valley.V))

    def unpack(self, x: np.ndarray) -> Valley:
        q, m, theta, V = self.symmetric.unpack(x).scalars
        return Valley((1 - self.share) * q, self.share * q, m, theta, V, 0.0)


class Root(NamedTuple):
    """A root of the equations of one branch, with the averages and losses at the root.

    It is computed with all quadrature points. To first order, the equations of scramble k alone have their root at
    ``x + moves[:, k]``, with the energy ``energies[k]``.
    """

    model: BrokenBranch  #: equations of the branch
    x: np.ndarray  #: (n,), coordinates of the root
    averages: InnerAverages  #: averages at the root, by scramble
    energy: float  #: training loss e
    phi: float  #: potential Phi(y)
    moves: np.ndarray  #: (n, scrambles), displacement of the root of each scramble
    energies: np.ndarray  #: (scrambles,), training loss of each scramble
    log_y: np.ndarray  #: (scrambles,), shift of log y for each scramble, which is zero if y is given
    residual: float  #: residual as in `OneStep`
    settled: bool  #: whether x solves the equations
    present: bool  #: whether the overlap that defines the branch differs from zero

    @property
    def valley(self) -> Valley:
        return self.model.unpack(self.x)

    @property
    def phis(self) -> np.ndarray:
        """The value of Phi for each scrambled set of quadrature points, up to a common constant.

        The array is (scrambles,). All scrambles have the order parameters of the root, because Phi is stationary in
        them.
        """
        return self.model.alpha * self.averages.free


def nested_nets(points: np.ndarray) -> list[Net]:
    """Return nested sets of quadrature points in ascending size: subsets for derivatives, then the full set.

    points: (scrambles, N, 6)
    """
    sizes = sorted({min(size, points.shape[1]) for size in (DERIVATIVE_POINTS, RETRY_POINTS)})
    return [Net(points[:, :size], fields=0) for size in (*sizes, points.shape[1])]


def find_root(model: BrokenBranch, x: np.ndarray, nets: list[Net]) -> Root:
    """Find the root of the equations near x by Newton's method, with the Jacobian from a smaller set of points.

    x are the coordinates of the start. The root is computed with all quadrature points, the last of the `nested_nets`.
    If the method fails with the derivatives on the smallest net, the next larger net is used.
    """
    *smaller, whole = nets
    for net in smaller:

        def displacement_and_energy(x, net=net):
            displaced, averages = displacement(model, x, net)
            return np.array([*displaced, model.losses(x, pool(averages))[0]])

        root = _chord_iteration(model, x, derivatives(displacement_and_energy, x), whole)
        if root.settled:
            break
    return root


def _chord_iteration(model, x, slopes, net):
    """Run Newton's method with constant derivatives from x, and return its last point as a `Root`.

    slopes: derivatives (n + 1, n) of the displacement and of the energy
    """
    jacobian, energy_slope = slopes[:-1], slopes[-1]
    for _ in range(CHORDS):
        displaced, averages = displacement(model, x, net)
        images = model.step(x, averages)
        moves = -np.linalg.solve(jacobian, (images - images.mean(axis=0)).T)
        left = np.linalg.solve(jacobian, displaced)
        errors, residual = standard_error(moves.T), float(np.abs(displaced).max())
        root = Root(
            model,
            x,
            averages,
            *model.losses(x, pool(averages)),
            moves=moves,
            energies=model.alpha * averages.fitted_loss + energy_slope @ moves,
            log_y=np.zeros(len(images)),
            residual=residual,
            settled=is_settled(residual, left, errors),
            present=is_present(x[model.own], errors[model.own]),
        )
        if root.settled or not np.isfinite(left).all():
            break
        x = x - left / max(1.0, np.abs(left).max() / LONGEST_STEP)
    return root
