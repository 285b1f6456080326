"""Both thresholds: published, of theory, and of trained students."""

from functools import cache

import numpy as np
import pandas as pd

from attention_phases.task import Task

from .. import published
from ..analysis.differences import in_errors
from ..analysis.instances import GAPS, crossing, crossings, curve, mean_shift, shifts, test_gap
from ..paths import DATA
from ..render.verdicts import OF_THRESHOLD, Comparison, compare
from ..store.database import load
from ..store.parquet import flat
from .breaking import moved

PUBLISHED = {"critical": published.CRITICAL_ALPHA, "linear": published.LINEAR_ALPHA}
MANY_MINIMA = 0.2  # below this omega both valleys hold many minima near the transition


def broken(kind, omega):
    """What one step of breaking adds to a threshold of the standard task, with its error; NaN where it is not known."""
    shifts = _shifts(kind)
    return tuple(shifts.loc[omega]) if omega in shifts.index else (np.nan, np.nan)


@cache
def _shifts(kind):
    """The stored shifts by omega: they are computed at the published size alone."""
    stored = DATA / "one_step.parquet"
    rows = moved(load(stored), kind) if stored.exists() else pd.DataFrame(columns=["shift", "shift_error"])
    return rows.loc[rows["shift_error"].notna(), ["shift", "shift_error"]]


def of_theory(lines):
    """All published thresholds beside those of theory.

    Parameters
    ----------
    lines : pandas.DataFrame
        Rows of `theory.theory_line` of the standard task.

    Returns
    -------
    pandas.DataFrame
        As from `verdicts.compare`.
    """
    rows = []
    for kind, known in PUBLISHED.items():
        ours = curve(lines, kind)
        for omega, theirs in known.items():
            if omega in ours.index:
                nets = int(lines.loc[lines["omega"] == omega, "scrambles"].iloc[0])
                given = {"omega": omega}, theirs, *ours.loc[omega], "theory", nets, OF_THRESHOLD[kind]
                rows.append(Comparison(kind, *given, True, *broken(kind, omega)))
    return compare(rows)


def of_students(table, rng):
    """Published thresholds, which are theory, beside those of trained students.

    Parameters
    ----------
    table : pandas.DataFrame
        Results over alpha and omega of the standard task, of one optimiser or of several that have all cells.
    rng : numpy.random.Generator
        For the bootstrap.

    Returns
    -------
    pandas.DataFrame
        As from `verdicts.compare`; a coarse grid may not show a crossing, which is then left out.
    """
    rows = []
    for kind, known in PUBLISHED.items():
        for optimizer, each in table.groupby("optimizer", observed=True):
            wanted = each[each["omega"].isin(list(known))]
            for omega, (alpha, error) in crossings(wanted, GAPS[kind], rng).dropna().iterrows() if len(wanted) else ():
                if error > 0:
                    where, n = {"omega": omega, "optimizer": optimizer}, int(each["seed"].nunique())
                    reason = "many minima" if omega < MANY_MINIMA else OF_THRESHOLD[kind]
                    rows.append(Comparison(kind, where, known[omega], alpha, error, "students", n, reason))
    return compare(rows)


def against_theory(trained, theory, only=None):
    """Thresholds of trained students beside those of theory.

    Parameters
    ----------
    trained, theory : pandas.DataFrame
        omega, or something else, as index; alpha and alpha_error.
    only : sequence, optional
        Of the index; all that both have by default.

    Returns
    -------
    pandas.DataFrame
        The index as columns; `trained` and `theory` with their errors; `sigma_off`, their difference over both errors.
    """
    both = trained.dropna().join(theory, how="inner", suffixes=("_trained", ""))
    both = both[(both["alpha_error_trained"] > 0) & (both.index.isin(both.index if only is None else only))]
    found = pd.DataFrame({
        "trained": both["alpha_trained"],
        "trained_error": both["alpha_error_trained"],
        "theory": both["alpha"],
        "theory_error": both["alpha_error"],
        "sigma_off": in_errors(both["alpha_trained"] - both["alpha"], both["alpha_error_trained"], both["alpha_error"]),
    })  # fmt: skip
    return found.reset_index(names=[name or "omega" for name in both.index.names])


