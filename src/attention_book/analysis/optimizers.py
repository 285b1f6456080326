"""What two optimisers leave between them, on the same data and from the same start."""

from .means import with_errors

OTHER = {"semantic": "positional", "positional": "semantic"}


def optimizer_map(table, start):
    """By how much the training loss of one start is higher by gradient descent, in per cent of that by L-BFGS.

    Alpha (rows) by omega, mean over the data sets that both have seen.
    """
    rows = table[table["start"] == start]
    losses = rows.pivot_table(index=["alpha", "omega", "seed"], columns="optimizer", values="train_loss", observed=True)
    higher = 100 * (losses["gd"] / losses["lbfgs"] - 1)
    return higher.dropna().groupby(["alpha", "omega"]).mean().unstack("omega")


def crossed_over(table, start, above=0.05, same=1e-3):
    """Where gradient descent stops well above L-BFGS: has L-BFGS gone on into the minimum of the other start?

    Gives the number of students from `start` that gradient descent leaves so far above L-BFGS on the same data, and the
    share of them that L-BFGS has brought to the training loss of its student from the other start.

    table: both optimisers over alpha and omega, from the starts "semantic" and "positional".
    above: by which share of the loss by L-BFGS that of gradient descent has to be higher.
    same: within which share of itself two training losses are of one minimum.
    """
    where = ["alpha", "omega", "seed", "optimizer", "start"]
    losses = table.set_index(where)["train_loss"].unstack(["optimizer", "start"]).dropna()
    own, other = losses["lbfgs", start], losses["lbfgs", OTHER[start]]
    left = losses["gd", start] > (1 + above) * own
    return int(left.sum()), float(((own / other - 1).abs() < same)[left].mean())


def between_optimizers(table):
    """What gradient descent and L-BFGS leave between them on the cells that both have done.

    By `start` and `quantity`: number of `cells`; `difference` (gradient descent minus L-BFGS) with its error;
    `rms_difference`; `spread`, the standard deviation of the L-BFGS values between data sets, of one alpha and omega.
    """
    where, quantities = ["start", "omega", "alpha", "seed"], ["train_loss", "theta", "m"]
    by_gd, by_lbfgs = (table[table["optimizer"] == name].set_index(where)[quantities] for name in ("gd", "lbfgs"))
    differences = (by_gd - by_lbfgs).dropna().rename_axis(columns="quantity").stack().rename("difference")
    groups = differences.groupby(["start", "quantity"], observed=True, sort=False)
    variances = by_lbfgs.groupby(where[:3], observed=True).var().groupby("start", observed=True).mean()
    summary = with_errors(groups).assign(
        rms_difference=(differences**2).groupby(["start", "quantity"], observed=True, sort=False).mean() ** 0.5,
        spread=variances.rename_axis(columns="quantity").stack() ** 0.5,
    )
    summary.insert(0, "cells", groups.size())
    return summary.reset_index()
