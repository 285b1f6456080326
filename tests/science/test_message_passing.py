"""Message passing on data, compared with state evolution, L-BFGS, and the theory of its convergence."""

from ast import literal_eval
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from cases import cases
from numpy.polynomial.polynomial import polypow
from pages import stored

from attention_phases import Architecture, Task, solve
from attention_phases.amp import message_passing
from attention_phases.amp.message_passing import iterate, limiting_data, start_state, step
from attention_phases.amp.stability import contraction, gains, gains_of_columns, modes, settling_distance
from attention_phases.attention import attention, target_attention
from attention_phases.measured import standard_error
from attention_phases.model.two_tokens import risk, sample
from attention_phases.quadrature import gaussian_points, pool
from attention_phases.theory.equations import Overlaps, Scalars, Setting, average, conjugates, update
from attention_phases.theory.kernels import general
from attention_phases.theory.kernels.two_tokens import forces

pytestmark = pytest.mark.slow

TASK = Task(omega=0.3)


def state_evolution(task, alpha, start, steps, points):
    """Return the overlaps (q, m, theta, V) of undamped message passing in theory by iteration, including the start."""
    setting, course, net = Setting(task), [Overlaps.of(*start)], gaussian_points(points, 8)
    for _ in range(steps):
        averages = pool(average(setting, course[-1], net))
        course.append(update(setting, conjugates(setting, alpha, course[-1], averages)))
    return np.array([overlaps.scalars for overlaps in course])


def drawn(alpha, d, seed, task=TASK):
    rng = np.random.default_rng(seed)
    whole = sample(task, alpha, d, rng)
    return whole, limiting_data(task, whole), rng


@pytest.mark.fast
def test_the_limiting_loss_is_that_of_the_theory():
    # The rows of this A do not sum to one, so a part of the loss cannot be fitted by any student.
    task = Task(omega=0.4, matrix=((0.5, 0.3), (0.9, 0.4)))
    _, data, rng = drawn(1.0, 40, 1, task)
    weights = torch.from_numpy(rng.standard_normal((1, 40)))
    h = (data.inputs @ weights[0]).numpy()
    y = (data.inputs @ data.teacher).numpy() - np.array([1, -1]) * data.teacher.mean().item()
    miss = attention(h) - target_attention(y, task.omega, np.array(task.matrix))
    expected = task.sigma**2 / 2 * (miss**2).sum() + task.lam / 2 * weights.square().sum().item()
    assert risk(data, weights, task.lam)[0].item() == pytest.approx(expected, rel=1e-12)


def test_its_course_is_the_state_evolution():
    task, alpha, d, steps = Task(omega=0.1), 1.5, 1000, 3
    courses = []
    for seed in range(6):
        _, data, rng = drawn(alpha, d, seed, task)
        weights = data.teacher.numpy() + rng.standard_normal(d)
        start = start_state(task, data, weights - weights.mean())  # without a small m, which would grow
        courses.append(iterate(task, data, start, damping=0.0, steps=steps).history[["q", "m", "theta", "V"]])
    theory = state_evolution(task, alpha, Scalars(0.5, 0.0, 0.25, start.V), steps, 2**10)
    mean, error = np.mean(courses, axis=0), np.std(courses, axis=0, ddof=1) / 6**0.5
    for k, name in enumerate(("q", "m", "theta", "V")):
        for t in range(1, steps + 1):
            # Four standard errors of a mean over six, plus a bias of order 1/d in units of the scale of the quantity.
            scale = theory[t, k] if name == "V" else task.sigma**2
            assert abs(mean[t, k] - theory[t, k]) < 4 * error[t, k] + 5 / d * scale, (name, t)


def test_the_modes_are_those_of_the_map():
    solution = solve(TASK, 2.0, "semantic", 2**9, 8)
    values, errors = modes(TASK, 2.0, "semantic", solution.overlaps, 2**9)
    start = solution.overlaps._replace(V=solution.overlaps.V * 1.02)
    steps = np.diff(state_evolution(TASK, 2.0, start, 8, 2**9)[:, 3])[4:]  # by then only the leading mode is left
    ratios = steps[1:] / steps[:-1]
    assert values[0].real < 0 and abs(ratios.mean() - values[0].real) < 0.05 and (errors < 0.05).all()


@pytest.mark.fast
@pytest.mark.parametrize(("values", "gain", "worst"), cases("dampings"))
def test_enough_damping_shrinks_every_mode(monkeypatch, values, gain, worst):
    """A complex mode needs more damping than its modulus suggests. No damping changes a saddle."""
    values, gain, worst = map(literal_eval, (values, gain, worst))
    solution = SimpleNamespace(converged=True, overlaps=None, gain=gain)
    monkeypatch.setattr(message_passing, "solve", lambda *_, **__: solution)
    monkeypatch.setattr(message_passing, "modes", lambda *_: (np.array(values), None))
    enough = message_passing.enough_damping(TASK, 2.0, "semantic")
    least = (enough - message_passing.SAFETY_MARGIN) / (1 - message_passing.SAFETY_MARGIN)
    assert least == 0 if worst is None else abs(least + (1 - least) * worst) == pytest.approx(1)


@pytest.mark.fast
def test_a_response_that_sees_jumps_is_the_slope_across_a_share_of_the_fields():
    d, width, variance = 60, 0.3, TASK.sigma**2
    _, data, rng = drawn(1.5, d, 4)
    start = start_state(TASK, data, np.ones(d))
    state = start._replace(onsager=0.1 * rng.standard_normal(start.onsager.shape))
    w = data.inputs.sum(2).numpy().T - state.onsager
    e, targets, slopes = width * np.sqrt(np.mean(w**2)), data.targets.numpy().T.copy(), 0.0
    for a, shift in enumerate(e * np.eye(2)[:, :, None]):
        above, below = (forces(w + side * shift, targets, state.V, variance)[0][a] for side in (1, -1))
        slopes += (above - below).sum() / (2 * e)
    expected = variance / (TASK.lam - variance / d * slopes)
    seen, between_jumps = (step(TASK, data, state, share).V for share in (width, 0.0))
    assert seen == pytest.approx(expected) and between_jumps < 0.9 * expected


