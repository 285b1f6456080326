"""Figure 8: other teachers, tokens and penalties, one parameter changed at a time."""

import matplotlib as mpl
import numpy as np

from attention_phases.task import Task
from attention_phases.theory.branches import MINIMA

from ..analysis.instances import GAPS, instance_means, test_gap
from ..analysis.thresholds import crossings, curve, side_by_side
from ..render.maps import CURVES
from ..render.style import ALPHA, BASELINE, COLOURS, TEST_ERROR, draw_line, draw_means, logarithmic, panels, styled

TASK = ["omega", "sigma", "lam"]
PARAMETERS = {"omega": r"$\omega$", "sigma": r"$\sigma$", "lam": r"$\lambda$"}
LOOKS = [(0.5, "o", "-"), (0.75, "s", "--"), (1.0, "^", ":")]  # shade, marker and line style of the three values


def thresholds_by_task(table, lines, rng):
    """Both thresholds of theory ("fig08_theory") for every task, and `trained`, alpha_l of students, with errors."""
    columns = {kind: curve(lines, kind, along=TASK) for kind in GAPS}
    columns["trained"] = crossings(table, test_gap, rng, along=TASK)
    return side_by_side(columns, lines.groupby(TASK).size().index).reset_index()


def best_errors(lines):
    """The least test error over lambda with its error, and that `lam`, by branch and alpha, of the rows of "ridge"."""
    rows = lines[lines["what"].isin(MINIMA)].dropna(subset="test_mse").reset_index()
    best = rows.loc[rows.groupby(["what", "alpha"])["test_mse"].idxmin()]
    return best.set_index(["what", "alpha"])[["test_mse", "test_mse_error", "lam"]].sort_index()


def changed(table, lines, values):
    """For each parameter a list of (value, means, theory by branch, test error of the linear model).

    table, lines: students by one optimiser, and theory, of all tasks.
    values: by parameter, the others being those of `Task()`.
    """
    return {name: [(value, *_one_task(table, lines, {name: value})) for value in some] for name, some in values.items()}


def _one_task(table, lines, parameters):
    task = vars(Task(**parameters))
    students, theory = (
        rows[np.all([rows[name] == task[name] for name in TASK], axis=0)].dropna(axis=1, how="all")
        for rows in (table, lines)
    )
    branches = {branch: theory[theory["what"] == branch] for branch in MINIMA}
    return instance_means(students), branches, theory["test_mse"].iloc[0]


@styled
def draw_test_errors(changes):
    """Figure 8: test error of both minima over alpha, for three values each of three parameters, from `changed`."""
    figure, rows = panels(len(changes), 4.4, sharex=True)
    for axes, (name, values) in zip(rows, changes.items()):
        lowest = min(means["test_mse"].min() for _, means, _, _ in values)
        for (value, means, branches, baseline), (shade, marker, style) in zip(values, LOOKS):
            label = f"{PARAMETERS[name]} = {value:g}"
            for branch, colour in COLOURS.items():
                faded = tuple(shade * part + (1 - shade) for part in mpl.colors.to_rgb(colour))
                which = f"_{branch}, {label}"
                draw_means(axes, means.loc[branch], "test_mse", faded, marker, label=f"{which}, students")
                draw_line(axes, branches[branch].set_index("alpha"), "test_mse", faded, style, f"{which}, theory")
            _draw_baseline(axes, baseline, lowest, label, style)
            axes.plot([], [], marker + style, color=str(1 - shade), label=label)
        axes.set(yscale="log", ylabel=TEST_ERROR)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    rows[-1].set_xlabel(ALPHA)
    return figure


def _draw_baseline(axes, baseline, lowest, label, style):
    """The test error of the linear model; in words where its line would leave half of the panel empty."""
    if baseline > lowest / 2:
        axes.axhline(baseline, color=BASELINE, linestyle=style, linewidth=1, label=f"_linear model, {label}")
    else:
        below = f"linear model, below:\n{1e3 * baseline:.2f}" + r"$\cdot10^{-3}$ at " + label
        axes.text(0.02, 0.03, below, color=BASELINE, transform=axes.transAxes, fontsize=12)


@styled
def draw_ridge(lines, trained, best, usual, optimal, baseline):
    """Both thresholds over lambda; and test errors over alpha, at lambda = 0.01 and at the best lambda.

    lines, trained: the experiment "ridge", and thresholds of students over lambda by kind.
    best, usual: `best_errors` of all lambda, and of 0.01 alone.
    optimal, baseline: test errors of the optimal learner, `Measured` by alpha, and of the linear model.
    """
    figure, (above, below) = panels(2, 4.4)
    for kind, students in trained.items():
        label, colour, _ = CURVES[kind]
        draw_line(above, curve(lines, kind, along="lam"), "alpha", colour, ".-", f"{label}, theory")
        look = {"markerfacecolor": "white", "markersize": 7, "label": f"{label}, students"}
        draw_means(above, students, "alpha", colour, **look)
    above.set(xscale="log", xlabel=r"ridge penalty $\lambda$", ylabel=ALPHA)
    for branch, colour in COLOURS.items():
        draw_line(below, best.loc[branch], "test_mse", colour, "-", rf"{branch}, best $\lambda$")
        draw_line(below, usual.loc[branch], "test_mse", colour, ":", rf"{branch}, $\lambda=0.01$")
    below.axhline(baseline, color=BASELINE, linewidth=1, label="best linear model")
    below.plot(list(optimal), [error.value for error in optimal.values()], "k--", label="optimal learner")
    below.set(xlabel=ALPHA, ylabel=TEST_ERROR, xlim=(0, 3), ylim=(3e-4, 6e-3))
    for axes in (above, below):
        logarithmic(axes)
        axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1), ncols=2)
    return figure
