"""Maps over alpha and omega: of trained students and of theory (Figures 3 and 9), and of other architectures (14)."""

import itertools

import numpy as np
import pandas as pd

from attention_phases.measured import Measured
from attention_phases.task import Task
from attention_phases.theory.branches import MINIMA, OWN

from .. import published
from ..analysis.beside_published import theory_comparison
from ..analysis.instances import advantage, as_columns, gap_map, root_mean_squares
from ..analysis.lines import losses_of, theory_gap
from ..analysis.thresholds import curve
from ..published import compare
from ..render.maps import ADVANTAGE, CURVES, draw_maps, theory_curves
from ..render.style import ATTENTION, COLOURS, LINEAR, OMEGA, draw_points, panels, styled

LEFT = 0.05  # share by which a training loss is above that of L-BFGS where descent has not come to an end
SAME_LOSS = 1e-8  # L-BFGS leaves less than this above a minimum


def theory_thresholds_beside_published(lines):
    """All published thresholds beside those of theory of the standard task, as from `published.compare`."""
    nets = lines.groupby("omega")["scrambles"].first()
    comparisons = []
    for kind, known in published.THRESHOLDS.items():
        ours = curve(lines, kind)
        for omega in ours.index.intersection(list(known)):
            comparisons.append(theory_comparison(kind, omega, Measured(*ours.loc[omega]), int(nets[omega])))
    return compare(comparisons)


def minus_theory(kind, table, lines):
    """How far published thresholds, and those of two rules of 144 points, are from theory: by omega.

    `published`; `rule`, everything on the 144 points; `exact`, only the overlaps on these, their losses exact. NaN
    where the rule has no crossing near theory's.

    table, lines: the experiment "published_rule", and theory: its thresholds are the better known ones.
    """
    rows = table[table["what"] == kind].set_index("omega").sort_index()
    known = pd.Series({omega: number.value for omega, number in published.THRESHOLDS[kind].items()})
    theory = curve(lines, kind)["alpha"].combine_first(rows["alpha"])
    columns = rows[["rule", "exact"]].assign(published=known).dropna(subset="published")
    return columns.sub(theory, axis=0).loc[columns.index]


def theory_advantage(lines):
    """Test error of the linear model minus that of the minimum with the lower training loss: alpha (rows) by omega."""
    semantic, positional = (losses_of(lines, branch, "test_mse") for branch in MINIMA)
    baseline = lines[lines["what"] == "baseline"].set_index("omega")["test_mse"]
    better = semantic.where(theory_gap(lines) <= 0, positional)
    return baseline[better.columns] - better  # baselines are known at more omega


def draw_advantages(table, lines, marks):
    """Maps of the linear model's test error minus that of the better solution: trained students, and theory."""
    maps = {"Trained students": gap_map(table, advantage), "Theory": theory_advantage(lines)}
    return draw_maps(maps, ADVANTAGE, (LINEAR, ATTENTION), theory_curves(lines, "critical", "linear"), marks)


def threshold_marks(kind, crossed):
    """Marks for `draw_maps`: where students cross, alpha and alpha_error by omega, and the published thresholds."""
    known = {omega: (number.value, number.stderr) for omega, number in published.THRESHOLDS[kind].items()}
    return [
        (crossed, 0, "trained students cross", "o"),
        (as_columns(known, "omega"), 1, f"published {CURVES[kind][0]}", "s"),
    ]


def left_by_descent(tables):
    """What 5,000 steps of gradient descent leave of the way that L-BFGS goes on the same data.

    By `map` and `start`: `alike`, share of the cells whose mean training losses are within 1 %; `left`, students that
    end by the share `LEFT` over L-BFGS; `gone`, share of these whose L-BFGS ends in the other start's minimum.

    tables: students over alpha and omega by both optimisers, by title.
    """
    rows = []
    for (title, table), start in itertools.product(tables.items(), MINIMA):
        students = table[table["start"] == start].pivot(
            index=["alpha", "omega", "seed"], columns="optimizer", values=["train_loss", "m", "theta"]
        )
        students = students.dropna()
        higher = students["train_loss", "gd"] / students["train_loss", "lbfgs"] - 1
        alike = (higher.groupby(["alpha", "omega"]).mean().abs() < 0.01).mean()
        is_positional = students["m", "lbfgs"].abs() > students["theta", "lbfgs"].abs() / Task().sigma ** 2
        gone = (is_positional == (start == "semantic"))[higher > LEFT].mean()
        rows.append((title, start, alike, int((higher > LEFT).sum()), gone))
    return pd.DataFrame(rows, columns=["map", "start", "alike", "left", "gone"])


