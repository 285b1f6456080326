"""Tables of the landscape and of message passing: theory beside what students and iterations do."""

from itertools import pairwise

import numpy as np
import pandas as pd

from ..analysis.instances import curve
from ..experiments.cells import line_cell
from ..experiments.rank_one_grids import OMEGAS, THEORY_SIZE
from ..experiments.results import experiment
from ..figures import NEUTRAL, SEMANTIC
from ..published import with_error
from ..sweep.parquet import flat
from ..task import Task
from ..theory import border, theory_line
from ..theory.stability import contraction, tail
from .comparisons import SYMBOLS

WINDOW = 10, 20  # iterations between which a rate is taken: after the first steps, before single slow directions lead


def theory_lines(profile, omegas):
    """Rows of `theory.theory_line` at some omega, of the standard task: the stored ones at paper size."""
    if profile == "paper":
        every = experiment("fig03_theory", profile, quiet=True)
        return every[[bool(np.isclose(each, omegas).any()) for each in every["omega"]]]
    found = []
    for omega in omegas:
        each = line_cell("fig03_theory", Task(omega=omega), *THEORY_SIZE[profile])
        fields = {name: flat(value) for name, value in vars(each).items()}
        found.append(pd.DataFrame([{**fields, **row} for row in theory_line(each)]))
    return pd.concat(found)


def metastable(chosen, **quadrature):
    """Rows of theory at some omega, and between which alphas each branch is a minimum.

    Parameters
    ----------
    chosen : pandas.DataFrame
        From `theory_lines`.
    **quadrature
        Of `theory.border`.

    Returns
    -------
    dict
        omega to (rows, {branch: (from alpha, to alpha)}, {branch: error of the border}), as
        `figures.landscape.free_energies` takes it.
    """
    begins, ends = (border(chosen, branch, **quadrature) for branch in ("semantic", "positional"))
    return {
        omega: (rows, {
            "semantic": (begins["alpha"].get(omega, 0.0), np.inf),
            "positional": (rows.loc[rows["what"] == "positional", "alpha"].min(), ends["alpha"].get(omega, np.inf)),
        }, {"semantic": begins["alpha_error"].get(omega), "positional": ends["alpha_error"].get(omega)})
        for omega, rows in chosen.groupby("omega")
    }  # fmt: skip


def metastable_table(by_omega):
    """`metastable` as a table to read."""
    rows = []
    for omega, (lines, ranges, errors) in by_omega.items():
        critical = lines[lines["what"] == "critical"].iloc[0]
        last = lines.loc[lines["what"] == "positional", "alpha"].max()
        begins, ends = ranges["semantic"][0], ranges["positional"][1]
        rows.append({
            "ω": f"{omega:g}",
            "semantic minimum from α =": with_error(begins, errors["semantic"]) if begins else "none",
            SYMBOLS["critical"]: with_error(critical["alpha"], critical["alpha_error"]),
            "positional minimum to α =": (
                with_error(ends, errors["positional"]) if np.isfinite(ends) else f"beyond {last:g}"
            ),
        })  # fmt: skip
    return pd.DataFrame(rows)


def sizes(table, omega, alpha):
    """Sizes of a perturbation by iteration (rows) and data set (columns)."""
    here = (table["what"] == "contraction") & np.isclose(table["omega"], omega) & np.isclose(table["alpha"], alpha)
    return table[here].pivot_table(index="iteration", columns="seed", values="distance")


