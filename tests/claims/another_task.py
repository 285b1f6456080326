"""Claims of the page `another_task` about the stored results."""

import numpy as np
import pytest
from scipy import stats

from attention_phases import Task
from attention_phases.training.trials import TEST_SENTENCES
from claims import each_holds, load, stored

pytestmark = pytest.mark.slow  # all cells of this page solve the theory
page = stored("another_task", points=512)


def limit_errors(name):
    """Return the errors in theory on tests with another value of `name`, by value and student."""
    compared = page.comparison.loc[(0.3, 1.4, name), "limit"]
    return compared.unstack("start")


def error_at_large_sigma(student):
    """Return the error of the theory on a test task with sigma = 4."""
    test_task = page.changed_task(Task(), "sigma", 4.0)
    return page.predict(Task(), page.solutions[page.TRAINED_AT], student, test_task).value


def squared_differences():
    """Return chi^2 of the test errors on other tasks compared with theory, by student."""
    return (page.comparison["sigma_off"] ** 2).groupby("start").sum()


CLAIMS = {
    r"We draw twelve data sets for each test task. No data set is used for two test tasks": lambda: (
        set(load("another_task").groupby(["alpha", "tested"], observed=True)["seed"].nunique()) == {12}
        and not load("another_task").duplicated(["alpha", "seed", "start"]).any()
    ),
    r"measured on 4,000 sentences": lambda: TEST_SENTENCES == 4000,
    r"At this $\omega$ the linear model predicts better than both students": lambda: (
        limit_errors("omega").loc[0.6:0.8].idxmin(axis=1).eq("linear").all()
        and 0.6 < page.crossings.loc[(0.3, 1.4), "positional_omega"] < 0.8
    ),
    r"At $A_{11}=0.4$ the positional part of the target makes each token attend more to the other token than to "
    r"itself. So a student that has learnt the original $A$ makes larger errors than on the training task. The "
    r"semantic student has hardly learnt $A$": lambda: (
        (turned := limit_errors("matrix").loc[0.4] / limit_errors("omega").loc[0.3])["linear"] > 1.5
        and turned["positional"] > 1.05
        and turned["semantic"] < 1
    ),
    r"so for large tokens, up to $\sigma=$ {glue:text}`sigma_largest`, this student predicts better than the "
    r"positional student and the linear model": lambda: (
        limit_errors("sigma").loc[0.7:].idxmin(axis=1).eq("semantic").all()
    ),
    r"(At $\sigma=4$ the linear model predicts better again.)": lambda: (
        error_at_large_sigma("linear") < error_at_large_sigma("semantic")
    ),
    r"So the positional students do differ from theory": lambda: (
        stats.chi2.sf(squared_differences()["positional"], 22) < 1e-3
        and stats.chi2.sf(squared_differences()["linear"], 22) > 0.05
    ),
    r"the test error of the positional student is smallest close to the strength of the training task": lambda: (
        limit_errors("encoding")["positional"].min() > limit_errors("omega").loc[0.3, "positional"]
    ),
    r"If $\omega$ is lower by 0.1 in the test than in training, the semantic student predicts better": lambda: (
        page.crossings.loc[(0.3, 1.25), "linear_omega"] > 0.2
    ),
    r"With more training data, a smaller change of $\omega$ is sufficient": lambda: (
        page.crossings.loc[0.55]["linear_omega"].is_monotonic_increasing
    ),
}
test_claims = each_holds("another_task", CLAIMS)


def test_theory_and_students_agree_on_every_task():
    """With twelve students per point and the shift of each kind at finite d, the differences are standard normal."""
    compared = page.comparison.drop("linear", level="start")
    error = np.hypot(compared["tested_mse_error"], compared["theory_error"]) / compared["theory"]
    weight, above = error**-2, compared["tested_mse"] / compared["theory"] - 1
    share = (weight * above).groupby("start").sum() / weight.groupby("start").sum()
    share = share.reindex(above.index, level="start")
    assert len(above) == 44 and share.abs().max() < 0.02
    off = stats.norm.isf(stats.t.sf(((above - share) / error).abs(), 10))
    assert abs(off).max() < 3 and (off**2).mean() ** 0.5 < 1.3
    # Points at which the error of the theory is large.
    assert (compared["theory_error"] / compared["tested_mse_error"]).median() < 0.5
    changed = compared.xs("semantic", level="start")["theory"]
    assert changed.max() > 5 * changed.min()  # the theory predicts a change
