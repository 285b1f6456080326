"""Figure 2: a slice of the phase diagram. Both students over alpha at one omega, beside theory and the paper."""

from attention_phases.measured import Measured
from attention_phases.task import Task
from attention_phases.theory.branches import OWN
from attention_phases.theory.quadrature import SCRAMBLES

from .. import published
from ..analysis.instances import absolute_means
from ..published import Comparison, compare
from ..render.panels import draw_line, draw_means, draw_points, mark_threshold, slice_panels, styled
from ..render.style import BASELINE, COLOURS, NEUTRAL, OVERLAP_LABELS, POSITIONAL, SEMANTIC
from .phase_diagram import theory_comparison

# Why a published number of a solution differs, where not by quadrature (see tests/science/test_published_rule.py).
OF_SOLUTION = {"train_loss": "unknown", "test_mse": "unknown"}


def solutions_beside_published(task, solutions, thresholds):
    """Published thresholds, and order parameters at alpha = 2, beside ours, as from `published.compare`.

    Empty where the paper gives nothing for this task.

    solutions: the `theory.Solution` of each branch at alpha = 2.
    thresholds: `Measured` alpha of "critical" and "linear".
    """
    comparisons = []
    if task == Task(omega=task.omega):
        comparisons += [
            theory_comparison(kind, task.omega, alpha, SCRAMBLES)
            for kind, alpha in thresholds.items()
            if task.omega in published.THRESHOLDS[kind]
        ]
    if task == Task():
        for branch, solution in solutions.items():
            comparisons += _solution_comparisons(branch, solution)
    return compare(comparisons)


def _solution_comparisons(branch, solution):
    values = {**solution.overlaps._asdict(), "train_loss": solution.train_loss, "test_mse": solution.test_mse}
    for name, known in published.THEORY[branch].items():
        ours = Measured(values[name], solution.stderr[name])
        reason = OF_SOLUTION.get(name, "quadrature")
        yield Comparison(name, {"alpha": 2.0, "branch": branch}, known, ours, "theory", SCRAMBLES, reason)


def means_beside_published(task, table):
    """The published positional student beside ours, by gradient descent where there is one.

    As from `published.compare`; empty where the paper gives nothing for this task.
    """
    if task != Task():
        return compare([])
    optimizer = "gd" if "gd" in set(table["optimizer"]) else table["optimizer"].iloc[0]
    rows = table[(table["optimizer"] == optimizer) & (table["start"] == "positional")]
    means, count = absolute_means(rows, task.sigma).loc["positional"], int(rows["seed"].nunique())
    means.index = means.index.to_numpy().round(4)
    comparisons = []
    for alpha in sorted(published.EXPERIMENT.keys() & set(means.index)):
        where = {"alpha": alpha, "branch": "positional", "optimizer": optimizer}
        for name, known in published.EXPERIMENT[alpha].items():
            ours = Measured(*means.loc[alpha, [name, f"{name}_error"]])
            same = name != "linear_mse"
            reason = "instances" if same else "definition"
            comparisons.append(Comparison(name, where, known, ours, "students", count, reason, same))
    return compare(comparisons)


@styled
def draw_slice(theory, stable, means, gap, thresholds, baseline, sigma):
    """Figure 2, the paper's three panels above one another on one axis.

    theory: from `thresholds.branches`; the semantic solution is a minimum from alpha = `stable` on.
    means, gap: `instance_means` and `training_gap` of the students.
    thresholds: `Measured` alpha of "critical" and "linear".
    baseline: test error of the linear model.
    """
    critical, linear = thresholds["critical"], thresholds["linear"]
    figure, panels = slice_panels(3.4)
    losses, overlaps, errors = panels
    lower = _lower_start(means, gap)
    _draw_losses(losses, theory, stable, gap)
    _draw_overlaps(overlaps, theory, lower, critical.value, sigma**2)
    _draw_test_errors(errors, theory, lower, critical.value, baseline)
    for axes in panels:
        mark_threshold(axes, critical, r"$\alpha_c$", NEUTRAL, left=axes is losses)
    mark_threshold(errors, linear, r"$\alpha_l$", BASELINE)
    errors.set_xlim(0, None)
    return figure


def _lower_start(means, gap):
    """At each alpha the means of the start whose mean training loss is lower."""
    start = (gap.mean(axis=1) < 0).map({True: "semantic", False: "positional"})
    return means.loc[list(zip(start, start.index))].reset_index("start")


def _draw_losses(axes, theory, stable, students):
    axes.axhline(0, color="#bbbbbb", linewidth=1)
    semantic, symmetric = theory["gap"], theory["symmetric gap"]
    before = symmetric[symmetric.index <= semantic.index.min()]
    draw_line(axes, before, "train_loss", NEUTRAL, "--", r"$m=\theta=0$, a saddle")
    draw_line(axes, semantic[semantic.index <= stable], "train_loss", NEUTRAL, ":", r"$m=0$, a saddle")
    draw_line(axes, semantic[semantic.index >= stable], "train_loss", NEUTRAL, "-", "theory")
    draw_points(axes, students.index, students.mean(axis=1), students.sem(axis=1), NEUTRAL, label="trained students")
    axes.set_title("Difference of training losses")
    axes.text(0.98, 0.93, "positional wins", color=POSITIONAL, transform=axes.transAxes, ha="right")
    axes.text(0.98, 0.68, "semantic wins", color=SEMANTIC, transform=axes.transAxes, ha="right")
    axes.legend(loc="lower left")


def _draw_overlaps(axes, theory, lower, alpha_c, variance):
    for branch, colour in COLOURS.items():
        name, winner = OWN[branch], _where_lower(theory[branch], branch, alpha_c)
        draw_line(axes, winner, name, colour, label=OVERLAP_LABELS[branch], unit=variance)
        beyond = (0, alpha_c) if branch == "semantic" else (alpha_c, theory[branch].index.max())
        axes.plot(beyond, (0, 0), color=colour)
        for own, rows in lower.groupby(lower["start"] == branch):
            draw_means(axes, rows, name if own else f"{name}_rms", colour, unit=variance)
    axes.set_title("Overlaps of the solution with the lower loss")
    axes.legend(loc="center right", bbox_to_anchor=(1, 0.78))


def _draw_test_errors(axes, theory, lower, alpha_c, baseline):
    axes.axhline(baseline, color=BASELINE, linestyle=":", label="best linear model")
    for branch, colour in COLOURS.items():
        draw_line(axes, _where_lower(theory[branch], branch, alpha_c), "test_mse", colour, label=branch)
        draw_means(axes, lower[lower["start"] == branch], "test_mse", colour)
    axes.set(title="Test error of the solution with the lower loss", ylim=(0, None))
    axes.legend(loc="lower left")


def _where_lower(curve, branch, alpha_c):
    """The part of a branch on which its training loss is the lower one."""
    return curve[curve.index >= alpha_c] if branch == "semantic" else curve[curve.index <= alpha_c]