@styled
def draw_differences(trained, others):
    """Thresholds of students, published ones, and those on 144 points, minus theory; a panel for each threshold.

    trained: `against_theory` by threshold.
    others: `minus_theory` by threshold.
    """
    figure, rows = panels(len(trained), 3.6, sharex=True)
    for axes, (kind, students) in zip(rows, trained.items()):
        label, colour, _ = CURVES[kind]
        axes.axhline(0, color=colour, linewidth=1)
        away = students["trained"] - students["theory"]
        error = np.hypot(students["trained_error"], students["theory_error"])
        draw_points(axes, students["omega"], away, error, colour, label="trained students")
        rules = others[kind]
        steps = [published.THRESHOLDS[kind][omega].rounding for omega in rules.index]
        look = {"markerfacecolor": "white", "label": "published theory"}
        draw_points(axes, rules.index, rules["published"], steps, colour, "s", **look)
        axes.plot(rules.index, rules["rule"], ":", color=colour, label="144 points")
        axes.plot(rules.index, rules["exact"], "--", color=colour, label="144 points, exact losses")
        axes.set_ylabel(f"{label} minus theory")
    rows[-1].set_xlabel(OMEGA)
    rows[0].legend(loc="lower center", bbox_to_anchor=(0.45, 1), ncols=2)
    return figure


@styled
def draw_overlaps(means, limits, sigma):
    """Figure 3, left: both minima in the plane of their overlaps, for growing d.

    Of the overlap that a start is not named after, whose sign is random, the root mean square is drawn.

    means, limits: `instance_means` along d, and the `theory.Solution` of both branches at infinite d.
    """
    variance = sigma**2
    figure, (axes,) = panels(1, 5.2)
    star = {"markeredgecolor": "black", "markersize": 17, "zorder": 2, "clip_on": False}
    for branch, limit in limits.items():
        rows, colour = means.loc[branch] / variance, COLOURS[branch]
        x, y = (rows[name if name == OWN[branch] else f"{name}_rms"] for name in ("m", "theta"))
        axes.plot(x, y, color=colour, linewidth=0.8)
        errors = {"yerr": rows[f"{y.name}_error"], "xerr": rows[f"{x.name}_error"]}
        axes.errorbar(x, y, **errors, fmt=" ", color=colour, elinewidth=1, label=f"_{branch} start")
        dots = {"edgecolors": "white", "linewidths": 0.5, "zorder": 3, "label": f"{branch} start"}
        axes.scatter(x, y, 12 * np.log(rows.index), colour, **dots)
        m, theta = limit.overlaps.m / variance, limit.overlaps.theta / variance
        axes.plot(m, theta, "*", color=colour, label=r"theory, $d=\infty$", **star)
        for d in (rows.index.min(), rows.index.max()):
            axes.annotate(f"$d={d}$", (x[d], y[d]), xytext=(12, 8), textcoords="offset points", color=colour)
    axes.set(xlim=(0, None), ylim=(0, None))
    axes.set_xlabel(r"overlap with the positions $m/\sigma^2$")
    axes.set_ylabel(r"overlap with the teacher $\theta/\sigma^2$")
    axes.legend(loc="upper right")
    return figure


def scatter(table):
    """How many minima the starts around one valley lead to, told apart by their losses.

    By `omega`, `alpha` and `valley`: `starts`; `minima`, their mean number over data sets, the `fewest` and the `most`;
    `scatter`, standard deviation of the training loss between the starts, root mean square over data sets, with its
    error, NaN where all starts end at the same loss.

    table: starts "semantic", "near_semantic" (several) and so on, from the same data.
    """
    where = ["omega", "alpha", "valley"]
    valley = table["start"].astype(str).str.removeprefix("near_")
    losses = table.assign(valley=valley).groupby([*where, "seed"])["train_loss"]
    minima = losses.agg(lambda ends: 1 + (np.diff(np.sort(ends)) > SAME_LOSS).sum()).groupby(where)
    spread = root_mean_squares(losses.var().to_frame("scatter").groupby(where))
    spread = spread.set_axis(["scatter", "scatter_error"], axis=1)
    counts = {
        "starts": losses.size().groupby(where).max(),
        "minima": minima.mean(),
        "fewest": minima.min().astype(int),
        "most": minima.max().astype(int),
    }
    return pd.DataFrame(counts).join(spread.where(spread["scatter"] > SAME_LOSS)).reset_index()
