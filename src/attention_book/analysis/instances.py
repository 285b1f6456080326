"""Means over data sets with their errors, and what two starts or two optimisers differ by on the same data.

A column `x_error` is the standard error of `x`.
"""

import numpy as np
import pandas as pd

Z = 1.96  # standard errors to either side that leave out 5 %
MEASURED = ("q", "m", "theta", "train_loss", "test_mse", "linear_mse")


def with_errors(groups):
    """Means of grouped columns `x` with their standard errors as `x_error`, a row for each group.

    groups: a grouped frame or series, such as ``table.groupby("alpha")[["q", "m"]]``.
    """
    means, errors = groups.mean(), groups.sem()
    if isinstance(means, pd.Series):
        return pd.DataFrame({means.name: means, f"{means.name}_error": errors})
    return means.join(errors.add_suffix("_error"))


def as_columns(measured, names, column="alpha"):
    """A dict of `Measured` as the columns `column` and its error, by its keys: values of that name, or of several."""
    index = pd.MultiIndex.from_tuples(measured, names=names) if isinstance(names, list) else list(measured)
    frame = pd.DataFrame(list(measured.values()), index, [column, f"{column}_error"], dtype=float)
    return frame.rename_axis(names)


def as_frame(rows, names):
    """The same of several `Measured` for each key: dicts, all with the same names of columns."""
    columns = next(iter(rows.values()))
    parts = [as_columns({key: row[column] for key, row in rows.items()}, names, column) for column in columns]
    return pd.concat(parts, axis=1)


def root_mean_squares(squares):
    """Root mean squares of grouped columns `x`, which are squares already, as `x_rms` and `x_rms_error`."""
    roots = squares.mean() ** 0.5
    return roots.add_suffix("_rms").join((squares.sem() / (2 * roots)).add_suffix("_rms_error"))


def in_errors(difference, *errors):
    """Difference of two numbers over the errors of both, added in quadrature; at least one of these is > 0."""
    return difference / np.sqrt(sum(np.square(error) for error in errors))


def off(rows, name, other):
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
    """`instance_means` of overlaps without their sign, as published; with "m/sigma^2" and "theta/sigma^2".

    A student and its negative attend alike.
    """
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
