"""The state evolution with structure: spectra, sparse teachers and l1 penalties, teachers of several columns."""

from dataclasses import replace

import numpy as np
import pytest

from attention_phases import BadInput, Task
from attention_phases.attention import attention, softmax
from attention_phases.model.architectures import Architecture
from attention_phases.task import Direction
from attention_phases.theory import linear_baseline, solve
from attention_phases.theory.branch import BranchMap
from attention_phases.theory.equations import Overlaps, average, conjugates, free_energy
from attention_phases.theory.kernels.general import scramble_means
from attention_phases.theory.quadrature import gaussian_points
from attention_phases.theory.setting import Hats, Setting, weights

TASK = Task()
FEW = {"points": 2**7, "scrambles": 8}
TWO = (Direction(0.05, 0.5), Direction(0.45, 0.5))
UNEVEN = (Direction(0.05, 0.3, 0.5, 1.4), Direction(0.45, 0.7, 1.2, 0.6))
LAWS = (Direction((0.15, 0.35), 0.5), Direction((0.3, 0.2), 0.5))
SPARSE = replace(TASK, l1=0.02, density=0.2)
TEACHERS = replace(TASK, teachers=(1.0, 0.5))
SIDES = (0.5, -0.5)
ALONG_ENCODING = replace(TASK, clusters=[(0.25, (a, b)) for a in SIDES for b in SIDES])
TOGETHER = replace(TASK, clusters=[(0.5, (a, a)) for a in SIDES])
ALONG_TEACHER = replace(TASK, clusters=[(0.25, (0, 0), (a, b)) for a in SIDES for b in SIDES])


# Spectra, by another program


