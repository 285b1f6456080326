"""Tables of the pages on other architectures: theory beside trained students, and how far a transition moves."""

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline

from ..analysis.instances import GAPS, crossing, crossings, curve
from ..experiments.architecture_grids import COMPARED, MAPPED
from ..experiments.cells import ArchitectureCell
from ..experiments.general_simulation import teacher_length
from ..published import with_error
from ..sweep.identity import restore
from ..task import Task
from ..theory.lines import MINIMA
from .comparisons import SYMBOLS, checked
from .stability import theory_lines

ONE = ("q", "m", "theta", "train_loss", "test_mse")
TWO = ("q_11", "q_12", "q_22", "m_2", "theta_1", "theta_2", "train_loss", "test_mse")
NAMES = SYMBOLS | {
    f"{name}_{index}": f"{SYMBOLS[name]}<sub>{index}</sub>"
    for name, index in (("q", "11"), ("q", "12"), ("q", "22"), ("m", "2"), ("theta", "1"), ("theta", "2"))
}
TITLES = {
    "correlated": "correlated tokens",
    "untied": "Q and K apart",
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
        Results in several dimensions d, with `length`, as `general_simulation.teacher_length` gives it.
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
        Numbers: architecture, quantity, size (largest d), at_size and its error, students (at infinite d) and their
        error, theory and its error, and `errors`: the difference of the two over both errors in quadrature.
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
                "architecture": f"{TITLES[title]}, α = {theory['alpha']:g}", "quantity": NAMES[name],
                "size": int(largest["d"].iloc[0]),
                "at_size": largest[name].mean(), "at_size_error": largest[name].sem(),
                "students": value, "students_error": error,
                "theory": sign * theory[name], "theory_error": theory[f"{name}_error"],
                "errors": (value - sign * theory[name]) / np.hypot(error, theory[f"{name}_error"]),
            })  # fmt: skip
    return pd.DataFrame(rows)


def compared_as_table(rows):
    """`compared` as a table to read."""
    size = f"students, d = {rows['size'].iloc[0]}"
    return pd.DataFrame({
        "": rows["architecture"].where(~rows["architecture"].duplicated(), ""),
        " ": rows["quantity"],
        "theory": list(map(with_error, rows["theory"], rows["theory_error"])),
        "students, d → ∞": list(map(with_error, rows["students"], rows["students_error"])),
        "in errors": rows["errors"].map("{:+.1f}".format),
        size: list(map(with_error, rows["at_size"], rows["at_size_error"])),
    })  # fmt: skip


def standard(profile):
    """Theory of the standard student: "semantic" and "positional" rows over alpha, and `thresholds`."""
    lines = theory_lines(profile, [Task().omega])
    return by_branch(lines), thresholds(lines)


def by_branch(lines):
    """The rows of the semantic and of the positional branch; none where there is no such branch."""
    return {what: lines[lines["what"] == what] for what in MINIMA}


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


def said(lines, what):
    """Alpha with its error of a single row such as "semantic limit", as text."""
    rows = lines[lines["what"] == what]
    return with_error(rows["alpha"].iloc[0], rows["alpha_error"].iloc[0]) if len(rows) else "none"


def thresholds_by_name(lines):
    """`thresholds` of every architecture in `lines`, None where there is none."""
    found = {name: thresholds(select(lines, each)) for name, each in MAPPED.items()}
    return {name: {kind: each.get(kind) for kind in GAPS} for name, each in found.items()}


