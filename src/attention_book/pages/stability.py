"""Stability of message passing: the replicon, how a perturbation shrinks on data, and where two copies stay apart."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from attention_phases.measured import standard_error
from attention_phases.task import Task
from attention_phases.theory.stability import contraction, tail

from ..analysis.lines import curve
from ..analysis.means import in_errors, with_errors
from ..experiments.grids import OMEGAS
from ..experiments.results import experiment
from ..render.dark import VALUES
from ..render.style import ALPHA, COLOURS, NEUTRAL, OMEGA, SEMANTIC, draw_line, draw_points, panels, styled
from .free_energy import theory_lines

WINDOW = 10, 20  # iterations between which a rate is taken: after the first steps, before single slow directions lead
LINES = {
    "critical": {"label": r"$\alpha_c$", "colour": NEUTRAL},
    "semantic start": {"label": "semantic branch begins", "colour": SEMANTIC, "style": "--"},
}


def sizes(table, omega, alpha):
    """Sizes of a perturbation by iteration (rows) and data set (columns).

    table: the experiment "stability".
    """
    rows = (table["what"] == "contraction") & np.isclose(table["omega"], omega) & np.isclose(table["alpha"], alpha)
    return table[rows].pivot_table(index="iteration", columns="seed", values="distance")


def rates(table, replicons, damping):
    """Factor by which a perturbation shrinks in one iteration, measured and predicted, over the same iterations.

    By `omega` and `alpha`: `replicon` and its tail `index`, `predicted`, `measured`, with errors, and `sigma_off`. No
    replicon and no prediction where its mean does not exist; no row where a perturbation was followed on fewer than
    two data sets.

    table: the experiment "stability".
    replicons: (omega, alpha) to what `theory.stability.tail` gives.
    """
    where = ["omega", "alpha"]
    rows = table[table["what"] == "contraction"]
    factors = _factor(rows.pivot(index=[*where, "seed"], columns="iteration", values="distance"))
    measured = with_errors(factors.rename("measured").groupby(where)).dropna()
    predicted = {place: _predicted(replicons[place], damping) for place in replicons if place in measured.index}
    rows = pd.DataFrame.from_dict(predicted, orient="index").rename_axis(where).join(measured)
    off = in_errors(rows["measured"] - rows["predicted"], rows["measured_error"], rows["predicted_error"])
    return rows.assign(sigma_off=off).reset_index()


def _factor(sizes):
    """Factor an iteration over `WINDOW`, from sizes by iteration."""
    first, last = WINDOW
    return (sizes[last] / sizes[first]) ** (1 / (last - first))


def _predicted(replicon, damping):
    """What `with_mean` gives, and the factor that it predicts."""
    replicon = with_mean(replicon)
    value, error = replicon["replicon"], replicon["replicon_error"]
    low, middle, high = (
        _factor(contraction(rate, damping, WINDOW[1])) for rate in (value - error, value, value + error)
    )
    return replicon | {"predicted": middle, "predicted_error": (high - low) / 2}


def with_mean(replicon):
    """Replicon and index of its tail, of `theory.stability.tail`; no replicon where its mean does not exist."""
    row = {name: replicon[name] for name in ("replicon", "replicon_error", "index", "index_error")}
    return row if row["index"] >= 1 else row | {"replicon": np.nan, "replicon_error": np.nan}


def by_points(solutions, sizes, scrambles):
    """The sample mean of the replicon, and its tail, against the number of quadrature points, with errors.

    solutions: (omega, alpha, branch) to overlaps.
    sizes: points a scramble.
    """
    return pd.DataFrame(
        [
            {"branch": branch, "omega": omega, "alpha": alpha, "points": points}
            | with_mean(tail(Task(omega=omega), alpha, overlaps, points, scrambles))
            for (omega, alpha, branch), overlaps in solutions.items()
            for points in sizes
        ]
    )


def settled(table, apart):
    """Whether message passing settles on data, and how far two copies of it stay apart.

    By `omega`, `alpha` and `branch`: `distance` of theory with its error; `copies` and `copies_jumping`, medians over
    data sets with the smallest and the largest as a range, without and with jumps in the response; `settled`, on how
    many `data_sets` it settles.

    table: the experiment "stability".
    apart: (omega, alpha, branch) to distance and error of theory, from `theory.copies.settling_distance`.
    """
    where = ["omega", "alpha", "start"]
    places = pd.MultiIndex.from_tuples(apart, names=where)
    rows = pd.DataFrame(list(apart.values()), places, ["distance", "distance_error"])
    copies = table[(table["what"] == "copies") & (table["damping"] > 0)]
    for name, widths in (("copies", copies["width"] == 0), ("copies_jumping", copies["width"] > 0)):
        ranges = copies[widths].groupby(where, observed=True)["apart"].agg(["median", "min", "max"])
        rows = rows.join(ranges.set_axis([name, f"{name}_low", f"{name}_high"], axis=1))
    ends = table[table["what"] == "settled"].groupby(where, observed=True)["settled"]
    rows = rows.join(ends.agg(settled="sum", data_sets="size").astype(int))
    return rows.rename_axis(["omega", "alpha", "branch"]).reset_index()


def replicon_map(profile):
    """The replicon over the semantic branch, by alpha and omega, its errors, and the lines of `draw_maps`."""
    table = theory_lines(profile, OMEGAS if profile == "paper" else OMEGAS[14:15])
    rows = table[table["what"] == "semantic"]
    values, errors = (
        rows.pivot_table(index="alpha", columns="omega", values=name) for name in ("replicon", "replicon_error")
    )
    return values, errors, {what: curve(table, what) for what in LINES}


def apart_maps(profile):
    """Distances of two copies, by alpha and omega for each branch, and the lines of `draw_maps`, at paper size."""
    groups = experiment("copies", profile, quiet=True).groupby("what", observed=True, sort=False)
    maps = {
        f"{branch.capitalize()} branch": rows.pivot_table(index="alpha", columns="omega", values="apart")
        for branch, rows in groups
    }
    if profile != "paper":
        return maps, {}
    table = experiment("fig03_theory", profile, quiet=True)
    return maps, {what: curve(table, what) for what in LINES}


@styled
def draw_contraction(curves, rates):
    """A perturbation of the fixed point: its size by iteration, and its rate against theory.

    curves: label to measured `sizes` and the predicted ones.
    rates: from the function of this name; rows without a prediction are left out.
    """
    figure, (top, bottom) = panels(2, 4.3, height_ratios=(1, 1.15))
    shades = plt.get_cmap("copper")(np.linspace(0, 0.8, len(curves)))
    for (label, (measured, predicted)), shade in zip(curves.items(), shades):
        top.plot(measured.index, measured, "-", color=shade, linewidth=0.7, alpha=0.6)
        top.plot(np.arange(len(predicted)), predicted, "o", color=shade, markersize=3.5, label=label)
    top.set(yscale="log", xlabel="iteration after the perturbation", ylabel="its size, over that at first")
    top.legend(title="lines: data sets; dots: theory", title_fontsize=11, fontsize=11)
    _draw_rates(bottom, rates.dropna(subset="predicted"))
    return figure


def _draw_rates(axes, rates):
    values = rates[["predicted", "measured"]].to_numpy()
    ends = (values.min() - 0.01, values.max() + 0.01) if len(rates) else (0, 1)
    axes.plot(ends, ends, color="#bbbbbb", linewidth=1)
    jumps = rates["index"] < 2
    for rows, marker, fill, label in (
        (rates[~jumps], "o", "full", "variance of the replicon finite"),
        (rates[jumps], "s", "none", "infinite: the proximal point jumps"),
    ):
        bars = {"fmt": marker, "fillstyle": fill, "color": SEMANTIC, "elinewidth": 1, "label": label}
        axes.errorbar(rows["predicted"], rows["measured"], rows["measured_error"], rows["predicted_error"], **bars)
    ordered = rates.sort_values("predicted")
    close = ordered["predicted"].diff() < 0.03 * (ends[1] - ends[0])
    for row, beside in zip(ordered.itertuples(), close):  # a label aside of the one before
        offset = {"xytext": (-12, 14) if beside else (5, -11), "textcoords": "offset points"}
        axes.annotate(f"{row.omega:g}, {row.alpha:g}", (row.predicted, row.measured), fontsize=9, **offset)
    axes.set(xlabel=r"predicted from $\Lambda$", ylabel="measured", xlim=ends, ylim=ends)
    axes.set_title("Factor per iteration, between the 10th and the 20th")
    axes.legend(loc="upper left")


@styled
def draw_gains(curves):
    """Gain of the distance of two copies in one iteration, against that distance.

    curves: (omega, alpha, branch) to distances and gains (scrambles by distance).
    """
    figure, (axes,) = panels(1, 5)
    axes.axhline(1, color="#888888", linewidth=1)
    for ((omega, alpha, branch), (distances, gains)), marker in zip(curves.items(), "os^Dvx"):
        style = {"label": rf"{branch}, $\omega = {omega:g}$, $\alpha = {alpha:g}$", "linewidth": 1}
        draw_points(axes, distances, gains.mean(0), standard_error(gains), COLOURS[branch], f"{marker}-", **style)
    axes.set(xscale="log", yscale="log", ylabel="gain of the squared distance in one iteration")
    axes.set_xlabel("distance of the copies, over the size of $Q$")
    axes.legend(fontsize=11)
    return figure


@styled
def draw_maps(maps, lines, label, most, crosses=None):
    """A quantity over alpha and omega in squares, one panel for each branch.

    maps: title to values, alpha (rows) by omega; NaN where the branch is not.
    lines: of `LINES` all or none: omega as index, alpha and alpha_error.
    label: of the colours.
    most: what the darkest colour means.
    crosses: where to draw one, as booleans over alpha and omega, and what it says.
    """
    figure, rows = panels(len(maps), 4.5, sharex=True)
    for number, (axes, (title, values)) in enumerate(zip(rows, maps.items())):
        squares = _draw_squares(axes, values, most, crosses)
        squares.set_gid(f"{VALUES}_{number}")
        for what, line in lines.items():
            draw_line(axes, line.index, line["alpha"], line["alpha_error"], **LINES[what])
        axes.set(title=title, ylabel=ALPHA, ylim=(0.4, values.index.max() + 0.1))
    if lines:
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1.09)}
        rows[0].legend(ncols=3, fontsize=11, columnspacing=1, handletextpad=0.4, **place)
    rows[-1].set_xlabel(OMEGA)
    extend = "max" if values.max(axis=None) > most else "neither"
    figure.colorbar(squares, ax=rows, orientation="horizontal", aspect=35, label=label, extend=extend)
    return figure


def _draw_squares(axes, values, most, crosses):
    area = 200 * 9 / max(9, len(values.columns)) ** 1.15  # so that no square touches its neighbour
    points = values.stack().dropna()  # by alpha and omega
    alphas, omegas = points.index.get_level_values(0), points.index.get_level_values(1)
    look = {"marker": "s", "cmap": "magma_r", "edgecolors": "#999999", "linewidths": 0.6}
    squares = axes.scatter(omegas, alphas, s=area, c=points, vmin=0, vmax=most, **look)
    if crosses:
        where, label = crosses
        crossed = squares.get_offsets()[where.stack()[points.index].to_numpy()]
        axes.scatter(*crossed.T, s=area / 4, color="#888888", marker="x", label=label, linewidths=1)
    return squares
