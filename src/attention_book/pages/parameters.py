"""Figure 8: other teachers, tokens and penalties, one parameter changed at a time."""

import matplotlib as mpl
import numpy as np
import pandas as pd

from attention_phases.task import Task
from attention_phases.theory.branches import MINIMA

from ..analysis.instances import GAPS, instance_means, test_gap
from ..analysis.means import root_mean_squares, with_errors
from ..analysis.thresholds import crossings, shifts, side_by_side
from ..render.style import ALPHA, BASELINE, COLOURS, TEST_ERROR, draw_line, draw_means, panels, styled

TASK = ["omega", "sigma", "lam"]
SYMBOLS = {"omega": r"$\omega$", "sigma": r"$\sigma$", "lam": r"$\lambda$"}
LOOKS = [(0.5, "o", "-"), (0.75, "s", "--"), (1.0, "^", ":")]  # shade, marker and line style of the three values


def thresholds_by_task(table, lines, rng):
    """Both thresholds of every task, and the second one of the students by both optimisers.

    omega, sigma, lam; `critical` and `linear` of theory, `linear_gd`, `linear_lbfgs`, `moved` (paired), with errors.

    table, lines: the experiments "fig08" and "fig08_theory".
    rng: for the bootstrap.
    """
    by = dict(list(table.groupby("optimizer", observed=True)))
    columns = {kind: lines[lines["what"] == kind].set_index(TASK)[["alpha", "alpha_error"]] for kind in GAPS}
    columns |= {f"linear_{name}": crossings(rows, test_gap, rng, along=TASK) for name, rows in by.items()}
    columns["moved"] = shifts(by["gd"], by["lbfgs"], along=TASK)["linear"]
    return side_by_side(columns, lines.groupby(TASK).size().index).reset_index()


def memory(table, lines):
    """Root mean squares of the overlaps of students from several starts, and their losses, beside theory.

    `start`, `dimension` (NaN: theory); `theta_rms`, `m_rms` and `train_loss` with errors.

    table: the experiment "memory" for one task.
    lines: theory of the same task; its solution without overlaps is shown.
    """
    # A mean overlap from random starts is zero by symmetry; its square tells. Starts on one data set are one instance.
    squared = table.assign(theta=table["theta"] ** 2, m=table["m"] ** 2)
    per_set = squared.groupby(["start", "d", "seed"], observed=True)[["theta", "m", "train_loss"]].mean()
    groups = per_set.groupby(["start", "d"], observed=True)
    students = root_mean_squares(groups[["theta", "m"]]).join(with_errors(groups["train_loss"])).reset_index()
    students = students.rename(columns={"d": "dimension"}).astype({"start": object, "dimension": float})
    symmetric = lines[(lines["what"] == "symmetric") & np.isclose(lines["alpha"], table["alpha"].iloc[0])]
    if symmetric.empty:
        return students
    zero = dict.fromkeys(("theta_rms", "theta_rms_error", "m_rms", "m_rms_error"), 0.0)
    theory = symmetric.assign(start="any", dimension=np.nan, **zero)
    return pd.concat([students, theory[students.columns]], ignore_index=True)


def changed(table, lines, values):
    """For each parameter a list of (value, means, theory by branch, test error of the linear model).

    table, lines: students by one optimiser, and theory, of all tasks.
    values: by parameter; the other parameters are those of `Task()`.
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
            label = f"{SYMBOLS[name]} = {value:g}"
            for branch, colour in COLOURS.items():
                faded = tuple(shade * part + (1 - shade) for part in mpl.colors.to_rgb(colour))
                draw_means(axes, means.loc[branch], "test_mse", faded, 1, marker)
                curve = branches[branch]
                draw_line(axes, curve["alpha"], curve["test_mse"], curve["test_mse_error"], faded, style)
            _draw_baseline(axes, baseline, lowest, label, style)
            axes.plot([], [], marker + style, color=str(1 - shade), label=label)
        axes.set(yscale="log", ylabel=TEST_ERROR)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    rows[-1].set_xlabel(ALPHA)
    return figure


def _draw_baseline(axes, baseline, lowest, label, style):
    """The test error of the linear model; in words where its line would leave half of the panel empty."""
    if baseline > lowest / 2:
        axes.axhline(baseline, color=BASELINE, linestyle=style, linewidth=1)
    else:
        below = f"linear model at {label}, below: {1e3 * baseline:.2f}" + r"$\cdot10^{-3}$"
        axes.text(0.02, 0.03, below, color=BASELINE, transform=axes.transAxes, fontsize=12)
