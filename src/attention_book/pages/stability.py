"""Message passing: how far two copies of it settle from each other, and one run beside its state evolution."""

import matplotlib as mpl
import numpy as np

from attention_phases.measured import Measured, standard_error
from attention_phases.task import Task
from attention_phases.theory import solve
from attention_phases.theory.branches import MINIMA
from attention_phases.theory.stability import contraction, gains, settling_distance

from ..analysis.instances import as_frame, with_errors
from ..analysis.one_step import ground_states
from ..analysis.thresholds import curve
from ..experiments.results import read
from ..render.style import (
    ALPHA,
    COLOURS,
    NEUTRAL,
    OMEGA,
    OPAQUE,
    SEMANTIC,
    VALUES,
    bar_below,
    draw_line,
    draw_means,
    draw_points,
    panels,
    styled,
)

WINDOW = 10, 20  # iterations between which a rate is taken: after the first steps, before single slow directions lead
FARTHEST = 0.7  # distance that the darkest colour means
DISTANCE = "distance of the copies, over the size of $Q$"
# label and unit, over sigma^2; m has a drawing of its own
TRACKED = {"q": (r"$q/\sigma^2$", 1), "theta": (r"$\theta/\sigma^2$", 1), "V": (r"$V/10\sigma^2$", 10)}
LINES = {
    "critical": {"label": r"$\alpha_c$", "colour": NEUTRAL},
    "semantic start": {"label": "semantic branch begins", "colour": SEMANTIC, "style": "--"},
}


def gains_at(places, points, scrambles):
    """The fixed point at each (omega, alpha, branch), and the gains of the distance of two copies at it."""
    solved = {}
    for omega, alpha, branch in places:
        task = Task(omega=omega)
        solution = solve(task, alpha, branch, points, scrambles)
        solved[omega, alpha, branch] = solution, gains(task, alpha, solution.overlaps, points, scrambles)
    return solved


def copies_in_theory(solved):
    """The `replicon` and the `distance` at which two copies settle, with errors, at each place of `gains_at`.

    The distance is NaN where it is smaller than all that were tried.
    """
    measured = {}
    for place, (solution, tried) in solved.items():
        replicon = Measured(solution.replicon, solution.stderr["replicon"])
        measured[place] = {"replicon": replicon, "distance": settling_distance(*tried)}
    rows = as_frame(measured, ["omega", "alpha", "branch"])
    return rows.assign(distance=rows["distance"].where(rows["distance"] > 0))


def transitions(broken):
    """What one step of breaking adds to the loss, by omega, alpha_c and branch of the experiment "one_step".

    `gained` with its error, NaN where the search for it failed.
    """
    rows = ground_states(broken).reset_index().set_index(["omega", "alpha", "branch"])
    return rows[["gained", "gained_error"]].where(rows["reason"].astype(str) == "")


def on_data(table, expected, damping):
    """Message passing on data beside `copies_in_theory`, by omega, alpha and branch.

    `measured` and `predicted` are factors by which a perturbation shrinks in one iteration, with errors: NaN where it
    was followed on fewer than two data sets. `copies_jumping`: the distance that two copies keep, median over data sets
    with the smallest and the largest as a range.

    table, expected: the experiment "stability", and the result of `copies_in_theory`.
    """
    table, where = table.rename(columns={"start": "branch"}), expected.index.names
    runs = table[table["what"] == "contraction"].pivot(index=[*where, "seed"], columns="iteration", values="distance")
    measured = with_errors(_factor(runs).rename("measured").groupby(where)).dropna()
    copies = table[(table["what"] == "copies") & (table["damping"] > 0) & (table["width"] > 0)]
    ranges = copies.groupby(where)["apart"].agg(
        copies_jumping="median", copies_jumping_low="min", copies_jumping_high="max"
    )
    rows = expected.join(measured).join(ranges)
    replicon, error = (rows[name].where(rows["measured"].notna()) for name in ("replicon", "replicon_error"))
    low, middle, high = (
        np.array([_factor(contraction(rate, damping, WINDOW[1])) for rate in rates.clip(lower=0)])
        for rates in (replicon - error, replicon, replicon + error)
    )
    return rows.assign(predicted=middle, predicted_error=(high - low) / 2)


def _factor(sizes):
    """Factor an iteration over `WINDOW`, from sizes by iteration."""
    first, last = WINDOW
    return (sizes[last] / sizes[first]) ** (1 / (last - first))


def apart_maps(profile):
    """Distances of two copies, by alpha and omega for each branch, and the lines of `draw_copies`, at paper size."""
    table = read("copies", profile)
    maps = {branch: table[table["what"] == branch].pivot_table("apart", "alpha", "omega") for branch in MINIMA}
    if profile != "paper":
        return maps, {}
    lines = read("fig03_theory", profile)
    return maps, {what: curve(lines, what) for what in LINES}


