"""Means over data sets of trained students, and what they differ by on the same data."""

import pandas as pd

from .means import root_mean_squares, with_errors

MEASURED = ("q", "m", "theta", "train_loss", "test_mse", "linear_mse")


def instance_means(table, along="alpha"):
    """Means over data sets of `MEASURED`, with errors, by start and `along` ("alpha" or "d"), of one optimiser.

    Also "m_rms" and "theta_rms", root mean squares, for the overlap whose sign is random.
    """
    where = [table["start"], table[along]]
    means = with_errors(table[list(MEASURED)].groupby(where, observed=True))
    return means.join(root_mean_squares((table[["m", "theta"]] ** 2).groupby(where, observed=True)))


def absolute_means(table, sigma, along="alpha"):
    """`instance_means` of overlaps without their sign, as published; with "m/sigma^2" and "theta/sigma^2".

    A student and its negative attend alike.
    """
    means = instance_means(table.assign(m=table["m"].abs(), theta=table["theta"].abs()), along)
    for overlap in ("m", "theta"):
        means[f"{overlap}/sigma^2"] = means[overlap] / sigma**2
        means[f"{overlap}/sigma^2_error"] = means[f"{overlap}_error"] / sigma**2
    return means


def paired(table, difference):
    """A difference within each data set: alpha by seed.

    difference: takes the rows of the starts "semantic" and "positional", by alpha and seed, and gives a series.
    """
    starts = [table[table["start"] == start].set_index(["alpha", "seed"]) for start in ("semantic", "positional")]
    return difference(*starts).unstack("seed").sort_index()


def training_gap(table):
    """Semantic minus positional training loss on each data set: alpha by seed."""
    return paired(table, lambda semantic, positional: semantic["train_loss"] - positional["train_loss"])


def test_gap(table, start="semantic"):
    """Test error of one start minus that of the linear fit on the same data: alpha by seed."""
    rows = table[table["start"] == start].set_index(["alpha", "seed"])
    return (rows["test_mse"] - rows["linear_mse"]).unstack("seed").sort_index()


GAPS = {"critical": training_gap, "linear": test_gap}  # what falls through zero at each threshold


def advantage(table):
    """Test error of the linear fit minus that of the start with the lower training loss: alpha by seed."""

    def difference(semantic, positional):
        lower = semantic["train_loss"] <= positional["train_loss"]
        return semantic["linear_mse"] - semantic["test_mse"].where(lower, positional["test_mse"])

    return paired(table, difference)


def gap_map(table, gap):
    """Means over data sets of a gap, such as `training_gap`, of one optimiser: alpha (rows) by omega (columns)."""
    return pd.DataFrame({omega: gap(rows).mean(axis=1) for omega, rows in table.groupby("omega")})
