"""Test errors on a task other than the task of the training, compared with sampled sentences and exact values."""

from ast import literal_eval
from dataclasses import replace

import numpy as np
import pytest
import torch
from cases import cases

from attention_phases import BadInput, Task
from attention_phases.model import prediction_error as exact
from attention_phases.model.sentences import draw_sentences, sampled_error
from attention_phases.model.two_tokens import sample
from attention_phases.model.weights import overlaps
from attention_phases.training.trials import train_on

TRAINED = Task()


@pytest.mark.parametrize(("change",), cases("changes"))
def test_the_error_on_another_task_is_that_of_sampled_sentences(change):
    """The overlaps are measured on the task of the training, at a d so small that every term of order 1/d is large."""
    tested, rng, count, parts = replace(TRAINED, **literal_eval(change)), np.random.default_rng(5), 20_000, 12
    teacher = torch.from_numpy(rng.standard_normal(12, dtype=np.float32) + 0.5)
    weights = -0.6 * teacher - 0.8  # weights with negative m, which no other test has
    point = overlaps(TRAINED, weights, teacher)
    samples = [draw_sentences(tested, teacher, count, rng) for _ in range(parts)]
    for fixed in (None, np.array([[0.7, 0.2], [0.1, 0.5]])):
        student = {"weights": weights} if fixed is None else {"mixing": fixed}
        errors = [sampled_error(tested, *sentences, **student) for sentences in samples]
        error = np.std(errors, ddof=1) / parts**0.5
        value, rough = exact.test_error(tested, point, 12, fixed, trained=TRAINED)
        assert abs(value - np.mean(errors)) < 4 * np.hypot(error, rough) < 0.03 * value
        unmoved = exact.test_error(TRAINED, point, 12, fixed)
        # The error on the task of the training is different.
        assert abs(value - unmoved.value) > 8 * np.hypot(error, rough)


def test_trained_students_are_tested_on_sentences_of_the_other_task():
    """The rows have two more errors than usual, and in the mean these equal the expected errors."""
    tested, errors = Task(omega=0.8, sigma=0.7), []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        data = sample(TRAINED, 1.5, 40, rng)
        rows = train_on(TRAINED, data, ("semantic", "positional"), rng, "lbfgs", tested=tested)
        again = train_on(TRAINED, data, ("semantic", "positional"), rng, "lbfgs")
        assert [row["q"] for row in rows] == [row["q"] for row in again]
        assert rows[0].keys() - again[0].keys() == {"tested_mse", "tested_linear_mse"}
        lengths = (data.teacher.double() @ data.teacher.double()).item() / 40
        for row in rows:
            point = {**{name: row[name] for name in ("q", "m", "theta")}, "rho": 0.25 * lengths}
            point["m_teacher"] = data.teacher.double().mean().item()
            expected = exact.test_error(tested, point, 40, trained=TRAINED).value
            linear = exact.test_error(tested, point, 40, data.linear(), trained=TRAINED).value
            errors.append((row["tested_mse"] / expected - 1, row["tested_linear_mse"] / linear - 1))
    assert np.abs(errors).max() < 0.15
    means, scatter = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1) / 4
    assert (np.abs(means) < 4 * scatter).all() and (scatter < 0.02).all()


def test_another_task_has_the_same_tokens_and_teacher():
    with pytest.raises(BadInput, match=r"trained = .*: must be a task with the spectrum and t"):
        exact.test_error(Task(teachers=(2.0,)), {"q": 0.09, "m": 0.0, "theta": 0.13}, trained=TRAINED)