THREE = (Direction(0.1, 0.3, 2.0, 0.5), Direction(0.25, 0.5), Direction(0.6, 0.2, 0.5, 1.75))
INVERSE = tuple(Direction(0.25 / k / np.mean(1 / np.arange(1, 9.0)), 1 / 8) for k in range(1, 9))
# On the same points, a program of 60 lines that looks for each proximal point on a grid and iterates the equations of
# the book with damping: q, theta or m, V, training loss and test error.
BY_GRID = [
    (TWO, 1.5, 0.3, "semantic", (0.126802, 0.163980, 11.478225, 2.542e-3, 1.341e-3)),
    (TWO, 3.0, 0.1, "semantic", (0.186590, 0.210992, 5.141088, 3.282e-3, 0.470e-3)),
    (TWO, 2.0, 0.3, "positional", (0.026040, 0.304821, 6.513983, 4.546e-3, 2.907e-3)),
    (THREE, 1.5, 0.3, "semantic", (0.106896, 0.133801, 14.832071, 3.096e-3, 2.163e-3)),
    (THREE, 2.5, 0.2, "semantic", (0.144895, 0.178207, 8.268186, 4.068e-3, 1.080e-3)),
    (THREE, 1.2, 0.3, "positional", (0.070881, 0.192112, 19.104993, 2.785e-3, 4.029e-3)),
    (INVERSE, 0.8, 0.3, "semantic", (0.085839, 0.107061, 19.389581, 1.770e-3, 2.617e-3)),
    (INVERSE, 2.0, 0.3, "semantic", (0.135827, 0.170111, 10.371677, 3.206e-3, 1.247e-3)),
    (INVERSE, 1.0, 0.4, "positional", (0.032297, 0.280896, 12.466197, 2.005e-3, 2.668e-3)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("spectrum", "alpha", "omega", "branch", "expected"), BY_GRID)
def test_overlaps_and_losses_are_those_of_another_program(spectrum, alpha, omega, branch, expected):
    solution = solve(Task(omega=omega, spectrum=spectrum), alpha, branch, 2**10, 4)
    q, m, theta, V = solution.overlaps
    own = abs(theta if branch == "semantic" else m)
    assert (q, own, V, solution.train_loss, solution.test_mse) == pytest.approx(expected, rel=0.002)


# Limits: an option at its neutral value changes nothing


@pytest.mark.parametrize("branch", ["semantic", "positional"])
@pytest.mark.parametrize(
    "task",
    [
        replace(TASK, spectrum=(Direction(0.25, 0.3), Direction(0.25, 0.7))),
        replace(TASK, spectrum=(Direction((0.25, 0.25), 1.0),)),
        replace(TASK, l1=1e-13, density=0.5),
    ],
    ids=["equal eigenvalues", "equal laws", "hardly any l1"],
)
def test_without_structure_the_solution_is_that_of_isotropic_tokens(task, branch):
    plain, structured = (solve(some, 2.0, branch, **FEW) for some in (TASK, task))
    close = {"rel": 1e-10, "abs": 1e-12}
    for name, (value, _) in structured.named(0.25).items():
        assert value == pytest.approx(getattr(plain.overlaps, name), **close), name
    for name in ("train_loss", "test_mse", "free_energy"):
        assert getattr(structured, name) == pytest.approx(getattr(plain, name), **close), name
    assert structured.gain == pytest.approx(plain.gain, **close) or len(BranchMap(task, 2.0, branch).setting.rho) == 2


@pytest.mark.parametrize("branch", ["semantic", "positional"])
def test_a_second_column_of_nearly_nothing_is_no_second_column(branch):
    plain, second = (solve(task, 2.0, branch, **FEW) for task in (TASK, replace(TASK, teachers=(1.0, 1e-12))))
    (value, error), known = second.named(0.25)["q"], plain.overlaps.q
    assert abs(0.25 * value.item() - known) < 4 * np.hypot(0.25 * error.item(), plain.stderr["q"])
    assert abs(second.train_loss - plain.train_loss) < 4 * np.hypot(*(s.stderr["train_loss"] for s in (plain, second)))


def test_two_columns_of_one_size_are_learnt_alike():
    solution = solve(replace(TASK, teachers=(1.0, 1.0)), 3.0, "both", 2**8, 8, architecture=Architecture("rank2"))
    q, theta = (solution.spread[name][:, 0, range(2), range(2)] for name in ("q", "theta"))
    for values in (q, theta):
        difference = values[:, 0] - values[:, 1]
        assert abs(difference.mean()) < 4 * difference.std(ddof=1) / 8**0.5 < 0.1 * values.mean()


# Fields and a fixed point


@pytest.mark.parametrize(
    ("task", "architecture"),
    [
        (TEACHERS, Architecture("untied", 3, 0.2)),
        (replace(TASK, spectrum=LAWS), Architecture("rank2")),
        (replace(TEACHERS, spectrum=(Direction((0.02, 0.1, 0.9), 1.0),)), Architecture("untied", 3)),
    ],
)
def test_losses_of_the_fields_are_those_of_drawn_weights_and_tokens(task, architecture):
    """At m and theta of both columns, from weights and teachers of d = 6 that have exactly the overlaps."""
    rng, setting, d, count = np.random.default_rng(3), Setting(task, architecture), 6, 200_000
    L, r, t = architecture.tokens, architecture.rank, len(task.teachers)
    (laws, _), of = setting.rho.shape, setting.law_of
    # In units of each token's entries: the teacher's columns are orthogonal, and differ from law to law.
    teachers = [np.linalg.qr(rng.standard_normal((d, d)))[0][:, :t] * np.sqrt(rho) for rho in setting.rho]
    student = 0.3 * rng.standard_normal((d, r))
    m = np.array([0.2, -0.1])[:r]
    overlaps = Overlaps(
        np.array([student.T @ student] * laws),
        m,
        np.array([student.T @ teacher for teacher in teachers]),
        np.array([10.0 * np.eye(r)] * laws),
    )
    mixing = np.linalg.cholesky(setting.correlations)
    tokens = np.einsum("ab,nbi->nai", mixing, rng.standard_normal((count, L, d)))
    w = tokens @ student + np.outer(architecture.positions, m)
    y = np.stack([tokens[:, a] @ teachers[of[a]] for a in range(L)], axis=1)
    Y = (1 - task.omega) * softmax(y @ y.swapaxes(1, 2)) + task.omega * architecture.attention(task)
    miss = softmax(w @ architecture.score @ w.swapaxes(1, 2)) - Y
    deviations = np.broadcast_to(sum(d.weight * np.array(d.eigenvalue) for d in task.directions), L) ** 0.5
    C = architecture.covariance(task) / task.sigma**2 * np.outer(deviations, deviations)
    losses = np.einsum("nab,bc,nac->n", miss, C, miss) / 2
    averages = average(setting, overlaps, gaussian_points(2**9, 8, dimensions=L * (r + t)))
    error = np.hypot(losses.std() / count**0.5, averages.test_loss.std(ddof=1) / 8**0.5)
    assert abs(losses.mean() - averages.test_loss.mean()) < 4 * error < 0.04 * losses.mean()
    with pytest.raises(BadInput, match="points = "):
        average(setting, overlaps, gaussian_points(2**9, 8, dimensions=L * (r + t) - 1))


@pytest.mark.parametrize(
    ("task", "architecture", "branch"),
    [
        (TASK, Architecture(correlation=0.3), "positional"),
        (TASK, Architecture("untied"), "semantic"),
        (TASK, Architecture("rank2"), "semantic"),
        (TASK, Architecture(tokens=3), "semantic"),
        (replace(TASK, spectrum=TWO), Architecture(), "positional"),
        (replace(TASK, spectrum=UNEVEN), Architecture(), "semantic"),
        (replace(TASK, spectrum=UNEVEN), Architecture("untied"), "positional"),
        (replace(TASK, spectrum=LAWS), Architecture(), "semantic"),
        (replace(TASK, spectrum=LAWS), Architecture(), "positional"),
        (replace(SPARSE, spectrum=UNEVEN), Architecture(), "semantic"),
        (replace(SPARSE, l1=0.005), Architecture(), "positional"),
        (TEACHERS, Architecture(), "semantic"),
        (TEACHERS, Architecture("rank2"), "both"),
        (ALONG_TEACHER, Architecture(), "semantic"),
        (ALONG_ENCODING, Architecture(), "positional"),
        (TOGETHER, Architecture(), "positional"),
    ],
)
def test_the_free_energy_of_a_fixed_point_is_its_training_loss(task, architecture, branch):
    solution = solve(task, 2.0, branch, 2**6, 8, architecture=architecture)
    assert solution.converged
    assert solution.free_energy == pytest.approx(solution.train_loss, rel=1e-6)


def test_one_compiled_kernel_serves_all():
    """For each layout of its arrays it would be compiled again, which takes longer than what it computes."""
    for task, form, tokens in ((TASK, "tied", 3), (TEACHERS, "rank2", 2), (TOGETHER, "tied", 2)):
        solve(task, 2.0, "semantic", 2**5, 8, architecture=Architecture(form, tokens))
    average(Setting(TASK, fast=False), Overlaps.of(0.1, 0.0, 0.1, 10.0), gaussian_points(2**6, 4)[:, : 2**5])
    assert len(scramble_means.signatures) == 1


def drawn_weights(task, hats, count, rng):
    """Weights of one column that minimise their energy, drawn with the fields: W, e, W*, penalty, energy and response.

    The minimum is looked for on a grid around the two candidates of either sign, without the formula of a threshold.
    """
    (direction,) = task.directions
    s, l1 = direction.variance, task.l1
    q, m, theta, V = (hat.item() for hat in hats)
    teacher = np.where(rng.random(count) < task.density, 1, 0) * rng.standard_normal(count)
    teacher *= (direction.teacher / task.density) ** 0.5
    encoding = direction.encoding**0.5
    B = np.sqrt(s * q) * rng.standard_normal(count) + m * encoding + s * theta * teacher
    D = task.lam + s * V
    candidates = np.stack([np.zeros(count), np.maximum(B - l1, 0) / D, np.minimum(B + l1, 0) / D])
    energies = D * candidates**2 / 2 - B * candidates + l1 * abs(candidates)
    best = energies.argmin(axis=0)
    W = np.take_along_axis(candidates, best[None], 0)[0]
    return {
        "square": W**2,
        "encoding": W * encoding,
        "teacher": W * teacher,
        "penalty": task.lam * W**2 / 2 + l1 * abs(W),
        "energy": energies.min(axis=0),
        "response": (W != 0) / D,
    }


@pytest.mark.parametrize("l1", [0.0, 0.02])
@pytest.mark.parametrize("density", [1.0, 0.2])
def test_means_over_weights_are_those_of_drawn_weights(l1, density):
    task = Task(l1=l1, density=density, spectrum=(Direction(0.4, 1.0, 0.7, 1.3),))
    hats = Hats(np.full((1, 1, 1), 2e-3), np.full(1, 0.012), np.full((1, 1, 1), 0.06), np.full((1, 1, 1), 0.05))
    means = weights(Setting(task), hats)
    for name, values in drawn_weights(task, hats, 400_000, np.random.default_rng(0)).items():
        error = values.std() / len(values) ** 0.5
        assert abs(values.mean() - getattr(means, name).item()) < 4 * error + 1e-12, name
        assert error < 0.02 * abs(values.mean()), name


def test_an_l1_penalty_is_refused_where_weights_have_several_columns():
    with pytest.raises(BadInput, match=r"^l1 = 0\.02: must be 0 where "):
        solve(SPARSE, 2.0, "semantic", architecture=Architecture("untied"))
    with pytest.raises(BadInput, match=r"^covariance = 2: must be one eigenvalue, or one for each of 3 "):
        solve(replace(TASK, spectrum=LAWS), 2.0, "semantic", architecture=Architecture(tokens=3))


def test_a_branch_that_an_l1_penalty_ends_has_a_reason():
    solution = solve(SPARSE, 2.0, "positional", **FEW)
    assert not solution.converged and solution.reason


# Clusters


@pytest.mark.parametrize("branch", ["semantic", "positional"])
def test_clusters_in_one_place_are_no_clusters(branch):
    plain, clusters = (solve(some, 2.0, branch, **FEW) for some in (TASK, replace(TASK, clusters=[(0.3,), (0.7,)])))
    for name, (value, error) in clusters.named(0.25).items():
        assert abs(value - getattr(plain.overlaps, name)) <= 4 * np.hypot(error, plain.stderr[name])
    assert plain.train_loss == pytest.approx(clusters.train_loss, rel=0.02)


@pytest.mark.parametrize("task", [ALONG_TEACHER, replace(TASK, spectrum=UNEVEN)])
def test_the_free_energy_is_stationary_in_theta(task):
    """The overlap that clusters along the teacher move too: within the error of the integration by parts."""
    quadrature, setting = {"points": 2**10, "scrambles": 8}, Setting(task)
    overlaps = Overlaps.of(*solve(task, 2.0, "semantic", **quadrature).overlaps)
    points = gaussian_points(**quadrature, dimensions=setting.dimensions)
    hats = conjugates(setting, 2.0, overlaps, average(setting, overlaps, points))
    sides = [overlaps._replace(theta=(1 + side) * overlaps.theta) for side in (1e-3, -1e-3)]
    above, below = (free_energy(setting, 2.0, at, hats, average(setting, at, points).moreau) for at in sides)
    slopes = (above - below) / 2e-3
    error, size = slopes.std(ddof=1) / 8**0.5, abs(hats.theta.mean() * overlaps.theta.item())
    assert abs(slopes.mean()) < 5 * error + 1e-3 * size and error < 0.02 * size


def test_fields_of_clusters_are_displaced():
    """A test loss against drawn sentences of a student with both overlaps, of tokens displaced along both vectors."""
    rng, count = np.random.default_rng(4), 200_000
    choices = [(0.2, (0.5, -0.2), (0.3, 0.6)), (0.8, (-0.4, 0.1), (-0.5, 0.2))]
    task, (q, m, theta) = replace(TASK, clusters=choices), (0.12, 0.2, 0.1)
    which = (rng.random(count) > 0.2).astype(int)
    encoding, teacher = (np.array([choice[k] for choice in choices])[which] for k in (1, 2))
    x, z = rng.standard_normal((2, count, 2))
    w = q**0.5 * x + m * (np.array([1, -1]) + encoding) + teacher * theta / 0.25
    y = theta / q**0.5 * x + (0.25 - theta**2 / q) ** 0.5 * z + teacher
    Y = (1 - task.omega) * attention(y) + task.omega * np.array(task.matrix)
    losses = 0.25 / 2 * ((attention(w) - Y) ** 2).sum((1, 2))
    averages = average(Setting(task), Overlaps.of(q, m, theta, 10.0), gaussian_points(2**10, 8, dimensions=5))
    error = np.hypot(losses.std() / count**0.5, averages.test_loss.std(ddof=1) / 8**0.5)
    assert abs(losses.mean() - averages.test_loss.mean()) < 4 * error < 0.03 * losses.mean()


# The linear model


@pytest.mark.parametrize("task", [replace(TASK, spectrum=UNEVEN), replace(TASK, spectrum=LAWS), TEACHERS])
def test_the_linear_baseline(task):
    rng, count, variances = np.random.default_rng(0), 200_000, np.zeros((2, len(task.teachers)))
    for direction in task.directions:
        of_tokens = np.broadcast_to(direction.eigenvalue, 2)[:, None]
        variances += direction.weight * direction.teacher * of_tokens * task.teachers
    y = np.sqrt(variances) * rng.standard_normal((count, *variances.shape))
    Y = (1 - task.omega) * softmax(y @ y.swapaxes(1, 2))
    C = np.diag([sum(d.weight * np.broadcast_to(d.eigenvalue, 2)[a] for d in task.directions) for a in range(2)])
    miss = np.einsum("nab,bc,nac->n", Y - Y.mean(0), C, Y - Y.mean(0)) / 2
    assert abs(miss.mean() - linear_baseline(task)) < 4 * miss.std() / count**0.5
