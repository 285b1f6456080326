"""Claims of the landing page about losses and results, tested with the stored theory and students."""

import numpy as np
import pandas as pd
import pytest
from explorer import EXPERIMENTS
from pages import Page
from scipy.special import expit

from attention_book import classify, crossing_limits, curve, read
from attention_phases import Task, solve
from attention_phases.theory.branches import OWN_OVERLAP
from attention_phases.theory.equations import teacher_fit
from attention_phases.theory.kernels.two_tokens import search
from claims import stored


@pytest.mark.slow
def test_misfits_and_bending_are_those_of_sentences_and_decide_for_the_semantic_student():
    """For sampled sentences: the misfit at the proximal point and at the cavity fields, and the way between them."""
    line = pd.DataFrame([{"what": "critical", "alpha": 1.25, "alpha_error": 0.0}])
    accounts = Page("landing", read=lambda *_: line, points=2**9).accounts.loc[1.25]
    task, variance, rng = Task(), Task.sigma**2, np.random.default_rng(5)
    for branch in OWN_OVERLAP:
        q, m, theta, V = solve(task, 1.25, branch, 2**9).overlaps
        y = task.sigma * rng.standard_normal((2000, 2))
        noise = np.sqrt(max(q - theta**2 / variance, 0)) * rng.standard_normal(y.shape)
        before = theta / variance * y + m * np.array([1, -1]) + noise
        targets = teacher_fit(task, y.T).T
        after = np.array([search(*w, *target, V=V, variance=variance)[0][:2] for w, target in zip(before, targets)])
        missed = [((expit(h * (h - h[:, ::-1])) - targets) ** 2).sum(1) * variance for h in (after, before)]
        drawn = dict(zip(("misfit", "unseen"), missed)) | {"bending": ((after - before) ** 2).sum(1) / (2 * V)}
        paid = accounts.loc[branch]
        for name, values in drawn.items():
            assert abs(values.mean() - paid[name]) < 4 * values.std() / len(values) ** 0.5, name
        assert paid["loss"] == pytest.approx(paid["ridge"] + 1.25 * paid["misfit"])
    semantic, positional = accounts.loc["semantic"], accounts.loc["positional"]
    assert semantic["ridge"] > max(positional["ridge"], 1.25 * semantic["misfit"])
    assert (semantic < positional)[["misfit", "bending"]].all()
    assert semantic["unseen"] - semantic["misfit"] < positional["unseen"] - positional["misfit"]


def test_what_the_results_and_claims_say_of_theory_and_students_holds():
    """For the standard student and untied weights, alpha_l is larger than alpha_c wherever both are known."""
    standard, alternative, variants = (read(name, "paper") for name in (*EXPERIMENTS.values(), "fig14_theory"))
    for lines in (standard, alternative, variants[variants["form"] == "untied"]):
        both = lines[lines["what"].isin(("critical", "linear"))].pivot(index="omega", columns="what", values="alpha")
        assert (both["critical"] < both["linear"]).loc[both.notna().all(axis=1)].all()
    assert set(variants.loc[variants["form"] == "rank2", "what"]) & {"critical"} == set()
    claims = stored("landing", points=2**7).claims
    assert claims == {"crosses_to": 0.63, "alternative_crosses_to": 0.06, "linear_first_to": 0.38}
    _, limits = crossing_limits(read("crossing", "paper"))
    critical, linear = (curve(standard, kind)["alpha"] for kind in ("critical", "linear"))
    earlier = 1 - limits["alpha"] / critical.reindex(limits.index)
    assert len(earlier) == 3 and earlier.between(0, 0.07).all()
    assert (limits["alpha"] + 3 * limits["alpha_error"] < linear.reindex(limits.index)).all()  # results 1 and 5
    runs = classify(read("fig15_fractions", "paper"), Task().sigma).query("d == 1000 and alpha == 4")
    semantic = (runs["basin"] == "semantic").groupby(runs["optimizer"], observed=True).mean()
    assert semantic["gd"] < 0.1 and semantic["gd"] < semantic["adam"] < semantic["lbfgs"]  # result 2
