"""The published numbers of each figure beside ours."""

import numpy as np
import pandas as pd

from .. import published
from ..analysis import instances
from ..analysis.instances import (
    GAPS,
    between_optimizers,
    crossing,
    crossings,
    curve,
    instance_means,
    mean_shift,
    shifts,
    test_gap,
    training_gap,
)
from ..published import with_error
from ..sweep.parquet import flat
from ..task import Task

NAMES = {"gd": "gradient descent", "lbfgs": "L-BFGS"}
SYMBOLS = {
    "critical": "α<sub>c</sub>",
    "linear": "α<sub>l</sub>",
    "q": "q",
    "m": "m",
    "theta": "θ",
    "V": "V",
    "m/sigma^2": "m/σ²",
    "theta/sigma^2": "θ/σ²",
    "train_loss": "ε<sub>t</sub>",
    "test_mse": "ε<sub>g</sub>",
    "linear_mse": "ε<sub>g</sub> of the linear fit",
}


def fig02(task, solutions, critical, linear, table):
    """Comparison of Figure 2.

    Parameters
    ----------
    task : Task
    solutions : dict of theory.Solution
        The branches at alpha = 2.
    critical, linear : theory.Threshold
    table : pandas.DataFrame
        Results of the experiment.

    Returns
    -------
    theory, experiment : pandas.DataFrame
        As from `published.compare`.
    """
    rows = []
    known = {"critical": published.CRITICAL_ALPHA, "linear": published.LINEAR_ALPHA}
    for what, ours in (("critical", critical), ("linear", linear)):
        if theirs := known[what].get(task.omega):
            rows.append((SYMBOLS[what], theirs, ours.alpha, ours.stderr))
    for branch, found in solutions.items() if task == Task() else ():
        values = {**found.overlaps._asdict(), "train_loss": found.train_loss, "test_mse": found.test_mse}
        for name, theirs in published.THEORY[branch].items():
            rows.append((f"{SYMBOLS[name]}, {branch}", theirs, values[name], found.stderr[name]))
    optimizers = list(table["optimizer"].unique())
    published_by = "gd" if "gd" in optimizers else optimizers[0]
    means = instance_means(table[table["optimizer"] == published_by]).loc["positional"]
    trained = []
    for alpha in sorted(published.EXPERIMENT.keys() & set(means.index.to_numpy().round(4))) if task == Task() else ():
        ours = means.iloc[abs(means.index - alpha).argmin()]
        for name, theirs in published.EXPERIMENT[alpha].items():
            column, _, scaled = name.partition("/")
            unit = task.sigma**2 if scaled else 1.0
            label = f"{SYMBOLS[name]}, α = {alpha:g}"
            trained.append((label, theirs, ours[column] / unit, ours[f"{column}_error"] / unit))
    return published.compare(rows), published.compare(trained)


def trained_thresholds(critical, linear, table, rng):
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
        As from `checked`; a coarse grid may not show a crossing, which is then left out.
    """
    trained, theory = {}, {}
    for what, ours, gap in (("critical", critical, training_gap), ("linear", linear, test_gap)):
        for optimizer, each in table.groupby("optimizer", observed=True):
            name = f"{SYMBOLS[what]}, {NAMES[optimizer]}"
            trained[name] = crossing(gap(each), rng)
            theory[name] = (ours.alpha, ours.stderr)
    return checked(
        *(pd.DataFrame.from_dict(each, orient="index", columns=["alpha", "alpha_error"]) for each in (trained, theory)),
        of="threshold",
    )


def thresholds(lines):
    """Comparison of Figure 3's thresholds, all of theory.

    Parameters
    ----------
    lines : pandas.DataFrame
        The experiment "fig03_theory".

    Returns
    -------
    pandas.DataFrame
        As from `published.compare`.
    """
    rows = []
    for what, known in (("critical", published.CRITICAL_ALPHA), ("linear", published.LINEAR_ALPHA)):
        ours = curve(lines, what)
        for omega, theirs in known.items():
            if omega in ours.index:
                rows.append((f"{SYMBOLS[what]}, ω = {omega:g}", theirs, *ours.loc[omega]))
    return published.compare(rows)


def overlaps_by_dimension(means, sigma):
    """Comparison of Figure 3's left panel, from `instance_means` along d."""
    return published.compare([
        (f"{SYMBOLS[name]}, {start}, d = {d}", theirs, ours[column] / sigma**2, ours[f"{column}_error"] / sigma**2)
        for name, column, start in (("theta/sigma^2", "theta", "semantic"), ("m/sigma^2", "m", "positional"))
        for d, theirs, ours in _shared(published.SCALING[name], means.loc[start])
    ])  # fmt: skip