def trained(table, rng):
    """The same of trained students, where their means cross."""
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
        As from `comparisons.checked`, with the architecture and the threshold in front.
    """
    parts = []
    for name, table in maps.items():
        for kind, gap in GAPS.items():
            theory = curve(select(lines, MAPPED[name]), kind)
            inside = theory.index[theory["alpha"] < table["alpha"].max()]
            rows = checked(crossings(table, gap, rng), theory, inside)
            rows.insert(0, "student", TITLES[name])
            rows.insert(1, "threshold", SYMBOLS[kind])
            parts.append(rows)
    return pd.concat(parts, ignore_index=True)


def between_starts(table):
    """How often each start ends above the lowest training loss on its data set, as a table to read.

    Above means: by more than a tenth of the spread of the lowest loss between data sets.
    """
    losses = table.pivot_table(index=["alpha", "seed"], columns="start", values="train_loss", observed=True)
    lowest = losses.min(axis=1)
    spread = lowest.groupby("alpha").std()
    above = losses.sub(lowest, axis=0).gt(spread / 10, axis=0, level="alpha").groupby("alpha").sum()
    apart = (losses.max(axis=1) - lowest).groupby("alpha").median()
    return pd.DataFrame({
        "α": [f"{alpha:.2f}" for alpha in spread.index],
        **{f"{start} start above": above[start].to_list() for start in above},
        "median difference of the losses": apart.map("{:.0e}".format).to_list(),
        "spread between data sets": spread.map("{:.1e}".format).to_list(),
    })  # fmt: skip


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
        As from `comparisons.checked`. Students are interpolated linearly between their alphas; theory is given exactly
        and, for the comparison, with the same interpolation.
    """
    alphas, names = np.unique(table["alpha"]), ["alpha", "alpha_error"]
    students = {SYMBOLS[kind]: crossing(GAPS[kind](table), rng) for kind in found}
    alike = {SYMBOLS[kind]: (interpolated(lines, kind, alphas), error) for kind, (_, error) in found.items()}
    both = [pd.DataFrame.from_dict(each, orient="index", columns=names, dtype=float) for each in (students, alike)]
    rows = checked(*(each.dropna() for each in both), of="threshold")
    rows = rows.rename(columns={"theory": "theory, interpolated alike"})
    exact = {SYMBOLS[kind]: with_error(*each) for kind, each in found.items()}
    rows.insert(2, "theory", rows["threshold"].map(exact))
    return rows


def against_informed(informed, random):
    """Students of rank 2 from random starts beside the informed ones with the lowest loss, to read.

    Parameters
    ----------
    informed, random : pandas.DataFrame
        Results of informed starts by L-BFGS, and of the start "random" by gradient descent on some of the data sets.

    Returns
    -------
    pandas.DataFrame
        Differences at several alpha, random less informed on the same data, in per cent of the informed mean: training
        loss, overlap with the teacher, test error.
    """
    where = ["alpha", "seed"]
    best = informed.loc[informed.groupby(where)["train_loss"].idxmin()].set_index(where)
    other = random.set_index(where)
    best = best.loc[other.index]
    rows = []
    for alpha in sorted(random["alpha"].unique())[4::5]:
        row = {"α": f"{alpha:.2f}"}
        for name in ("train_loss", "theta", "test_mse"):
            one, two = best.loc[alpha, name], other.loc[alpha, name]
            share = 100 * (two - one) / one.mean()
            row[f"{SYMBOLS[name]}, per cent"] = with_error(share.mean(), share.sem())
        rows.append(row)
    return pd.DataFrame(rows)


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
    values = CubicSpline(gap.index, gap)(inside)
    for left in np.flatnonzero((values[:-1] > 0) & (values[1:] <= 0)):
        return np.interp(0, -values[left : left + 2], inside[left : left + 2])
    return np.nan


def moved(found):
    """By how much an architecture moves both thresholds, as a table to read.

    Parameters
    ----------
    found : dict
        Student's name to "critical" and "linear", each alpha and error; None where there is none. The first
        is what the others are compared with.
    """
    first = next(iter(found.values()))
    rows = []
    for name, thresholds in found.items():
        row = {"student": name}
        for kind in ("critical", "linear"):
            if thresholds[kind] is None:
                row[SYMBOLS[kind]] = "none"
                row[f"{SYMBOLS[kind]} moves by"] = ""
                continue
            alpha, error = thresholds[kind]
            row[SYMBOLS[kind]] = with_error(alpha, error)
            away = alpha - first[kind][0]
            row[f"{SYMBOLS[kind]} moves by"] = "" if thresholds is first else f"{away:+.2f}"
        rows.append(row)
    return pd.DataFrame(rows)
