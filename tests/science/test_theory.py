"""Fixed points of the state evolution: consistency, errors, limits, students, and warm starts."""

import numpy as np
import pytest
from cases import cases

from attention_phases import Architecture, Task, solve
from attention_phases.attention import target_attention
from attention_phases.model.prediction_error import test_error as exact
from attention_phases.quadrature import gaussian_points, pool
from attention_phases.theory import branch, solver
from attention_phases.theory.branch import BranchMap, Net
from attention_phases.theory.branches import MINIMA
from attention_phases.theory.equations import Overlaps, Scalars, Setting, average, conjugates, update

TASK = Task(omega=0.3)
SETTING = Setting(TASK)
ALPHA = 1.5
QUADRATURE = {"points": 2**11, "scrambles": 16}


# A fixed point


@pytest.mark.parametrize("branch, digits", [("semantic", 1e-9), ("positional", 1e-6)])
def test_a_solution_is_a_fixed_point_of_its_branch(branch, digits):
    solution = solve(TASK, ALPHA, branch, **QUADRATURE)
    q, m, theta, V = solution.overlaps
    assert solution.converged and q > 0 and V > 0
    assert (m, theta > 0) == (0.0, True) if branch == "semantic" else (m > 0, theta) == (True, 0.0)
    state = Overlaps.of(*solution.overlaps)
    pooled = pool(average(SETTING, state, gaussian_points(**QUADRATURE)))
    image = update(SETTING, conjugates(SETTING, ALPHA, state, pooled)).scalars
    # The residual is in log q, log V and an overlap divided by sqrt(q). It is relative, up to a factor of two.
    assert image == pytest.approx(solution.overlaps, rel=2 * solution.residual + 1e-12, abs=1e-15)
    assert solution.residual < 1e-6
    point = {**solution.overlaps._asdict(), "rho": TASK.sigma**2, "m_teacher": 0.0}
    test_mse, stderr = exact(TASK, point)
    assert abs(test_mse - solution.test_mse) < 4 * np.hypot(stderr, solution.stderr["test_mse"])
    assert solution.free_energy == pytest.approx(solution.train_loss, rel=digits)  # the two differ by the residual


@pytest.mark.slow
@pytest.mark.parametrize("branch", MINIMA)
def test_slopes_are_those_of_neighbouring_solutions(branch):
    differences, step = [], 0.01
    for seed in range(6):
        few = {"points": 2**9, "scrambles": 8, "seed": seed}
        centre = solve(TASK, ALPHA, branch, **few)
        ahead, behind = (solve(TASK, ALPHA + sign * step, branch, **few, start=centre.overlaps) for sign in (1, -1))
        train, test = ((getattr(ahead, n) - getattr(behind, n)) / (2 * step) for n in ("train_loss", "test_mse"))
        differences.append((centre.train_slope - train, centre.test_slope - test))
    differences = np.array(differences)
    error = differences.std(0, ddof=1) / 6**0.5
    # The slope of the test error itself may be almost zero.
    size = np.array([centre.train_slope, centre.test_mse / ALPHA])
    # Student's t with 5 degrees of freedom exceeds 6 once in 10^3. The slopes are one-sided differences with the
    # relative step 1e-3 in alpha and in the overlaps, and each is accurate to about 1e-3.
    assert (np.abs(differences.mean(0)) < 6 * error + 3e-3 * size).all()
    assert (error < 0.01 * size).all()


# The end of a branch, and limits


ENDED = [
    (TASK, 0.3, "semantic", 2**10, solver.BRANCH_END),
    (Task(omega=1), ALPHA, "semantic", 2**10, solver.BRANCH_END),
    (Task(omega=0), 3.2, "positional", 2**10, solver.BRANCH_END),
    (Task(omega=0.46, matrix="alternative"), 2.0, "semantic", 2**8, solver.BRANCH_END),
    (Task(omega=0.02), 1.34, "positional", 2**10, solver.NO_CONVERGENCE),
]


@pytest.mark.parametrize(("task", "alpha", "branch", "points", "reason"), ENDED)
def test_a_branch_that_does_not_exist_has_not_converged(task, alpha, branch, points, reason):
    """In the last two cases the solver diverges to q = 0, and a jump of h* steps over the fixed point."""
    solution = solve(task, alpha, branch, points, 8)
    assert not solution.converged and solution.reason.partition(":")[0] == reason
    assert str(solution).startswith(f"no solution ({solution.reason}): Solution(alpha={alpha}, reason=")


def test_a_saddle_between_two_branches_has_not_converged():
    # A point between the positional and the symmetric solution at alpha = 6.4, found by Newton's method from close by.
    near = Scalars(q=0.0977, m=0.1494, theta=0.0, V=9.88)
    solution = solve(TASK, 6.4, "positional", 2**12, 16, start=near)
    assert solution.residual < 1e-6 and 0.1 < solution.overlaps.m < 0.2
    assert not solution.converged and solution.reason == solver.SADDLE