def errors_by_dimension(means):
    """Comparison of Figure 7, from `instance_means` along d."""
    return published.compare([
        (f"{SYMBOLS['test_mse']}, semantic, d = {d}", theirs, ours["test_mse"], ours["test_mse_error"])
        for d, theirs, ours in _shared(published.SCALING["test_mse"], means.loc["semantic"])
    ])  # fmt: skip


def _shared(theirs, means):
    return [(d, theirs[d], means.loc[d]) for d in sorted(theirs.keys() & set(means.index))]


def distances_to_limit(means, limits):
    """Test errors by dimension, relative to the limit of infinite d, as a table to read."""
    columns = {"d": means.index.unique("d")}
    for branch, found in limits.items():
        each = means.loc[branch]
        columns[f"{SYMBOLS['test_mse']} over its limit, {branch}"] = [
            with_error(value / found.test_mse, error / found.test_mse)
            for value, error in zip(each["test_mse"], each["test_mse_error"])
        ]
    return pd.DataFrame(columns)


def changed_thresholds(table, lines, rng):
    """Both thresholds of every task of Figure 8, and the second one of the students by both optimisers, to read.

    Parameters
    ----------
    table, lines : pandas.DataFrame
        The experiments "fig08" and "fig08_theory".
    rng : numpy.random.Generator
        For the bootstrap.
    """
    tasks = ["omega", "sigma", "lam"]
    by = dict(list(table.groupby("optimizer", observed=True)))
    trained = {name: {task: crossing(test_gap(each), rng) for task, each in by[name].groupby(tasks)} for name in by}
    moved = shifts(by["gd"], by["lbfgs"], tasks)["linear"]
    rows = []
    for task, each in lines.groupby(tasks):
        row = {symbol: f"{value:g}" for symbol, value in zip("ωσλ", task)}
        for what in ("critical", "linear"):
            found = each[each["what"] == what]
            value = found[["alpha", "alpha_error"]].to_numpy()
            row[SYMBOLS[what]] = with_error(*value[0]) if len(value) else "none"
        for name in sorted(by):
            crossed = trained[name].get(task, (np.nan, np.nan))
            row[f"{SYMBOLS['linear']}, {NAMES[name]}"] = with_error(*crossed) if np.isfinite(crossed).all() else "none"
        row["moved by gradient descent"] = with_error(*moved[task]) if task in moved else ""
        rows.append(row)
    return pd.DataFrame(rows)


def checked(trained, theory, only=None, of="ω"):
    """Thresholds of trained students beside those of theory.

    Parameters
    ----------
    trained, theory : pandas.DataFrame
        omega, or another name, as index; alpha and alpha_error.
    only : sequence, optional
        Of the index; all that both have by default.
    of : str
        Heading of the index.

    Returns
    -------
    pandas.DataFrame
        Columns `of`, "trained students", "theory", and "in errors": their difference over both errors in quadrature.
    """
    both = trained.dropna().join(theory, how="inner", lsuffix="_trained")
    both = both[(both["alpha_error_trained"] > 0) & (both.index.isin(both.index if only is None else only))]
    error = (both["alpha_error"] ** 2 + both["alpha_error_trained"] ** 2) ** 0.5
    return pd.DataFrame({
        of: [f"{each:g}" if isinstance(each, float) else each for each in both.index],
        "trained students": list(map(with_error, both["alpha_trained"], both["alpha_error_trained"])),
        "theory": list(map(with_error, both["alpha"], both["alpha_error"])),
        "in errors": [f"{each:+.1f}" for each in (both["alpha_trained"] - both["alpha"]) / error],
    })  # fmt: skip


