"""State evolution with structure: spectra, sparse teachers and l1 penalties, and teachers of several columns."""

import os
import signal
import threading
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri

from attention_phases import Architecture, BadInput, Direction, Task, linear_baseline, quadrature, solve
from attention_phases.attention import softmax
from attention_phases.quadrature import gaussian_points, pool, tensor_rule
from attention_phases.theory import equations
from attention_phases.theory.branch import OVERLAP_PATTERNS, BranchMap
from attention_phases.theory.equations import Averages, Overlaps, average, conjugates, free_energy, gains
from attention_phases.theory.kernels import general
from attention_phases.theory.setting import Setting
from attention_phases.theory.solver import CLUSTER_PULL

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
UNBALANCED = replace(TASK, clusters=[(0.2, (0, 0), (0.8, -0.2)), (0.8, (0, 0), (-0.3, 0.6))])
ALONG_TEACHER = replace(TASK, clusters=[(0.25, (0, 0), (a, b)) for a in SIDES for b in SIDES])


# Spectra, compared with an independent program


THREE = (Direction(0.1, 0.3, 2.0, 0.5), Direction(0.25, 0.5), Direction(0.6, 0.2, 0.5, 1.75))
INVERSE = tuple(Direction(0.25 / k / np.mean(1 / np.arange(1, 9.0)), 1 / 8) for k in range(1, 9))


