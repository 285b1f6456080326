"""Tokens with structure, teachers of higher rank, and sparse teachers: their draws, training and measurements."""

from dataclasses import replace

import definition
import numpy as np
import pytest
import torch

from attention_phases import Architecture, Task
from attention_phases.amp.message_passing import iterate, limiting_data, start_state
from attention_phases.beyond.curvature import hessian
from attention_phases.model import sentences, two_tokens, weights as weights_of
from attention_phases.model.prediction_error import general_test_error
from attention_phases.task import variances
from attention_phases.training import fit, start_weights
from attention_phases.training.optimizers import with_l1

SPECTRUM = ((0.05, 0.5), (0.45, 0.5, 2.0, 0.5))
OF_TOKENS = (((0.05, 0.3), 0.5, 1.0, 1.5), ((0.45, 0.1), 0.5, 2.0, 0.5))
CLUSTERS = ((0.3, (1.0, 0.5), (0.2, -0.3)), (0.5, (-0.5, 0.0), (0.5, 0.5)), (0.2, (0.3, -0.6), (-0.4, 0.1)))
TASKS = {
    "main text": Task(),
    "spectrum": Task(spectrum=SPECTRUM),
    "spectra of the tokens": Task(spectrum=OF_TOKENS),
    "two teachers": Task(teachers=(1.5, 0.5), density=0.3),
    "clusters": Task(clusters=CLUSTERS),
    "all": Task(spectrum=OF_TOKENS, clusters=CLUSTERS, teachers=(1.0, 0.4), matrix=((0.7, 0.2), (0.5, 0.6))),
}


def in_errors(values, expected):
    """Return the difference between the mean over the first axis and its expectation, in standard errors."""
    return (values.mean(0) - expected) / (values.std(0) / len(values) ** 0.5)


def test_tokens_and_teacher_have_the_moments_that_the_task_states():
    task, d, n = replace(TASKS["all"], encoding=0.5), 40, 20_000
    rng = np.random.default_rng(0)
    teacher = sentences.draw_teacher(task, d, rng)
    xi, y = sentences.draw_sentences(task, teacher, n, rng)
    p = 0.5 * np.sqrt(np.repeat([1.5, 0.5], 20) / d)
    unit = (teacher[0] / teacher[0].norm()).numpy()
    shifts = [np.sum([odds * np.array(places[k]) for odds, *places in CLUSTERS], axis=0) for k in (0, 1)]
    means = shifts[0][:, None] * p + shifts[1][:, None] * unit
    assert np.abs(in_errors(np.moveaxis(xi.numpy(), 1, 0), means)).max() < 5
    for (first, second), half in zip(((0.05, 0.3), (0.45, 0.1)), (slice(20), slice(20, None))):
        spread = xi.double().var(1)[:, half].mean(1).numpy()
        assert spread == pytest.approx([first, second], abs=0.02)  # the clusters contribute up to 0.02
    assert torch.allclose(y, torch.einsum("and,td->ant", xi, teacher) / d**0.5, atol=1e-6)
    read = (sentences.positional_encoding(task, xi) - xi).numpy()
    assert np.allclose(read, np.stack([p, -p])[:, None], atol=1e-6)

    sparse = sentences.draw_teacher(Task(density=0.1, teachers=(4.0, 1.0)), 20_000, rng).double()
    assert (sparse != 0).double().mean(1).numpy() == pytest.approx([0.1, 0.1], abs=5 * (0.09 / 20_000) ** 0.5)
    assert sparse.square().mean(1).numpy() == pytest.approx([4.0, 1.0], rel=0.2)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("attention", [None, [[0.7, 0.2], [0.5, 0.4]]])
def test_test_error_is_the_mean_over_sentences(name, attention):
    task, d, n, rng = TASKS[name], 15, 300_000, np.random.default_rng(3)
    teacher = sentences.draw_teacher(task, d, rng)
    teachers = teacher.double().numpy().reshape(-1, d)
    columns = np.vstack([0.7 * teachers[0] + 0.5, rng.standard_normal(d) + 1])
    value, error = general_test_error(task, Architecture("rank2"), columns, teachers, attention=attention)
    fixed = None if attention is None else torch.tensor(attention)
    drawn = sentences.draw_sentences(task, teacher, n, rng)
    seen = definition.losses(task, *drawn, torch.from_numpy(columns), fixed).numpy()
    assert abs(value - seen.mean()) < 4 * np.hypot(error, seen.std() / n**0.5)


