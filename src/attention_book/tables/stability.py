"""Tables of the landscape and of message passing: theory beside what students and iterations do."""

import numpy as np
import pandas as pd

from attention_phases.errors import ResultError
from attention_phases.task import Task
from attention_phases.theory.branches import MINIMA
from attention_phases.theory.stability import contraction, tail

from ..analysis.lines import borders_of, curve
from ..analysis.means import in_errors
from ..experiments.cells import LineCell
from ..experiments.grids import OMEGAS
from ..experiments.results import experiment
from ..experiments.theory_grids import LINE
from ..experiments.theory_lines import standard_line
from ..pages.thresholds import breaking_shift
from ..store.identity import flattened
from ..store.parquet import flat

WINDOW = 10, 20  # iterations between which a rate is taken: after the first steps, before single slow directions lead


def theory_lines(profile, omegas):
    """Rows of `theory.theory_line` at some omega, of the standard task.

    At paper size those are read that are stored with both branches, not with the thresholds alone.

    Raises
    ------
    ResultError
        The losses of the branches do not cross at one of these omega.
    """
    found, known = [], []
    if profile == "paper":
        every = experiment("fig03_theory", profile, quiet=True)
        known = every.loc[every["what"].isin(MINIMA), "omega"].unique()
        stored = [omega for omega in omegas if np.isclose(omega, known).any()]
        if stored:
            found.append(every[[bool(np.isclose(each, stored).any()) for each in every["omega"]]])
    for omega in omegas:
        if np.isclose(omega, known).any():
            continue
        each = LineCell("fig03_theory", Task(omega=omega), *LINE[profile])
        fields = {name: flat(value) for name, value in flattened(each).items()}
        found.append(pd.DataFrame([{**fields, **row} for row in standard_line(each)]))
    lines = pd.concat(found)
    crossed = lines.loc[lines["what"] == "critical", "omega"]
    for omega in omegas:
        if not np.isclose(omega, crossed).any():
            raise ResultError(f"no critical threshold found at omega = {omega:g}")
    return lines


def metastable(chosen):
    """Rows of theory at some omega, and between which alphas each branch is a minimum.

    Parameters
    ----------
    chosen : pandas.DataFrame
        From `theory_lines`.

    Returns
    -------
    dict
        omega to (rows, {branch: (from alpha, to alpha)}, {branch: error of the border}), as
        `figures.landscape.free_energies` takes it.
    """
    begins, ends = borders_of(chosen).values()
    return {
        omega: (rows, {
            "semantic": (begins["alpha"].get(omega, 0.0), np.inf),
            "positional": (rows.loc[rows["what"] == "positional", "alpha"].min(), ends["alpha"].get(omega, np.inf)),
        }, {"semantic": begins["alpha_error"].get(omega), "positional": ends["alpha_error"].get(omega)})
        for omega, rows in chosen.groupby("omega")
    }  # fmt: skip


def ranges(by_omega):
    """`metastable` as numbers: where the semantic minimum begins, alpha_c, and where the positional one ends.

    Returns
    -------
    pandas.DataFrame
        `omega`; `semantic_start`, `critical`, `critical_broken` (what one step of replica symmetry breaking adds, where
        known) and `positional_stop`, with errors; NaN where a border is not within the alphas.
    """
    rows = []
    for omega, (lines, borders, errors) in by_omega.items():
        critical = lines[lines["what"] == "critical"].iloc[0]
        shift, shift_error = breaking_shift("critical", omega)
        ends = borders["positional"][1]
        rows.append({
            "omega": omega,
            "semantic_start": borders["semantic"][0] or np.nan, "semantic_start_error": errors["semantic"] or np.nan,
            "critical": critical["alpha"], "critical_error": critical["alpha_error"],
            "critical_broken": shift, "critical_broken_error": shift_error,
            "positional_stop": ends if np.isfinite(ends) else np.nan,
            "positional_stop_error": errors["positional"] or np.nan,
        })  # fmt: skip
    return pd.DataFrame(rows)


def sizes(table, omega, alpha):
    """Sizes of a perturbation by iteration (rows) and data set (columns)."""
    here = (table["what"] == "contraction") & np.isclose(table["omega"], omega) & np.isclose(table["alpha"], alpha)
    return table[here].pivot_table(index="iteration", columns="seed", values="distance")


