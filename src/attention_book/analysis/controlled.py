"""Where the training losses of students cross, by a smooth fit with control variates, and limits of infinite d."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import chi2

from attention_phases.measured import UNKNOWN, Measured

from ..experiments.controls import CONTROLS


class Root(NamedTuple):
    """Where a fitted gap is zero, its slope there, and the standard deviation of the residuals."""

    alpha: Measured
    slope: float
    scatter: float


class Limit(NamedTuple):
    """value + over_d/d, fitted: its limit of infinite d, chi^2 of the fit, and the chance of a larger one."""

    value: Measured
    over_d: Measured
    chi2: float
    chance: float

    def row(self, name):
        """As columns of a frame, the limit by this name."""
        return {
            name: self.value.value,
            f"{name}_error": self.value.error,
            "over_d": self.over_d.value,
            "over_d_error": self.over_d.error,
            "chi2": self.chi2,
            "chance": self.chance,
        }


def gaps(table):
    """Semantic minus positional training loss of each data set: omega, alpha, d, seed, gap and the `CONTROLS` by cell.

    table: the experiment "crossing".
    """
    rows = table.groupby("cell", observed=True)[["omega", "alpha", "d", "seed", *CONTROLS]].first()
    losses = table.pivot(index="cell", columns="start", values="train_loss")
    return rows.assign(gap=losses["semantic"] - losses["positional"])


def root(rows, controls=CONTROLS):
    """Where the gap vanishes in the mean over data sets; NaN where it does not fall through zero within the alphas.

    The gap is fitted by a straight line in alpha plus a multiple of each control, all data sets at once; the mean of
    each control is zero, so that the line is the mean gap. The error allows for a scatter that changes with alpha.

    rows: alpha, gap and the controls, one row for each data set.
    """
    alphas = rows["alpha"].to_numpy()
    centre = alphas.mean()
    design = np.column_stack([np.ones(len(rows)), alphas - centre, *(rows[name] for name in controls)])
    coefficients, residuals, inverse = _fit(design, rows["gap"].to_numpy())
    free = len(rows) - design.shape[1]
    covariance = inverse @ (design.T * residuals**2) @ design @ inverse * len(rows) / free
    level, slope = coefficients[:2]
    alpha = centre - level / slope
    if slope >= 0 or not alphas.min() <= alpha <= alphas.max():
        return Root(UNKNOWN, np.nan, np.nan)
    line = np.array([1, alpha - centre])
    error = np.sqrt(line @ covariance[:2, :2] @ line) / -slope
    return Root(Measured(alpha, error), slope, np.sqrt(residuals @ residuals / free))


def _fit(design, values):
    """Least squares: coefficients, residuals, and the inverse whose multiple is their covariance."""
    coefficients, *_ = np.linalg.lstsq(design, values, rcond=None)
    return coefficients, values - design @ coefficients, np.linalg.inv(design.T @ design)


def limit(values):
    """Value at infinite d, by a straight line in 1/d; NaN where fewer than two are known, no `chi2` of two.

    values: d to `Measured`; those that are NaN are left out.
    """
    known = {d: value for d, value in values.items() if np.isfinite(value.error)}
    if len(known) < 2:
        return Limit(UNKNOWN, UNKNOWN, np.nan, np.nan)
    d = np.array(list(known), dtype=float)
    targets, errors = np.array(list(known.values())).T
    design = np.stack([np.ones(len(d)), 1 / d], axis=1) / errors[:, None]
    coefficients, residuals, inverse = _fit(design, targets / errors)
    value, over_d = map(Measured, coefficients, np.sqrt(np.diag(inverse)))
    left = float(np.sum(residuals**2))
    return Limit(value, over_d, left, float(chi2.sf(left, len(d) - 2)))


def by_dimension(table):
    """Where the gap vanishes over omega and d, and its limits.

    The first frame has by omega and d: alpha, alpha_error, slope, scatter, and the number of `data_sets`; the second
    one by omega the columns of `Limit`, its value as alpha.

    table: the experiment "crossing".
    """
    groups = gaps(table).groupby(["omega", "d"])
    roots = {where: root(rows) for where, rows in groups}
    index = pd.MultiIndex.from_tuples(roots, names=["omega", "d"])
    columns = ["alpha", "alpha_error", "slope", "scatter"]
    crossings = pd.DataFrame([(*alpha, slope, scatter) for alpha, slope, scatter in roots.values()], index, columns)
    limits = {
        omega: limit({d: fit.alpha for (other, d), fit in roots.items() if other == omega}).row("alpha")
        for omega in crossings.index.unique("omega")
    }
    return crossings.assign(data_sets=groups.size()), pd.DataFrame.from_dict(limits, orient="index")


def losses(table, controls=CONTROLS):
    """Training loss of each start over omega and alpha, at infinite d: the columns of `Limit`, its value as loss.

    table: the experiment "crossing".
    """
    limits = {
        where: limit({d: _mean(same, controls) for d, same in rows.groupby("d")}).row("loss")
        for where, rows in table.astype({"start": str}).groupby(["omega", "alpha", "start"])
    }
    return pd.DataFrame.from_dict(limits, orient="index").rename_axis(["omega", "alpha", "start"])


def _mean(rows, controls):
    """Mean training loss of some data sets."""
    design = np.column_stack([np.ones(len(rows)), *(rows[name] for name in controls)])
    coefficients, residuals, inverse = _fit(design, rows["train_loss"].to_numpy())
    variance = residuals @ residuals / (len(rows) - design.shape[1])
    return Measured(coefficients[0], np.sqrt(variance * inverse[0, 0]))
