"""Searches of a valley for lower minima: what they return is a minimum, never a higher one, and the lowest is found."""

import numpy as np
import pytest
import torch

from attention_book.experiments import minima
from attention_book.experiments.minima import misfits
from attention_phases import Task
from attention_phases.model.two_tokens import risk, sample
from attention_phases.training.optimizers import GD_RATE, LBFGS_TOLERANCE, fit

LAM = 0.01


def drawn(seed=0, alpha=0.75, d=60):
    data = sample(Task(omega=0.1), alpha, d, np.random.default_rng(seed))
    return data, fit(data, LAM, torch.full((1, d), d**-0.5))[0]


def test_the_misfits_of_the_sentences_add_up_to_the_risk():
    data, student = drawn()
    parts = misfits(data, student.weights).double()
    penalty = 0.5 * LAM * student.weights.double().square().sum()
    assert len(parts) == 45 and (parts >= 0).all()
    assert parts.sum() + penalty + data.floor == pytest.approx(
        risk(data, student.weights[None], LAM)[0].item(), rel=1e-5
    )


def test_hops_lead_to_lower_minima_from_which_none_leads_lower():
    gained = 0
    for seed in range(12):
        data, begun = drawn(seed)
        lowest, hops = minima.hop(data, LAM, begun, worst=0.2)
        assert lowest.grad_norm <= LBFGS_TOLERANCE
        assert (lowest.train_loss < begun.train_loss) == (hops > 0)
        gained += hops
        assert minima.hop(data, LAM, lowest, worst=0.2) == (lowest, 0)
        # By hand: without any one of the nine worst sentences, and with it again, descent comes back or ends higher.
        for number in misfits(data, lowest.weights).argsort(descending=True)[:9]:
            fewer = torch.arange(len(data.inputs)) != number
            parts = {name: getattr(data, name)[fewer] for name in ("inputs", "stiffness", "targets")}
            without = fit(type(data)(**{**vars(data), **parts}), LAM, lowest.weights[None])[0]
            assert fit(data, LAM, without.weights[None])[0].train_loss > lowest.train_loss - minima.LOWER
    assert gained > 0


def test_langevin_descent_comes_back_when_cold_and_leaves_the_valley_when_hot():
    data, begun = drawn()
    for temperature, stays in ((0.0, True), (1e-6, True), (10.0, False)):
        minimum = minima.anneal(data, LAM, begun, temperature, np.random.default_rng(0), steps=300)
        assert minimum.grad_norm <= LBFGS_TOLERANCE
        assert (abs(minimum.train_loss - begun.train_loss) < minima.LOWER) == stays


def test_the_noise_of_langevin_descent_has_its_variance():
    """No data, no penalty: a random walk, whose variance is the sum of 2 rate T(step), the mean of T being T/2."""
    walked = []

    def no_force(data, weights, lam):
        return torch.zeros(1, dtype=torch.float64), torch.zeros_like(weights)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minima, "risk", no_force)
        patch.setattr(minima, "fit", lambda data, lam, weights: [walked.append(weights[0])])
        begun = drawn()[1]
        start = torch.zeros(20_000)
        minima.anneal(None, 0.0, type(begun)(start, 0.0, 0.0, 0, 0.0, True), 0.02, np.random.default_rng(1), 40)
    expected = 2 * GD_RATE * 0.02 * sum(1 - step / 40 for step in range(40))
    assert walked[0].var().item() == pytest.approx(expected, rel=5 * (2 / 20_000) ** 0.5)
