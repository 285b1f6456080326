"""Where the training losses of students cross, by a smooth fit with control variates, and its limit in growing d."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import chi2

from ..experiments.controls import CONTROLS


class Crossing(NamedTuple):
    """Root of a fit: alpha with its standard error, slope of the gap there, standard deviation of its residuals."""

    alpha: float
    stderr: float
    slope: float
    scatter: float


class Limit(NamedTuple):
    """alpha + over_d/d: its limit with the standard error, over_d, chi^2 of the fit and the chance of a larger one."""

    alpha: float
    stderr: float
    over_d: float
    over_d_error: float
    chi2: float
    chance: float


def gaps(table):
    """Semantic less positional training loss of each data set.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "crossing".

    Returns
    -------
    pandas.DataFrame
        By cell: omega, alpha, d, seed, gap and the `CONTROLS`.
    """
    rows = table.groupby("cell", observed=True)[["omega", "alpha", "d", "seed", *CONTROLS]].first()
    losses = table.pivot(index="cell", columns="start", values="train_loss")
    rows["gap"] = losses["semantic"] - losses["positional"]
    return rows


def crossing(rows, controls=CONTROLS):
    """Where the gap vanishes in the mean over data sets.

    The gap is fitted by a straight line in alpha plus a multiple of each control, all data sets at once; the mean of
    each control is zero, so that the line is the mean gap. The error allows for a scatter that changes with alpha.

    Parameters
    ----------
    rows : pandas.DataFrame
        alpha, gap and the controls, one row for each data set.
    controls : sequence of str

    Returns
    -------
    Crossing
        NaN where the line does not fall through zero within the alphas.
    """
    alphas, gap = rows["alpha"].to_numpy(), rows["gap"].to_numpy()
    centre = alphas.mean()
    design = np.column_stack([np.ones(len(rows)), alphas - centre, *(rows[name] for name in controls)])
    found, *_ = np.linalg.lstsq(design, gap, rcond=None)
    residuals = gap - design @ found
    free = len(gap) - design.shape[1]
    inverse = np.linalg.inv(design.T @ design)
    covariance = inverse @ (design.T * residuals**2) @ design @ inverse * len(gap) / free
    level, slope = found[:2]
    root = centre - level / slope
    if slope >= 0 or not alphas.min() <= root <= alphas.max():
        return Crossing(*[np.nan] * 4)
    there = np.array([1, root - centre])
    error = np.sqrt(there @ covariance[:2, :2] @ there)
    return Crossing(root, error / -slope, slope, np.sqrt(residuals @ residuals / free))


def limit(found):
    """alpha at infinite d, by a straight line in 1/d.

    Parameters
    ----------
    found : dict
        d to `Crossing`; those that are NaN are left out.

    Returns
    -------
    Limit
        NaN where fewer than two are left; no `chi2` of two.
    """
    found = {d: each for d, each in found.items() if np.isfinite(each.stderr)}
    if len(found) < 2:
        return Limit(*[np.nan] * 6)
    d = np.array(list(found), dtype=float)
    alphas, errors = (np.array([getattr(each, name) for each in found.values()]) for name in ("alpha", "stderr"))
    design = np.stack([np.ones(len(d)), 1 / d], axis=1) / errors[:, None]
    values, *_ = np.linalg.lstsq(design, alphas / errors, rcond=None)
    deviations = np.sqrt(np.diag(np.linalg.inv(design.T @ design)))
    left = float(np.sum((alphas / errors - design @ values) ** 2))
    return Limit(values[0], deviations[0], values[1], deviations[1], left, float(chi2.sf(left, len(d) - 2)))


def by_dimension(table):
    """Crossings over omega and d, and their limits.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "crossing".

    Returns
    -------
    crossings : pandas.DataFrame
        By omega and d: the fields of `Crossing`, and the number of `data_sets`.
    limits : pandas.DataFrame
        By omega: the fields of `Limit`.
    """
    rows = gaps(table)
    found = {where: crossing(each) for where, each in rows.groupby(["omega", "d"])}
    counts = rows.groupby(["omega", "d"]).size()
    index = pd.MultiIndex.from_tuples(found, names=["omega", "d"])
    crossings = pd.DataFrame(list(found.values()), index=index).assign(data_sets=counts)
    limits = {
        omega: limit({d: each for (other, d), each in found.items() if other == omega})
        for omega in rows["omega"].unique()
    }
    return crossings, pd.DataFrame.from_dict(limits, orient="index", columns=Limit._fields).sort_index()


def losses(table, controls=CONTROLS):
    """Training loss of each start over omega and alpha, at infinite d.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "crossing".
    controls : sequence of str

    Returns
    -------
    pandas.DataFrame
        By omega, alpha and start: the fields of `Limit`, of the mean loss in the place of alpha.
    """
    found = {}
    for (omega, alpha, start), rows in table.groupby(["omega", "alpha", "start"], observed=True):
        means = {d: _mean(each, controls) for d, each in rows.groupby("d")}
        found[omega, alpha, str(start)] = limit(means)
    index = pd.MultiIndex.from_tuples(found, names=["omega", "alpha", "start"])
    return pd.DataFrame(list(found.values()), index=index, columns=["loss", *Limit._fields[1:]])


def _mean(rows, controls):
    """Mean training loss of some data sets, as a `Crossing` for `limit`."""
    design = np.column_stack([np.ones(len(rows)), *(rows[name] for name in controls)])
    found, *_ = np.linalg.lstsq(design, rows["train_loss"].to_numpy(), rcond=None)
    residuals = rows["train_loss"].to_numpy() - design @ found
    scatter = np.sqrt(residuals @ residuals / (len(rows) - design.shape[1]))
    error = scatter * np.sqrt(np.linalg.inv(design.T @ design)[0, 0])
    return Crossing(found[0], error, np.nan, scatter)
