"""The optimisers: their rule, where they end, and one cell of an experiment."""

from time import perf_counter

import numpy as np
import pytest
import torch

from attention_book.experiments.cells import StudentCell
from attention_book.experiments.simulation import beside_positions, train_students
from attention_phases import Task
from attention_phases.model import two_tokens
from attention_phases.model.sentences import draw, draw_sentences, labels, positional_encoding
from attention_phases.theory.prediction_error import test_error as error_of
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


def test_starts(data, starts):
    semantic, positional, random = starts
    assert torch.equal(semantic, data.teacher)
    assert torch.allclose(positional, torch.full((300,), 300**-0.5))
    assert random.std().item() == pytest.approx(0.1, rel=4 / 600**0.5)  # 4 standard errors of a standard deviation


@pytest.mark.parametrize("near, size", [("semantic", 1.0), ("positional", 0.1)])
def test_starts_near_another_add_noise(data, near, size):
    start = start_weights(near, data.teacher, None)
    noise = start_weights(f"near_{near}", data.teacher, np.random.default_rng(5)) - start
    assert abs(noise.mean().item()) < 4 * size / 300**0.5
    assert noise.std().item() == pytest.approx(size, rel=4 / 600**0.5)


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


def test_a_fit_can_have_other_settings(data, starts):
    (moved,) = optimizers.fit(data, TASK.lam, starts[:1], "gd", rate=0.1, steps=1)
    _, gradient = two_tokens.risk(data, starts[:1], TASK.lam)
    torch.testing.assert_close(moved.weights, starts[0] - 0.1 * gradient[0])


def test_cells_that_differ_in_optimizer_or_start_share_their_data():
    both = train_students(StudentCell("test", TASK, 1.0, 100, 7, "lbfgs"))
    one = train_students(StudentCell("test", TASK, 1.0, 100, 7, "adam", ("positional",)))
    other = train_students(StudentCell("test", TASK, 1.0, 100, 8, "lbfgs"))
    assert [row["start"] for row in both] == ["semantic", "positional"]
    # The linear fit depends on nothing but the data; its test error is known to about 1e-3 of its value.
    assert both[0]["linear_mse"] == pytest.approx(one[0]["linear_mse"], rel=4e-3)
    assert other[0]["linear_mse"] != pytest.approx(one[0]["linear_mse"], rel=4e-3)
    wanted = "start q m theta train_loss test_mse linear_mse grad_norm steps seconds"
    assert all(list(row) == wanted.split() for row in both + one)


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
    task, d = Task(omega=0.4, matrix=matrix), 300
    data = two_tokens.sample(task, 0.5, d, np.random.default_rng(1))
    teacher, xi, y = draw(task, 0.5, d, np.random.default_rng(1))
    given = beside_positions(task, data)
    weights = 0.5 * teacher + 0.1
    x = positional_encoding(task, xi)
    h = torch.einsum("and,d->an", x, weights) / d**0.5
    own = torch.softmax(h[:, None] * h[None], dim=1)
    mixing = (1 - task.omega) * own + task.omega * torch.tensor(task.matrix)[:, :, None]
    output = torch.einsum("abn,bnd->and", mixing, x)
    expected = ((labels(task, xi, y) - output) ** 2).sum() / (2 * d) + 0.5 * task.lam * weights @ weights
    value, _ = two_tokens.risk(given, weights[None], task.lam)
    assert value.item() == pytest.approx(expected.item(), rel=1e-5)


def test_the_test_error_beside_given_positions_is_that_of_sampled_sentences():
    task, d, count, rng = Task(omega=0.4, matrix="alternative"), 12, 200_000, np.random.default_rng(5)
    teacher = torch.from_numpy(rng.standard_normal(d, dtype=np.float32) + 0.5)
    weights = 0.6 * teacher + 0.4
    xi, y = draw_sentences(task, teacher, count, rng)
    x = positional_encoding(task, xi)
    h = (x @ weights / d**0.5).T
    mixing = 0.7 * torch.softmax(h[:, :, None] * h[:, None], dim=2) + 0.3 * torch.tensor(task.matrix)
    miss = labels(task, xi, y) - torch.einsum("nab,bnd->and", mixing, x)
    losses = miss.square().sum((0, 2)).double().numpy() / (2 * d)
    value, error = error_of(task, two_tokens.overlaps(task, weights, teacher), d, given=0.3)
    assert abs(value - losses.mean()) < 4 * np.hypot(error, losses.std() / count**0.5) < 0.02 * value
