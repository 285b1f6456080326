"""Figure 14: maps over alpha and omega of other architectures."""

import pandas as pd
from matplotlib import pyplot as plt

from attention_phases.measured import Measured

from ..analysis.architectures import TITLES, select
from ..analysis.instances import GAPS, advantage, as_columns, gap_map, test_gap
from ..analysis.thresholds import against_theory, crossings, curve, last_fall
from ..experiments.variant_grids import MAPPED
from ..render.maps import ADVANTAGE, draw_maps
from ..render.style import ALPHA, ATTENTION, LINEAR, OPAQUE, bar_below, draw_cells, draw_line, styled

LEFT = 0.05  # share by which a training loss is above that of L-BFGS where descent has not come to an end


def against_students(maps, lines, rng):
    """Where the students of the maps cross, beside theory: `thresholds.against_theory` by `student` and `threshold`.

    Below every crossing of theory the two starts may end alike, and their losses cross by chance: compared are the
    omega at which theory's line lies in the map.

    maps, lines: students over alpha and omega by architecture, and the experiment "fig14_theory".
    """
    parts = {}
    for name, table in maps.items():
        for kind, gap in GAPS.items():
            theory = curve(select(lines, MAPPED[name]), kind)
            inside = theory.index[theory["alpha"] < table["alpha"].max()]
            parts[TITLES[name], kind] = against_theory(crossings(table, gap, rng), theory, inside)
    names = ["student", "threshold"]
    return pd.concat(parts, names=names).reset_index(names).reset_index(drop=True)


def random_crossings(table):
    """Where the mean over students from random starts, by gradient descent, overtakes the linear model; alpha by omega.

    Without errors: these students are of two kinds, and a few of the later ones decide it.
    """
    gaps = gap_map(table[table["optimizer"] == "gd"], _random_gap)
    crossed = {omega: Measured(last_fall(gap.index.to_numpy(), gap.to_numpy()), 0.0) for omega, gap in gaps.items()}
    return as_columns(crossed, "omega").dropna()


def _random_gap(table):
    return test_gap(table, "random")


def unfinished(table):
    """How many students from random starts each optimiser leaves well above the lowest loss known on their data.

    table: gradient descent from random starts over alpha and omega, and L-BFGS from these and others.
    """
    where = ["alpha", "omega", "seed"]
    lowest = table[table["optimizer"] == "lbfgs"].groupby(where)["train_loss"].min()
    random = table[table["start"] == "random"].set_index(where)
    stopped = random["train_loss"] > (1 + LEFT) * lowest.loc[random.index]
    return stopped.groupby(random["optimizer"]).sum()


@styled
def draw_variant_maps(maps, curves):
    """Maps of the linear fit's test error minus that of the student with the lower training loss, two by two.

    maps, curves: students over alpha and omega by title, and `theory_curves` of each.
    """
    figure, axes = plt.subplots(2, 2, figsize=(7.2, 8.2), sharex=True)
    values = {title: gap_map(table, advantage) for title, table in maps.items()}
    mesh = draw_cells(axes.flat, values.values(), (LINEAR, ATTENTION))
    for panel, (title, cells), lines in zip(axes.flat, values.items(), curves):
        for alphas, label, colour, style in lines:
            draw_line(panel, alphas, "alpha", colour, style, label)
        panel.set(title=title, xlabel=r"$\omega$", ylim=(0, cells.index.max() + 0.04))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=11, **OPAQUE)
    figure.supylabel(ALPHA, fontsize=14)
    bar_below(figure, mesh, axes, ADVANTAGE)
    return figure


def draw_random_map(table, curves):
    """The same map of the experiment "fig14_random", by gradient descent, with the alphas at which the means cross."""
    marks = [(random_crossings(table), 0, "trained students cross", "o")]
    values = {"Rank 2, from random starts": -gap_map(table[table["optimizer"] == "gd"], _random_gap)}
    return draw_maps(values, ADVANTAGE, (LINEAR, ATTENTION), curves, marks)
