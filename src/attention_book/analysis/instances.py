"""Data sets taken together: means with their errors, differences on the same data, and what students do at infinite d.

A column `x_error` is the standard error of `x`. Where the losses of students cross at infinite d is read off a fit with
control variates (`control_variates.controls`), and how far the lower minima of searches move it.
"""

import numpy as np
import pandas as pd

from attention_phases.measured import NO_VALUE, Measured
from attention_phases.theory.branches import MINIMA

from ..experiments.students import CONTROLS

POWERS = (0.5, 2 / 3, 1.0, 1.5)  # of 1/d: ways to change with d that means at a few d cannot tell apart
Z = 1.96  # standard errors to either side that leave out 5 %
MEASURED = ("q", "m", "theta", "train_loss", "test_mse", "linear_mse")


def size_of(students, name):
    """On how many data sets of which dimension students were trained: `name_seeds` and `name_dimension`."""
    return {f"{name}_seeds": students["seed"].nunique(), f"{name}_dimension": students["d"].iloc[0]}


def with_errors(groups):
    """Means of grouped columns `x` with their standard errors as `x_error`, a row for each group.

    groups: a grouped frame or series, such as ``table.groupby("alpha")[["q", "m"]]``.
    """
    means, errors = groups.mean(), groups.sem()
    if isinstance(means, pd.Series):
        return pd.DataFrame({means.name: means, f"{means.name}_error": errors})
    return means.join(errors.add_suffix("_error"))


def frame_of(measured, names, column="alpha"):
    """Each `Measured` of a dict as a row: its value as `column`, its error as "_error"; or dicts of several by name.

    names: of the index: one, or a list where keys are tuples.
    """
    rows = [value if isinstance(value, dict) else {column: value} for value in measured.values()]
    index = pd.MultiIndex.from_tuples(measured, names=names) if isinstance(names, list) else list(measured)
    known = rows[0] if rows else [column]
    columns = {f"{name}{end}": [row[name][k] for row in rows] for name in known for k, end in enumerate(("", "_error"))}
    return pd.DataFrame(columns, index, dtype=float).rename_axis(names)


def root_mean_squares(squares):
    """Root mean squares of grouped columns `x`, which are squares already, as `x_rms` and `x_rms_error`."""
    roots = squares.mean() ** 0.5
    return roots.add_suffix("_rms").join((squares.sem() / (2 * roots)).add_suffix("_rms_error"))


def in_errors(difference, *errors):
    """Difference of two numbers over the errors of both, added in quadrature; at least one of these is > 0."""
    return difference / np.sqrt(sum(np.square(error) for error in errors))


def difference_in_errors(rows, name, other):
    """One column of a frame minus another one, in errors of both."""
    return in_errors(rows[name] - rows[other], rows[f"{name}_error"], rows[f"{other}_error"])


def wilson(share, count):
    """Wilson's interval, at 95 %, of a share among `count` independent runs."""
    scale = 1 + Z**2 / count
    centre = (share + Z**2 / (2 * count)) / scale
    half = Z * np.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2)) / scale
    return min(max(centre - half, 0.0), share), max(min(centre + half, 1.0), share)  # rounding at shares 0 and 1


def instance_means(table, along="alpha"):
    """Means over data sets of `MEASURED`, with errors, by start and `along` ("alpha" or "d"), of one optimiser.

    Also "m_rms" and "theta_rms", root mean squares, for the overlap whose sign is random.
    """
    where = [table["start"], table[along]]
    means = with_errors(table[list(MEASURED)].groupby(where))
    return means.join(root_mean_squares((table[["m", "theta"]] ** 2).groupby(where)))


def absolute_means(table, sigma, along="alpha"):
    """`instance_means` without signs (Q and -Q attend alike), as published; also "m/sigma^2" and "theta/sigma^2"."""
    means = instance_means(table.assign(m=table["m"].abs(), theta=table["theta"].abs()), along)
    for overlap in ("m", "theta"):
        means[f"{overlap}/sigma^2"] = means[overlap] / sigma**2
        means[f"{overlap}/sigma^2_error"] = means[f"{overlap}_error"] / sigma**2
    return means


def by_data_set(table, start, quantity):
    """A quantity of the students of one start, by one optimiser: alpha by seed."""
    return table[table["start"] == start].pivot(index="alpha", columns="seed", values=quantity)


def training_gap(table):
    """Semantic minus positional training loss on each data set: alpha by seed."""
    return by_data_set(table, "semantic", "train_loss") - by_data_set(table, "positional", "train_loss")


def test_gap(table, start="semantic"):
    """Test error of one start minus that of the linear fit on the same data: alpha by seed."""
    return by_data_set(table, start, "test_mse") - by_data_set(table, start, "linear_mse")


GAPS = {"critical": training_gap, "linear": test_gap}  # what falls through zero at each threshold