def rates(table, replicons, damping):
    """Factor an iteration by which a perturbation shrinks, measured and predicted, over the same iterations.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "stability".
    replicons : dict
        (omega, alpha) to Lambda, its error and its tail index, as `theory.stability.tail` gives them.
    damping : float

    Returns
    -------
    pandas.DataFrame
        omega, alpha, `measured` and `predicted` with their errors, `jumps` (the replicon has no variance), label.
    """
    first, last = WINDOW

    def factor(sizes):
        return (sizes[last] / sizes[first]) ** (1 / (last - first))

    rows = []
    for (omega, alpha), found in replicons.items():
        each = factor(sizes(table, omega, alpha).T)
        if len(each) < 2:
            continue
        value, error = found["replicon"], found["replicon_error"]
        middle, *sides = (factor(contraction(value + side * error, damping, last)) for side in (0, -1, 1))
        rows.append({
            "omega": omega,
            "alpha": alpha,
            "measured": each.mean(),
            "measured_error": each.sem(),
            "predicted": middle,
            "predicted_error": (sides[1] - sides[0]) / 2,
            "jumps": found["index"] < 2,
            "label": f"{omega:g}, {alpha:g}",
        })  # fmt: skip
    return pd.DataFrame(rows)


def rates_table(found, replicons):
    """`rates` as a table to read, with the replicon and its tail."""
    errors = np.hypot(found["measured_error"], found["predicted_error"])
    of = [replicons[key] for key in zip(found["omega"], found["alpha"])]
    return pd.DataFrame({
        "ω": found["omega"].map("{:g}".format),
        "α": found["alpha"].map("{:g}".format),
        "Λ": [with_error(each["replicon"], each["replicon_error"]) for each in of],
        "tail index": [with_error(each["index"], each["index_error"]) for each in of],
        "predicted": list(map(with_error, found["predicted"], found["predicted_error"])),
        "measured": list(map(with_error, found["measured"], found["measured_error"])),
        "in errors": [f"{each:+.1f}" for each in (found["measured"] - found["predicted"]) / errors],
    })  # fmt: skip


def settled(table, apart):
    """Whether message passing settles on data, and how far two copies of it stay apart.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "stability".
    apart : dict
        (omega, alpha, start) to (distance, error) of theory, from `theory.copies.settling_distance`.

    Returns
    -------
    pandas.DataFrame
        A table to read; distances on data are medians over data sets, with the smallest and the largest.
    """
    rows = []
    for (omega, alpha, start), (distance, error) in apart.items():
        here = table[np.isclose(table["omega"], omega) & np.isclose(table["alpha"], alpha) & (table["start"] == start)]
        ends = here[here["what"] == "settled"]
        row = {"ω": f"{omega:g}", "α": f"{alpha:g}", "branch": start,
               "theory": with_error(distance, error) if distance else "0"}  # fmt: skip
        for width, name in ((0.0, "derivative"), (here["width"].max(), "with jumps")):
            copies = here[(here["what"] == "copies") & (here["damping"] > 0) & (here["width"] == width)]["apart"]
            row[f"copies, {name}"] = _range(copies)
        rows.append(row | {"settles": f"{int(ends['settled'].sum())} of {len(ends)}"})
    return pd.DataFrame(rows)


def _range(values):
    if values.median() < 1e-3:
        return f"0 to {values.max():.2f}" if values.max() > 5e-3 else "0"
    return f"{values.median():.2f} ({values.min():.2f} to {values.max():.2f})"


def minima(table):
    """How many minima the starts in one valley lead to, and how they differ.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "landscape".

    Returns
    -------
    pandas.DataFrame
        A table to read: means over data sets, with the fewest and the most.
    """
    rows = []
    for (omega, alpha, valley, noise), each in table.groupby(["omega", "alpha", "valley", "noise"], observed=True):
        counts = each.groupby("seed")["minimum"].nunique()
        scatter = each.groupby("seed")["train_loss"].agg(lambda losses: losses.std() / losses.min())
        rows.append({
            "ω": f"{omega:g}",
            "α": f"{alpha:g}",
            "valley": valley,
            "noise": f"{noise:g}",
            "starts": len(each) // each["seed"].nunique(),
            "minima": f"{counts.mean():.0f} ({counts.min()} to {counts.max()})",
            "scatter of ε<sub>t</sub>": f"{100 * scatter.mean():.2g} %" if scatter.mean() > 1e-6 else "none",
            "overlap": f"{each['aligned'].mean():.3f} ± {each['aligned'].std():.3f}",
        })  # fmt: skip
    return pd.DataFrame(rows)