def by_size(table, lines, rng):
    """Both thresholds of trained students in growing dimension, and of theory, as a table to read.

    Parameters
    ----------
    table : pandas.DataFrame
        Results at one omega.
    lines : pandas.DataFrame
        Rows of `theory.theory_line`, of that omega too.
    rng : numpy.random.Generator
        For the bootstrap.
    """
    columns = {}
    for what, gap in (("critical", training_gap), ("linear", test_gap)):
        trained = crossings(table, gap, rng, along="d").dropna()
        texts = map(with_error, *trained.to_numpy().T)
        columns[SYMBOLS[what]] = pd.Series(texts, trained.index.map("{:g}".format), dtype=object)
        omega = table["omega"].iloc[0]
        if omega in (found := curve(lines, what)).index:
            columns[SYMBOLS[what]]["theory"] = with_error(*found.loc[omega])
    return pd.DataFrame(columns).rename_axis("d").fillna("none").reset_index()


def later(table, control):
    """By how much both thresholds of a map come later than those of a control on the same data, as a table to read.

    Parameters
    ----------
    table, control : pandas.DataFrame
        Results over alpha and omega.

    Returns
    -------
    pandas.DataFrame
        By omega, where the control has a threshold, and the mean over them: their data sets are independent.
    """
    columns = {}
    for kind, found in shifts(table, control).items():
        texts = {f"{omega:g}": with_error(*each) for omega, each in found.items()}
        if len(found) > 1:
            texts["mean"] = with_error(*mean_shift(found))
        columns[f"{SYMBOLS[kind]} later by"] = pd.Series(texts, dtype=object)
    return pd.DataFrame(columns).rename_axis("ω").fillna("").reset_index()


def by_optimizer(table, lines, rng):
    """Both thresholds of a map by each optimiser and in theory, and how far the optimiser moves them, to read.

    Parameters
    ----------
    table, lines : pandas.DataFrame
        Results of both optimisers over alpha and omega, and rows of `theory.theory_line`.
    rng : numpy.random.Generator
        For the bootstrap.

    Returns
    -------
    pandas.DataFrame
        A row for each threshold and omega. The last column is paired: the students of both optimisers that are
        compared saw the same data.
    """
    by = dict(list(table.groupby("optimizer", observed=True)))
    moved = shifts(by["gd"], by["lbfgs"]) if "gd" in by else {}
    known = {"critical": published.CRITICAL_ALPHA, "linear": published.LINEAR_ALPHA}
    standard = table["matrix"].iloc[0] == flat(Task().matrix)  # that of the published numbers
    rows = []
    for kind, gap in GAPS.items():
        columns = {NAMES[name]: crossings(each, gap, rng).dropna() for name, each in by.items()}
        columns = {"theory": curve(lines, kind)} | columns
        for omega in sorted(by["lbfgs"]["omega"].unique()):
            row = {"": SYMBOLS[kind], "ω": f"{omega:g}"}
            if standard:
                row["published theory"] = known[kind][omega].text if omega in known[kind] else ""
            for name, found in columns.items():
                row[name] = with_error(*found.loc[omega]) if omega in found.index else "none"
            if moved:
                row["moved by gradient descent"] = with_error(*moved[kind][omega]) if omega in moved[kind] else ""
            rows.append(row)
    return pd.DataFrame(rows)


def agreement(table, lines, rng, parts):
    """How trained students differ from theory in both thresholds, over all omega of a map, as a table to read.

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
        A row for each threshold, optimiser and part: number of omega, mean of students less theory with its error,
        and root mean square and largest of the differences over their errors.
    """
    rows = []
    for kind, gap in GAPS.items():
        theory = curve(lines, kind)
        for optimizer, each in table.groupby("optimizer", observed=True):
            both = crossings(each, gap, rng).join(theory, how="inner", lsuffix="_trained").dropna()
            away = both["alpha_trained"] - both["alpha"]
            error = np.hypot(both["alpha_error_trained"], both["alpha_error"])
            for title, (first, last) in parts.items():
                here = (both.index >= first) & (both.index <= last) & (error > 0)
                if here.any():
                    off = (away / error)[here]
                    mean = with_error(away[here].mean(), np.linalg.norm(error[here]) / here.sum())
                    largest = f"{off.loc[off.abs().idxmax()]:+.1f} at {off.abs().idxmax():g}"
                    rms = f"{(off**2).mean() ** 0.5:.1f}"
                    rows.append((SYMBOLS[kind], NAMES[optimizer], title, here.sum(), mean, rms, largest))
    names = ("", "students", "ω", "number of ω", "mean difference", "root mean square, in errors", "largest, in errors")
    return pd.DataFrame(rows, columns=names)