BY_GRID = [
    (TWO, 1.5, 0.3, "semantic", (0.126802, 0.163980, 11.478225, 2.542e-3, 1.341e-3)),
    (TWO, 2.0, 0.3, "positional", (0.026040, 0.304821, 6.513983, 4.546e-3, 2.907e-3)),
    (THREE, 1.5, 0.3, "semantic", (0.106896, 0.133801, 14.832071, 3.096e-3, 2.163e-3)),
    (THREE, 1.2, 0.3, "positional", (0.070881, 0.192112, 19.104993, 2.785e-3, 4.029e-3)),
    (INVERSE, 0.8, 0.3, "semantic", (0.085839, 0.107061, 19.389581, 1.770e-3, 2.617e-3)),
    (INVERSE, 1.0, 0.4, "positional", (0.032297, 0.280896, 12.466197, 2.005e-3, 2.668e-3)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("spectrum", "alpha", "omega", "branch", "expected"), BY_GRID)
def test_overlaps_and_losses_are_those_of_another_program(spectrum, alpha, omega, branch, expected):
    """Compare with a program of 60 lines that searches for each proximal point on a grid, on the same points.

    The program iterates the equations of the book with damping. It gives q, theta or m, V, training loss and test
    error.
    """
    solution = solve(Task(omega=omega, spectrum=spectrum), alpha, branch, 2**10, 4)
    q, m, theta, V = solution.overlaps
    own = abs(theta if branch == "semantic" else m)
    assert (q, own, V, solution.train_loss, solution.test_mse) == pytest.approx(expected, rel=0.002)


# Fields and equations, with all kinds of structure at once

CHOICES = (
    (0.2, (0.4, -0.2, 0.1), (0.4, -0.3, 0.2)),
    (0.5, (-0.3, 0.5, 0.2), (-0.4, 0.3, 0.1)),
    (0.3, (0.1, 0.3, -0.6), (0.2, 0.4, -0.5)),
)
PLACED = tuple((odds, places, (0.0,) * 3) for odds, places, _ in CHOICES)  # displacements along the encoding only
OF_PAIRS = tuple((odds, places[:2]) for odds, places, _ in CHOICES)
# Tokens that are small enough for a rule with few nodes.
SMALL = (Direction(0.02, 0.3, 0.5, 2.0), Direction(0.18, 0.7, 1.2, 0.5))
SMALL_LAWS = (Direction((0.06, 0.18), 0.4, 1.5, 0.5), Direction((0.12, 0.04), 0.6, 0.5, 1.5))
OF_THREE = ((0.5, 0.3, 0.1), (0.2, 0.6, 0.4), (0.3, 0.0, 0.9))  # an A without symmetry
PAIRS = replace(TASK, omega=0.2, matrix="alternative", clusters=OF_PAIRS)
GENERAL = {  # a task, an architecture, and the number of nodes for each normal variable
    "columns": (replace(PAIRS, spectrum=SMALL), Architecture("untied", 2, 0.2), 4),
    "plain": (replace(TASK, sigma=0.35, matrix=((0.5, 0.3), (0.9, 0.4))), Architecture(), 4),
    "one cluster": (replace(TASK, sigma=0.35, clusters=[(1.0, (0.5, -0.3), (0.2, 0.1))]), Architecture(), 6),
    "laws": (replace(PAIRS, spectrum=SMALL_LAWS, teachers=(1.0, 0.5)), Architecture(), 4),
    "sentences": (replace(TASK, sigma=0.35, clusters=CHOICES), Architecture(tokens=3, correlation=-0.2), 4),
    "shrunk": (replace(PAIRS, spectrum=SMALL, l1=0.02, density=0.3), Architecture(correlation=0.3), 7),
}
DEAR = ("columns", "shrunk")  # cases with many points, which are slow
ALPHA = 1.7


def exact_average(setting, overlaps, nodes):
    """Return the averages by a Gauss-Hermite rule and a sum over the choices of clusters."""
    points, shares = tensor_rule(nodes, setting.dimensions - (len(setting.odds) > 1))
    middles = ndtri(np.cumsum(setting.odds) - setting.odds / 2)  # values of the variable that selects the cluster
    if len(middles) > 1:
        points = np.concatenate([np.column_stack([points, np.full(len(points), z)]) for z in middles])
    shares = np.outer(setting.odds, shares).ravel()
    return Averages(*(np.tensordot(shares, values, 1) for values in average(setting, overlaps, points[:, None])))


def some_overlaps(setting):
    """Return overlaps without symmetry, at which no proximal point jumps."""
    (laws, t), r = setting.rho.shape, setting.architecture.rank
    q, theta, V = np.array([[[5, 2], [2, 3]], [[3, 1], [-2, 2]], [[120, 30], [30, 80]]]) / 100
    of_laws = 1 + 0.2 * np.arange(laws)[:, None, None]
    theta = theta[:r, :t] * setting.task.teachers
    return Overlaps(of_laws * q[:r, :r], np.array([0.3, -0.2])[:r], of_laws * theta, of_laws * V[:r, :r])


def entries(point, size):
    """Yield names, points on both sides of one in each entry of the arrays, and the step, for central differences."""
    for name, value in point._asdict().items():
        for index in np.ndindex(value.shape):
            shift = np.zeros_like(value)
            shift[index] = size * value[index]
            if name in ("q", "V"):  # symmetric matrices
                if index[1] > index[2]:
                    continue
                shift[index[0], index[2], index[1]] = shift[index]
            yield name, index, [point._replace(**{name: value + side * shift}) for side in (1, -1)], 2 * shift[index]


@pytest.mark.parametrize("name", [*GENERAL][1:-1] + [pytest.param(name, marks=pytest.mark.slow) for name in DEAR])
def test_conjugates_and_overlaps_are_the_slopes_of_the_free_energy_by_one_another(name):
    task, architecture, nodes = GENERAL[name]
    setting = Setting(task, architecture)
    overlaps = some_overlaps(setting)
    averages = exact_average(setting, overlaps, nodes)
    hats = conjugates(setting, ALPHA, overlaps, averages)
    size = {"q": hats.V, "m": hats.m, "theta": hats.theta, "V": hats.q}
    for kind, index, sides, step in entries(overlaps, 1e-4):
        energies = (exact_average(setting, side, nodes).moreau for side in sides)
        above, below = (free_energy(setting, ALPHA, side, hats, moreau) for side, moreau in zip(sides, energies))
        # M and V are averaged point by point, the others by parts, up to the error of the rule.
        largest = np.abs(size[kind]).max()
        assert abs(above - below) / step < (1e-6 if kind in ("m", "V") else 0.03) * largest, (kind, index)
    image = equations.update(setting, hats)
    for kind, index, sides, step in entries(hats, 1e-4):
        above, below = (free_energy(setting, ALPHA, image, side, 0.0) for side in sides)
        other = {"q": image.V, "V": image.q}.get(kind, getattr(image, kind))
        assert abs((above - below) / step) < 1e-6 * np.abs(other).max(), (kind, index)

    # Losses: the fitted loss in the limit 1/V -> 0, the loss of the fields themselves, and penalties as slopes of
    # energies.
    wide, narrow = (exact_average(setting, overlaps._replace(V=scale * overlaps.V), nodes) for scale in (1.001, 0.999))
    assert averages.fitted_loss == pytest.approx(averages.moreau + (wide.moreau - narrow.moreau) / 0.002, rel=1e-5)
    still = exact_average(setting, overlaps._replace(V=1e-8 * overlaps.V), nodes)
    assert averages.test_loss == pytest.approx(still.moreau, rel=1e-6)
    penalties = 0.0
    for price in ("lam", "l1"):
        value = getattr(task, price)
        tasks = [replace(task, **{price: (1 + side) * value}) for side in (1e-4, -1e-4)]
        above, below = (free_energy(Setting(some, architecture), ALPHA, overlaps, hats, 0.0) for some in tasks)
        penalties += (above - below) / 2e-4
    assert equations.penalty(setting, hats) == pytest.approx(penalties, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "held"),
    [*((name, held) for name in ("columns", "shrunk") for held in ("theta", "m")), ("balanced", "m")]
    + [pytest.param("both", held, marks=pytest.mark.slow) for held in ("theta", "m")],
)
def test_gains_are_the_slopes_of_the_map(name, held):
    """All overlaps are zero, and all of them couple.

    If clusters lie along the teacher, m remains zero only if each cluster has a mirror image.
    """
    both = replace(PAIRS, spectrum=SMALL, clusters=(), teachers=(0.25, 0.5)), Architecture("untied", 2, 0.2), 3
    mirrored = [(w / 2, e, tuple(side * np.array(t))) for w, e, t in CHOICES for side in (1, -1)]
    balanced = replace(TASK, sigma=0.35, clusters=mirrored), Architecture(tokens=3, correlation=-0.2), 4
    task, architecture, nodes = (GENERAL | {"both": both, "balanced": balanced})[name]
    setting = Setting(task, architecture)
    # A tiny number instead of zero, because the conjugate of an overlap that is exactly zero is set to zero.
    base, step = some_overlaps(setting), 1e-3
    base = base._replace(**{held: 0 * getattr(base, held) + 1e-12})

    def image(overlaps):
        averages = exact_average(setting, overlaps, nodes)
        return getattr(equations.update(setting, conjugates(setting, ALPHA, overlaps, averages)), held)

    slopes = []
    for teacher in range(setting.rho.shape[1] if held == "theta" else 1):
        here = (0, slice(None), teacher) if held == "theta" else slice(None)
        columns = []
        for column in np.eye(architecture.rank):
            shift = np.zeros_like(getattr(base, held))
            shift[here] = step * column
            above, below = (image(base._replace(**{held: getattr(base, held) + side * shift})) for side in (1, -1))
            columns.append((above - below)[here] / (2 * step))
        slopes.append(np.linalg.eigvals(np.transpose(columns)).real.max())
    found = gains(setting, ALPHA, base, exact_average(setting, base, nodes))[held == "m"]
    assert found == pytest.approx(max(slopes), rel=0.03)