def rates(table, replicons, damping):
    """Factor by which a perturbation shrinks in one iteration, measured and predicted, over the same iterations.

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
        omega, alpha, `measured` and `predicted` with their errors, `jumps` (the replicon has no variance), label. Where
        the mean that is the replicon does not exist, there is no prediction; no row where a perturbation was followed
        on fewer than two data sets.
    """
    first, last = WINDOW

    def factor(sizes):
        return (sizes[last] / sizes[first]) ** (1 / (last - first))

    rows = []
    for (omega, alpha), found in replicons.items():
        found_sizes = sizes(table, omega, alpha)
        if last not in found_sizes.index or len(found_sizes.columns) < 2:  # where passing does not settle
            continue
        each = factor(found_sizes.T)
        value, error = found["replicon"], found["replicon_error"]
        middle, *sides = (factor(contraction(value + side * error, damping, last)) for side in (0, -1, 1))
        exists = found["index"] >= 1
        rows.append({
            "omega": omega,
            "alpha": alpha,
            "measured": each.mean(),
            "measured_error": each.sem(),
            "predicted": middle if exists else np.nan,
            "predicted_error": (sides[1] - sides[0]) / 2 if exists else np.nan,
            "jumps": found["index"] < 2,
            "label": f"{omega:g}, {alpha:g}",
        })  # fmt: skip
    return pd.DataFrame(rows)


def _with_index(found):
    """Replicon and tail index of `theory.stability.tail` with errors; no replicon where its mean does not exist."""
    row = {name: found[name] for name in ("replicon", "replicon_error", "index", "index_error")}
    return row if row["index"] >= 1 else row | {"replicon": np.nan, "replicon_error": np.nan}


def rates_and_replicons(found, replicons):
    """`rates` with the replicon and its tail: `replicon`, `index`, `predicted`, `measured` with errors, `sigma_off`."""
    of = pd.DataFrame([_with_index(replicons[key]) for key in zip(found["omega"], found["alpha"])])
    off = in_errors(found["measured"] - found["predicted"], found["measured_error"], found["predicted_error"])
    shown = ["predicted", "predicted_error", "measured", "measured_error"]
    return pd.concat([found[["omega", "alpha"]], of, found[shown]], axis=1).assign(sigma_off=off)


def settled(table, apart):
    """Whether message passing settles on data, and how far two copies of it stay apart.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "stability".
    apart : dict
        (omega, alpha, start) to (distance, error) of theory, from `theory.stability.settling_distance`.

    Returns
    -------
    pandas.DataFrame
        `omega`, `alpha`, `branch`; `distance` of theory with its error; `copies` and `copies_jumping`, medians over
        data sets with the smallest and the largest as a range, without and with jumps in the response; `settled`, on
        how many `data_sets` it settles.
    """
    rows = []
    for (omega, alpha, start), (distance, error) in apart.items():
        here = table[np.isclose(table["omega"], omega) & np.isclose(table["alpha"], alpha) & (table["start"] == start)]
        ends = here[here["what"] == "settled"]
        row = {"omega": omega, "alpha": alpha, "branch": start, "distance": distance, "distance_error": error}
        for width, name in ((0.0, "copies"), (here["width"].max(), "copies_jumping")):
            copies = here[(here["what"] == "copies") & (here["damping"] > 0) & (here["width"] == width)]["apart"]
            row |= {name: copies.median(), f"{name}_low": copies.min(), f"{name}_high": copies.max()}
        rows.append(row | {"settled": int(ends["settled"].sum()), "data_sets": len(ends)})
    return pd.DataFrame(rows)


def by_points(solutions, sizes, scrambles):
    """The sample mean of the replicon, and its tail, against the number of quadrature points.

    Parameters
    ----------
    solutions : dict
        (omega, alpha, branch) to overlaps.
    sizes : list of int
        Points a scramble.
    scrambles : int

    Returns
    -------
    pandas.DataFrame
        `branch`, `omega`, `alpha`, `points`; `replicon` and `index` with their errors.
    """
    rows = []
    for (omega, alpha, branch), overlaps in solutions.items():
        for points in sizes:
            found = tail(Task(omega=omega), alpha, overlaps, points, scrambles)
            rows.append({"branch": branch, "omega": omega, "alpha": alpha, "points": points} | _with_index(found))
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
        return maps, {}
    return maps, _drawn(experiment("fig03_theory", profile, quiet=True))


def _drawn(lines):
    """alpha_c and the start of the semantic branch over omega, by name."""
    return {what: curve(lines, what) for what in ("critical", "semantic start")}
