"""Claims of the page `staying` about the stored results."""

from functools import cache

import numpy as np

from attention_phases import Task, solve
from attention_phases.amp.stability import gain_without_jumps
from claims import each_holds, stored

page = stored("staying")


def stay(way, query):
    """Return the share of the students of a way down that end on the positional side, at omega = 0.1."""
    rows = page.starts.query("omega == 0.1 and optimizer == @way").query(query)
    return 1 - rows["semantic_side"].mean()


def share_that_left(step):
    """Return the share of small students that left after a number of steps, at omega = 0.1 from alpha = 2.3 on."""
    rows = page.table.query("what == 'descent' and omega == 0.1")
    return rows[(rows["step"] == step) & (rows["alpha"] >= 2.3)].groupby(["alpha", "d"])["semantic_side"].mean()


def displaced_ends():
    """Return the outcomes of the longest push beyond the border, summed over alpha, by direction."""
    return page.outcomes.query("alpha > 1.1").groupby("what").sum()


@cache
def gains_of_positions(omega, alpha):
    """Return the gain of a small overlap with the teacher, with and without jumps."""
    solution = solve(Task(omega=omega), alpha, "positional", 512)
    return solution.gain, gain_without_jumps(Task(omega=omega), alpha, solution.overlaps, 512).value


CLAIMS = {
    r"None of these Hessians has a negative eigenvalue": lambda: (
        min(rows["softest"].min() for rows in (page.ends, page.semantic_starts)) > 0
    ),
    r"most students that start on the positional encoding and are trained with L-BFGS remain in the": lambda: (
        stay("L-BFGS from the encoding", "1.1 < alpha < 2.4") > 0.5
    ),
    r"Beyond this border, up to $\alpha=1.8$, most students that start on the encoding remain positional. Most "
    r"students that gradient descent trains from random weights also end on the positional side": lambda: (
        stay("L-BFGS from the encoding", "1.1 < alpha < 2") > 0.5
        and stay("gradient descent from random weights", "1.1 < alpha < 2") > 0.5
    ),
    r"most students that L-BFGS trains from random weights end on the semantic side": lambda: (
        stay("L-BFGS from random weights", "alpha > 1.1") < 0.5
    ),
    r"At $\alpha=3$ most students end on the semantic side in all three cases": lambda: (
        page.starts.query("omega == 0.1 and alpha == 3").groupby("optimizer")["semantic_side"].mean().gt(0.5).all()
    ),
    r"$d\ge500$, all students that start on the encoding remain positional up to $\alpha=2.3$": lambda: (
        stay("L-BFGS from the encoding", "d >= 500 and alpha < 2.4") == 1
    ),
    r"the softest directions of the loss turn towards the teacher, and fewer students remain positional": lambda: (
        page.positional_ends.query("omega == 0.1")
        .groupby("alpha")["alignment"]
        .mean()
        .iloc[[0, 2, 4]]
        .is_monotonic_increasing
        and page.ends.query("omega == 0.1").groupby("alpha")["semantic_side"].mean().is_monotonic_increasing
    ),
    r"The gain without jumps is near 0 in theory": lambda: all(
        abs(gains_of_positions(0.1, a)[1]) < 0.2 for a in (0.5, 1.1)
    ),
    r"the Hessian of trained students gives a gain near 0, too": lambda: (
        abs(page.positional_ends.query("omega == 0.1 and alpha < 1.1 and d == 500")["gain"].mean()) < 0.1
    ),
    r"At $\omega=0.3$ jumps matter little from $\alpha=4$ on": lambda: (
        abs(np.diff(gains_of_positions(0.3, 4.0))).item() < 0.1
    ),
    r"at an $\alpha$ between 14 and 25": lambda: (
        gains_of_positions(0.3, 14.0)[1] < 1 < gains_of_positions(0.3, 25.0)[1]
    ),
    r"Most students that leave the valley with gradient descent need more than 1,000 steps": lambda: (
        share_that_left(1000).mean() < 0.5 * share_that_left(10_000).mean()
    ),
    r"So the longer push towards the teacher leads more than half of these students to a lower minimum": lambda: (
        displaced_ends().loc["toward", "lower_loss"] > displaced_ends().loc["toward", "students"] / 2
        and displaced_ends().loc["toward", "lower_loss"] > 5 * displaced_ends().loc["aside", "lower_loss"]
    ),
    r"At $\omega=0.1$ and up to $\alpha=1.8$ it falls like $d^{-p}$": lambda: all(
        rows.iloc[-1] < rows.iloc[0]
        for _, rows in page.positional_ends.query("omega == 0.1")
        .groupby(["alpha", "d"])["softest"]
        .mean()
        .groupby("alpha")
    ),
}
test_claims = each_holds("staying", CLAIMS)