@pytest.mark.parametrize(
    ("form", "branch"), [(form, branch) for form in OVERLAP_PATTERNS for branch in OVERLAP_PATTERNS[form]]
)
def test_the_gain_of_a_branch_is_the_largest_of_what_it_holds_at_zero(form, branch):
    larger, teachers = set(), (1.0, 0.5) if branch == "both" else (1.0,)
    # The teacher lies along the directions of large variance.
    apart = (Direction(0.4, 0.5, 1.9, 0.1), Direction(0.1, 0.5, 0.1, 1.9))
    for spectrum in (apart, ()):
        task = Task(omega=0.0, spectrum=spectrum, teachers=teachers)
        model = BranchMap(task, 2.0, branch, Architecture(form))
        x, points = model.pack(model.start()), gaussian_points(2**7, 4, dimensions=model.dimensions)
        averages = pool(model.average(x, points, np.empty((*points.shape[:2], 2, model.fields)), anew=True))
        overlaps = model.unpack(x)
        by_kind = dict(zip(("theta", "m"), gains(model.setting, 2.0, overlaps, averages)))
        held = [gain for kind, gain in by_kind.items() if not getattr(overlaps, kind).any()]
        seen = model.observables(x, averages)
        assert ("gain" in seen) == bool(held) and seen.get("gain") == max(held, default=None)
        larger.add(max(by_kind, key=by_kind.__getitem__))
    assert (form, branch) not in (("tied", "symmetric"), ("untied", "symmetric")) or larger == {"theta", "m"}


DRAWN_FIELDS = [
    (replace(TEACHERS, clusters=PLACED), Architecture("untied", 3, 0.2)),
    (replace(TASK, spectrum=LAWS), Architecture("rank2")),
    (replace(TEACHERS, spectrum=(Direction((0.02, 0.1, 0.9), 1.0),)), Architecture("untied", 3)),
    (replace(TASK, sigma=0.6, clusters=CHOICES, teachers=(0.6,), matrix=OF_THREE), Architecture("untied", 3, -0.2)),
]


