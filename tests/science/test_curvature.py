"""How soft the risk is at a student, against derivatives of its definition, and a gain without jumps against theory."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from attention_phases.model.curvature import SOFT_COUNT, hessian, softness
from attention_phases.model.sentences import draw, labels, positional_encoding
from attention_phases.model.two_tokens import sample
from attention_phases.task import Task
from attention_phases.theory import solve
from attention_phases.theory.stability import gain_without_jumps
from attention_phases.training.optimizers import fit, start_weights


@pytest.mark.parametrize("start", ["semantic", "positional"])
def test_the_softest_direction_is_that_of_the_risk_by_definition(start):
    """Eq. 15 in its L x L form, differentiated twice by PyTorch, at minima of d = 100."""
    task, d = Task(omega=0.1), 100
    teacher, xi, y = draw(task, 1.5, d, np.random.default_rng(0))
    x, goal = (part.transpose(0, 1).double() for part in (positional_encoding(task, xi), labels(task, xi, y)))

    def risk(weights):
        h = x @ weights / d**0.5
        attention = torch.softmax(h[:, :, None] * h[:, None, :], dim=2)
        return ((goal - attention @ x) ** 2).sum() / (2 * d) + task.lam / 2 * weights @ weights

    data = sample(task, 1.5, d, np.random.default_rng(0)).double()
    first = start_weights(start, data.teacher, np.random.default_rng(1))
    (student,) = fit(data, task.lam, first[None].double(), tolerance=1e-6)
    dense = torch.autograd.functional.hessian(risk, student.weights).numpy()
    assert_allclose(hessian(data, student.weights, task.lam), dense, atol=1e-6)  # stored tokens have seven digits
    values, vectors = np.linalg.eigh(dense)
    found = softness(hessian(data, student.weights, task.lam), teacher.double().numpy())
    assert found["softest"] == pytest.approx(values[0], abs=1e-6)
    assert values[0] > 1e-4
    unit = teacher.double().numpy() / np.linalg.norm(teacher.double().numpy())
    assert found["leaning"] == pytest.approx(((unit @ vectors[:, :SOFT_COUNT]) ** 2).sum(), abs=1e-4)


def test_softness_of_a_known_hessian():
    """The teacher along one axis, which is among the softest ones or not; at a saddle no stiffness is known."""
    curvatures, axes = np.linspace(1, 5, 40), np.eye(40)
    for axis, leaning in ((3, 1.0), (30, 0.0)):
        found = softness(np.diag(curvatures), 2 * axes[axis])
        assert found["softest"] == pytest.approx(1)
        assert found["leaning"] == pytest.approx(leaning, abs=1e-9)
        assert found["stiff_teacher"] == pytest.approx(curvatures[axis])
        assert found["stiff_any"] == pytest.approx(1 / np.mean(1 / curvatures))
    assert softness(np.diag(curvatures - 1.5), axes[3]).keys() == {"softest", "leaning"}


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
