"""Searches of a valley for lower minima: each result is a minimum, never a higher one, and the lowest one is found."""

from ast import literal_eval
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from cases import cases

from attention_book.experiments.beyond import minima, searches
from attention_phases import Task
from attention_phases.model.two_tokens import risk, sample
from attention_phases.training.optimizers import GD_RATE, LBFGS_TOLERANCE, fit

LAM = 0.01


def drawn(seed=0, alpha=0.75, d=60):
    data = sample(Task(omega=0.1), alpha, d, np.random.default_rng(seed))
    return data, fit(data, LAM, torch.full((1, d), d**-0.5))[0]


def test_the_misfits_of_the_sentences_add_up_to_the_risk():
    data, student = drawn()
    parts = searches.misfits(data, student.weights).double()
    penalty = 0.5 * LAM * student.weights.double().square().sum()
    assert len(parts) == 45 and (parts >= 0).all()
    value = risk(data, student.weights[None], LAM)[0].item()
    assert parts.sum() + penalty + data.floor == pytest.approx(value, rel=1e-5)


@pytest.mark.slow
def test_hops_lead_to_lower_minima_from_which_none_leads_lower():
    gained = 0
    for seed in range(12):
        data, begun = drawn(seed)
        lowest, hops = searches.hop(data, LAM, begun, worst=0.2)
        assert lowest.grad_norm <= LBFGS_TOLERANCE
        assert (lowest.train_loss < begun.train_loss) == (hops > 0)
        gained += hops
        assert searches.hop(data, LAM, lowest, worst=0.2) == (lowest, 0)
        # By hand: a descent without one of the nine worst sentences, and then with it, returns to the minimum or ends
        # higher.
        for number in searches.misfits(data, lowest.weights).argsort(descending=True)[:9]:
            fewer = torch.arange(len(data.inputs)) != number
            parts = {name: getattr(data, name)[fewer] for name in ("inputs", "stiffness", "targets")}
            without = fit(type(data)(**{**vars(data), **parts}), LAM, lowest.weights[None])[0]
            assert fit(data, LAM, without.weights[None])[0].train_loss > lowest.train_loss - searches.LOSS_RESOLUTION
    assert gained > 0


def test_langevin_descent_comes_back_when_cold_and_leaves_the_valley_when_hot():
    data, begun = drawn()
    for temperature, stays in ((0.0, True), (1e-6, True), (10.0, False)):
        minimum = searches.anneal(data, LAM, begun, temperature, np.random.default_rng(0), steps=300)
        assert minimum.grad_norm <= LBFGS_TOLERANCE
        assert (abs(minimum.train_loss - begun.train_loss) < searches.LOSS_RESOLUTION) == stays


def test_the_noise_of_langevin_descent_has_its_variance(monkeypatch):
    """Without a force it is a random walk. Its variance is the sum of 2 rate T(step), and the mean of T is T/2."""
    monkeypatch.setattr(searches, "risk", lambda data, weights, lam: (0.0, torch.zeros_like(weights)))
    monkeypatch.setattr(searches, "fit", lambda data, lam, weights: [SimpleNamespace(weights=weights[0])])
    start = SimpleNamespace(weights=torch.zeros(20_000))
    walked = searches.anneal(None, 0.0, start, 0.02, np.random.default_rng(1), 40).weights
    expected = 2 * GD_RATE * 0.02 * sum(1 - step / 40 for step in range(40))
    assert walked.var().item() == pytest.approx(expected, rel=5 * (2 / 20_000) ** 0.5)


@pytest.fixture
def ends(monkeypatch):
    """Return end points of a cell: some weights, the same weights with changes of 1e-3 and 2e-2, and their mirror
    image.
    """
    first, aside = np.random.default_rng(0).standard_normal((2, 60))
    aside -= (aside @ first) / (first @ first) * first
    aside *= np.linalg.norm(first) / np.linalg.norm(aside)
    weights = [first, first + 1e-3 * aside, first + 2e-2 * aside, -first]
    data = drawn()[0]
    students = [SimpleNamespace(weights=torch.from_numpy(w), train_loss=float(k)) for k, w in enumerate(weights)]
    monkeypatch.setattr(searches, "descents", lambda cell: (data, students[: cell.count], np.random.default_rng(1)))

    overlaps = "attention_phases.model.weights.overlaps"
    monkeypatch.setattr(overlaps, lambda task, weights, _: SimpleNamespace(named={"q": float(weights[0])}))
    return weights, students


def test_ends_that_are_one_minimum_have_one_number_whatever_their_sign(ends):
    rows = minima.descend(minima.ValleyCell("toy", Task(), 0.75, 60, 0, "semantic", 1.0, 4))
    assert [row["minimum"] for row in rows] == [0, 0, 1, 0] and [row["number"] for row in rows] == [0, 1, 2, 3]
    assert [row["nearest"] for row in rows] == pytest.approx([0, 1e-3, 1.9e-2, 0], rel=1e-2, abs=1e-7)
    assert [row["aligned"] for row in rows] == pytest.approx([1, 1 - 0.019**2 / 2, 1 - 0.02**2 / 2, 1], abs=1e-5)


def test_a_search_goes_on_from_each_end_and_is_compared_with_the_lowest_of_all(ends, monkeypatch):
    weights, students = ends
    lower = SimpleNamespace(weights=torch.from_numpy(weights[2]), train_loss=-1.0)
    hot = SimpleNamespace(weights=torch.from_numpy(weights[1]), train_loss=5.0)
    asked = []
    monkeypatch.setattr(searches, "hop", lambda data, lam, start, worst: (start, 0) if start.train_loss else (lower, 2))
    monkeypatch.setattr(searches, "anneal", lambda *given: asked.append(given[1:4]) or hot)
    rows = minima.search(minima.SearchCell("toy", Task(), 0.75, 60, 0, "semantic", 1.0, 2, 0.1, (0.01, 0.3)))
    told = [(row["search"], row["number"], row.get("hops"), row.get("temperature"), row["train_loss"]) for row in rows]
    assert told == [literal_eval(row) for (row,) in cases("searched")]
    assert asked == [(Task().lam, students[0], temperature) for temperature in (0.01, 0.3)]
    away = np.array([2e-2, 0, 1.9e-2, 1.9e-2, 1.9e-2, 1.9e-2])
    assert [row["aligned"] for row in rows] == pytest.approx(1 - away**2 / 2, abs=1e-5)
    assert [row["q"] for row in rows] == [weights[k][0] for k in (0, 2, 1, 1, 1, 1)]
