"""Quadrature, proximal points and averages, each compared with a slow independent computation."""

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from numba import njit
from scipy.special import ndtr

from attention_phases import Task
from attention_phases.attention import attention, target_attention
from attention_phases.quadrature import gaussian_points
from attention_phases.theory.equations import Overlaps, Scalars, Setting, average
from attention_phases.theory.kernels.two_tokens import NO_MINIMUM, derivatives, descend, search

fields = st.floats(-4, 4)
targets = st.floats(0.01, 0.99)
susceptibilities = st.floats(-1, 2.4).map(lambda exponent: 10.0**exponent)  # V from 0.1 to 250
variances = st.floats(0.3, 0.7).map(lambda sigma: sigma**2)


def loss(h, t1, t2, variance):
    """Return ``(sigma^2/2) |S - Y|_F^2`` for a teacher whose rows sum to one; h is (..., 2)."""
    target = np.array([[t1, 1 - t1], [1 - t2, t2]])
    return variance / 2 * ((attention(h) - target) ** 2).sum((-2, -1))


# Moments of the quadrature


@pytest.mark.parametrize("count", [32, 64, 128])
def test_the_first_points_of_a_scramble_are_a_net(count):
    first = gaussian_points(128, 4, 3)[:, :count]
    # There is one point in each of `count` equal cells of each axis.
    cells = np.sort(np.floor(ndtr(first) * count), axis=1)
    assert (cells == np.arange(count)[:, None]).all()


def test_a_seed_means_the_same_points_and_scrambles_differ():
    points = gaussian_points(64, 4, 1)
    gaussian_points.cache_clear()
    assert np.array_equal(points, gaussian_points(64, 4, 1))
    others = [*points[1:], *gaussian_points(64, 4, 2)]
    assert not any(np.isclose(points[0], other).any(0).all() for other in others)
    assert points.shape == (4, 64, 4) and np.isfinite(points).all()
    with pytest.raises(ValueError, match="read-only"):
        points[0, 0, 0] = 0.0


# Proximal points


@settings(max_examples=200, deadline=None)
@given(st.floats(-2, 2), st.floats(-2, 2), targets, targets, susceptibilities, variances)
@example(0.1, -0.1, 0.6, 0.4, 15.0, 0.25)
@example(0.0, 0.0, 0.9, 0.9, 250.0, 0.49)
def test_prox_is_a_minimum(w1, w2, t1, t2, V, variance):
    h1, h2, envelope = search(w1, w2, t1, t2, V, variance)[0]
    w, h = np.array([w1, w2]), np.array([h1, h2])
    value = ((h - w) ** 2).sum() / (2 * V) + loss(h, t1, t2, variance)
    assert envelope == pytest.approx(value, abs=1e-13)  # tolerance for rounding
    # The last Newton step is below 1e-8, and the error after it is of the order of its square.
    s1, s2 = np.diag(attention(h))
    gradient = np.array(derivatives(s1, s2, h1, h2, t1, t2, variance)[:2])
    assert (h - w) / V + gradient == pytest.approx(np.zeros(2), abs=1e-11)


@njit
def missed(draws, reach, count):
    """Return how many draws (w_1, w_2, t_1, t_2, V, variance) have a lower minimum, found from a grid of starts."""
    total = 0
    for w1, w2, t1, t2, V, variance in draws:
        bound = search(w1, w2, t1, t2, V, variance)[0][2] - 1e-9
        for i in range(count**2):
            h1, h2 = reach * (2 * (i // count) / (count - 1) - 1), reach * (2 * (i % count) / (count - 1) - 1)
            if descend(h1, h2, NO_MINIMUM, w1, w2, t1, t2, V, variance)[2] < bound:
                total += 1
                break
    return total


@pytest.mark.slow
def test_prox_is_the_global_minimum_where_there_are_several():
    # Without any one of the starts, one to seven of these draws are missed. With all starts, one in 10^5 is missed.
    rng = np.random.default_rng(0)
    w, t = rng.uniform(-2, 2, (2, 20_000)), rng.uniform(0.01, 0.99, (2, 20_000))
    V, variance = 10 ** rng.uniform(1.3, 2.4, 20_000), rng.uniform(0.3, 0.7, 20_000) ** 2
    reversed_order = 1.0, 2.0, 0.75, 0.625, 100.0, 0.390625  # order of the fields in the lowest minimum
    assert missed(np.vstack([np.column_stack([*w, *t, V, variance]), reversed_order]), 6.0, 14) == 0


# Averages over the fields


def agree(ours, samples):
    """Assert that a value by scramble agrees with plain samples: the means within 4 combined standard errors."""
    error = np.hypot(np.std(ours, ddof=1) / len(ours) ** 0.5, samples.std(ddof=1) / len(samples) ** 0.5)
    assert abs(np.mean(ours) - samples.mean()) < 4 * error
    assert error < 0.05 * samples.std()


TASKS = [
    (Task(), Scalars(q=0.08, m=0.15, theta=0.07, V=12.0)),
    (Task(omega=0.6, sigma=0.6, matrix=((0.9, 0.4), (-0.1, 0.7))), Scalars(q=0.3, m=-0.2, theta=-0.15, V=1.0)),
]


@pytest.mark.parametrize("task, overlaps", TASKS)
def test_averages_are_those_of_the_sampled_fields(task, overlaps):
    """Compare with fields sampled as in Result 4.2."""
    (q, m, theta, V), variance = overlaps, task.sigma**2
    xi, zeta = np.random.default_rng(0).standard_normal((2, 20_000, 2))
    w = np.sqrt(q) * xi + m * np.array([1, -1])
    y = theta / np.sqrt(q) * xi + np.sqrt(variance - theta**2 / q) * zeta
    Y = target_attention(y, task.omega, np.array(task.matrix))
    t = (1 + np.stack([Y[:, 0, 0] - Y[:, 0, 1], Y[:, 1, 1] - Y[:, 1, 0]], axis=1)) / 2
    h = np.array([search(*fields, *aims, V=V, variance=variance)[0][:2] for fields, aims in zip(w, t)])
    r = (h - w) / V
    miss = [variance / 2 * ((attention(fields) - Y) ** 2).sum((1, 2)) for fields in (h, w)]
    averages = average(Setting(task), Overlaps.of(*overlaps), gaussian_points(2**11, 8, 0))
    agree(averages.pull, r[:, 0] - r[:, 1])
    agree(averages.power, (r**2).sum(1))
    agree(averages.teacher_noise, (r * zeta).sum(1))
    agree(averages.student_noise, (r * xi).sum(1))
    agree(averages.fitted_loss, miss[0])
    agree(averages.moreau, miss[0] + V / 2 * (r**2).sum(1))
    agree(averages.test_loss, miss[1])
