"""The published theory, computed with the quadrature rules of the authors' public notebook.

The rules have few points, and the proximal point is the end of one descent from (0, 0). The overlaps use degree 7 in
the plane of the student's two standard normal variables and in the plane of the teacher's, 12 x 12 points. The training
loss is the free energy (Eq. 108), whose Moreau envelope uses degree 11 in both planes, 28 x 28 points. In the test
error, E[S^2] and E[S Y] use degree 11 for the outer average, over the student, and degree 7 for the inner average;
E[Y^2] uses degree 11. The weights E[Y] of the linear model use degree 7, and its error uses degree 11.

Both rules of the plane are in Stroud's catalogue for E_2^{r^2}: 7-1, and a rule of degree 11 by Rabinowitz and
Richtmyer (1969). The published iteration stops when changes fall below 1e-4. `published_stops` does the same, but
`solve_coarsely` continues.

With so few points there are several positional solutions at small omega, for example three at omega = 0 and alpha =
0.62. The solution that is reached from the encoding is used.
"""

from collections.abc import Sequence
from math import nan, sqrt
from typing import NamedTuple

import numpy as np

from attention_phases.attention import attention, target_attention
from attention_phases.quadrature import gaussian_points
from attention_phases.task import Task
from attention_phases.theory import equations
from attention_phases.theory.baseline import linear_baseline
from attention_phases.theory.branch import BranchMap
from attention_phases.theory.equations import Averages, Hats, Overlaps, Scalars, penalty, teacher_fit
from attention_phases.theory.kernels.two_tokens import NO_MINIMUM, descend
from attention_phases.theory.setting import Setting
from attention_phases.theory.thresholds import COMPARED_BRANCHES, falls

RULE_DAMPING, RULE_STEPS, RULE_SETTLED, STOP = 0.9, 2000, 1e-7, 1e-4
EXACT_NET = (2**12, 8)  # number of points per scramble and number of scrambles, for the exact losses
RELATIVE_ALPHAS = np.linspace(-0.25, 0.25, 11)  # relative distances of the searched alphas from the converged threshold
AXES = np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])

PlaneRule = tuple[np.ndarray, np.ndarray]  # points (N, dimensions) and weights (N,)


class Coarse(NamedTuple):
    """A fixed point of the published theory, computed with 144 quadrature points.

    Its losses are computed twice: by the published rules, and exactly.
    """

    overlaps: Scalars
    train_loss: np.ndarray  #: (by the rules, exact)
    test_mse: np.ndarray  #: (by the rules, exact)
    #: Largest relative change of an overlap in the last damped step. If the proximal point jumps at one of so few
    #: points, the iteration may never settle.
    change: float


def plane_rule(degree: int) -> PlaneRule:
    """Return a quadrature rule for the normal distribution in the plane, as points and weights.

    The rule is exact to `degree` 7 (12 points) or 11 (28 points).
    """
    if degree == 7:
        root = sqrt(5)
        diagonal = np.array([(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)])
        orbits = [sqrt(6) * AXES, *(sqrt((9 + sign * 3 * root) / 4) * diagonal for sign in (-1, 1))]
        weights = [1 / 36, (5 + 2 * root) / 45, (5 - 2 * root) / 45]
    else:
        root = sqrt(13)
        angles = np.radians([30, 60, 120, 150, 210, 240, 300, 330])
        turned = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        orbits = [sqrt(square) * AXES for square in (8 - 2 * root, 8 + 2 * root, 6)] + [2 * turned, sqrt(12) * turned]
        weights = [37 / 432 + 133 * root / 5616, 37 / 432 - 133 * root / 5616, 1 / 72, 1 / 32, 1 / 864]
    return np.concatenate(orbits), np.repeat(weights, [len(orbit) for orbit in orbits])


