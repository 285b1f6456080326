"""The optimisers: their rule and where they end; students beside given positions."""

from time import perf_counter

import definition
import numpy as np
import pytest
import torch

from attention_book.experiments.beyond.optimal import beside_positions
from attention_phases import Task
from attention_phases.model import two_tokens
from attention_phases.model.prediction_error import test_error as error_of
from attention_phases.model.sentences import draw_sentences
from attention_phases.model.weights import overlaps
from attention_phases.training import optimizers
from attention_phases.training.optimizers import STARTS, start_weights

TASK = Task(omega=0.3)


@pytest.fixture(scope="module")
def data():
    return two_tokens.sample(TASK, 1.5, 300, np.random.default_rng(3))


@pytest.fixture(scope="module")
def starts(data):
    rng = np.random.default_rng(4)
    return torch.stack([start_weights(start, data.teacher, rng) for start in STARTS[:3]])


@pytest.mark.parametrize("start, size", [("near_semantic", 1.0), ("near_positional", 0.1), ("random", 0.1)])
def test_starts_near_another_or_near_zero_add_noise(data, start, size):
    near = 0 if start == "random" else start_weights(start.removeprefix("near_"), data.teacher, None)
    noise = start_weights(start, data.teacher, np.random.default_rng(5)) - near
    assert abs(noise.mean().item()) < 4 * size / 300**0.5
    assert noise.std().item() == pytest.approx(size, rel=4 / 600**0.5)  # 4 standard errors of a standard deviation


@pytest.mark.parametrize(("optimizer", "settings"), [("lbfgs", {}), ("gd", {"steps": 100})])
def test_a_fit_says_what_it_reached(data, starts, optimizer, settings):
    began = perf_counter()
    fits = optimizers.fit(data, TASK.lam, starts, optimizer, **settings)
    assert sum(fit.seconds for fit in fits) < perf_counter() - began
    for start, fit in zip(starts, fits):
        value, gradient = two_tokens.risk(data, fit.weights[None], TASK.lam)
        assert fit.train_loss == pytest.approx(value.item() / 300, rel=1e-6)
        assert fit.grad_norm == pytest.approx(gradient.norm().item(), rel=1e-2, abs=1e-5)  # float32 sums
        assert fit.train_loss < two_tokens.risk(data, start[None], TASK.lam)[0].item() / 300
        assert fit.steps == settings.get("steps", fit.steps) and fit.seconds > 0


@pytest.mark.parametrize(
    ("descend", "step", "steps"), [(optimizers.gradient_descent, 0.15 * 3, 5000), (optimizers.adam, 0.01, 2500)]
)
def test_rates_and_steps_are_the_published_ones(descend, step, steps):
    """On a risk whose gradient is 3 everywhere; Adam's first step is its rate."""
    seen = []

    def risk(data, weights, lam):
        seen.append(weights[0, 0].item())
        return None, torch.full_like(weights, 3.0)

    _, counted = descend(None, 0.0, torch.zeros(1, 2), risk)
    assert len(seen) == steps and counted == [steps]
    assert seen[0] == 0 and seen[1] == pytest.approx(-step)


@pytest.mark.parametrize("matrix", ["standard", "alternative"])
def test_students_beside_given_positions_have_the_teachers_form(matrix):
    """Their risk is that of the outputs ((1 - omega) S + omega A) x."""
    task = Task(omega=0.4, matrix=matrix)
    xi, y, data = definition.drawn(task, 0.5, 300, 1)
    weights = 0.5 * data.teacher[None] + 0.1
    value, _ = two_tokens.risk(beside_positions(task, data), weights, task.lam)
    expected = definition.risk(task, xi, y, weights, given=task.omega)
    assert value.item() == pytest.approx(expected.item(), rel=1e-5)


def test_the_test_error_beside_given_positions_is_that_of_sampled_sentences():
    task, d, count, rng = Task(omega=0.4, matrix="alternative"), 12, 200_000, np.random.default_rng(5)
    teacher = torch.from_numpy(rng.standard_normal(d, dtype=np.float32) + 0.5)
    weights = 0.6 * teacher + 0.4
    losses = definition.losses(task, *draw_sentences(task, teacher, count, rng), weights[None], given=0.3).numpy()
    value, error = error_of(task, overlaps(task, weights, teacher), d, given=0.3)
    assert abs(value - losses.mean()) < 4 * np.hypot(error, losses.std() / count**0.5) < 0.02 * value
