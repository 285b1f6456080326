"""Curvature of the risk at a student, growth of small weights, and gains, compared with derivatives of definitions."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.special import expit

from attention_phases import Architecture, Task, data_set, solve
from attention_phases.amp.stability import gain_without_jumps
from attention_phases.beyond.curvature import hessian, smallest_curvatures
from attention_phases.beyond.small_weights import growing_cosines, growth_rates
from attention_phases.model import students
from attention_phases.model.architectures import FORMS


def test_softness_of_a_known_hessian():
    """A fifth of the teacher lies along one of the softest axes. At a saddle the stiffness is not defined."""
    curvatures, axes = np.linspace(1, 5, 40), np.eye(40)
    found = smallest_curvatures(np.diag(curvatures), axes[3] - 2 * axes[30])
    assert found["softest"] == pytest.approx(1)
    assert found["leaning"] == pytest.approx(1 / 5)
    assert found["stiff_teacher"] == pytest.approx(5 / (1 / curvatures[3] + 4 / curvatures[30]))
    assert found["stiff_any"] == pytest.approx(1 / np.mean(1 / curvatures))
    assert smallest_curvatures(np.diag(curvatures - 1.5), axes[3]).keys() == {"softest", "leaning"}


def test_second_derivatives_of_the_risk_are_true_by_every_way_to_them():
    data = data_set(Task(omega=0.1), 1.5, 30)
    weights, autograd, func = 0.5 * data.teacher + 0.2, torch.autograd.functional, torch.func
    expected = torch.from_numpy(hessian(data, weights, data.task.lam)).float()
    for found in (autograd.hessian(data.risk, weights), func.jacrev(func.grad(data.risk))(weights)):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)
    product = autograd.hvp(data.risk, weights, data.teacher)[1]
    torch.testing.assert_close(product, expected @ data.teacher, rtol=0, atol=1e-5)
    free = weights.clone().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):  # a penalty on the gradient that is added to the risk
        (slope,) = torch.autograd.grad(data.risk(free), free, create_graph=True)
    (data.risk(free) + slope.square().sum()).backward()
    torch.testing.assert_close(free.grad, slope + 2 * expected @ slope, rtol=0, atol=1e-6)
    rows = torch.stack([weights, data.teacher]).requires_grad_()
    data.risk(rows).sum().backward()
    torch.testing.assert_close(torch.vmap(func.grad(data.risk))(rows.detach()), rows.grad, rtol=0, atol=1e-6)
    assert torch.autograd.gradgradcheck(data.double().risk, weights.double().requires_grad_())


@pytest.mark.parametrize("form", FORMS)
def test_second_derivatives_of_other_students_are_those_of_finite_differences(form):
    data = students.sample(Task(), Architecture(form, tokens=3), 1.5, 4, np.random.default_rng(0)).double()
    weights = torch.linspace(-1, 1, data.sizes[0], dtype=torch.float64)[None].requires_grad_()
    assert torch.autograd.gradgradcheck(lambda weights: students.risk(data, weights, 0.01)[0], weights)


@pytest.mark.slow
def test_a_gain_without_jumps_is_that_of_theory_where_nothing_jumps():
    """At thirty times the usual penalty no sentence jumps. At the usual penalty jumps cause most of the gain."""
    for task, alpha, jumps in ((Task(omega=0.3, lam=0.3), 12.0, 0.0), (Task(omega=0.1), 0.8, 0.5)):
        solution = solve(task, alpha, "positional", 2**10)
        assert solution.converged
        without = gain_without_jumps(task, alpha, solution.overlaps, 2**10)
        error = np.hypot(without.error, solution.stderr["gain"])
        if jumps:
            assert solution.gain - without.value > jumps
        else:
            assert abs(solution.gain - without.value) < 4 * error < 0.1


# The linear theory of small weights, compared with the mean loss


TASK = Task()


def test_the_positions_grow_faster_than_the_teacher():
    rates = growth_rates(TASK, 3.0)
    assert rates["positional"].value > 2 * rates["semantic"].value > 2 * rates["bulk"].value
    assert np.isnan(growth_rates(TASK, 0.5)["semantic"].value)
    # At the start no direction is preferred.
    assert_allclose([*growing_cosines(TASK, 3.0, 20, 0.15, [0]).values()], 20**-0.5)


def test_with_many_sentences_the_rates_are_those_of_the_mean_loss():
    """The rates are those of Q = t v under the gradient of the mean loss, from finite differences on a million
    sentences.
    """
    alpha, rng = 1000.0, np.random.default_rng(0)
    y, u = TASK.sigma * rng.standard_normal((2, 10**6)), np.array([[1.5], [-1.5]])
    noise, t = TASK.sigma * rng.standard_normal((2, 10**6)), 0.02

    def mean_loss(h):
        target = (1 - TASK.omega) * own_attention(y) + TASK.omega * np.diag(TASK.matrix)[:, None]
        return TASK.sigma**2 * ((own_attention(h) - target) ** 2).sum(0)

    def own_attention(fields):
        return expit(fields * (fields - fields[::-1]))

    rates = growth_rates(Task(encoding=1.5), alpha)
    for name, h in (("positional", noise + u), ("semantic", y)):
        curvature = (mean_loss(t * h) - mean_loss(0 * h)) * 2 / t**2
        error = curvature.std() / 1e3 + 0.02 * abs(curvature.mean())  # terms of order t^2 and 1/alpha
        assert abs(rates[name].value / alpha + curvature.mean() + TASK.lam / alpha) < 4 * error, name