def product_rule(student: int, teacher: int) -> PlaneRule:
    """Return the four-dimensional product of two quadrature rules for the plane, as points and weights.

    The points are (xi_1, xi_2, zeta_1, zeta_2).

    student, teacher: degrees of the rules in the planes of xi and of zeta.
    """
    (xi, of_xi), (zeta, of_zeta) = plane_rule(student), plane_rule(teacher)
    points = np.concatenate([np.repeat(xi, len(zeta), axis=0), np.tile(zeta, (len(xi), 1))], axis=1)
    return points, np.outer(of_xi, of_zeta).ravel()


def fields(task: Task, overlaps: Scalars, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the fields of the student and of the teacher at given quadrature points.

    The fields w (student) and y (teacher) have the shape (N, 2), and the points have the shape (N, 4).
    """
    q, m, theta, _ = overlaps
    x, z = points[:, :2], points[:, 2:]
    return sqrt(q) * x + m * np.array([1, -1]), theta / sqrt(q) * x + sqrt(task.sigma**2 - theta**2 / q) * z


def rule_average(setting: Setting, overlaps: Overlaps, rule: PlaneRule) -> Averages:
    """Compute by quadrature the averages that one iteration and the free energy need.

    All other averages are NaN.
    """
    (points, weights), task, scalars = rule, setting.task, overlaps.scalars
    w, y = fields(task, scalars, points)
    targets, V, variance = teacher_fit(task, y.T.copy()).T, scalars.V, task.sigma**2
    ends = [descend(0.0, 0.0, NO_MINIMUM, *some, *aims, V=V, variance=variance) for some, aims in zip(w, targets)]
    h, moreau = np.array(ends)[:, :2], np.array(ends)[:, 2]
    r = (h - w) / V
    sums = np.stack([(r * part).sum(1) for part in (r, points[:, :2], points[:, 2:])]) @ weights
    power, student_noise, teacher_noise = sums[:, None, None, None]
    moreau = weights @ moreau + equations.unfitted_loss(task)
    return Averages(
        power=power,
        student_noise=student_noise,
        pull=np.array([weights @ (r[:, 0] - r[:, 1])]),
        teacher_noise=teacher_noise,
        teacher_pull=np.zeros(1),
        moreau=moreau,
        **dict.fromkeys(("fitted_loss", "test_loss", "teacher_slope", "pull_slope", "response"), nan),
    )


def rule_test_error(task: Task, overlaps: Scalars) -> float:
    """Return the test error of a student, computed with the published quadrature rules.

    It includes `label_loss`, the part that depends on the teacher alone.
    """
    points, weights = product_rule(11, 7)
    w, y = fields(task, overlaps, points)
    S, Y = attention(w), target_attention(y, task.omega, np.array(task.matrix))
    return float(task.sigma**2 / 2 * (weights @ (S * S - 2 * S * Y).sum((1, 2)))) + label_loss(task)


def label_loss(task: Task) -> float:
    """Return the part of the test error that depends on the teacher alone.

    It is ``(sigma^2/2) E|Y|^2``, computed with the rule of degree 11. The published free energies at omega = 0.5 lack
    this term.
    """
    points, weights = plane_rule(11)
    return float(task.sigma**2 / 2 * (weights @ (_labels(task, points) ** 2).sum((1, 2))))


def rule_baseline(task: Task) -> float:
    """Return the test error of the linear model, computed with the published quadrature rules."""
    (few, of_few), (points, weights) = plane_rule(7), plane_rule(11)
    mean = np.einsum("n,nab->ab", of_few, _labels(task, few))
    return float(task.sigma**2 / 2 * (weights @ ((_labels(task, points) - mean) ** 2).sum((1, 2))))


def _labels(task, points):
    return target_attention(task.sigma * points, task.omega, np.array(task.matrix))


def rule_step(task: Task, alpha: float, overlaps: Scalars) -> dict[str, float]:
    """Return the overlaps after one undamped iteration and the losses at the given overlaps, in one dictionary.

    All of them are computed with the published rules.
    """
    setting, some = Setting(task), Overlaps.of(*overlaps)
    hats = equations.conjugates(setting, alpha, some, rule_average(setting, some, product_rule(7, 7)))
    moreau = rule_average(setting, some, product_rule(11, 11)).moreau
    losses = {
        "train_loss": equations.free_energy(setting, alpha, some, hats, moreau),
        "test_mse": rule_test_error(task, overlaps),
    }
    return equations.update(setting, hats).scalars._asdict() | losses


def damped_step(setting: Setting, alpha: float, overlaps: Overlaps) -> tuple[Hats, Overlaps]:
    """Return the conjugate parameters of the given overlaps, and the overlaps after one damped iteration.

    The averages are taken on the 144 points.
    """
    hats = equations.conjugates(setting, alpha, overlaps, rule_average(setting, overlaps, product_rule(7, 7)))
    pairs = zip(overlaps, equations.update(setting, hats))
    return hats, Overlaps(*(RULE_DAMPING * before + (1 - RULE_DAMPING) * after for before, after in pairs))


def solve_coarsely(task: Task, alpha: float, branch: str) -> Coarse:
    """Find the fixed point of a branch by damped iteration, with 144 quadrature points.

    The iteration begins at the start of the branch.
    """
    setting, overlaps = Setting(task), BranchMap(task, alpha, branch).start()
    for _ in range(RULE_STEPS):
        before = overlaps
        hats, overlaps = damped_step(setting, alpha, before)
        change = max(abs(new / old - 1).max() for old, new in zip(before, overlaps) if old.any())
        if change < RULE_SETTLED:
            break
    exact = equations.average(setting, overlaps, gaussian_points(*EXACT_NET))
    by_rule = rule_step(task, alpha, overlaps.scalars)
    return Coarse(
        overlaps=overlaps.scalars,
        train_loss=np.array([by_rule["train_loss"], alpha * exact.fitted_loss.mean() + penalty(setting, hats)]),
        test_mse=np.array([by_rule["test_mse"], exact.test_loss.mean()]),
        change=change,
    )


def published_stops(task: Task, alphas: Sequence[float], branch: str) -> list[Scalars]:
    """Return, for each alpha, the overlaps at which the authors' fixed-point iteration for a branch stops.

    The iteration at an alpha starts from the overlaps at the alpha before. It stops when the norm of the change of (q,
    m, theta) falls below 1e-4. This depends on the damping, `RULE_DAMPING`.
    """
    setting, overlaps, ends = Setting(task), BranchMap(task, alphas[0], branch).start(), []
    for alpha in alphas:
        for _ in range(RULE_STEPS):
            before, (_, overlaps) = overlaps, damped_step(setting, alpha, overlaps)
            if sqrt(sum(((new - old) ** 2).sum() for old, new in zip(before[:3], overlaps))) < STOP:
                break
        ends.append(overlaps.scalars)
    return ends


def coarse_threshold(task: Task, kind: str, converged: float) -> tuple[float, float]:
    """Compute alpha_c or alpha_l from fixed points that are found with the authors' 144 quadrature points.

    The first result is from losses by the published rules, the second from exact losses of the same fixed points. Both
    are interpolated in alpha. A threshold is NaN if the losses do not cross within a quarter of the `converged` alpha.

    kind: "critical" or "linear"
    converged: the same threshold on many points, which is the centre of the search
    """
    alphas = converged * (1 + RELATIVE_ALPHAS)
    gaps, baselines = [], np.array([rule_baseline(task), linear_baseline(task)])
    for alpha in alphas:
        solutions = {branch: solve_coarsely(task, alpha, branch) for branch in COMPARED_BRANCHES[kind]}
        if kind == "critical":
            gaps.append(solutions["semantic"].train_loss - solutions["positional"].train_loss)
        else:
            gaps.append(solutions["semantic"].test_mse - baselines)
    by_rule, exact = np.fmin.reduce(falls(alphas, np.transpose(gaps)), axis=-1)
    return by_rule, exact
