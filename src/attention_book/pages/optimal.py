"""The optimal learner beside the paper's students, and students to whom the positional part is given."""

import numpy as np
import pandas as pd

from attention_phases.theory.optimal import optimal, thresholds_of_learning

from ..analysis.instances import as_frame, with_errors
from ..analysis.thresholds import borders_of, is_minimum
from ..render.style import (
    ALPHA,
    BASELINE,
    COLOURS,
    NEUTRAL,
    SEMANTIC,
    TEST_ERROR,
    draw_line,
    draw_means,
    panels,
    scientific,
    styled,
)

EXACT = 1e-6  # distance of the squared cosine from one at which the teacher is recovered
SAME = 1e-6  # relative difference of two training losses below which students are in the same minimum
OPEN_MARKERS = {"semantic": "o", "random": "x"}  # of students by start


def optimal_line(task, alphas):
    """Of the optimal learner over alpha: `squared_cosine` with the teacher and `test_mse`, with errors."""
    learners = {alpha: optimal(task, alpha) for alpha in alphas}
    rows = {alpha: {"squared_cosine": some.q, "test_mse": some.test_mse} for alpha, some in learners.items()}
    return as_frame(rows, "alpha")


def with_cosines(rows):
    """The same rows and `squared_cosine` of the weights with the teacher, whose length is that at infinite d."""
    squared_cosine = rows["theta"] ** 2 / (rows["sigma"] ** 2 * rows["q"])
    return rows.assign(squared_cosine=squared_cosine, squared_cosine_error=0.0)  # is not known, and small


def minima(lines, omega, share=1.0):
    """Rows of theory of both minima over alpha, by branch, with `squared_cosine`; test errors times `share`."""
    borders, rows = borders_of(lines), with_cosines(lines)
    rows[["test_mse", "test_mse_error"]] *= share
    kept = {
        branch: rows[(rows["what"] == branch) & is_minimum(borders, branch, omega, rows["alpha"])] for branch in COLOURS
    }
    return {branch: some.set_index("alpha").sort_index() for branch, some in kept.items()}


def recovered(table, task):
    """Over alpha the squared cosine of theory and of message passing, and how many of the `runs` find the teacher."""
    recovered = table["squared_cosine"] > 1 - EXACT
    rows = table.assign(recovered=recovered, squared_cosine=table["squared_cosine"].mask(recovered, 1.0))
    runs = rows.groupby("alpha")
    summary = with_errors(runs[["squared_cosine"]]).assign(recovered=runs["recovered"].sum(), runs=runs.size())
    summary.insert(0, "optimal", [optimal(task, alpha).q.value for alpha in summary.index])
    return summary.reset_index()


def ends(table):
    """Over alpha and the optimiser: mean squared cosines of students from the teacher and from random weights.

    And in how many of the `runs` the random start ends in the same minimum (`random_same`), and in a lower one
    (`random_lower`).
    """
    runs = with_cosines(table).set_index(["alpha", "optimizer", "seed", "start"])
    rows = runs[["squared_cosine", "train_loss"]].unstack()
    above = rows["train_loss", "random"] / rows["train_loss", "semantic"] - 1
    pairs = pd.DataFrame(
        {
            "from_teacher": rows["squared_cosine", "semantic"],
            "from_random": rows["squared_cosine", "random"],
            "random_same": above.abs() < SAME,
            "random_lower": above <= -SAME,
        }
    ).groupby(["alpha", "optimizer"])
    summary = with_errors(pairs[["from_teacher", "from_random"]])
    counts = pairs[["random_same", "random_lower"]].sum()
    return summary.join(counts).assign(runs=pairs.size()).reset_index()


def by_penalty(lines, omega):
    """Theory of students to whom omega A is given, over their penalty `lam` and alpha.

    `squared_cosine` of the semantic solution, its error as if those of theta and q were independent; `over_teacher`,
    its training loss over the penalty of the teacher, who has no other loss; and `other_over_teacher`, that of the
    lower one of the positional and the symmetric solution, where one is known.

    lines: the experiment "penalty_theory", of tasks without positions that have the same minima.
    """
    rows = with_cosines(lines).assign(lam=lines["lam"] * (1 - omega) ** 2)
    rows["over_teacher"] = 2 * rows["train_loss"] / lines["lam"]
    relative = np.hypot(2 * rows["theta_error"] / rows["theta"], rows["q_error"] / rows["q"])
    rows["squared_cosine_error"] = rows["squared_cosine"] * relative
    cells = ["lam", "alpha"]
    others = rows[rows["what"].isin(["positional", "symmetric"])].groupby(cells)["over_teacher"].min()
    columns = ["squared_cosine", "squared_cosine_error", "over_teacher"]
    semantic = rows[rows["what"] == "semantic"].set_index(cells)[columns]
    return semantic.join(others.rename("other_over_teacher")).sort_index(ascending=[False, True]).reset_index()


@styled
def draw_learners(best, passing, published, given, students, baseline):
    """Test error, and squared cosine with the teacher, over alpha.

    best: `optimal_line`.
    passing: the experiment "recovery".
    published, given: `minima` of both kinds of students.
    students: the experiment "positions_given", by one optimiser.
    baseline: test error of the linear model.
    """
    figure, (errors, cosines) = panels(2, 4.0, sharex=True)
    errors.axhline(baseline, color=BASELINE, label="linear model, all data")
    for axes, name in ((errors, "test_mse"), (cosines, "squared_cosine")):
        draw_line(axes, best, name, NEUTRAL, label="optimal learner")
        means = with_errors(passing.groupby("alpha")[[name]])
        draw_means(axes, means, name, NEUTRAL, marker="s", label="message passing on data")
        for branch, rows in published.items():
            draw_line(axes, rows, name, COLOURS[branch], label=f"{branch} minimum")
        draw_line(axes, given["semantic"], name, SEMANTIC, "--", "semantic minimum, positions given")
        for start, rows in with_cosines(students).groupby("start"):
            label = f"trained from {'the teacher' if start == 'semantic' else 'random weights'}, positions given"
            means = with_errors(rows.groupby("alpha")[[name]])
            draw_means(axes, means, name, SEMANTIC, marker=OPEN_MARKERS[start], fillstyle="none", label=label)
    for threshold in thresholds_of_learning():
        for axes in (errors, cosines):
            axes.axvline(threshold, color=NEUTRAL, linewidth=1, linestyle=":")
    errors.set(ylabel=TEST_ERROR, ylim=(-1e-4, 2 * baseline))
    scientific(errors)
    cosines.set(ylabel="squared cosine", xlabel=ALPHA, xlim=(0, 2), ylim=(-0.02, 1.02))
    handles, labels = errors.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=1, fontsize=11)
    return figure