def test_overlaps_carry_the_covariance():
    task, (columns, teachers) = Task(spectrum=OF_TOKENS), np.random.default_rng(5).standard_normal((2, 3, 8))
    s, p = np.repeat([0.175, 0.275], 4), np.sqrt(np.repeat([1.5, 0.5], 4) / 8)
    found = weights_of.column_overlaps(task, columns, teachers)
    expected = {
        "q": columns @ np.diag(s) @ columns.T / 8,
        "m": columns @ p / 8**0.5,
        "theta": columns @ np.diag(s) @ teachers.T / 8,
        "rho": teachers @ np.diag(s) @ teachers.T / 8,
        "m_teacher": teachers @ p / 8**0.5,
    }
    assert all(np.allclose(found[name], value) for name, value in expected.items())
    length = np.diag(expected["rho"]).mean() / (0.5 * 0.175 * 1 + 0.5 * 0.275 * 2) - 1
    assert weights_of._overlaps(task, columns, teachers)["length"] == pytest.approx(length)
    one = weights_of.overlaps(task, *map(torch.from_numpy, (columns[1], teachers[2])))
    entries = {"q": (1, 1), "m": 1, "theta": (1, 2), "rho": (2, 2), "m_teacher": 2}
    assert one._asdict() == pytest.approx({name: found[name][entry] for name, entry in entries.items()})


def test_l1_ends_where_proximal_descent_does():
    task = Task(density=0.2, lam=1e-3, l1=0.01)
    data = two_tokens.sample(task, 2.0, 100, np.random.default_rng(6)).double()
    start = start_weights("semantic", data.teacher, None)[None]
    (found,) = fit(data, task.lam, start, l1=task.l1)
    weights, rate = start.clone(), 0.3
    for _ in range(4000):
        weights = weights - rate * two_tokens.risk(data, weights, task.lam)[1]
        weights = torch.sign(weights) * (weights.abs() - rate * task.l1).clamp(min=0)
    assert torch.allclose(found.weights, weights[0], atol=1e-3)
    assert ((found.weights != 0) == (weights[0] != 0)).all() and 0.05 < (weights != 0).double().mean() < 0.95
    penalised = with_l1(two_tokens.risk, task.l1)
    value, subgradient = penalised(data, found.weights[None], task.lam)
    penalty = task.l1 * found.weights.abs().sum()
    assert value.item() == pytest.approx((two_tokens.risk(data, found.weights[None], task.lam)[0] + penalty).item())
    assert found.train_loss == pytest.approx(value.item() / 100) and subgradient.norm() <= 1e-4
    slope, subgradient = (risk(data, start, task.lam)[1] for risk in (two_tokens.risk, penalised))
    least = slope - slope.clamp(-task.l1, task.l1)  # smallest subgradient for weights that are zero
    torch.testing.assert_close(subgradient, torch.where(start == 0, least, slope + task.l1 * torch.sign(start)))


@pytest.mark.parametrize("task", [Task(), Task(spectrum=SPECTRUM), Task(density=0.2, l1=0.005)])
def test_message_passing_ends_at_a_minimum(task):
    rng = np.random.default_rng(7)
    drawn = two_tokens.sample(task, 2.0, 400, rng)
    data = limiting_data(task, drawn)
    run = iterate(task, data, start_state(task, data, start_weights("semantic", drawn.teacher, rng)))
    assert run.converged
    weights = torch.from_numpy(run.state.weights)[None]
    # With damping such a weight shrinks but never becomes zero.
    weights = torch.where(weights.abs() < 1e-10, 0.0, weights)
    assert with_l1(two_tokens.risk, task.l1)(data, weights, task.lam)[1].norm() < 1e-8
    # V is the mean response s_i d w_i/d b_i of the weights to fields along them, over the weights that are not zero.
    free, s = weights[0].numpy() != 0, variances(task, 400)
    inverse = np.linalg.inv(hessian(data, weights[0], task.lam)[np.ix_(free, free)])
    assert (s[free] * inverse.diagonal()).sum() / 400 == pytest.approx(run.state.V, rel=0.05)


def test_starts_know_the_columns_of_the_teacher():
    teacher = torch.arange(8.0).reshape(2, 4)
    assert torch.equal(start_weights("semantic", teacher, None), teacher[0])
    assert torch.equal(start_weights("second", teacher, None), teacher[1])
    assert torch.equal(start_weights("encoding", teacher, None), torch.full((4,), 0.3))
    assert torch.equal(start_weights("semantic", teacher, None, "rank2"), teacher.reshape(-1))
    mixed = start_weights("mixed", teacher, None, "rank2").reshape(2, 4)
    assert torch.equal(mixed, torch.stack([teacher[0], torch.full((4,), 0.5)]))
