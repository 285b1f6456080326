"""Figure 14: maps of the other architectures over alpha and omega, and where their students cross."""

import numpy as np
import pandas as pd

from ..analysis.instances import GAPS, advantage, gap_map, optimizer_map, test_gap
from ..analysis.lines import curve
from ..analysis.thresholds import against_theory, by_name, crossing, crossings, last_fall, side_by_side
from ..experiments.variant_grids import MAPPED
from ..render.style import ATTENTION, HIGHER, LINEAR, LOWER
from .phase_diagram import CURVES, draw_maps
from .variants import TITLES, select


def against_students(maps, lines, rng):
    """Where the students of the maps cross, beside theory: `thresholds.against_theory` by `student` and `threshold`.

    Below every crossing of theory the two starts may end alike, and their losses cross by chance: compared are the
    omega at which theory's line lies in the map.

    maps: students over alpha and omega, by name of the architecture.
    lines: the experiment "fig14_theory".
    rng: for the bootstrap.
    """
    parts = {}
    for name, table in maps.items():
        for kind, gap in GAPS.items():
            theory = curve(select(lines, MAPPED[name]), kind)
            inside = theory.index[theory["alpha"] < table["alpha"].max()]
            parts[TITLES[name], kind] = against_theory(crossings(table, gap, rng), theory, inside)
    names = ["student", "threshold"]
    return pd.concat(parts, names=names).reset_index(names).reset_index(drop=True)


def by_start(table, lines, rng):
    """Where the rank-2 student overtakes the linear model, from informed starts and, as published, from random ones.

    `omega`; `theory` of the semantic branch, `from_informed` (of the two informed students the one with the lower
    training loss) and `random_lbfgs`, with errors; `random_gd`, with the range over single data sets, where one that
    does not cross counts as the end of the map. An error of the mean would say little: these students are of two
    kinds, and a few of the later ones decide it.

    table, lines: the experiments "fig14_random" and "fig14_theory".
    rng: for the bootstrap.
    """
    informed, by_lbfgs, by_gd = {}, {}, {}
    for omega, rows in table.groupby("omega"):
        gaps = {name: test_gap(students, "random") for name, students in rows.groupby("optimizer", observed=True)}
        informed[omega] = crossing(-advantage(rows), rng)
        by_lbfgs[omega] = crossing(gaps["lbfgs"], rng)
        by_gd[omega] = _last_falls(gaps["gd"])
    columns = {
        "theory": curve(select(lines, MAPPED["rank2"]), "linear"),
        "from_informed": by_name(informed, "omega"),
        "random_lbfgs": by_name(by_lbfgs, "omega"),
    }
    thresholds = side_by_side(columns, pd.Index(by_gd, name="omega"))
    return thresholds.join(pd.DataFrame.from_dict(by_gd, orient="index")).reset_index()


def _last_falls(gaps):
    """Where the mean falls through zero for the last time, and the range over single data sets."""
    alphas = gaps.index.to_numpy()
    single = [last_fall(alphas, gap) for gap in gaps.to_numpy().T]
    single = np.nan_to_num(single, nan=alphas[-1])
    mean = last_fall(alphas, gaps.mean(axis=1).to_numpy())
    return {"random_gd": mean, "random_gd_low": single.min(), "random_gd_high": single.max()}


def unfinished(table, above=0.05):
    """How many students from random starts stop well above the lowest training loss that is known on their data.

    `alpha`; `students` by each optimiser; `gd_above` and `lbfgs_above`, how many of them are so far above;
    `gd_gradient`, the median norm of the gradient of the former (NaN: there are none).

    table: gradient descent from random starts over alpha and omega, and L-BFGS from these and others.
    above: by which share of the lowest loss, which L-BFGS reaches from any of its starts, theirs has to be higher.
    """
    where = ["alpha", "omega", "seed"]
    lowest = table[table["optimizer"] == "lbfgs"].groupby(where)["train_loss"].min()
    random = table[table["start"] == "random"].set_index(where)
    random = random.assign(stopped=random["train_loss"] > (1 + above) * lowest.loc[random.index])
    by_gd, by_lbfgs = (random[random["optimizer"] == name] for name in ("gd", "lbfgs"))
    return pd.DataFrame(
        {
            "students": by_gd.groupby("alpha").size(),
            "gd_above": by_gd.groupby("alpha")["stopped"].sum(),
            "lbfgs_above": by_lbfgs.groupby("alpha")["stopped"].sum(),
            "gd_gradient": by_gd[by_gd["stopped"]].groupby("alpha")["grad_norm"].median(),
        }
    ).reset_index()


def threshold_curves(lines, style="-", whose=""):
    """Both thresholds of theory for `draw_map`, those that there are."""
    curves = []
    for kind in GAPS:
        alphas, (label, colour, _) = curve(lines, kind), CURVES[kind]
        if len(alphas):
            curves.append((alphas, f"{label}{whose}", colour, style))
    return curves


def draw_map(table, title, curves, gap=advantage, marks=()):
    """Test error of the linear fit minus that of the student, means over data sets; curves and marks of `draw_maps`."""
    label = r"$\epsilon_g^{\rm linear}-\epsilon_g$"
    return draw_maps({title: gap_map(table, gap)}, label, (LINEAR, ATTENTION), curves, marks)


def draw_random_map(table, title, curves, thresholds):
    """`draw_map` of students from random starts by gradient descent, with the alphas at which their means cross.

    table: the experiment "fig14_random".
    thresholds: from `by_start`.
    """
    crossed = thresholds.set_index("omega")[["random_gd"]].set_axis(["alpha"], axis=1).assign(alpha_error=0.0).dropna()
    marks = [(crossed, 0, "trained students cross", "o")]
    return draw_map(table[table["optimizer"] == "gd"], title, curves, _random_advantage, marks)


def _random_advantage(table):
    return -test_gap(table, "random")


def draw_optimizers(table, title, curves):
    """How much higher gradient descent from random starts ends than L-BFGS."""
    maps = {title: optimizer_map(table, "random")}
    return draw_maps(maps, "gradient descent above L-BFGS / %", (LOWER, HIGHER), curves)