@styled
def draw_copies(maps, lines):
    """How far apart two copies stay, from `apart_maps`, in squares."""
    figure, rows = panels(len(maps), 3.6, sharex=True)
    for number, (axes, (branch, values)) in enumerate(zip(rows, maps.items())):
        points = values.stack().dropna()  # by alpha and omega
        alphas, omegas = points.index.get_level_values(0), points.index.get_level_values(1)
        look = {"marker": "s", "cmap": "magma_r", "edgecolors": "#999999", "linewidths": 0.6}
        squares = axes.scatter(omegas, alphas, 150, points, vmin=0, vmax=FARTHEST, gid=f"{VALUES}_{number}", **look)
        for what, line in lines.items():
            if what in ("critical", f"{branch} start"):
                draw_line(axes, line, "alpha", **LINES[what])
        axes.set(title=f"{branch.capitalize()} branch", xlim=(0, 0.52), ylim=(0.4, values.index.max() + 0.1))
        axes.set_ylabel(ALPHA, fontsize=12)
    if lines:
        rows[0].legend(ncols=2, fontsize=11, loc="lower left", bbox_to_anchor=(0, 1.12), **OPAQUE)
    rows[-1].set_xlabel(OMEGA)
    bar_below(figure, squares, rows, DISTANCE, "max")
    return figure


@styled
def draw_gains(curves):
    """Gain of the squared distance of two copies in one iteration, against the distance.

    curves: (omega, alpha, branch) to distances and gains (scrambles by distance).
    """
    figure, (axes,) = panels(1, 4.4)
    axes.axhline(1, color="#888888", linewidth=1)
    for ((omega, alpha, branch), (distances, factors)), marker in zip(curves.items(), "os^Dvx"):
        style = {"label": rf"{branch}, $\omega = {omega:g}$, $\alpha = {alpha:.3g}$", "linewidth": 1}
        draw_points(axes, distances, factors.mean(0), standard_error(factors), COLOURS[branch], f"{marker}-", **style)
    axes.set(xscale="log", yscale="log", xlabel=DISTANCE, ylabel="gain of its square, one iteration")
    axes.legend(fontsize=11)
    return figure


@styled
def draw_tracking(runs, theory, sigma):
    """Overlaps by iteration: message passing on several data sets, and the state evolution from the same start.

    runs, theory: `message_passing.Run.history` of each data set, and `theory.stability.trajectory`.
    """
    figure, rows = panels(len(TRACKED), 2.4, sharex=True)
    for axes, (name, (label, multiple)) in zip(rows, TRACKED.items()):
        unit = multiple * sigma**2
        histories = [run[name] / unit for run in runs]
        _draw_runs(axes, histories, SEMANTIC, "message passing, one data set", alpha=0.7)
        draw_means(axes, theory, name, "black", unit=unit, markersize=4, label="state evolution")
        low, high = theory[name].min() / unit, theory[name].max() / unit
        room = max(0.25 * (high - low), 0.1)  # what runs away leaves the frame
        axes.set(ylabel=label, ylim=(low - room, high + room))
    figure.legend(*rows[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    rows[-1].set_xlabel("iteration")
    rows[-1].xaxis.set_major_locator(mpl.ticker.MaxNLocator(6, integer=True))
    return figure


@styled
def draw_mode(undamped, damped, gain, sigma):
    """The overlap with the positions near the semantic solution, and the growth that the map's derivative predicts.

    undamped, damped: `message_passing.Run.history` of each data set.
    gain: of m, `theory.Solution.gain`.
    """
    figure, (axes,) = panels(1, 4.4)
    for runs, colour, label in ((undamped, COLOURS["positional"], "undamped"), (damped, NEUTRAL, "damped")):
        _draw_runs(axes, [abs(run["m"]) / sigma**2 for run in runs], colour, label, alpha=0.8)
    steps = np.arange(3, 9)
    growth = 0.03 * abs(gain) ** (steps - 3.0)
    axes.plot(steps, growth, "o--", color="black", markersize=4, label=rf"slope of theory: ${gain:.2f}$ a step")
    last = max(run.index.max() for run in undamped)
    axes.set(yscale="log", xlabel="iteration", ylabel=r"$|m|/\sigma^2$", ylim=(1e-4, 30), xlim=(0, last))
    axes.legend(loc="lower right")
    return figure


def _draw_runs(axes, runs, colour, label, alpha):
    """A thin line for each run, named once."""
    for number, run in enumerate(runs):
        name = None if number else label
        axes.plot(run.index, run, "-", color=colour, linewidth=0.8, alpha=alpha, label=name)