def advantage(table):
    """Test error of the linear fit minus that of the start with the lower training loss: alpha by seed."""
    semantic, positional = (by_data_set(table, start, "test_mse") for start in ("semantic", "positional"))
    return by_data_set(table, "semantic", "linear_mse") - semantic.where(training_gap(table) <= 0, positional)


def gap_map(table, gap):
    """Means over data sets of a gap, such as `training_gap`, of one optimiser: alpha (rows) by omega (columns)."""
    return pd.DataFrame({omega: gap(rows).mean(axis=1) for omega, rows in table.groupby("omega")})


def memory(table, lines):
    """Overlaps and losses of students of the experiment "memory", and of the minima of theory at their alpha.

    Where theory has neither minimum, its solution without overlaps is that of any start.

    `start`, `dimension` (NaN: theory); `theta_rms` and `m_rms`, root mean squares, and `train_loss` with errors.

    table, lines: students and theory of one task.
    """
    # A mean overlap from random starts is zero by symmetry; its square tells. Starts on one data set are one instance.
    squared = table.assign(theta=table["theta"] ** 2, m=table["m"] ** 2)
    per_set = squared.groupby(["start", "d", "seed"])[["theta", "m", "train_loss"]].mean()
    groups = per_set.groupby(["start", "d"])
    students = root_mean_squares(groups[["theta", "m"]]).join(with_errors(groups["train_loss"])).reset_index()
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
    """Semantic minus positional training loss by cell of "crossing": omega, alpha, d, seed, gap and the `CONTROLS`."""
    rows = table.groupby("cell")[["omega", "alpha", "d", "seed", *CONTROLS]].first()
    losses = table.pivot(index="cell", columns="start", values="train_loss")
    return rows.assign(gap=losses["semantic"] - losses["positional"])


def root(rows, controls=CONTROLS):
    """Where the gap vanishes in the mean over data sets; NaN where it does not fall through zero within the alphas.

    Gives by name the `Measured` alpha, and the slope there.

    The gap is fitted by a straight line in alpha plus a multiple of each control, all data sets at once; the mean of
    each control is zero, so that the line is the mean gap. The error allows for a scatter that changes with alpha.

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
    """Least squares: coefficients, residuals, and the inverse whose multiple is their covariance."""
    coefficients, *_ = np.linalg.lstsq(design, values, rcond=None)
    return coefficients, values - design @ coefficients, np.linalg.inv(design.T @ design)


def intercept(design, values):
    """First coefficient of a least-squares fit, design (n, coefficients), with the error that the residuals give it."""
    coefficients, residuals, inverse = _fit(design, values)
    variance = residuals @ residuals / (len(design) - design.shape[1])
    return Measured(coefficients[0], np.sqrt(variance * inverse[0, 0]))


def limit(values):
    """Value at infinite d, by a straight line in 1/d; its error contains half the spread over lines in d^-`POWERS`.

    NaN where fewer than two are known.

    values: d to `Measured`; those that are NaN are left out.
    """
    lines = {power: line_in(power, values)[0] for power in POWERS}
    value, error = lines[1.0]
    return Measured(value, float(np.hypot(error, np.ptp([other for other, _ in lines.values()]) / 2)))


def line_in(power, values):
    """The limit by a straight line in d^-power, with the error of this form alone, and chi^2 of the line."""
    known = {d: value for d, value in values.items() if np.isfinite(value.error)}
    if len(known) < 2:
        return NO_VALUE, np.nan
    d = np.array(list(known), dtype=float)
    targets, errors = np.array(list(known.values())).T
    design = np.stack([np.ones(len(d)), d**-power], axis=1)
    coefficients, residuals, inverse = _fit(design / errors[:, None], targets / errors)
    return Measured(float(coefficients[0]), float(np.sqrt(inverse[0, 0]))), residuals @ residuals


def minimum_responses(table):
    """Return the response inside the minima where descent ends, V_H = sigma^2 tr H^-1/d, at infinite d.

    Rows by omega, alpha (to two digits) and branch: `V_H` with its error, and how many of the `students` from the start
    of this name `stayed`, closer to it than to the other start. V_H is that of students that stayed. Its scatter over
    data sets falls like d^-1/2. It is estimated from all d together, as four data sets alone would not tell it.

    table: rows of `staying.stay`.
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


def by_dimension(table):
    """Where the gap vanishes, from the experiment "crossing".

    The first frame has alpha and slope by omega and d, the second one the limit of alpha by omega, all with errors.
    """
    roots = {where: root(rows) for where, rows in gaps(table).groupby(["omega", "d"])}
    crossings = frame_of(roots, ["omega", "d"])
    limits = {
        omega: limit({d: fit["alpha"] for (other, d), fit in roots.items() if other == omega})
        for omega in crossings.index.unique("omega")
    }
    return crossings, frame_of(limits, "omega")
