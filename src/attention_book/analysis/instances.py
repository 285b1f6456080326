"""Averages over data sets, differences between students on the same data, and extrapolations to infinite d.

A column `x_error` is the standard error of `x`. The crossing of the training losses at infinite d is found by a fit
with control variates, see `control_variates.controls`.
"""

import numpy as np
import pandas as pd

from attention_phases.measured import NO_VALUE, Measured
from attention_phases.theory.branches import MINIMA

from ..experiments.students import CONTROLS

POWERS = (0.5, 2 / 3, 1.0, 1.5)  # possible exponents of 1/d; means at a few values of d cannot distinguish them
Z = 1.96  # half the width of a 95 % interval, in standard errors
MEAN_COLUMNS = ("q", "m", "theta", "train_loss", "test_mse", "linear_mse")


def size_of(students, name):
    """Return a dictionary with the number of data sets and the dimension of the students.

    name: first part of the keys, before "_seeds" and "_dimension".
    """
    return {f"{name}_seeds": students["seed"].nunique(), f"{name}_dimension": students["d"].iloc[0]}


def with_errors(groups):
    """Return the mean and the standard error of each column in each group of rows.

    The result has a row for each group. The standard error of a column `x` is in the column `x_error`.

    groups: a grouped frame, such as ``table.groupby("alpha")[["q", "m"]]``.
    """
    return groups.mean().join(groups.sem().add_suffix("_error"))


def frame_of(measured, names, column="alpha"):
    """Convert a dictionary of values with standard errors to a data frame, with a row for each key.

    A `Measured` value is in `column`, and its error is in the column with the suffix "_error". The values of the
    dictionary may also be dictionaries of several `Measured`, by name of the column.

    names: name of the index, or a list of names if the keys are tuples.
    """
    rows = [value if isinstance(value, dict) else {column: value} for value in measured.values()]
    index = pd.MultiIndex.from_tuples(measured, names=names) if isinstance(names, list) else list(measured)
    known = rows[0] if rows else [column]
    columns = {f"{name}{end}": [row[name][k] for row in rows] for name in known for k, end in enumerate(("", "_error"))}
    return pd.DataFrame(columns, index, dtype=float).rename_axis(names)


def root_mean_squares(squares):
    """Return the root mean square in each group, with its standard error, from columns of squared values.

    The root of the mean of a column `x` is `x_rms`, and its error is `x_rms_error`.

    squares: a grouped frame of squared values.
    """
    roots = squares.mean() ** 0.5
    return roots.add_suffix("_rms").join((squares.sem() / (2 * roots)).add_suffix("_rms_error"))


def difference_in_errors(rows, name, other):
    """Return the difference of two columns of a frame in units of the combined standard error."""
    return (rows[name] - rows[other]) / np.hypot(rows[f"{name}_error"], rows[f"{other}_error"])


def wilson(share, count):
    """Return Wilson's 95 % confidence interval for a proportion observed in `count` independent runs."""
    scale = 1 + Z**2 / count
    centre = (share + Z**2 / (2 * count)) / scale
    half = Z * np.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2)) / scale
    # Clipping removes rounding errors at shares of 0 and 1.
    return min(max(centre - half, 0.0), share), max(min(centre + half, 1.0), share)


def instance_means(table, along="alpha"):
    """Return the means of the columns `MEAN_COLUMNS` over data sets, with standard errors.

    The rows are by start and by `along` ("alpha" or "d"). All students must have the same optimiser. The frame also has
    the root mean squares "m_rms" and "theta_rms", for overlaps whose sign is random.
    """
    where = [table["start"], table[along]]
    means = with_errors(table[list(MEAN_COLUMNS)].groupby(where))
    return means.join(root_mean_squares((table[["m", "theta"]] ** 2).groupby(where)))


def absolute_means(table, sigma, along="alpha"):
    """Return the same means as `instance_means`, with overlaps replaced by their absolute values beforehand.

    The paper gives absolute values, because Q and -Q have the same attention. The frame also has "m/sigma^2" and
    "theta/sigma^2".
    """
    means = instance_means(table.assign(m=table["m"].abs(), theta=table["theta"].abs()), along)
    for overlap in ("m", "theta"):
        means[f"{overlap}/sigma^2"] = means[overlap] / sigma**2
        means[f"{overlap}/sigma^2_error"] = means[f"{overlap}_error"] / sigma**2
    return means


