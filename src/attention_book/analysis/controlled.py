"""Students at infinite d: where their losses cross, by a fit with control variates, and what lower minima change."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from attention_phases.measured import UNKNOWN, Measured

from ..experiments.cells import CONTROLS
from .instances import as_columns, as_frame, with_errors

DATA_SET = ["omega", "valley", "d", "seed"]


class Crossing(NamedTuple):
    """Where a fitted gap is zero, and its slope."""

    alpha: Measured
    slope: Measured


def gaps(table):
    """Semantic minus positional training loss of each data set of the experiment "crossing".

    omega, alpha, d, seed, gap and the `CONTROLS` by cell.
    """
    rows = table.groupby("cell")[["omega", "alpha", "d", "seed", *CONTROLS]].first()
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
    design = np.column_stack([np.ones(len(rows)), alphas - centre, rows[[*controls]]])
    coefficients, residuals, inverse = _fit(design, rows["gap"].to_numpy())
    free = len(rows) - design.shape[1]
    covariance = inverse @ (design.T * residuals**2) @ design @ inverse * len(rows) / free
    level, slope = coefficients[:2]
    alpha = centre - level / slope
    if slope >= 0 or not alphas.min() <= alpha <= alphas.max():
        return Crossing(UNKNOWN, UNKNOWN)
    line = np.array([1, alpha - centre])
    error = np.sqrt(line @ covariance[:2, :2] @ line) / -slope
    return Crossing(Measured(alpha, error), Measured(slope, np.sqrt(covariance[1, 1])))


def _fit(design, values):
    """Least squares: coefficients, residuals, and the inverse whose multiple is their covariance."""
    coefficients, *_ = np.linalg.lstsq(design, values, rcond=None)
    return coefficients, values - design @ coefficients, np.linalg.inv(design.T @ design)


def intercept(design, values):
    """First coefficient of a fit by least squares, with the error that the residuals give it.

    design: (n, coefficients).
    """
    coefficients, residuals, inverse = _fit(design, values)
    variance = residuals @ residuals / (len(design) - design.shape[1])
    return Measured(coefficients[0], np.sqrt(variance * inverse[0, 0]))


def limit(values, power=1.0):
    """Value at infinite d, by a straight line in d^-power; NaN where fewer than two are known.

    values: d to `Measured`; those that are NaN are left out.
    """
    known = {d: value for d, value in values.items() if np.isfinite(value.error)}
    if len(known) < 2:
        return UNKNOWN
    d = np.array(list(known), dtype=float)
    targets, errors = np.array(list(known.values())).T
    design = np.stack([np.ones(len(d)), d**-power], axis=1)
    coefficients, _, inverse = _fit(design / errors[:, None], targets / errors)
    return Measured(float(coefficients[0]), float(np.sqrt(inverse[0, 0])))


def by_dimension(table, power=1.0):
    """Where the gap vanishes, from the experiment "crossing".

    The first frame has by omega and d: alpha and slope with their errors; the second one by omega the limit of alpha
    with its error.
    """
    roots = {where: root(rows) for where, rows in gaps(table).groupby(["omega", "d"])}
    crossings = as_frame({where: fit._asdict() for where, fit in roots.items()}, ["omega", "d"])
    limits = {
        omega: limit({d: fit.alpha for (other, d), fit in roots.items() if other == omega}, power)
        for omega in crossings.index.unique("omega")
    }
    return crossings, as_columns(limits, "omega")


def above_theory(table, theory, name, power=1.0):
    """By which share q or the training loss at infinite d exceeds that of theory: `Measured` by omega and start.

    The mean over the alphas at which theory has a solution, with the quadrature error of theory.

    table: the experiment "crossing".
    theory: (omega, alpha, start) to `Measured` of the replica-symmetric solution.
    name: "q" or "train_loss".
    """
    rows = table.astype({"start": str})
    known = [theory.get(place, UNKNOWN) for place in zip(rows["omega"], rows["alpha"], rows["start"])]
    rows[["theory", "theory_error"]] = known
    rows = rows.dropna(subset="theory")
    rows = rows.assign(share=rows[name] / rows["theory"] - 1, unsure=rows["theory_error"] / rows["theory"])
    shares = {}
    for where, some in rows.groupby(["omega", "start"]):
        means = {
            d: intercept(np.column_stack([np.ones(len(same)), same[[*CONTROLS]]]), same["share"].to_numpy())
            for d, same in some.groupby("d")
        }
        share = limit(means, power)
        error = some.groupby("alpha")["unsure"].first().mean()
        shares[where] = Measured(share.value, float(np.hypot(share.error, error)))
    return shares


def searched(table):
    """The lowest minimum that hops find on each data set, against the informed one, from the experiment "searched".

    By omega, valley, d and seed: `hop`, training loss gained; `hop_share`, that over the loss; `grows`, by which share
    q is larger; `same`, share of the starts that lead to this minimum.
    """
    from attention_phases.training.searches import LOWER  # with torch, slow to load

    rows = table.astype({"search": str, "valley": str}).set_index(DATA_SET).sort_index()
    informed = rows[(rows["search"] == "descent") & (rows["number"] == 0)]
    hopped = rows[rows["search"] == "hop"].sort_values("train_loss")
    lowest = hopped.groupby(DATA_SET).first()
    gained = informed["train_loss"] - lowest["train_loss"]
    losses = hopped["train_loss"]
    same = (losses < lowest["train_loss"].reindex(losses.index) + LOWER).groupby(DATA_SET).mean()
    share, grows = gained / informed["train_loss"], lowest["q"] / informed["q"] - 1
    return pd.DataFrame({"hop": gained, "hop_share": share, "grows": grows, "same": same})


def displaced(table):
    """Training loss that the lowest of all displaced starts gains on the informed one, by omega, valley, d and seed.

    table: the experiment "lowest": start 0 is the informed one.
    """
    rows = table.astype({"valley": str}).sort_values("number").groupby(DATA_SET)["train_loss"]
    return rows.first() - rows.min()


def at_infinite_d(gained, power):
    """Limit of infinite d of the mean over data sets: `Measured` by the other names of the index.

    gained: series over omega, d and seed, and perhaps the valley.
    """
    names = [name for name in gained.index.names if name not in ("d", "seed")]
    means = with_errors(gained.rename("gained").groupby([*names, "d"])).reset_index("d")
    return {
        where: limit({row.d: Measured(row.gained, row.gained_error) for row in rows.itertuples()}, power)
        for where, rows in means.groupby(names if len(names) > 1 else names[0])
    }


def crossing_shifts(gained, crossings, power=1.0):
    """By how much the losses cross later where the lowest minima found stand for the informed ones: by omega.

    What the positional valley gains more on the same data, over the mean slope of the gap, whose error is included.

    gained, crossings: `hop` of `searched`, and the first frame of `by_dimension`.
    """
    valleys = gained.unstack("valley")
    shifts = {}
    for omega, more in at_infinite_d(valleys["positional"] - valleys["semantic"], power).items():
        fits = crossings.loc[omega]
        weights = 1 / fits["slope_error"] ** 2
        total = weights.sum(min_count=1)  # unknown where a slope has no error
        fall, error = -(weights @ fits["slope"]) / total, total**-0.5
        shifts[omega] = Measured(more.value / fall, float(np.hypot(more.error, more.value * error / fall) / fall))
    return shifts