@pytest.mark.parametrize(("task", "architecture"), DRAWN_FIELDS)
def test_losses_of_the_fields_are_those_of_drawn_weights_and_tokens(task, architecture):
    """Weights and teachers with d = 6 have exactly the overlaps m and theta of both columns."""
    rng, setting, d, count = np.random.default_rng(3), Setting(task, architecture), 6, 200_000
    L, r, t = architecture.tokens, architecture.rank, len(task.teachers)
    (laws, _), of = setting.rho.shape, setting.law_of
    # In units of each token's entries the teacher's columns are orthogonal, and they differ between laws.
    teachers = [np.linalg.qr(rng.standard_normal((d, d)))[0][:, :t] * np.sqrt(rho) for rho in setting.rho]
    student = 0.3 * rng.standard_normal((d, r))
    m = np.array([0.2, -0.1])[:r]
    overlaps = Overlaps(
        np.array([student.T @ student] * laws),
        m,
        np.array([student.T @ teacher for teacher in teachers]),
        np.array([10.0 * np.eye(r)] * laws),
    )
    mixing = np.linalg.cholesky(setting.architecture.correlations)
    tokens = np.einsum("ab,nbi->nai", mixing, rng.standard_normal((count, L, d)))
    odds, places, along = (np.array(part) for part in zip(*(task.clusters or ((1.0, (0.0,) * L, (0.0,) * L),))))
    which = rng.choice(len(odds), count, p=odds)
    unit = teachers[0][:, 0] / np.linalg.norm(teachers[0][:, 0])
    tokens = tokens + along[which][..., None] * unit / task.sigma
    w = tokens @ student + (architecture.positions + places[which])[..., None] * m
    y = np.stack([tokens[:, a] @ teachers[of[a]] for a in range(L)], axis=1)
    Y = (1 - task.omega) * softmax(y @ y.swapaxes(1, 2)) + task.omega * architecture.attention(task)
    miss = softmax(w @ architecture.score @ w.swapaxes(1, 2)) - Y
    deviations = np.broadcast_to(sum(d.weight * np.array(d.eigenvalue) for d in task.directions), L) ** 0.5
    C = architecture.correlations * np.outer(deviations, deviations)
    losses = np.einsum("nab,bc,nac->n", miss, C, miss) / 2
    averages = average(setting, overlaps, gaussian_points(2**9, 8, dimensions=setting.dimensions))
    error = np.hypot(losses.std() / count**0.5, averages.test_loss.std(ddof=1) / 8**0.5)
    assert abs(losses.mean() - averages.test_loss.mean()) < 4 * error < 0.04 * losses.mean()
    with pytest.raises(BadInput, match="points = "):
        average(setting, overlaps, gaussian_points(2**9, 8, dimensions=setting.dimensions - 1))


# A fixed point


FIXED_POINTS = [
    (TASK, Architecture(correlation=0.3), "positional"),
    (TASK, Architecture("untied"), "semantic"),
    (TASK, Architecture("rank2"), "semantic"),
    (replace(TASK, matrix=OF_THREE), Architecture(tokens=3), "semantic"),
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
]


@pytest.mark.parametrize(("task", "architecture", "branch"), FIXED_POINTS)
def test_the_free_energy_of_a_fixed_point_is_its_training_loss(task, architecture, branch):
    solution = solve(task, 2.0, branch, 2**6, 8, architecture=architecture)
    assert solution.converged
    assert solution.free_energy == pytest.approx(solution.train_loss, rel=1e-6)