def seed_table(table, start, quantity):
    """Tabulate one quantity of the students that were trained from one start (rows: alphas, columns: seeds).

    All students must have the same optimiser.
    """
    return table[table["start"] == start].pivot(index="alpha", columns="seed", values=quantity)


def training_gap(table):
    """Return the semantic minus the positional training loss on each data set.

    The result has alpha as rows and seeds as columns.
    """
    return seed_table(table, "semantic", "train_loss") - seed_table(table, "positional", "train_loss")


def test_gap(table, start="semantic"):
    """Return the test error of the students trained from one start minus the test error of the linear fit.

    The result has alpha as rows and seeds as columns.
    """
    return seed_table(table, start, "test_mse") - seed_table(table, start, "linear_mse")


GAPS = {"critical": training_gap, "linear": test_gap}  # the gap whose zero crossing is the threshold


def advantage(table):
    """Return the test error of the linear fit minus the test error of the student with the lower training loss.

    The result has alpha as rows and seeds as columns.
    """
    semantic, positional = (seed_table(table, start, "test_mse") for start in ("semantic", "positional"))
    return seed_table(table, "semantic", "linear_mse") - semantic.where(training_gap(table) <= 0, positional)


def gap_map(table, gap):
    """Return a table of a loss gap averaged over data sets (rows: alphas, columns: omegas).

    gap: a function such as `training_gap`; all students have one optimiser.
    """
    return pd.DataFrame({omega: gap(rows).mean(axis=1) for omega, rows in table.groupby("omega")})


def memory(table, lines):
    """Return a table that compares theory with the students of the experiment "memory".

    If theory has neither minimum at the alpha of the students, every start is compared with the solution without
    overlaps.

    The columns are `start`; `dimension` (NaN for theory); the root mean squares `theta_rms` and `m_rms`, and
    `train_loss`, with errors.

    table, lines: students and theory of one task.
    """
    # For random starts the mean of an overlap is zero by symmetry, so its square is averaged. All starts on one data
    # set count as one instance.
    squared = table.assign(theta=table["theta"] ** 2, m=table["m"] ** 2)
    per_set = squared.groupby(["start", "d", "seed"])[["theta", "m", "train_loss"]].mean()
    groups = per_set.groupby(["start", "d"])
    students = root_mean_squares(groups[["theta", "m"]]).join(with_errors(groups[["train_loss"]])).reset_index()
    students = students.rename(columns={"d": "dimension"}).astype({"start": object, "dimension": float})
    here = lines[np.isclose(lines["alpha"], table["alpha"].iloc[0])]
    minima = here[here["what"].isin(MINIMA)]
    solutions = here[here["what"] == "symmetric"] if minima.empty else minima
    if solutions.empty:
        return students
    of_students = {"m": "m_rms", "m_error": "m_rms_error", "theta": "theta_rms", "theta_error": "theta_rms_error"}
    theory = solutions.rename(columns=of_students).assign(dimension=np.nan)
    theory["start"] = theory["what"].astype(object).replace("symmetric", "any")
    return pd.concat([students, theory[students.columns]], ignore_index=True)


def gaps(table):
    """Return the semantic minus the positional training loss for each cell of the experiment "crossing".

    The columns are omega, alpha, d, seed, gap and the `CONTROLS`.
    """
    rows = table.groupby("cell")[["omega", "alpha", "d", "seed", *CONTROLS]].first()
    losses = table.pivot(index="cell", columns="start", values="train_loss")
    return rows.assign(gap=losses["semantic"] - losses["positional"])


def root(rows, controls=CONTROLS):
    """Return the alpha at which the mean loss gap over data sets is zero, and the slope of the gap at this alpha.

    Both are `Measured` values in a dictionary. They are NaN if the gap does not change from positive to negative within
    the range of alphas.

    The gap is fitted by a straight line in alpha plus a multiple of each control, with all data sets at once. The mean
    of each control is zero, so the line is the mean gap. The error allows for a variance that changes with alpha.

    rows: alpha, gap and the controls, one row for each data set.
    """
    alphas = rows["alpha"].to_numpy()
    centre = alphas.mean()
    design = np.column_stack([np.ones(len(rows)), alphas - centre, rows[[*controls]]])
    coefficients, residuals, inverse = _fit(design, rows["gap"].to_numpy())
    free = len(rows) - design.shape[1]
    covariance = inverse @ (design.T * residuals**2) @ design @ inverse * len(rows) / free
    level, slope = coefficients[:2]
    alpha = centre - level / slope
    if slope >= 0 or not alphas.min() <= alpha <= alphas.max():
        return {"alpha": NO_VALUE, "slope": NO_VALUE}
    line = np.array([1, alpha - centre])
    error = np.sqrt(line @ covariance[:2, :2] @ line) / -slope
    return {"alpha": Measured(alpha, error), "slope": Measured(slope, np.sqrt(covariance[1, 1]))}


