"""Training in the browser: sentences, risk and minima, compared with the definition."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch
from cases import case_text
from definition import risk
from scipy import stats
from scipy.optimize import minimize

from attention_book.analysis.arrivals import classify
from attention_phases import Task
from attention_phases.model import prediction_error
from attention_phases.theory.branches import OWN_OVERLAP
from browser import MADE, RHO, SIGMA

TASK = {"omega": MADE.omega, "A": MADE.matrix}
DESCENDED = """job => [...attentionTraining(explorerData).descents(
    {...job, starts: job.starts.map(Q => new Float64Array(Q))})]"""


class Sentences:
    """Training sentences from the browser, with the risk as in Eq. 3 and without any reduction."""

    def __init__(self, page, count, d, seed):
        drawn = page.evaluate(case_text("sampled.js"), [TASK, count, d, seed])
        parts = (*drawn.values(), [[1], [-1]])
        self.teacher, inputs, places = (torch.tensor(part, dtype=torch.float64) for part in parts)
        self.d, self.xi = d, (inputs.reshape(count, 2, d) * d**0.5 - places / d**0.5).transpose(0, 1)
        self.y = self.xi @ self.teacher / d**0.5

    def slope(self, Q, count=None):
        Q = torch.as_tensor(Q, dtype=torch.float64).requires_grad_()
        value = risk(MADE, self.xi[:, :count], self.y[:, :count], Q[None])
        value.backward()
        return value.item(), Q.grad.numpy()

    def overlaps(self, Q):
        named = {"q": RHO * Q @ Q, "m": Q.sum(), "theta": RHO * Q @ self.teacher.numpy()}
        named |= {"rho": RHO * self.teacher @ self.teacher, "m_teacher": self.teacher.sum()}
        return {name: float(value) / self.d for name, value in named.items()}


def test_sentences_are_drawn_as_the_model_has_them(page):
    numbers = page.evaluate("() => Array.from({length: 20001}, attentionTraining(explorerData).normals(11))")
    assert stats.kstest(numbers, "norm").pvalue > 0.01
    assert abs(np.corrcoef(*np.transpose([*pairwise(numbers)]))[0, 1]) < 0.02 and len(set(numbers)) == 20001
    data = Sentences(page, 300, 40, 3)
    assert stats.kstest(data.xi.numpy().ravel() / SIGMA, "norm").pvalue > 0.01
    assert stats.kstest(data.teacher.numpy(), "norm").pvalue > 0.01


def test_the_risk_and_its_gradient_are_those_of_the_definition(page):
    data, weights = Sentences(page, 50, 30, 4), np.random.default_rng(2).standard_normal(30)
    value, gradient = page.evaluate(case_text("risk.js"), [TASK, 50, 30, 4, weights.tolist()])
    expected, slope = data.slope(weights)
    assert value == pytest.approx(expected, rel=1e-12)
    assert gradient == pytest.approx(slope, abs=1e-12)


def test_students_end_in_the_minima_of_the_risk(page):
    """For students that start in a valley, SciPy finds the same minimum, and the library the same test error."""
    d, cells = 40, [{"alpha": 1.6, "seed": 5}, {"alpha": 3.1, "seed": 6}]
    job = {"task": TASK, "d": d, "cells": cells}
    rows = page.evaluate("job => [...attentionTraining(explorerData).students(job)]", job)
    assert [row["start"] for row in rows] == ["semantic", "positional", "random"] * 2
    other = {"omega": 0.5, "A": Task(matrix="alternative").matrix}  # a task without a valley in the theory
    ends = page.evaluate("job => [...attentionTraining(explorerData).students(job)]", job | {"task": other})
    assert {row["valley"] for row in ends} == {"zero"}
    for row in rows:
        data = Sentences(page, round(row["alpha"] * d), d, row["seed"])
        rho = data.overlaps(data.teacher.numpy())["rho"]
        assert row["converged"] and max(row["theta"], row["m"]) > 0
        if row["start"] == "random":  # another method may end in the other valley
            continue
        assert (row["valley"] == "semantic") == (abs(row["theta"]) / rho**0.5 > SIGMA * abs(row["m"]))
        start = {"semantic": data.teacher.numpy(), "positional": np.full(d, d**-0.5)}[row["start"]]
        options = {"gtol": 1e-9, "ftol": 0, "maxiter": 5000}
        found = minimize(data.slope, start, jac=True, method="L-BFGS-B", options=options)
        of = data.overlaps(found.x)
        assert row["train_loss"] == pytest.approx(found.fun / d, rel=1e-5)
        sign = np.sign(of[OWN_OVERLAP[row["valley"]]]) / RHO
        assert (row["theta"], row["m"]) == pytest.approx((sign * of["theta"], sign * of["m"]), abs=2e-3)
        expected = prediction_error.test_error(MADE, of, d)
        assert row["test_mse"] == pytest.approx(expected.value, rel=5e-3, abs=4 * expected.error)


def test_the_plane_and_descents_on_it_are_those_of_the_risk(page):
    d, alphas, shares, seeds = 30, [0.9, 2.2], [-0.2, 0.6, 1.0], [4, 9]
    job = {"task": TASK, "d": d, "alphas": alphas, "shares": shares, "seeds": seeds}
    planes = page.evaluate("""job => [...attentionTraining(explorerData).planes(job)].map(({weights, ...rest}) =>
        ({...rest, weights: weights.map(Q => [...Q])}))""", job)  # fmt: skip
    assert [plane["alpha"] for plane in planes] == [0.9, 0.9, 2.2, 2.2]
    data = [Sentences(page, round(2.2 * d), d, seed) for seed in seeds]
    for k, plane in enumerate(planes):
        sentences, count = data[k % 2], round(plane["alpha"] * d)
        p, s = map(np.array, plane["weights"])
        expected = [sentences.slope(a * p + b * s, count)[0] / d for b in shares for a in shares]
        assert plane["losses"] == pytest.approx(expected, rel=1e-9)
        for Q, minimum in zip((p, s), plane["minima"], strict=True):
            of, (value, slope) = sentences.overlaps(Q), sentences.slope(Q, count)
            assert np.linalg.norm(slope) < 2e-4
            expected = {"m": of["m"] / RHO, "theta": of["theta"] / RHO, "loss": value / d}
            assert minimum == pytest.approx(expected, rel=1e-9)
    starts = [np.array(plane["weights"]).mean(0).tolist() for plane in planes[2:]]
    job |= {"largest": 2.2, "alpha": 0.9, "starts": starts, "rate": 0.7, "every": 4}
    points = page.evaluate(DESCENDED, job)
    for k, sentences in enumerate(data):
        Q, path = np.array(starts[k]), []
        for step in range(3001):
            value, slope = sentences.slope(Q, 27)
            ends, of = np.linalg.norm(slope) <= 1e-3, sentences.overlaps(Q)
            if step % 4 == 0 or ends:
                path.append([of["m"] / RHO, of["theta"] / RHO, value / d])
            if ends:
                break
            Q = Q - 0.7 * slope
        told = [[point[name] for name in ("m", "theta", "loss")] for point in points if point["k"] == k]
        assert np.array(told) == pytest.approx(np.array(path), rel=1e-6, abs=1e-9) and len(path) > 5


def test_balls_arrive_in_valleys_as_the_page_of_figure_15_counts(page, data):
    """The cosines are random, and some are minima on the border between the valleys."""
    rng, rows, asked = np.random.default_rng(31), [], []
    for k in range(400):
        centres = np.sort(rng.uniform(0, 1, (2, 2)), 1) if k % 3 else rng.uniform(0, 1, (2, 2))
        # Cosines with the teacher and with the positions.
        minima = {"semantic": centres[0, ::-1], "positional": centres[1]}
        ball, slope = minima[rng.choice([*minima])] + rng.uniform(-0.25, 0.25, 2), 10 ** rng.uniform(-4, -2.5)
        given = [("random", abs(ball), slope), *((name, both, 0.0) for name, both in minima.items())]
        for start, (s, p), grad in given:
            rows.append({"start": start, "optimizer": "lbfgs", "alpha": k, "d": 9, "seed": 0, "q": 1.0})
            rows[-1] |= {"theta": s * SIGMA, "m": p / SIGMA, "grad_norm": grad}
        named = {name: dict(zip(OWN_OVERLAP, both.tolist())) for name, both in minima.items()}
        asked.append([dict(zip(OWN_OVERLAP, abs(ball).tolist())), named, slope])
    told = page.evaluate("all => all.map(one => attentionTraining(explorerData).valley(...one))", asked)
    assert list(OWN_OVERLAP) == ["semantic", "positional"]
    assert told == classify(pd.DataFrame(rows), SIGMA)["basin"].tolist() and min(Counter(told).values()) > 50
    assert len(Counter(told)) == 4


def test_the_same_seeds_roll_into_the_same_valleys(page):
    job = {"task": TASK, "d": 30, "alpha": 2.1, "every": 5}
    balls = "job => [...attentionTraining(explorerData).rolls(job)]"
    rolled, again, other = (page.evaluate(balls, job | {"rate": 1, "seeds": pair}) for pair in ([3, 4], [3, 4], [4, 3]))
    ends = {point["k"]: point for point in rolled if "valley" in point}
    assert rolled == again and rolled != other and [*sorted(ends)] == [0, 1]
    assert ends == {1 - point["k"]: point | {"k": 1 - point["k"]} for point in other if "valley" in point}
    # Without a rate the page uses L-BFGS, and balls end where students with the same start weights end.
    ends = [point for point in page.evaluate(balls, job | {"seeds": [3, 4]}) if "valley" in point]
    cells = [{"alpha": job["alpha"], "seed": seed} for seed in (3, 4)]
    trained = page.evaluate("job => [...attentionTraining(explorerData).students(job)]", job | {"cells": cells})
    losses = [student["train_loss"] for student in trained if student["start"] == "random"]
    assert sorted(point["loss"] for point in ends) == pytest.approx(sorted(losses), rel=1e-9)
