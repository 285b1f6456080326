"""Parameters far from the published ones: every solution is finite and on its branch, or there is a reason why not."""

from itertools import product

import limits
import numpy as np
import pandas as pd
import pytest

from attention_book.paths import ROOT
from attention_phases import BadInput, Task, message_passing, solve, train
from attention_phases.errors import ResultError
from attention_phases.model.sentences import draw
from attention_phases.quadrature import gaussian_points
from attention_phases.theory.baseline import divergence_omega


@pytest.mark.slow
@pytest.mark.parametrize(("name", "branch"), [*product(limits.TASKS, limits.BRANCHES)])
def test_no_wrong_branch_and_no_nan_without_a_flag(name, branch):
    outcomes = [limits.outcome(Task(**limits.TASKS[name]), alpha, branch, 64) for alpha in limits.ALPHAS]
    assert outcomes[0] == "none"  # nothing can be learnt from 1e-3 sentences per dimension


def shown():
    """Return the table of the page, by "task, branch"."""
    return pd.read_csv(limits.TABLE, index_col="task and branch")


@pytest.mark.slow
@pytest.mark.parametrize(("task", "branch"), [*product(limits.TASKS, limits.BRANCHES)][::5])
def test_the_page_shows_what_comes_out(task, branch):
    """Only every fifth row is computed, for both branches, because each takes some seconds."""
    row = shown().loc[f"{task}, {branch}"]
    if row["α = 10"] != "unsettled":  # rounding may decide these
        assert limits.settled_outcome(Task(**limits.TASKS[task]), 10.0, branch) == row["α = 10"]


@pytest.mark.slow
def test_what_is_covered_is_what_the_code_accepts():
    table = limits.covered()
    assert table.to_csv(index=False) == limits.COVERED.read_text(encoding="utf-8")
    answers = table.set_index("feature").T.to_dict("list")
    assert answers["noise on the labels"] == ["no"] * 3 and answers["spectrum, the same for all tokens"] == ["yes"] * 3
    with pytest.raises(BadInput, match=r'the page "Limits" lists what is covered$'):
        message_passing(Task(teachers=(1.0, 1.0)), 1.0, 12)


def test_what_the_page_says_of_its_table():
    table = shown()
    assert [*table.index] == [*map(", ".join, product(limits.TASKS, limits.BRANCHES))]
    assert (table["α = 0.001"] == "none").all()
    assert table.loc["ω = 0, positional", "α = 100"] == "saddle"
    assert (table.filter(like="A = (−1, 2; 2, −1)", axis="index") == "none").all(axis=None)


def test_a_vanishing_penalty_is_a_limit_and_endless_data_no_solution():
    tiny, small = (solve(Task(lam=lam), 2.0, "semantic", 256, 4) for lam in (1e-300, 1e-12))
    values = [(found.overlaps.q, found.overlaps.theta, found.train_loss) for found in (tiny, small)]
    assert values[0] == pytest.approx(values[1], rel=1e-8)
    assert solve(Task(), 1e300, "semantic", 256, 4).reason


def test_an_end_that_rounding_hides_is_not_known():
    with pytest.raises(ResultError, match=r"^no omega\* of the critical threshold at sigma = 1e-09: "):
        divergence_omega(Task(sigma=1e-9), "critical")


def test_what_does_not_fit_into_the_memory_is_refused_before_it_is_asked_for(monkeypatch):
    resource = pytest.importorskip("resource")  # Windows has no `resource`
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (10**6, 10**6))  # the limit that `ulimit -v` sets
    rng = np.random.default_rng(0)
    assert len(draw(Task(), 1.0, 200, rng)) == 3  # 3 copies of 2 x 200 x 200 numbers of 4 bytes are 960,000 bytes
    with pytest.raises(BadInput, match=r"^d = 210 needs at least 0.0011 GB of memory; 0.001 GB are"):
        draw(Task(), 1.0, 210, rng)
    with pytest.raises(BadInput) as refused:
        train(Task(), 1.0, 300000)
    assert str(refused.value).split("; ")[0] in (ROOT / "book/limits.md").read_text(encoding="utf-8")
    with pytest.raises(BadInput, match=r"^points = 2048 needs at least "):
        gaussian_points(2048, 17)  # a size that no other test uses, so that it is not in the cache