def mean_later(found):
    """By how much students cross later than theory on average over the rows of `against_theory`, with its error.

    NaN, NaN if there are no rows. The rows are of independent data sets.
    """
    variance = found["trained_error"] ** 2 + found["theory_error"] ** 2
    return (found["trained"] - found["theory"]).mean(), (variance / len(found)).mean() ** 0.5


def of_slice(critical, linear, table, rng):
    """Thresholds of the trained students of a slice, by each optimiser, beside those of theory.

    Parameters
    ----------
    critical, linear : theory.Threshold
    table : pandas.DataFrame
        Results of the experiment at one omega.
    rng : numpy.random.Generator
        For the bootstrap.

    Returns
    -------
    pandas.DataFrame
        As from `against_theory`, by threshold and optimizer.
    """
    trained, theory = {}, {}
    for kind, ours in (("critical", critical), ("linear", linear)):
        for optimizer, each in table.groupby("optimizer", observed=True):
            trained[kind, optimizer] = crossing(GAPS[kind](each), rng)
            theory[kind, optimizer] = ours.alpha, ours.stderr
    return against_theory(*(by_name(each, ["threshold", "optimizer"]) for each in (trained, theory)))


def by_name(found, names):
    """A frame of alpha and alpha_error from a dict of both by name, or by a tuple of names."""
    keys = [each if isinstance(each, tuple) else (each,) for each in found]
    return pd.DataFrame(
        list(found.values()), pd.MultiIndex.from_tuples(keys, names=names), ["alpha", "alpha_error"], dtype=float
    )


def by_task(table, lines, rng):
    """Both thresholds of every task of Figure 8, and the second one of the students by both optimisers.

    Parameters
    ----------
    table, lines : pandas.DataFrame
        The experiments "fig08" and "fig08_theory".
    rng : numpy.random.Generator
        For the bootstrap.

    Returns
    -------
    pandas.DataFrame
        omega, sigma, lam; `critical` and `linear` of theory, `linear_gd`, `linear_lbfgs`, `moved` (paired); errors.
    """
    tasks = ["omega", "sigma", "lam"]
    by = dict(list(table.groupby("optimizer", observed=True)))
    trained = {name: {task: crossing(test_gap(each), rng) for task, each in by[name].groupby(tasks)} for name in by}
    later = shifts(by["gd"], by["lbfgs"], tasks)["linear"]
    rows = []
    for task, each in lines.groupby(tasks):
        row = dict(zip(tasks, task))
        for kind in GAPS:
            found = each.loc[each["what"] == kind, ["alpha", "alpha_error"]].to_numpy()
            row |= pair(kind, found[0] if len(found) else None)
        for name in sorted(by):
            row |= pair(f"linear_{name}", trained[name].get(task))
        rows.append(row | pair("moved", later.get(task)))
    return pd.DataFrame(rows)


def pair(name, found):
    """A value and its error as columns of a row; NaN where one of them is missing."""
    value, error = (np.nan, np.nan) if found is None or not np.isfinite(found).all() else found
    return {name: value, f"{name}_error": error}


def by_size(table, lines, rng):
    """Both thresholds of trained students in growing dimension, and of theory.

    Parameters
    ----------
    table : pandas.DataFrame
        Results at one omega.
    lines : pandas.DataFrame
        Rows of `theory.theory_line`, of that omega too.
    rng : numpy.random.Generator
        For the bootstrap.

    Returns
    -------
    pandas.DataFrame
        `dimension` (NaN: theory, last), `critical` and `linear` with errors.
    """
    omega = table["omega"].iloc[0]
    columns = {}
    for kind, gap in GAPS.items():
        trained, theory = crossings(table, gap, rng, along="d"), curve(lines, kind)
        every = pd.concat([trained, theory[theory.index == omega].rename(index={omega: np.nan})])
        columns[kind], columns[f"{kind}_error"] = every["alpha"], every["alpha_error"]
    return pd.DataFrame(columns).rename_axis("dimension").reset_index()


