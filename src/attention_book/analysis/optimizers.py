"""What two optimisers leave between them, on the same data and from the same start."""

import pandas as pd


def optimizer_map(table, start):
    """By how much the training loss of one start is higher by gradient descent, in per cent of that by L-BFGS.

    Parameters
    ----------
    table : pandas.DataFrame
        Results of both over alpha and omega.
    start : str

    Returns
    -------
    pandas.DataFrame
        alpha (rows) by omega, mean over the data sets that both have seen.
    """
    rows = table[table["start"] == start]
    losses = rows.pivot_table(index=["alpha", "omega", "seed"], columns="optimizer", values="train_loss", observed=True)
    higher = 100 * (losses["gd"] / losses["lbfgs"] - 1)
    return higher.dropna().groupby(["alpha", "omega"]).mean().unstack("omega")


def crossed_over(table, start, above=0.05, same=1e-3):
    """Where gradient descent stops well above L-BFGS: has L-BFGS gone on into the minimum of the other start?

    Parameters
    ----------
    table : pandas.DataFrame
        Results of both over alpha and omega, from the starts "semantic" and "positional".
    start : str
        The one in question.
    above : float
        By which share of the loss by L-BFGS that of gradient descent has to be higher.
    same : float
        Within which share of itself two training losses are of one minimum.

    Returns
    -------
    (int, float)
        Number of students from `start` that gradient descent leaves so far above L-BFGS on the same data, and the share
        of them that L-BFGS has brought to the training loss of its student from the other start.
    """
    where = ["alpha", "omega", "seed", "optimizer", "start"]
    losses = table.set_index(where)["train_loss"].unstack(["optimizer", "start"]).dropna()
    own, other = losses["lbfgs", start], losses["lbfgs", {"semantic": "positional", "positional": "semantic"}[start]]
    left = losses["gd", start] > (1 + above) * own
    return int(left.sum()), float(((own / other - 1).abs() < same)[left].mean())


def between_optimizers(table):
    """What gradient descent and L-BFGS leave between them on the cells that both have done.

    Parameters
    ----------
    table : pandas.DataFrame
        Results of both.

    Returns
    -------
    pandas.DataFrame
        By start and quantity: mean difference (gradient descent less L-BFGS), its standard error, root mean
        square difference, and the standard deviation of the L-BFGS values between instances, of one alpha and omega.
    """
    where = ["start", "omega", "alpha", "seed"]
    by_gd, by_lbfgs = (table[table["optimizer"] == name].set_index(where) for name in ("gd", "lbfgs"))
    both = by_gd.index.intersection(by_lbfgs.index)
    rows = []
    for start in both.unique("start"):
        at = both[both.get_level_values("start") == start]
        for name in ("train_loss", "theta", "m"):
            values = by_lbfgs[by_lbfgs.index.get_level_values("start") == start][name]
            difference = by_gd.loc[at, name] - by_lbfgs.loc[at, name]
            rows.append({
                "start": start,
                "quantity": name,
                "cells": len(at),
                "difference": difference.mean(),
                "error": difference.sem(),
                "rms": (difference**2).mean() ** 0.5,
                "spread": values.groupby(["omega", "alpha"]).var().mean() ** 0.5,
            })  # fmt: skip
    return pd.DataFrame(rows)