# Perturbations


@pytest.mark.fast
def test_damped_undamped_and_asymptotic_contraction():
    replicon, kappa = 0.36, 0.5
    assert contraction(replicon, 0.0, 3) == pytest.approx(0.6 ** np.arange(4))
    shares = polypow([0.7, 0.3], 5)  # shares of the old perturbation and of new perturbations, orthogonal to each other
    assert contraction(replicon, 0.7, 5)[5] == pytest.approx((shares**2 @ replicon ** np.arange(6)) ** 0.5)
    sizes = contraction(replicon, kappa, 400)
    rate = kappa + (1 - kappa) * 0.6
    assert sizes[400] / sizes[399] == pytest.approx(rate * (399 / 400) ** 0.25, rel=1e-5)


def test_the_stored_perturbations_contract_at_the_predicted_rate():
    """The rate is compared wherever the replicon is known, with the data sets of dimension 1,000 of the page."""
    rows = stored("stability", points=2**9).comparison.xs("semantic", level="branch")
    rows = rows[rows["replicon_error"] < 0.03 * rows["replicon"]].dropna(subset="factor_on_data")
    assert len(rows) >= 5
    # The standard error of one rate comes from four data sets and is known to 40 %, so the errors of all rates are
    # pooled.
    error = np.hypot((rows["factor_on_data_error"] ** 2).mean() ** 0.5, rows["factor_in_theory_error"])
    assert ((rows["factor_on_data"] - rows["factor_in_theory"]).abs() < 3 * error).all() and error.max() < 0.01


# Copies


def test_gains_of_one_column_are_those_of_the_standard_student():
    found = solve(TASK, 1.5, "positional", 2**10, 8)
    distances, gain = gains(TASK, 1.5, found.overlaps, 2**12, 8)
    same, of_column = gains_of_columns(TASK, Architecture(), 1.5, found.overlaps, 2**11, 8)
    np.testing.assert_allclose(same, distances)
    off = (gain.mean(0) - of_column.mean(0)) / np.hypot(standard_error(gain), standard_error(of_column))
    # Smaller distances would need more points.
    assert np.abs(off[:4]).max() < 4 and standard_error(of_column)[1] < 0.1 * of_column.mean(0)[1]


@pytest.mark.parametrize("architecture", [Architecture("rank2", 2, 0.3), Architecture("untied", 3, 0.2)])
def test_gains_of_columns_are_those_of_two_explicit_copies(architecture):
    """The weights have d = 5 and share their part along the first axis, which is the teacher's. Tokens are drawn."""
    rng, count, d, alpha, L, r = np.random.default_rng(0), 8000, 5, 2.0, architecture.tokens, 2
    mix, m, V = np.array([[0.25, 0.1], [0.0, 0.2]]), np.array([0.2, -0.1]), np.array([[3.0, 1.0], [1.0, 2.0]])
    own, others = np.eye(d)[1:3].T @ mix, np.eye(d)[3:].T @ mix
    shared = np.outer(np.eye(d)[0], [0.3, -0.2])
    first, teacher = shared + own, TASK.sigma * np.eye(d)[:, :1]
    C = TASK.sigma**2 * architecture.correlations
    c = C / TASK.sigma**2
    tokens = np.einsum("ab,nbi->nai", np.linalg.cholesky(c), rng.standard_normal((count, L, d)))
    y = (tokens @ teacher)[:, :, 0]
    targets = target_attention(y, TASK.omega, architecture.attention(TASK))
    A, work = np.kron(np.linalg.inv(c), np.linalg.inv(V)), general.workspace(L, L * r)

    def forces_on(weights):
        fields = (tokens @ weights + np.outer(architecture.positions, m)).reshape(count, -1)
        minima, values, space = np.zeros((2, L * r)), np.zeros(2), np.zeros(L * r)
        reach = np.sqrt(np.kron(c, V).diagonal())
        forces = np.empty_like(fields)
        for w, Y, force in zip(fields, targets, forces):
            general.prox(w, Y, C, architecture.score, A, reach, minima, values, space, work)
            force[:] = A @ (minima[0] - w)
        return forces.reshape(count, L, r)

    overlaps = Overlaps((first.T @ first)[None], m, (first.T @ teacher)[None], V[None])
    distances, found = gains_of_columns(TASK, architecture, alpha, overlaps, 2**9, 8)
    still = forces_on(first)
    for k in (0, 1):
        together = 1 - 4.0**-k
        second = shared + together * own + np.sqrt(1 - together**2) * others
        apart = first - second
        assert distances[k] == pytest.approx(np.linalg.norm(apart) / np.linalg.norm(first))
        moved = (forces_on(second) - still) @ V
        gain = alpha * np.einsum("nak,ab,nbk->n", moved, c, moved) / (apart**2).sum()
        error = np.hypot(standard_error(gain), standard_error(found)[k])
        assert abs(gain.mean() - found[:, k].mean()) < 4 * error < 0.18 * gain.mean()


@pytest.mark.fast
def test_settling_distance_of_a_known_gain():
    distances, places = 2.0 ** -np.arange(5), np.array([0.2, 0.35, 0.3, 0.35])
    gain = places[:, None] / distances  # the gain is 1 at these distances
    assert settling_distance(distances, gain) == pytest.approx((0.3, standard_error(places)))
