"""One step of replica symmetry breaking: equations compared with Phi, and limits."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize

from attention_book.experiments.beyond.one_step import one_step_row
from attention_phases import Task, solve
from attention_phases.beyond.one_step import equations, solution
from attention_phases.beyond.one_step.equations import Valley, average, conjugates, inner_points, potential, update
from attention_phases.beyond.one_step.solution import NO_CONVERGENCE, inner_gains, one_step
from attention_phases.measured import standard_error
from attention_phases.quadrature import gaussian_points, pool
from attention_phases.theory import equations as state_evolution
from attention_phases.theory.branches import MINIMA
from attention_phases.theory.equations import Overlaps, Setting
from attention_phases.theory.solver import displacement

pytestmark = pytest.mark.slow

TASK, ALPHA, Y = Task(omega=0.1), 0.75, 300.0
NEAR = {
    "semantic": Valley(0.0593, 0.00232, 0.0, 0.0832, 21.3, Y),
    "positional": Valley(0.0412, 0.0070, 0.1945, 0.0, 18.9, Y),
}
QUADRATURE = {"points": 2**7, "scrambles": 16}
NETS = gaussian_points(**QUADRATURE, seed=0, dimensions=6)


def root(branch, y, near):
    """Return a solution on few points, converged to many digits."""
    model, nets = equations.BrokenBranch(TASK, ALPHA, branch, y), equations.nested_nets(NETS)
    options = {"factor": 0.1, "eps": 1e-6}
    x = scipy.optimize.root(lambda x: displacement(model, x, nets[-1])[0], model.pack(near), options=options).x
    return equations.find_root(model, x, nets)


@pytest.fixture(scope="module", params=MINIMA)
def broken(request):
    minima = root(request.param, Y, NEAR[request.param])
    assert minima.residual < 1e-7 and minima.valley.gap > 0.02 * minima.valley.q0
    return minima


def phi_at(valley, hats):
    """Return Phi of each scramble at fixed conjugates."""
    return potential(TASK, ALPHA, valley, hats, average(TASK, valley, NETS).free)


def moved(values, name, factor):
    return values._replace(**{name: getattr(values, name) * factor})


def test_phi_is_stationary(broken):
    """Finite differences vanish in each conjugate, and in each order parameter within the quadrature error."""
    minima, valley = broken, broken.valley
    averages = pool(minima.averages)
    hats, free = conjugates(TASK, ALPHA, valley, averages), averages.free
    for name in hats._fields:
        if getattr(hats, name):
            ends = [potential(TASK, ALPHA, valley, moved(hats, name, 1 + side), free) for side in (1e-4, -1e-4)]
            assert abs(ends[0] - ends[1]) / 2e-4 < 1e-6 * minima.phi, name
    for name in ("q0", "gap", "m", "theta", "V"):
        if getattr(valley, name):
            above, below = (phi_at(moved(valley, name, 1 + side), hats) for side in (1e-3, -1e-3))
            slopes = (above - below) / 2e-3
            error = standard_error(slopes)
            assert abs(slopes.mean()) < 4 * error, name
            assert error < 0.05 * minima.phi, name
            if name in ("m", "V"):  # their equations contain no integration by parts
                assert abs(slopes.mean()) < 1e-4 * minima.phi, name


def test_the_energy_is_the_derivative_of_y_phi(broken):
    """At fixed order parameters it agrees to the digits of the solution, and along solutions within the error."""
    hats = conjugates(TASK, ALPHA, broken.valley, pool(broken.averages))
    step = 1e-3 * Y
    above, below = (y * phi_at(broken.valley._replace(y=y), hats).mean() for y in (Y + step, Y - step))
    assert (above - below) / (2 * step) == pytest.approx(broken.energy, rel=1e-6)
    further, error = root(broken.model.branch, 1.1 * Y, broken.valley), standard_error(broken.energies)
    assert (1.1 * further.phi - broken.phi) / 0.1 == pytest.approx(broken.energy, abs=error)
    assert error < 0.01 * broken.energy


@pytest.mark.fast
@pytest.mark.parametrize("branch", MINIMA)
@pytest.mark.parametrize("y", [0.0, 30.0, 1000.0])
def test_without_a_gap_the_equations_are_the_state_evolution(branch, y):
    own = {"semantic": (0.0, 0.08), "positional": (0.19, 0.0)}[branch]
    overlaps, setting = Overlaps.of(0.06, *own, 20.0), Setting(TASK)
    plain = state_evolution.average(setting, overlaps, NETS[..., :4])
    hats = state_evolution.conjugates(setting, ALPHA, overlaps, plain)
    valley = Valley(0.06, 0.0, *own, 20.0, y)
    averages = average(TASK, valley, NETS)
    same = conjugates(TASK, ALPHA, valley, averages)
    image, expected = update(TASK, y, same), state_evolution.update(setting, hats).scalars
    assert np.abs(image.gap).max() < 1e-12
    for value, known in zip((image.q0, *image[2:5]), expected):
        assert value == pytest.approx(known, rel=1e-9, abs=1e-15)
    free_energy = state_evolution.free_energy(setting, ALPHA, overlaps, hats, plain.moreau)
    assert potential(TASK, ALPHA, valley, same, averages.free) == pytest.approx(free_energy, rel=1e-9)
    parted = same._replace(q1=1.1 * same.q1)
    at_zero, near = (potential(TASK, ALPHA, valley._replace(y=y), parted, averages.free) for y in (0.0, 1e-4))
    assert at_zero == pytest.approx(near, rel=1e-6)
    train_loss = ALPHA * plain.fitted_loss + TASK.lam * 0.06 / (2 * TASK.sigma**2)
    assert equations.energy(TASK, ALPHA, valley, averages) == pytest.approx(train_loss, rel=1e-9)


@pytest.mark.parametrize("y", [None, 0.0, 100.0])
def test_a_stable_branch_has_no_broken_solution(y):
    task = Task(omega=0.3)
    state = one_step(task, 2.0, "semantic", y, **QUADRATURE)
    plain = solve(task, 2.0, "semantic", **QUADRATURE)
    assert state.reason == "" and state.valley.gap == 0 and state.shift == state.quantities["complexity"] == 0
    assert state.valley[:1] + state.valley[2:5] == plain.overlaps and state.energy == plain.train_loss
    row, same = one_step_row(state), {"q0": "q", "q1": "q", "phi": "train_loss", "energy": "train_loss"}
    for name in ("q0", "q1", "m", "theta", "V", "phi", "energy"):
        assert row[f"{name}_error"] == plain.stderr[same.get(name, name)]
    assert row["y_error"] == row["complexity_error"] == row["shift_error"] == 0


def test_inner_points_average_over_the_normal_law(broken):
    """The rule is exact for polynomials, and it gives Phi as precisely as many more points."""
    points = inner_points()
    x, y, weights = points.T
    for values, expected in ((x**0, 1), (x, 0), (x**2, 1), (x * y, 0), (y**4, 3), (x**2 * y**2, 1), (x**3 * y, 0)):
        assert weights @ values == pytest.approx(expected, abs=1e-12)
    few, many = (ALPHA * average(TASK, broken.valley, NETS, rule).free for rule in (points, inner_points(6, 16)))
    error = standard_error(few - many)
    assert abs(np.mean(few - many)) < 4 * error and error < 1e-4 * broken.phi


def test_copies_that_share_no_inner_field_are_as_far_apart_as_minima(broken):
    """Then D = 2 gap, and D' is the distance of two minima with the weight y/2, computed by another kernel."""
    valley = broken.valley
    far = 2 * valley.gap / (valley.q0 + valley.gap)
    gains = inner_gains(TASK, ALPHA, valley, [far], 2**10)[:, 0]
    averages = average(TASK, valley._replace(y=valley.y / 2), gaussian_points(2**10, seed=1, dimensions=6))
    apart = ALPHA * valley.V**2 * (averages.power - averages.mean_power) / valley.gap
    error = np.hypot(standard_error(gains), standard_error(apart))
    assert abs(gains.mean() - apart.mean()) < 3 * error and error < 0.1 * apart.mean()


# Searches that fail


@pytest.mark.fast
@pytest.mark.parametrize("q", [0.1, 0.01])  # no weights have the second overlap
def test_a_wild_step_stays_inside_the_domain(q):
    overlaps = Overlaps.of(q, 0.0, 0.1, 1.0)
    aligned, rest = state_evolution.teacher_given_student(Setting(Task()), overlaps.q**0.5, overlaps.theta)
    assert aligned.item() == pytest.approx(0.1 / q**0.5)
    assert rest.item() == pytest.approx((0.25 - 0.1) ** 0.5) if q == 0.1 else 0 < rest.item() < 1e-4


def test_a_search_that_runs_off_ends_with_a_reason(monkeypatch):
    def off(equations, x, *_, **__):  # log q0, log V, the own overlap, and log gap
        return SimpleNamespace(x=np.array([-40.0, x[1], x[2], 40.0]))

    monkeypatch.setattr(solution, "powell", off)
    state = one_step(Task(omega=0.1), 0.75, "positional", 0.0, 64, 4)
    assert not state.converged and state.reason == NO_CONVERGENCE
    assert np.isfinite([state.phi, state.energy, state.valley.gap, *state.stderr.values()]).all()
