"""Tables of the pages on other architectures: theory beside trained students, and how far a transition moves."""

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline

from attention_phases.task import Task
from attention_phases.theory.branches import MINIMA

from ..analysis.instances import GAPS, advantage, test_gap
from ..analysis.lines import curve
from ..analysis.means import in_errors
from ..analysis.thresholds import against_theory, by_name, crossing, crossings, last_fall
from ..experiments.cells import ArchitectureCell
from ..experiments.simulation import teacher_length
from ..experiments.variant_grids import COMPARED, MAPPED
from ..store.identity import restore
from .stability import theory_lines

ONE = ("q", "m", "theta", "train_loss", "test_mse")
TWO = ("q_11", "q_12", "q_22", "m_2", "theta_1", "theta_2", "train_loss", "test_mse")
TITLES = {
    "correlated": "correlated tokens",
    "untied": "untied queries and keys",
    "rank2": "rank 2",
    "three tokens": "three tokens",
    "four tokens": "four tokens",
}


def select(table, architecture):
    """The rows of one architecture."""
    same = [table[name] == value for name, value in vars(architecture).items()]
    return table[np.logical_and.reduce(same)].dropna(axis=1, how="all")


def extrapolate(table, name):
    """Value at infinite d of a quantity that falls or grows as 1/d, for a teacher of length 1, with its error.

    Most of the spread between data sets comes from the teacher's length. It is known, and 1 in the limit.

    Parameters
    ----------
    table : pandas.DataFrame
        Results in several dimensions d, with `length`, as `simulation.teacher_length` gives it.
    name : str

    Returns
    -------
    value, stderr : float
        Of ``value + slope/d + response (length - 1)``, fitted to all instances with variances in proportion to 1/d.
    """
    weight = np.sqrt(table["d"].to_numpy())
    design = np.stack([np.ones(len(table)), 1 / table["d"], table["length"] - 1], axis=1) * weight[:, None]
    target = table[name].to_numpy() * weight
    covariance = np.linalg.inv(design.T @ design)
    found = covariance @ design.T @ target
    variance = ((target - design @ found) ** 2).sum() / (len(table) - 3)
    return found[0], (covariance[0, 0] * variance) ** 0.5


def compared(table, lines):
    """Theory beside students of the semantic minimum, for every architecture that theory covers.

    Parameters
    ----------
    table, lines : pandas.DataFrame
        The experiments "variants_size" and "variants_theory".

    Returns
    -------
    pandas.DataFrame
        `architecture`, `alpha`, `quantity`; `theory`, `limit` (students at infinite d) and `at_size` (at the largest d)
        with their errors; `sigma_off`: students less theory at infinite d, over both errors in quadrature.
    """
    rows = []
    lengths = {text: teacher_length(restore(ArchitectureCell, text)) for text in table["cell"].astype(str).unique()}
    table = table.assign(length=table["cell"].astype(str).map(lengths))
    for title, architecture in COMPARED.items():
        here, theory = select(table, architecture), select(lines, architecture)
        theory = theory[theory["what"] == "semantic"].iloc[0]
        largest = here[here["d"] == here["d"].max()]
        for name in TWO if architecture.rank == 2 else ONE:
            if not theory[f"{name}_error"] > 0:
                continue  # what the branch holds at zero
            sign = np.sign(theory[name]) if name.startswith("m") else 1.0  # a student and its mirror image are one
            value, error = extrapolate(here, name)
            rows.append({
                "architecture": TITLES[title], "alpha": theory["alpha"], "quantity": name,
                "theory": sign * theory[name], "theory_error": theory[f"{name}_error"],
                "limit": value, "limit_error": error,
                "sigma_off": in_errors(value - sign * theory[name], error, theory[f"{name}_error"]),
                "at_size": largest[name].mean(), "at_size_error": largest[name].sem(),
            })  # fmt: skip
    return pd.DataFrame(rows)


def standard(profile):
    """Theory of the standard student: "semantic" and "positional" rows over alpha, and `thresholds`."""
    lines = theory_lines(profile, [Task().omega])
    return by_branch(lines), thresholds(lines)


def by_branch(lines):
    """The rows of both branches and of the gap of their losses, by name; none where there are none."""
    return {what: lines[lines["what"] == what] for what in (*MINIMA, "gap")}


def from_onset(lines):
    """`by_branch` of the student of rank 2, whose semantic branch leaves the positional one continuously."""
    theory = by_branch(lines)
    positional = theory["positional"].select_dtypes("number").dropna(axis=1, how="all")
    for onset in lines.loc[lines["what"] == "positional limit", "alpha"]:
        start = {name: np.interp(onset, positional["alpha"], positional[name]) for name in positional}
        start = pd.DataFrame([start | {"alpha": onset, "theta": 0.0, "theta_error": 0.0, "gain": np.nan}])
        theory["semantic"] = pd.concat([start, theory["semantic"]])
    return theory


def thresholds(lines):
    """ "critical" and "linear" of a line, alpha and alpha_error of each that there is."""
    rows = lines[lines["what"].isin(("critical", "linear"))]
    return {row.what: (row.alpha, row.alpha_error) for row in rows.itertuples()}


def thresholds_by_name(lines):
    """`thresholds` of every architecture in `lines`, None where there is none."""
    found = {name: thresholds(select(lines, each)) for name, each in MAPPED.items()}
    return {name: {kind: each.get(kind) for kind in GAPS} for name, each in found.items()}


def trained(table, rng):
    """ "critical" and "linear" of trained students, alpha and alpha_error, where their means cross."""
    found = {kind: crossing(gap(table), rng) for kind, gap in GAPS.items()}
    return {kind: each for kind, each in found.items() if np.isfinite(each).all() and each[1] > 0}