def later(table, control):
    """By how much both thresholds of a map come later than those of a control on the same data.

    Parameters
    ----------
    table, control : pandas.DataFrame
        Results over alpha and omega.

    Returns
    -------
    pandas.DataFrame
        `omega_or_mean`, `critical_later` and `linear_later` with errors; by omega, where the control has a threshold,
        and the mean over them (NaN, last): their data sets are independent.
    """
    found = {kind: dict(each) for kind, each in shifts(table, control).items()}
    for each in found.values():
        if len(each) > 1:
            each[np.inf] = mean_shift(each)  # after every omega
    rows = [
        {"omega_or_mean": omega} | pair("critical_later", found["critical"].get(omega))
        | pair("linear_later", found["linear"].get(omega))
        for omega in sorted(set(found["critical"]) | set(found["linear"]))
    ]  # fmt: skip
    return pd.DataFrame(rows).replace({"omega_or_mean": {np.inf: np.nan}})


def by_optimizer(table, lines, rng):
    """Both thresholds of a map by each optimiser and in theory, and how far the optimiser moves them.

    Parameters
    ----------
    table, lines : pandas.DataFrame
        Results of both optimisers over alpha and omega, and rows of `theory.theory_line`.
    rng : numpy.random.Generator
        For the bootstrap.

    Returns
    -------
    pandas.DataFrame
        A row for each `threshold` and `omega`: `published` (text; of the standard task only), `theory`, `gd`, `lbfgs`
        with errors. `moved` is paired: the students of both optimisers that are compared saw the same data.
    """
    by = dict(list(table.groupby("optimizer", observed=True)))
    moved = shifts(by["gd"], by["lbfgs"]) if "gd" in by else {}
    standard = table["matrix"].iloc[0] == flat(Task().matrix)  # that of the published numbers
    rows = []
    for kind, gap in GAPS.items():
        columns = {"theory": curve(lines, kind)} | {name: crossings(each, gap, rng) for name, each in by.items()}
        for omega in sorted(by["lbfgs"]["omega"].unique()):
            row = {"threshold": kind, "omega": omega}
            if standard:
                row["published"] = PUBLISHED[kind][omega].text if omega in PUBLISHED[kind] else None
            for name, found in columns.items():
                row |= pair(name, found.loc[omega] if omega in found.index else None)
            rows.append(row | (pair("moved", moved[kind].get(omega)) if moved else {}))
    return pd.DataFrame(rows)


def agreement(table, lines, rng, parts):
    """How trained students differ from theory in both thresholds, over all omega of a map.

    Parameters
    ----------
    table, lines : pandas.DataFrame
        As for `by_optimizer`.
    rng : numpy.random.Generator
        For the bootstrap.
    parts : dict
        Title to a range (from, to) of omega, both included.

    Returns
    -------
    pandas.DataFrame
        A row for each `threshold`, `optimizer` and `range`: `count` of omega, `mean` of students less theory with its
        error, `rms` and `largest` of the differences over their errors, and the omega of the largest.
    """
    rows = []
    for kind, gap in GAPS.items():
        theory = curve(lines, kind)
        for optimizer, each in table.groupby("optimizer", observed=True):
            found = against_theory(crossings(each, gap, rng), theory)
            for title, (first, last) in parts.items():
                here = found[found["omega"].between(first, last)]
                if len(here):
                    farthest = here.loc[here["sigma_off"].abs().idxmax()]
                    rows.append(
                        {"threshold": kind, "optimizer": optimizer, "range": title, "count": len(here)}
                        | pair("mean", mean_later(here))
                        | {"rms": (here["sigma_off"] ** 2).mean() ** 0.5,
                           "largest": farthest["sigma_off"], "largest_at": farthest["omega"]}
                    )  # fmt: skip
    return pd.DataFrame(rows)


def drawn(known):
    """Published thresholds by omega, to draw."""
    values = {omega: {"alpha": each.value, "alpha_error": each.stderr} for omega, each in known.items()}
    return pd.DataFrame.from_dict(values, orient="index", dtype=float)