def test_what_is_not_finite_warns_in_no_thread(monkeypatch):
    monkeypatch.setattr(quadrature.config, "NUMBA_NUM_THREADS", 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = average(Setting(TASK, general=True), Overlaps.of(0.1, 0.0, 1e200, 10.0), gaussian_points(16, 4))
    assert not np.isfinite(found.moreau).any()


def test_ctrl_c_leaves_the_sentences_that_have_not_begun(monkeypatch):
    """Sixteen sentences of twelve tokens are computed at a time, in a thread that no signal reaches."""
    calls, stopped, longer = [], threading.Event(), Architecture(tokens=12)
    pool = quadrature._thread_pool(1)

    def interrupted(w, *_):
        calls.append(w.shape)
        if len(calls) == 1:
            for _ in range(500):
                time.sleep(0.01 * (pool._work_queue.qsize() < 63))
            os.kill(os.getpid(), signal.SIGINT)
            stopped.wait(60)
        return w, w[..., 0], w[..., 0]

    monkeypatch.setattr(general, "proximal_points", interrupted)
    monkeypatch.setattr(quadrature.config, "NUMBA_NUM_THREADS", 1)
    with pytest.raises(KeyboardInterrupt):
        start = BranchMap(TASK, 2.0, "semantic", longer).start()
        average(Setting(TASK, longer), start, gaussian_points(64, 16, dimensions=24))
    stopped.set()
    pool.submit(int).result()  # runs after all calls that were submitted before
    assert calls == [(1, 16, 12)]


def test_one_compiled_kernel_serves_all():
    """Numba would compile the kernel again for each layout of its arrays, which takes longer than the computation."""
    for task, form, tokens in ((TASK, "tied", 3), (TEACHERS, "rank2", 2), (TOGETHER, "tied", 2)):
        solve(task, 2.0, "semantic", 2**5, 8, architecture=Architecture(form, tokens))
    average(Setting(TASK, general=True), Overlaps.of(0.1, 0.0, 0.1, 10.0), gaussian_points(2**6, 4)[:, : 2**5])
    assert len(general.proximal_points.signatures) == 1


# Clusters without mirror images


@pytest.mark.parametrize("branch", ["semantic", "positional"])
def test_clusters_that_pull_what_a_branch_holds_at_zero_leave_no_solution(branch):
    even = replace(TASK, clusters=[(0.5, (0, 0), (0.2 * side, -0.1 * side)) for side in (1, -1)])
    assert solve(UNBALANCED, 2.0, branch, **FEW).reason == CLUSTER_PULL and solve(even, 2.0, branch, **FEW).converged


def test_what_pulls_is_the_conjugate_of_the_overlap_that_is_held_at_zero():
    """Two terms that cancel exert no pull, although each is far from zero in every scramble."""
    model, rng = BranchMap(UNBALANCED, 2.0, "positional"), np.random.default_rng(0)
    averages = pool(average(model.setting, model.start(), gaussian_points(2**5, 8, dimensions=model.dimensions)))
    averages = Averages(*(np.repeat(value[None], 8, axis=0) for value in averages))
    pull = 1 + 0.1 * rng.standard_normal((8, 1))
    beside = Overlaps(*model.start())._replace(theta=np.full((1, 1, 1), 1e-9))
    for noise, pulled in ((-pull / TASK.sigma, False), (pull / TASK.sigma, True), (-1.3 * pull / TASK.sigma, True)):
        some = averages._replace(teacher_pull=pull, teacher_noise=noise[:, :, None, None])
        hats = conjugates(model.setting, 2.0, beside, some).theta.ravel()
        assert np.allclose(hats, 0, atol=1e-6) is not pulled and model.is_pulled(some) is pulled


# The linear model

# Displacements that are larger for rarer clusters.
FAR = [(odds, places, tuple(np.array(along) / odds)) for odds, places, along in CHOICES]


LINEAR_MODELS = [
    (replace(TASK, spectrum=UNEVEN, teachers=(1.0, 0.5), matrix="alternative"), Architecture(correlation=0.3)),
    (replace(TASK, spectrum=UNEVEN), Architecture(tokens=3, correlation=-0.2)),
    (replace(TASK, spectrum=(((0.05, 0.35, 0.2), 0.5), ((0.1, 0.6, 0.2), 0.5, 2.0))), Architecture(tokens=3)),
    (replace(TASK, sigma=0.6, clusters=FAR), Architecture(tokens=3)),
    (TASK, Architecture(tokens=4, correlation=-0.2)),
]


@pytest.mark.parametrize(("task", "architecture"), LINEAR_MODELS)
def test_the_linear_baseline(task, architecture):
    """The teacher's fields are drawn, for a general A. The result is the best linear mixing of the tokens."""
    rng, count, L, t = np.random.default_rng(0), 200_000, architecture.tokens, len(task.teachers)
    rho, sizes = np.zeros((L, t)), np.zeros(L)
    for direction in task.directions:
        of_tokens = direction.weight * np.broadcast_to(direction.eigenvalue, L)
        rho, sizes = rho + direction.teacher * np.outer(of_tokens, task.teachers), sizes + of_tokens
    c = (1 - architecture.correlation) * np.eye(L) + architecture.correlation
    y = np.einsum("ab,nbs->nas", np.linalg.cholesky(c), rng.standard_normal((count, L, t))) * np.sqrt(rho)
    if task.clusters:
        odds, _, along = (np.array(part) for part in zip(*task.clusters))
        y[:, :, 0] += along[rng.choice(len(odds), count, p=odds)]
    Y = (1 - task.omega) * softmax(y @ y.swapaxes(1, 2))
    miss = np.einsum("nab,bc,nac->n", Y - Y.mean(0), c * np.sqrt(np.outer(sizes, sizes)), Y - Y.mean(0)) / L
    assert abs(miss.mean() - linear_baseline(task, architecture)) < 4 * miss.std() / count**0.5 < 0.02 * miss.mean()
