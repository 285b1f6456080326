"""How soft the risk is at a student, against derivatives of its definition, and a gain without jumps against theory."""

import numpy as np
import pytest
import torch

from attention_phases import Task, data_set
from attention_phases.amp.stability import gain_without_jumps
from attention_phases.beyond.curvature import hessian, softness
from attention_phases.model import students
from attention_phases.model.architectures import FORMS, Architecture
from attention_phases.theory import solve


def test_softness_of_a_known_hessian():
    """A fifth of the teacher is along one of the softest axes; at a saddle no stiffness is known."""
    curvatures, axes = np.linspace(1, 5, 40), np.eye(40)
    found = softness(np.diag(curvatures), axes[3] - 2 * axes[30])
    assert found["softest"] == pytest.approx(1)
    assert found["leaning"] == pytest.approx(1 / 5)
    assert found["stiff_teacher"] == pytest.approx(5 / (1 / curvatures[3] + 4 / curvatures[30]))
    assert found["stiff_any"] == pytest.approx(1 / np.mean(1 / curvatures))
    assert softness(np.diag(curvatures - 1.5), axes[3]).keys() == {"softest", "leaning"}


def test_second_derivatives_of_the_risk_are_true_by_every_way_to_them():
    data = data_set(Task(omega=0.1), 1.5, 30)
    weights, autograd, func = 0.5 * data.teacher + 0.2, torch.autograd.functional, torch.func
    expected = torch.from_numpy(hessian(data, weights, data.task.lam)).float()
    for found in (autograd.hessian(data.risk, weights), func.jacrev(func.grad(data.risk))(weights)):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)
    product = autograd.hvp(data.risk, weights, data.teacher)[1]
    torch.testing.assert_close(product, expected @ data.teacher, rtol=0, atol=1e-5)
    free = weights.clone().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):  # a penalty on the gradient, beside the risk
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
    """At thirty times the penalty no sentence jumps; at the usual one, most of the gain comes from jumps."""
    for task, alpha, jumps in ((Task(omega=0.3, lam=0.3), 12.0, 0.0), (Task(omega=0.1), 0.8, 0.5)):
        solution = solve(task, alpha, "positional", 2**10)
        assert solution.converged
        without = gain_without_jumps(task, alpha, solution.overlaps, 2**10)
        error = np.hypot(without.error, solution.stderr["gain"])
        if jumps:
            assert solution.gain - without.value > jumps
        else:
            assert abs(solution.gain - without.value) < 4 * error < 0.1
