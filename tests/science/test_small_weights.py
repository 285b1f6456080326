"""The linear theory of small weights, against the mean loss."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import expit

from attention_phases.beyond.small_weights import growing_cosines, growth_rates
from attention_phases.task import Task

TASK = Task()


def test_the_positions_grow_faster_than_the_teacher():
    rates = growth_rates(TASK, 3.0)
    assert rates["positional"].value > 2 * rates["semantic"].value > 2 * rates["bulk"].value
    assert np.isnan(growth_rates(TASK, 0.5)["semantic"].value)
    assert_allclose([*growing_cosines(TASK, 3.0, 20, 0.15, [0]).values()], 20**-0.5)  # at first none is preferred


def test_with_many_sentences_the_rates_are_those_of_the_mean_loss():
    """Growth of Q = t v under the gradient of the mean loss of a sentence, by differences on a million of them."""
    alpha, rng = 1000.0, np.random.default_rng(0)
    y, u = TASK.sigma * rng.standard_normal((2, 10**6)), np.array([[1.0], [-1.0]])
    noise, t = TASK.sigma * rng.standard_normal((2, 10**6)), 0.1

    def mean_loss(h):
        target = (1 - TASK.omega) * own_attention(y) + TASK.omega * np.diag(TASK.matrix)[:, None]
        return TASK.sigma**2 * ((own_attention(h) - target) ** 2).sum(0)

    def own_attention(fields):
        return expit(fields * (fields - fields[::-1]))

    rates = growth_rates(TASK, alpha)
    for name, h in (("positional", noise + u), ("semantic", y)):
        curvature = (mean_loss(t * h) - mean_loss(0 * h)) * 2 / t**2
        error = curvature.std() / 1e3 + 0.02 * abs(curvature.mean())  # terms t^2, and 1/alpha
        assert abs(rates[name].value / alpha + curvature.mean() + TASK.lam / alpha) < 4 * error, name