def nearest(table, edges=(0, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 2)):
    """How many ends have their nearest other end at which distance over their size, as a table to read."""
    counts = np.histogram(table["nearest"], edges)[0]
    return pd.DataFrame({
        "nearest other end": [f"{low:g} to {high:g}" for low, high in pairwise(edges)],
        "ends": counts,
    })  # fmt: skip


def levels(table, limits):
    """Losses of the ends beside the replica-symmetric one: `limits` has theory.Solution by (omega, alpha, valley).

    Returns
    -------
    pandas.DataFrame
        A table to read: mean over data sets, with its standard error, of the lowest and of the mean loss.
    """
    rows = []
    for (omega, alpha, valley, noise), each in table.groupby(["omega", "alpha", "valley", "noise"], observed=True):
        found = limits[omega, alpha, valley]
        losses = 1e3 * each.groupby("seed")["train_loss"].agg(["min", "mean"])
        rows.append({
            "ω": f"{omega:g}",
            "valley": valley,
            "noise": f"{noise:g}",
            "lowest": with_error(losses["min"].mean(), losses["min"].sem()),
            "mean": with_error(losses["mean"].mean(), losses["mean"].sem()),
            "theory": with_error(1e3 * found.train_loss, 1e3 * found.stderr["train_loss"]),
        })  # fmt: skip
    return pd.DataFrame(rows)


def by_points(solutions, sizes, scrambles):
    """The sample mean of the replicon against the number of quadrature points, and the tail, as a table to read.

    Parameters
    ----------
    solutions : dict
        (omega, alpha, branch) to overlaps.
    sizes : list of int
        Points a scramble.
    scrambles : int
    """
    rows = []
    for (omega, alpha, branch), overlaps in solutions.items():
        each = [tail(Task(omega=omega), alpha, overlaps, points, scrambles) for points in sizes]
        means = [with_error(one["replicon"], one["replicon_error"]) for one in each]
        rows.append({
            "branch": branch, "ω": f"{omega:g}", "α": f"{alpha:g}",
            **{f"{points:,} points": mean for points, mean in zip(sizes, means)},
            "tail index": with_error(each[-1]["index"], each[-1]["index_error"]),
        })  # fmt: skip
    return pd.DataFrame(rows)


def replicon_maps(profile):
    """The replicon over the semantic branch, lines, and where it is not told from 1.

    Returns
    -------
    maps, lines : see `figures.stability.square_maps`
    unsure : DataFrame of bool
        Within two errors of 1, or above.
    most : float
        By how many errors the replicon exceeds 1 at the most.
    """
    table = theory_lines(profile, OMEGAS if profile == "paper" else OMEGAS[14:15])
    here = table[table["what"] == "semantic"]
    value, error = (here.pivot_table(index="alpha", columns="omega", values=f"replicon{end}") for end in ("", "_error"))
    above = (value - 1) / error
    return {"Semantic branch": value}, _drawn(table), above > -2, float(above.max().max())


def apart_maps(profile):
    """Distances of two copies by branch, and lines, as `figures.stability.square_maps` takes them.

    At paper size the lines are those of Figure 3, else there are none.
    """
    table = experiment("copies", profile, quiet=True)
    maps = {
        f"{branch.capitalize()} branch": each.pivot_table(index="alpha", columns="omega", values="apart")
        for branch, each in table.groupby("what", observed=True, sort=False)
    }
    if profile != "paper":
        return maps, []
    return maps, _drawn(experiment("fig03_theory", profile, quiet=True))


def _drawn(lines):
    return [
        (curve(lines, "critical"), r"$\alpha_c$", NEUTRAL, "-"),
        (curve(lines, "semantic start"), "semantic branch begins", SEMANTIC, "--"),
    ]
