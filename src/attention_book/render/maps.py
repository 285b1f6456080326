"""Maps over alpha and omega, with the thresholds of theory and of students on them."""

import matplotlib as mpl
import numpy as np

from ..analysis.instances import gap_map, training_gap
from ..analysis.lines import theory_gap
from ..analysis.thresholds import curve
from ..experiments.grids import ALPHAS
from . import style

ADVANTAGE = r"$\epsilon_g^{\rm linear}-\epsilon_g$"
CURVES = {
    "critical": (r"$\alpha_c$", style.NEUTRAL, "-"),
    "linear": (r"$\alpha_l$", style.BASELINE, "-"),
    "semantic border": ("semantic minimum begins", style.SEMANTIC, "--"),
    "positional border": ("positional minimum ends", style.POSITIONAL, "--"),
}


def draw_losses(table, lines, marks=()):
    """Maps of semantic minus positional training loss: trained students, and theory."""
    maps = {"Trained students": gap_map(table, training_gap), "Theory": theory_gap(lines)}
    curves = theory_curves(lines, "critical", "semantic border", "positional border")
    return draw_maps(maps, style.LOSS_GAP, (style.SEMANTIC, style.POSITIONAL), curves, marks)


def theory_curves(lines, *names, line=None, whose=""):
    """Curves for `draw_maps`, of `CURVES` by name, those that there are; in another `line` style, of `whose` theory."""
    curves = [(curve(lines, name), *CURVES[name]) for name in names]
    return [(alphas, f"{label}{whose}", colour, line or own) for alphas, label, colour, own in curves if len(alphas)]


@style.styled
def draw_ends(lines, ends, crossed=None, lasting=None):
    """Both thresholds of theory over omega on a logarithmic axis, and where each goes to infinity.

    ends: omega as `Measured` by threshold; NaN if there is none.
    crossed: alpha_l of trained students by omega.
    lasting: from or up to which omega each student is a minimum with all data, as `Measured` by branch.
    """
    figure, (axes,) = style.panels(1, 4.4)
    for kind, end in ends.items():
        label, colour, _ = CURVES[kind]
        style.draw_line(axes, curve(lines, kind), "alpha", colour, label=f"{label}, theory")
        if np.isfinite(end.value):
            axes.axvline(end.value, color=colour, linestyle=":", label=rf"{label} $=\infty$")
    for branch, place in (lasting or {}).items():
        axes.axvline(place.value, color=style.COLOURS[branch], linestyle="-.", label=f"{branch} minimum, all data")
    if crossed is not None:
        look = {"markerfacecolor": "white", "label": r"$\alpha_l$, trained students"}
        style.draw_means(axes, crossed, "alpha", style.BASELINE, **look)
    axes.axhline(ALPHAS[-1], color="#999999", linewidth=1, linestyle="--", label="edge of the map")
    style.logarithmic(axes)
    axes.set(xlabel=style.OMEGA, ylabel=style.ALPHA, xlim=(0, None))
    figure.legend(loc="outside upper center", ncols=2)
    return figure


@style.styled
def draw_maps(maps, label, sides, curves, marks):
    """Maps over alpha and omega above one another, on one colour scale.

    maps: title to values, alpha (rows) by omega; the `label` is that of their colour bar.
    sides: colours of the negative and of the positive values.
    curves: of each alpha and alpha_error by omega; its label, colour and line style.
    marks: of each alpha and alpha_error by omega; its panel, label and marker.
    """
    figure, rows = style.panels(len(maps), 5.2 + 0.9 / len(maps), sharex=True)
    mesh = style.draw_cells(rows, maps.values(), sides)
    for number, (axes, (title, values)) in enumerate(zip(rows, maps.items())):
        for alphas, name, colour, line in curves:
            style.draw_line(axes, alphas, "alpha", colour, line, name)
        for alphas, panel, name, marker in marks:
            if panel == number:
                look = {"markerfacecolor": "white", "markersize": 5, "label": name}
                style.draw_means(axes, alphas, "alpha", "black", marker, **look)
        omegas, alphas = values.columns, values.index
        axes.set(xlim=(omegas.min() - 0.012, omegas.max() + 0.012), ylim=(0, alphas.max() + 0.04))
        axes.set(title=title, ylabel=style.ALPHA)
        beside = {"ncols": 2, "fontsize": 11, "columnspacing": 1, "borderpad": 0.3, **style.OPAQUE}
        axes.legend(loc="lower left", bbox_to_anchor=(-0.1, 1.06), **beside)
    rows[-1].set_xlabel(style.OMEGA)
    style.bar_below(figure, mesh, rows, label, ticks=mpl.ticker.MaxNLocator(6))
    return figure