def mapped(maps, lines, rng):
    """Where the students of the maps cross, beside theory.

    Below every crossing of theory the two starts may end alike, and their losses cross by chance: compared are the
    omega at which theory's line lies in the map.

    Parameters
    ----------
    maps : dict of pandas.DataFrame
        Results over alpha and omega, by name of the architecture.
    lines : pandas.DataFrame
        The experiment "fig14_theory".
    rng : numpy.random.Generator
        For the bootstrap.

    Returns
    -------
    pandas.DataFrame
        As from `thresholds.against_theory`, with `student` and `threshold` in front.
    """
    parts = []
    for name, table in maps.items():
        for kind, gap in GAPS.items():
            theory = curve(select(lines, MAPPED[name]), kind)
            inside = theory.index[theory["alpha"] < table["alpha"].max()]
            rows = against_theory(crossings(table, gap, rng), theory, inside)
            rows.insert(0, "student", TITLES[name])
            rows.insert(1, "threshold", kind)
            parts.append(rows)
    return pd.concat(parts, ignore_index=True)


def by_start(table, lines, rng):
    """Where the rank-2 student overtakes the linear model, from informed starts and, as published, from random ones.

    Parameters
    ----------
    table, lines : pandas.DataFrame
        The experiments "fig14_random" and "fig14_theory".
    rng : numpy.random.Generator
        For the bootstrap.

    Returns
    -------
    pandas.DataFrame
        `omega`; `theory` of the semantic branch, `from_informed` (of the two informed students the one with the lower
        training loss) and `random_lbfgs`, with errors; `random_gd`, with the range over single data sets as
        `random_gd_low` and `random_gd_high`, where one that does not cross counts as the end of the map. An error of
        the mean would say little: these students are of two kinds, and a few of the later ones decide it.
    """
    theory, rows = curve(select(lines, MAPPED["rank2"]), "linear"), []
    for omega, here in table.groupby("omega"):
        by = {name: test_gap(each, "random") for name, each in here.groupby("optimizer", observed=True)}
        alphas = by["gd"].index.to_numpy()
        single = np.nan_to_num([last_fall(alphas, each) for each in by["gd"].to_numpy().T], nan=alphas[-1])
        rows.append(
            {"omega": omega}
            | pair("theory", theory.loc[omega] if omega in theory.index else None)
            | pair("from_informed", crossing(-advantage(here), rng))
            | pair("random_lbfgs", crossing(by["lbfgs"], rng))
            | {"random_gd": last_fall(alphas, by["gd"].mean(axis=1).to_numpy())}
            | dict(zip(("random_gd_low", "random_gd_high"), (np.min(single), np.max(single))))
        )
    return pd.DataFrame(rows)


def pair(name, alpha):
    """A value and its error as columns of a row; NaN where one of them is missing."""
    value, error = (np.nan, np.nan) if alpha is None or not np.isfinite(alpha).all() else alpha
    return {name: value, f"{name}_error": error}


def trained_thresholds(found, table, lines, rng):
    """Thresholds of the trained students of a slice beside those of theory.

    Parameters
    ----------
    found : dict
        From `thresholds`.
    table : pandas.DataFrame
        Results of the experiment.
    lines : pandas.DataFrame
        Theory of the same architecture.
    rng : numpy.random.Generator
        For the bootstrap.

    Returns
    -------
    pandas.DataFrame
        `threshold`; `exact_theory`; `trained` and `theory_alike`, both interpolated linearly between the alphas of the
        students; and `sigma_off`, the difference of the last two over their errors.
    """
    alphas = np.unique(table["alpha"])
    students = {kind: crossing(GAPS[kind](table), rng) for kind in found}
    alike = {kind: (interpolated(lines, kind, alphas), error) for kind, (_, error) in found.items()}
    rows = against_theory(*(by_name(each, "threshold").dropna() for each in (students, alike)))
    rows = rows.rename(columns={"theory": "theory_alike", "theory_error": "theory_alike_error"})
    exact = rows["threshold"].map(dict(found))
    rows.insert(1, "exact_theory", [value for value, _ in exact])
    rows.insert(2, "exact_theory_error", [error for _, error in exact])
    return rows


def interpolated(lines, kind, alphas):
    """Where theory would cross if it were known at some alpha only and interpolated linearly."""
    semantic, positional = (lines[lines["what"] == branch].set_index("alpha") for branch in MINIMA)
    if kind == "critical":
        gap = (semantic["train_loss"] - positional["train_loss"]).dropna()
    else:
        gap = semantic["test_mse"] - lines.loc[lines["what"] == "baseline", "test_mse"].iloc[0]
    if len(gap) < 2:
        return np.nan
    inside = alphas[(alphas >= gap.index.min()) & (alphas <= gap.index.max())]
    return last_fall(inside, CubicSpline(gap.index, gap)(inside))


def moved(found):
    """By how much an architecture moves both thresholds.

    Parameters
    ----------
    found : dict
        Student's name to "critical" and "linear", each alpha and error; None where there is none. The first
        is what the others are compared with.

    Returns
    -------
    pandas.DataFrame
        `student`; `critical` and `linear` with errors; `critical_moves` and `linear_moves`, NaN for the first.
    """
    first = next(iter(found.values()))
    rows = []
    for name, thresholds in found.items():
        row = {"student": name}
        for kind in GAPS:
            alpha, error = thresholds[kind] or (np.nan, np.nan)
            away = np.nan if thresholds is first else alpha - (first[kind] or (np.nan,))[0]
            row |= {kind: alpha, f"{kind}_error": error, f"{kind}_moves": away}
        rows.append(row)
    return pd.DataFrame(rows)