def _fit(design, values):
    """Return the coefficients of a least-squares fit, its residuals, and the inverse of the normal matrix.

    The covariance of the coefficients is a multiple of this inverse.
    """
    coefficients, *_ = np.linalg.lstsq(design, values, rcond=None)
    return coefficients, values - design @ coefficients, np.linalg.inv(design.T @ design)


def intercept(design, values):
    """Return the first coefficient of a least-squares fit, with its error estimated from the residuals.

    design: the regressors as columns (n, coefficients).
    """
    coefficients, residuals, inverse = _fit(design, values)
    variance = residuals @ residuals / (len(design) - design.shape[1])
    return Measured(coefficients[0], np.sqrt(variance * inverse[0, 0]))


def limit(values):
    """Extrapolate measured values to infinite d by a straight line in 1/d.

    The error includes half the range of the extrapolations in d^-power with `POWERS`. The value is NaN if fewer than
    two values are known.

    values: `Measured` by d; NaN values are left out.
    """
    lines = {power: power_limit(power, values)[0] for power in POWERS}
    value, error = lines[1.0]
    return Measured(value, float(np.hypot(error, np.ptp([other for other, _ in lines.values()]) / 2)))


def power_limit(power, values):
    """Extrapolate values to infinite d by a straight line in 1/d^power; return the limit and the chi^2 of the fit.

    The error of the limit is the error of the fit.
    """
    known = {d: value for d, value in values.items() if np.isfinite(value.error)}
    if len(known) < 2:
        return NO_VALUE, np.nan
    d = np.array(list(known), dtype=float)
    targets, errors = np.array(list(known.values())).T
    design = np.stack([np.ones(len(d)), d**-power], axis=1)
    coefficients, residuals, inverse = _fit(design / errors[:, None], targets / errors)
    return Measured(float(coefficients[0]), float(np.sqrt(inverse[0, 0]))), residuals @ residuals


def minimum_responses(table):
    """Return the linear response of students at the minima that training reaches, extrapolated to infinite d.

    The rows are by omega, alpha (to two digits) and branch. `students` counts the students from the start with the
    branch's name, and `stayed` counts the students among them that ended closer to this start than to the other one.
    `V_H`, with its error, is the response V_H = sigma^2 tr H^-1/d of the students that stayed. Its standard deviation
    over data sets falls like d^-1/2. It is estimated from all d together, because the four data sets of one d are too
    few.

    table: rows of `staying.stay_rows`.
    """
    rows = table[table["what"].isin(MINIMA)].rename(columns={"what": "branch"}).round({"alpha": 2})
    is_semantic = rows["theta"].abs() > rows["sigma"] ** 2 * rows["m"].abs()
    rows["V_H"] = (rows["sigma"] ** 2 / rows["stiff_any"]).where(is_semantic == (rows["branch"] == "semantic"))
    groups, limits = rows.astype({"branch": str}).groupby(["omega", "alpha", "branch"]), {}
    for place, some in groups:
        V = some.dropna(subset="V_H").groupby("d")["V_H"]
        means, counts, free = V.mean(), V.size(), V.size() - 1
        scatter = (free * V.var() * means.index).sum() / (free.sum() or np.nan)
        limits[place] = limit({d: Measured(means[d], (scatter / d / counts[d]) ** 0.5) for d in means.index})
    return frame_of(limits, groups.keys, "V_H").join(groups["V_H"].agg(stayed="count", students="size"))


def crossing_limits(table):
    """Return the alphas at which the semantic and positional training losses cross, for each d and for infinite d.

    The first frame has alpha and slope by omega and d. The second frame has the limit of alpha at infinite d, by omega.
    """
    roots = {where: root(rows) for where, rows in gaps(table).groupby(["omega", "d"])}
    crossings = frame_of(roots, ["omega", "d"])
    limits = {
        omega: limit({d: fit["alpha"] for (other, d), fit in roots.items() if other == omega})
        for omega in crossings.index.unique("omega")
    }
    return crossings, frame_of(limits, "omega")
