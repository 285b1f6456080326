"""The published tables beside ours: how differences are distributed, where they are large, and what slips would do."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import norm

from ..analysis.published_tables import encodings
from ..quantities import THRESHOLDS
from ..render.markup import symbol
from ..render.style import HIGHER, LOWER, NEUTRAL, bar_below, draw_cells, styled

LARGE = 4  # of |z|
THEIR_RUNS = {"7": 70, "14": 10}  # of theirs; 24 in the other figures
FIGURE_TITLES = {
    "2": "Figure 2",
    "3": "Figure 3",
    "7": "Figure 7",
    "8": "Figure 8",
    "9": "Figure 9",
    "14": "Rank 2",
}
MAPPED_OVERLAPS = {  # on maps: quantity and start
    r"$\theta$": ("theta", "semantic"),
    r"$|m|$": ("m", "positional"),
}
SLIPS = {"rate": "rate 0.1, not 0.15, in part of the map", "steps": "4,500 steps, not 5,000, in part of the map"}


def of_means(compared, optimizer="gd"):
    """The rows that compare means of one optimiser, and no thresholds."""
    return compared[compared["instances"].notna() & (compared["optimizer"] == optimizer)]


def errors(means):
    """Error of the difference to theirs, if their runs scatter as ours do."""
    runs = means["figure"].astype(str).map(THEIR_RUNS).fillna(24)
    return means["ours_error"] * np.sqrt(1 + means["instances"] / runs)


def slips(compared, slipped):
    """What a slip of ours would do to the scores of the quantity that has it: a row for each, before them "none".

    slipped: of slips in gradient descent, which part of the map of Figure 3 was trained with
    """
    means = of_means(compared)
    theta, linear = (means[means["quantity"] == name] for name in ("theta", "linear_mse"))
    forgotten = theta["ours"] * (1 / theta["sigma"] ** 2 - 1)
    moved = {
        ("theta", "none"): theta["z"],
        ("theta", "σ² forgotten"): theta["z"] + forgotten / errors(theta),
        ("theta", "L-BFGS, not gradient descent"): compared.query("optimizer == 'lbfgs' and quantity == 'theta'")["z"],
        ("linear_mse", "none"): linear["z"],
        ("linear_mse", "it reads positions too"): linear["z"] + encodings(linear) / errors(linear),
    }
    on_map = means[means["figure"].isin(["2", "3"])].astype({"start": str, "quantity": str})
    rows = on_map.merge(slipped, on=["omega", "alpha", "start", "quantity"])
    for quantity in ("theta", "train_loss"):
        for slip, cells in rows[rows["quantity"] == quantity].groupby("slip"):
            moved[quantity, "none, in part of the map"] = cells["z"]
            moved[quantity, SLIPS[slip]] = cells["z"] + cells["moved"] / errors(cells)
    table = [
        {"label": name, "slip": slip, "median": z.abs().median(), "beyond_3": (z.abs() > 3).mean(), "mean_z": z.mean()}
        for (name, slip), z in moved.items()
    ]
    return pd.DataFrame(table)


def encoding_slope(compared):
    """The measured difference of the two linear models over the expected one, at d = 1000, with its error."""
    linear = of_means(compared).query("quantity == 'linear_mse' and start != 'positional' and d == 1000")
    error = errors(linear)
    weight = encodings(linear) / error
    return 1 + (linear["z"] * weight).sum() / (weight**2).sum(), (weight**2).sum() ** -0.5


def threshold_scores(compared):
    """Root mean square and mean of the scores of thresholds, by task, kind and what is compared with theirs."""
    rows = compared[compared["quantity"].isin(THRESHOLDS)]
    rows = rows.assign(task=rows["matrix"].map(_task))
    scores = rows.groupby(["task", "quantity", "optimizer"])["z"]
    summary = (
        scores.agg(count="size", rms=lambda z: (z**2).mean() ** 0.5, mean_z="mean").reset_index().round({"rms": 2})
    )
    return summary.sort_values(["task", "quantity"], ascending=[False, True], ignore_index=True)


def curves(compared):
    """How far each of their theory curves is from ours, and where: a row for each quantity along it."""
    rows = compared[compared["away"].notna()]
    rows = rows.assign(size=rows["away"].abs(), task=rows["matrix"].map(_task))
    along = ["task", "omega", "start", "quantity"]
    means = rows.groupby(along)["size"].median()
    farthest = rows.loc[rows.groupby(along)["size"].idxmax(), [*along, "away", "alpha"]]
    return farthest.set_index(along).assign(median_away=means).reset_index().round({"alpha": 3})


def _task(matrix):
    return "standard" if str(matrix).startswith("[[0.6") else "alternative"


def largest(compared):
    """Means whose ``|z|`` is at least `LARGE`, with their cells."""
    rows = of_means(compared)
    columns = ["figure", "quantity", "omega", "alpha", "z"]
    return rows.loc[rows["z"].abs() >= LARGE, columns].astype({"figure": str, "quantity": str}).round({"alpha": 2})


@styled
def draw_scores(compared):
    """Histograms of z by figure, of both optimisers, beside the standard normal density."""
    figure, panels = plt.subplots(len(FIGURE_TITLES) // 2, 2, figsize=(6.4, 7.6), sharex=True)
    bins, grid = np.linspace(-6, 6, 49), np.linspace(-6, 6, 241)
    for axes, (name, title) in zip(panels.ravel(), FIGURE_TITLES.items()):
        rows = compared[compared["figure"] == name]
        for optimizer, look in (
            ("gd", {"color": "#bbbbbb"}),
            ("lbfgs", {"histtype": "step", "color": NEUTRAL, "linestyle": "--"}),
        ):
            scores = of_means(rows, optimizer)["z"].clip(-5.9, 5.9)
            axes.hist(scores, bins, density=True, **look, label=symbol(optimizer))
        axes.plot(grid, norm.pdf(grid), color=NEUTRAL, linewidth=1.5, label="standard normal")
        axes.set_title(f"{title}: {len(of_means(rows)):,}")
        axes.set(yticks=[], xlim=(-6, 6))
        axes.spines["left"].set_visible(False)
    for axes in panels[-1]:
        axes.set_xlabel("$z$")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


@styled
def draw_score_maps(compared):
    """Scores of the standard task over alpha and omega: `MAPPED_OVERLAPS` (rows of panels) by optimiser (columns)."""
    cells = compared.query("figure in ('2', '3')")
    figure, panels = plt.subplots(len(MAPPED_OVERLAPS), 2, figsize=(6.4, 6.2), sharex=True, sharey=True)
    for row, (label, (quantity, start)) in zip(panels, MAPPED_OVERLAPS.items()):
        for axes, optimizer in zip(row, ("gd", "lbfgs")):
            rows = of_means(cells, optimizer)
            rows = rows[(rows["quantity"] == quantity) & (rows["start"] == start)]
            values = rows.pivot(index="alpha", columns="omega", values="z")
            mesh = draw_cells([axes], [values], (LOWER, HIGHER), largest=LARGE)
            axes.set_title(f"{label}: {symbol(optimizer)}")
        row[0].set_ylabel(r"$\alpha$")
    for axes in panels[-1]:
        axes.set_xlabel(r"$\omega$")
    bar_below(figure, mesh, panels, "$z$")
    return figure