def test_a_strong_penalty_leaves_a_student_that_attends_evenly():
    task = Task(omega=0.3, lam=1e4)
    solution = solve(task, ALPHA, "symmetric", 2**10, 16)
    assert solution.converged and solution.overlaps.q < 1e-11
    unfitted = task.sigma**2 / task.lam
    assert abs(solution.overlaps.V / unfitted - 1) < 1e-4  # up to sigma^2 V_hat/lambda
    y = task.sigma * np.random.default_rng(0).standard_normal((200_000, 2))
    even = task.sigma**2 / 2 * ((target_attention(y, task.omega, np.array(task.matrix)) - 0.5) ** 2).sum((1, 2))
    error = np.hypot(solution.stderr["train_loss"], ALPHA * even.std() / len(even) ** 0.5)
    assert abs(solution.train_loss - ALPHA * even.mean()) < 4 * error < 0.02 * solution.train_loss
    longer = solve(task, ALPHA, "symmetric", 2**5, 4, architecture=Architecture(tokens=3))  # errors are divided by L d
    assert longer.test_mse == pytest.approx(2 / 3 * longer.train_loss / ALPHA)


# The spread over scrambles


def test_the_spread_is_what_each_scramble_alone_has():
    """The fixed point of each scramble moves as well. Without this response the errors of replicon and gain are too
    small.
    """
    points, scrambles, seed = 2**10, 8, 3
    solution, model = solve(TASK, 2.0, "semantic", points, scrambles, seed), BranchMap(TASK, 2.0, "semantic")
    alone = []
    for nets in gaussian_points(points, scrambles, seed)[:, None]:
        x, averages = solver._polish(model, model.pack(Overlaps.of(*solution.overlaps)), Net(nets, model.fields))
        alone.append({**model.unpack(x).scalars._asdict(), **model.observables(x, pool(averages))})
    for name in ("q", "theta", "test_mse", "replicon", "gain"):
        values = np.array([float(scramble[name]) for scramble in alone])
        assert np.corrcoef(values, solution.spread[name])[0, 1] > 0.99, name
        assert solution.spread[name].std() == pytest.approx(values.std(), rel=0.1), name


# Fixed points from warm starts, compared with a search at every step


FEW = {"points": 2**8, "scrambles": 8}
FAR = 0.08  # distance in the coordinates from the start to the fixed point, almost as large as warm starts allow


@pytest.fixture
def by_search(monkeypatch):
    """Return a function that solves with a search at every step."""

    def by_search(*given, **named):
        with monkeypatch.context() as patch:
            patch.setattr(branch.Net, "search_at", lambda self, x, anew: True)
            return solve(*given, **named)

    return by_search


def assert_same(solution, expected):
    """Assert that two solutions on the same points agree up to the tolerance of the solver, 1e-7 in a coordinate."""
    assert solution.converged == expected.converged
    if not expected.converged:
        return
    assert solution.residual <= max(1e-6, expected.residual)
    for name, error in expected.stderr.items():
        if np.isnan(error).all():  # the gain of a branch that holds no overlap at zero
            continue
        values = [np.asarray(getattr(some.overlaps, name, getattr(some, name, None))) for some in (solution, expected)]
        # The difference should be below a hundredth of the standard error. A tenth of it is what could be visible.
        assert (np.abs(values[0] - values[1]) <= 1e-3 * np.asarray(error) + 1e-12).all(), name
        assert np.asarray(solution.stderr[name]) == pytest.approx(error, rel=1e-3, abs=1e-14), name
    assert solution.test_slope == pytest.approx(expected.test_slope, abs=2e-3 * expected.test_mse)


# Fixed points


# These are close to the ends at omega = 0.3 (semantic from 0.77, positional from 0.06) and at omega = 0.05 (1).
@pytest.mark.slow
@pytest.mark.parametrize(("omega", "branch", "alpha"), cases("warm"))
def test_a_solution_is_that_of_a_search_at_every_step(by_search, omega, branch, alpha):
    given = Task(omega=float(omega)), float(alpha), branch
    assert_same(solve(*given, **FEW), by_search(*given, **FEW))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "correlation", "branch", "alpha"),
    [("untied", 0.0, "positional", 2.0), ("rank2", 0.0, "semantic", 2.0), ("tied", 0.3, "semantic", 1.0)],
)
def test_a_general_solution_is_that_of_a_search_at_every_step(by_search, form, correlation, branch, alpha):
    given = Task(omega=0.3), alpha, branch
    few = {"points": 2**5, "scrambles": 8, "architecture": Architecture(form, correlation=correlation)}
    expected = by_search(*given, **few)
    assert_same(solve(*given, **few), expected)
    if expected.converged:
        start = expected.overlaps._replace(q=np.exp(FAR) * expected.overlaps.q, V=np.exp(FAR) * expected.overlaps.V)
        assert_same(solve(*given, **few, start=start), expected)


# The iteration itself, on a map that jumps


class Jumping:
    """The map x -> place(label) + x/2, in which a search sets the label, x < 1 or not, and warm starts keep it."""

    def __init__(self):
        self.label, self.searches = 0, []

    def at(self, x, anew):
        if anew:
            self.label = int(x[0] >= 1)
            self.searches.append(float(x[0]))
        return (0.55, 0.7)[self.label] - x / 2, self.label


def test_the_iteration_goes_on_where_a_search_does_not_agree():
    jumping = Jumping()
    x, label = branch.polish(jumping.at, np.array([0.2]), maxfev=60, xtol=1e-9)
    # With the label of the start it reaches 1.1, where the label changes, and then 1.4.
    assert jumping.searches == pytest.approx([1.1, 1.4]) and label == 1
    assert x == pytest.approx([1.4], abs=1e-9)
