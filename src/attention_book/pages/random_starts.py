"""Figure 15: where training from random starts ends."""

from matplotlib import pyplot as plt

from ..render.style import ALPHA, COLOURS, NEUTRAL, draw_points, panels, styled

OPTIMIZERS = {"adam": "Adam", "gd": "Gradient descent"}


@styled
def draw_minima(informed, runs, sigma):
    """Figure 15: where runs from random starts end, beside the minima that informed starts lead to.

    informed: students in the dimension of the runs and in a larger one.
    runs: from `basins.classify`.
    """
    figure, (axes,) = panels(1, 5.2)
    for (branch, d), minima in informed.groupby(["start", "d"], observed=True):
        marker, size = ("o", 14) if d == runs["d"].iloc[0] else ("D", 40)
        style = {"facecolors": "none", "edgecolors": COLOURS[branch], "linewidths": 0.8, "marker": marker}
        label = f"{branch} start, L-BFGS, $d={d}$"
        axes.scatter(*_overlaps(minima, sigma), size, **style, label=label)
    for basin, colour in {**COLOURS, "neither": NEUTRAL}.items():
        ends = _overlaps(runs[runs["basin"] == basin], sigma)
        axes.scatter(*ends, 22, color=colour, marker="x", label=f"random start, {basin}")
    axes.set_xlabel(r"overlap with the positions $|m|/\sigma^2$")
    axes.set_ylabel(r"overlap with the teacher $|\theta|/\sigma^2$")
    axes.legend(loc="best")
    return figure


def _overlaps(students, sigma):
    return students["m"].abs() / sigma**2, students["theta"].abs() / sigma**2


@styled
def draw_fractions(shares):
    """How often each basin is found, over alpha: one panel for each dimension (rows) and optimiser (columns).

    shares: from `basins.fractions`.
    """
    optimizers, dimensions = sorted(shares["optimizer"].unique()), sorted(shares["d"].unique())
    grid, size = (len(dimensions), len(optimizers)), (6.4, 1.9 * len(dimensions) + 1)
    figure, axes = plt.subplots(*grid, figsize=size, sharex=True, sharey=True, squeeze=False)
    by_panel = dict(list(shares.groupby(["d", "optimizer"])))
    for d, row in zip(dimensions, axes):
        for optimizer, panel in zip(optimizers, row):
            _draw_shares(panel, by_panel[d, optimizer])
            panel.set(title=f"{OPTIMIZERS[optimizer]}, $d={d}$", ylim=(-0.03, 1.03), yticks=(0, 0.5, 1))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    figure.supxlabel(ALPHA, fontsize=14)
    figure.supylabel("fraction of runs", fontsize=14)
    return figure


def _draw_shares(axes, shares):
    for (basin, colour), marker in zip(COLOURS.items(), "os"):
        rows = shares[shares["basin"] == basin]
        fraction = rows["fraction"]
        errors = (fraction - rows["low"], rows["high"] - fraction)
        draw_points(axes, rows["alpha"], fraction, errors, colour, f"{marker}-", label=basin)
