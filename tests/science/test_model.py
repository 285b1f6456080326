"""The reduced risk compared with the definition, and measurements of given weights."""

import definition
import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from test_structure import TASKS

from attention_book.experiments.paper.fig07 import fit_both_linear
from attention_phases import Task
from attention_phases.model import sentences, two_tokens

numbers = st.floats(-1.5, 1.5)
tasks = st.builds(
    Task,
    omega=st.floats(0, 1),
    sigma=st.floats(0.2, 1.5),
    lam=st.floats(1e-3, 2),
    matrix=st.tuples(st.tuples(numbers, numbers), st.tuples(numbers, numbers)),
) | st.sampled_from([*TASKS.values()])


@settings(max_examples=60, deadline=None)
@given(tasks, st.floats(0.5, 3), st.integers(2, 9), st.integers(1, 2), st.integers(0, 99))
def test_risk_and_gradient_are_those_of_the_definition(task, alpha, d, columns, seed):
    xi, y, data = definition.drawn(task, alpha, d, seed)
    weights = torch.from_numpy(np.random.default_rng(seed + 1).standard_normal((columns, d))).requires_grad_()
    expected = definition.risk(task, xi, y, weights)
    (slope,) = torch.autograd.grad(expected, weights)
    value, gradient = two_tokens.risk(data, weights.detach().reshape(1, -1), task.lam)
    # The data are float32, so their products have errors of 1e-7 of the size of the n terms.
    scale = 1e-5 * (1 + xi.square().sum().item() + expected.item())
    assert value.item() == pytest.approx(expected.item(), abs=scale)
    assert torch.allclose(gradient.reshape(columns, d), slope, rtol=0, atol=10 * scale)


@pytest.mark.parametrize("seed", range(4))
def test_the_loss_that_no_student_can_avoid_has_the_digits_of_float32(seed):
    """The loss is a squared distance from a line. A difference of squares would depend on the machine by 1e-8 of the
    loss.
    """
    xi, _, data = definition.drawn(Task(omega=0.3), 3.0, 20, seed)
    goal = sentences.labels(Task(omega=0.3), xi, xi @ data.teacher / 20**0.5)
    x = sentences.positional_encoding(Task(), xi)
    line = torch.nn.functional.normalize(x[0] - x[1], dim=1)
    covered = torch.stack([goal[0] - x[1], goal[1] - x[0]])
    missed = covered - (covered * line).sum(2, keepdim=True) * line
    assert data.floor == pytest.approx(missed.square().sum().item() / (2 * 20), rel=2e-7)


@pytest.mark.parametrize("columns", [1, 2])
# Halves with no sentence, one sentence, and odd and even numbers of sentences.
@pytest.mark.parametrize("n", [1, 2, 7, 60])
@pytest.mark.parametrize("students", [1, 2, 3])
def test_the_pass_over_the_data_is_the_two_products(columns, n, students):
    data = two_tokens.sample(Task(), n / 30, 30, np.random.default_rng(n))
    weights = torch.randn(students, columns * 30, generator=torch.Generator().manual_seed(n))
    wide, wide_weights = data.double(), weights.double()
    exact = two_tokens.risk_by_products(wide, wide_weights, 0.3)
    for some, vectors, rtol in ((wide, wide_weights, 1e-12), (data, weights, 2e-5)):
        risk = two_tokens.risk(some, vectors, 0.3)
        assert torch.allclose(risk[0], exact[0], rtol=rtol, atol=0)
        assert torch.allclose(risk[1].double(), exact[1], rtol=rtol, atol=rtol * exact[1].abs().max().item())


def test_both_linear_fits_are_those_of_the_data_set():
    size = Task(), 2.0, 100
    teacher, fits = fit_both_linear(*size, np.random.default_rng(8))
    data = two_tokens.sample(*size, np.random.default_rng(8))
    assert torch.equal(teacher, data.teacher)
    assert fits["tokens and positions"] == pytest.approx(data.linear(), abs=1e-6)
    _, xi, y = sentences.draw(*size, np.random.default_rng(8))
    labels = sentences.labels(Task(), xi, y)
    rows, goal = (part.double().permute(1, 2, 0).reshape(-1, 2).numpy() / 10 for part in (xi, labels))
    padded = np.vstack([rows, sentences.LINEAR_RIDGE**0.5 * np.eye(2)])
    assert fits["tokens"] == pytest.approx(np.linalg.lstsq(padded, np.vstack([goal, np.zeros((2, 2))]))[0].T, abs=1e-5)


def test_the_published_ridge_halves_what_so_little_data_say():
    assert sentences.fit_linear(1e-4 * np.eye(2), 1e-4 * np.eye(2)) == pytest.approx(np.eye(2) / 2)