def optimizers(table):
    """`instances.between_optimizers` as a table to read."""
    found = between_optimizers(table)
    return pd.DataFrame({
        "start": found["start"],
        "quantity": found["quantity"].map(SYMBOLS),
        "cells": found["cells"],
        "mean difference": list(map(with_error, found["difference"], found["error"])),
        "root mean square": found["rms"].map("{:.2g}".format),
        "spread between data sets": found["spread"].map("{:.2g}".format),
    })  # fmt: skip


def minima(table):
    """`instances.minima` as a table to read."""
    found = instances.minima(table).reset_index()
    scatter = [
        with_error(1e5 * value, 1e5 * error) if value > instances.SAME_LOSS else "none"
        for value, error in zip(found["scatter"], found["scatter_error"])
    ]
    counts = zip(found["minima"], found["fewest"], found["most"])
    return pd.DataFrame({
        "ω": found["omega"].map("{:g}".format),
        "α": found["alpha"].map("{:g}".format),
        "valley": found["valley"],
        "starts": found["starts"],
        "minima (fewest to most)": [f"{mean:.1f} ({fewest} to {most})" for mean, fewest, most in counts],
        "scatter of ε<sub>t</sub>, 10<sup>−5</sup>": scatter,
    })  # fmt: skip


def memory(table, lines):
    """Root mean squares of the overlaps of students from several starts, and their losses, beside theory, to read.

    Parameters
    ----------
    table : pandas.DataFrame
        Results of the experiment "memory" for one task.
    lines : pandas.DataFrame
        Rows of `theory.theory_line` for the same task; those of the solution without overlaps are shown.
    """
    # A mean overlap from random starts is zero by symmetry; its square tells. Starts on one data set are one instance.
    squared = table.assign(theta=table["theta"] ** 2, m=table["m"] ** 2)
    per_set = squared.groupby(["start", "d", "seed"], observed=True)[["theta", "m", "train_loss"]].mean()
    means = per_set.groupby(["start", "d"], observed=True).agg(["mean", "sem"])
    rows = []
    for (start, d), row in means.iterrows():
        sizes = {f"|{SYMBOLS[name]}|": (row[name, "mean"] ** 0.5, row[name, "sem"] / (2 * row[name, "mean"] ** 0.5))
                 for name in ("theta", "m")}  # fmt: skip
        shown = sizes | {SYMBOLS["train_loss"]: row["train_loss"]}
        rows.append({"start": start, "d": str(d)} | {name: with_error(*each) for name, each in shown.items()})
    here = (lines["what"] == "symmetric") & np.isclose(lines["alpha"], table["alpha"].iloc[0])
    for theory in lines[here].to_dict("records"):
        loss = with_error(theory["train_loss"], theory["train_loss_error"])
        rows.append(dict(zip(rows[0], ("any", "theory", "0", "0", loss))))
    return pd.DataFrame(rows)


def published_curve(table):
    """Published thresholds by omega, as a table to draw."""
    values = {omega: {"alpha": each.value, "alpha_error": each.stderr} for omega, each in table.items()}
    return pd.DataFrame.from_dict(values, orient="index", dtype=float)


def as_html(comparison, folded=None):
    """A comparison as an HTML table, narrow enough for a phone: its sources, if any, stand once below.

    A long one can be `folded` away under a title.
    """
    table = comparison.drop(columns="source", errors="ignore")
    html = table.to_html(index=False, border=0, escape=False, classes="comparison", justify="left")
    if "source" in comparison:
        html += f'<p class="source">Published in, or behind: {"; ".join(dict.fromkeys(comparison["source"]))}.</p>'
    return f"<details><summary>{folded}</summary>{html}</details>" if folded else html
