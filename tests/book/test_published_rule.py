"""The 144 points of the published theory: a rule of degree 7, and the published overlaps that it gives."""

from itertools import product
from math import prod
from types import SimpleNamespace

import numpy as np
import pytest

from attention_book import published
from attention_book.experiments import published_rule
from attention_book.experiments.published_rule import Coarse, coarse_threshold, plane_rule, product_rule, solve_coarsely
from attention_phases import Task
from attention_phases.measured import Measured
from attention_phases.theory import Threshold, linear_baseline
from attention_phases.theory.equations import Scalars
from attention_phases.theory.kernels.two_tokens import NONE, descend, search
from attention_phases.theory.stability import teacher_fit
from attention_phases.theory.thresholds import falls

# The converged solutions at alpha = 2, omega = 0.3, to start from.
STARTS = {"semantic": Scalars(0.1148, 0.0, 0.1582, 12.66), "positional": Scalars(0.0512, 0.2580, 0.0, 11.40)}
MOMENTS = {0: 1, 2: 1, 4: 3, 6: 15, 8: 105}  # of a normal number


def test_the_rule_is_of_degree_seven_and_no_more():
    points, weights = product_rule()
    assert points.shape == (9, 16, 4) and weights.sum() == pytest.approx(1, abs=1e-14)
    flat, shares = points.reshape(-1, 4), np.repeat(weights / 16, 16)
    for powers in product(range(8), repeat=4):
        if sum(powers) <= 7:
            exact = prod(MOMENTS.get(power, 0) for power in powers)
            assert shares @ np.prod(flat**powers, axis=1) == pytest.approx(exact, abs=1e-12), powers
    assert abs(shares @ flat[:, 0] ** 8 - MOMENTS[8]) > 1
    plane, parts = plane_rule()
    assert plane.shape == (12, 2) and len(np.unique(plane, axis=0)) == 12 and (parts > 0).all()


@pytest.fixture(scope="module", params=STARTS)
def coarse(request):
    return request.param, solve_coarsely(Task(), 2.0, STARTS[request.param])


def test_it_gives_the_published_overlaps(coarse):
    """To three parts in a thousand; the converged overlaps differ by 2 % and more."""
    branch, solution = coarse
    assert isinstance(solution, Coarse) and solution.change < 1e-6
    known = published.THEORY[branch]
    converged = []
    for name in ("q", "V", "theta" if branch == "semantic" else "m"):
        assert getattr(solution.overlaps, name) == pytest.approx(known[name].value, rel=3e-3), name
        converged.append(abs(getattr(STARTS[branch], name) / known[name].value - 1))
    assert max(converged) > 0.02


def test_the_test_errors_are_not_those_of_the_rule(coarse):
    """The rule's own are 3 % below the published ones, the exact ones of its overlaps 1 %."""
    branch, solution = coarse
    known, (by_rule, exact) = published.THEORY[branch]["test_mse"].value, solution.test_mse
    assert by_rule / known - 1 == pytest.approx(-0.03, abs=0.01)
    assert exact / known - 1 == pytest.approx(-0.011, abs=0.004)


def test_one_start_finds_on_these_points_what_a_search_finds(coarse):
    """The published minimisation has a single start; here it makes no difference."""
    _, solution = coarse
    (q, m, theta, V), task = solution.overlaps, Task()
    xi, zeta = np.split(product_rule()[0].reshape(-1, 4).T, 2)
    w = np.sqrt(q) * xi + np.array([[m], [-m]])
    y = theta / np.sqrt(q) * xi + np.sqrt(task.sigma**2 - theta**2 / q) * zeta
    for w1, w2, t1, t2 in np.concatenate([w, teacher_fit(task, y)]).T:
        fields = (w1, w2, t1, t2, V, task.sigma**2)
        assert descend(w1, w2, NONE, *fields) == pytest.approx(search(*fields)[0], abs=1e-6)


def test_falls_are_interpolated():
    assert falls(np.arange(5.0), np.array([3.0, 1.0, -1.0, 2.0, -6.0])) == pytest.approx([1.5, 3.25])
    assert not len(falls(np.array([1.0, 2.0]), np.array([-1.0, 1.0])))


@pytest.mark.parametrize(
    ("kind", "alpha", "expected"),
    [("critical", 1.0, (1.1, 0.95)), ("linear", 1.0, (1.05, 0.9)), ("critical", 1.4, (1.1, np.nan))],
)
def test_a_coarse_threshold_is_where_straight_lines_of_losses_cross(monkeypatch, kind, alpha, expected):
    """Each alpha starts from the overlaps of the one before, the first from the converged ones."""
    last, baseline = {}, linear_baseline(Task())

    def straight(task, alpha, start):
        branch = start.split()[0]
        assert start == last.get(branch, f"{branch} converged")
        last[branch] = f"{branch} at {alpha}"
        if branch == "positional":
            return Coarse(last[branch], np.array([0.5, 0.7]), np.full(2, np.nan), 0.0)
        losses, errors = np.array([1.6, 1.65]) - alpha, baseline + np.array([1.05, 0.9]) - alpha
        return Coarse(last[branch], losses, errors, 0.0)

    monkeypatch.setattr(published_rule, "solve_coarsely", straight)
    branches = ("semantic", "positional")[: 2 if kind == "critical" else 1]
    known = {branch: SimpleNamespace(overlaps=f"{branch} converged") for branch in branches}
    solution = coarse_threshold(Task(), kind, Threshold(Measured(alpha, 0.01), known))
    assert solution == pytest.approx(expected, nan_ok=True)
