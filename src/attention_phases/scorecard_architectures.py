"""Tables of the pages on other architectures: theory beside trained students, and how far a transition moves."""

import numpy as np
import pandas as pd

from .published import with_error
from .scorecard import SYMBOLS, checked
from .statistics import crossing, test_gap, training_gap
from .variant_grids import COMPARED, MAPPED

ONE = ("q", "m", "theta", "train_loss", "test_mse")
TWO = ("q_11", "q_12", "q_22", "m_2", "theta_1", "theta_2", "train_loss", "test_mse")
GAPS = {"critical": training_gap, "linear": test_gap}
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
    """Value at infinite d of a quantity that falls or grows as 1/d, with its error.

    Parameters
    ----------
    table : pandas.DataFrame
        Results in several dimensions d.
    name : str

    Returns
    -------
    value, stderr, trend : float
        Of ``value + slope/d``, fitted to the means over instances with their errors; the trend is the slope over its
        own error.
    """
    groups = table.groupby("d")[name]
    means, errors = groups.mean(), groups.sem()
    design = np.stack([np.ones(len(means)), 1 / means.index.to_numpy()], axis=1) / errors.to_numpy()[:, None]
    covariance = np.linalg.inv(design.T @ design)
    value, slope = covariance @ design.T @ (means / errors).to_numpy()
    return value, covariance[0, 0] ** 0.5, slope / covariance[1, 1] ** 0.5


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
    for title, architecture in COMPARED.items():
        here, theory = select(table, architecture), select(lines, architecture)
        theory = theory[theory["what"] == "semantic"].iloc[0]
        largest = here[here["d"] == here["d"].max()]
        for name in TWO if architecture.rank == 2 else ONE:
            if not theory[f"{name}_error"] > 0:
                continue  # what the branch holds at zero
            sign = np.sign(theory[name]) if name.startswith("m") else 1.0  # a student and its mirror image are one
            value, error, trend = extrapolate(here, name)
            rows.append({
                "architecture": f"{TITLES[title]}, α = {theory['alpha']:g}", "quantity": NAMES[name],
                "size": int(largest["d"].iloc[0]),
                "at_size": largest[name].mean(), "at_size_error": largest[name].sem(),
                "students": value, "students_error": error, "trend": trend,
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
        size: list(map(with_error, rows["at_size"], rows["at_size_error"])),
        "d → ∞": list(map(with_error, rows["students"], rows["students_error"])),
        "theory": list(map(with_error, rows["theory"], rows["theory_error"])),
        "in errors": rows["errors"].map("{:+.1f}".format),
    })  # fmt: skip


def thresholds(lines):
    """ "critical" and "linear" of a line, alpha and alpha_error of each that there is."""
    rows = lines[lines["what"].isin(("critical", "linear"))]
    return {row.what: (row.alpha, row.alpha_error) for row in rows.itertuples()}


def thresholds_by_name(lines):
    """`thresholds` of every architecture in `lines`, None where there is none."""
    found = {name: thresholds(select(lines, each)) for name, each in MAPPED.items()}
    return {name: {kind: each.get(kind) for kind in GAPS} for name, each in found.items()}


def trained(table, rng):
    """The same of trained students, where their means cross."""
    found = {kind: crossing(gap(table), rng) for kind, gap in GAPS.items()}
    return {kind: each for kind, each in found.items() if np.isfinite(each).all() and each[1] > 0}


def between_starts(table):
    """Training losses that several starts reach on one data set, as a table to read."""
    losses = table.groupby(["alpha", "seed"])["train_loss"].agg(["min", "max"])
    apart = (losses["max"] - losses["min"]).groupby("alpha")
    spread = losses["min"].groupby("alpha").std()
    return pd.DataFrame({
        "α": [f"{alpha:.2f}" for alpha in spread.index],
        "largest difference between starts": apart.max().map("{:.1e}".format).to_list(),
        "median": apart.median().map("{:.1e}".format).to_list(),
        "spread between data sets": spread.map("{:.1e}".format).to_list(),
    })  # fmt: skip


def trained_thresholds(found, table, rng):
    """Thresholds of the trained students of a slice beside those of theory.

    Parameters
    ----------
    found : dict
        From `thresholds`.
    table : pandas.DataFrame
        Results of the experiment.
    rng : numpy.random.Generator
        For the bootstrap.

    Returns
    -------
    pandas.DataFrame
        As from `scorecard.checked`.
    """
    students = {SYMBOLS[kind]: crossing(GAPS[kind](table), rng) for kind in found}
    theory = {SYMBOLS[kind]: each for kind, each in found.items()}
    names = ["alpha", "alpha_error"]
    both = [pd.DataFrame.from_dict(each, orient="index", columns=names, dtype=float) for each in (students, theory)]
    return checked(*both, of="threshold")


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
