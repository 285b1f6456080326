"""How far above the lowest minimum that a search finds informed descent ends, and what that moves alpha_c by."""

import numpy as np
import pandas as pd
from scipy.special import gammaln

COUNTS = (1, 3, 6, 12, 25, 49)


def expected_minimum(values, count):
    """Mean of the least of `count` of the values, over all ways to choose them."""
    values = np.sort(values)
    total, rank = len(values), np.arange(len(values))
    fits = rank <= total - count
    logs = np.full(total, -np.inf)
    left = total - rank[fits]  # values that are no smaller, of which the others are chosen
    logs[fits] = _log_choose(left - 1, count - 1) - _log_choose(total, count)
    return float(np.exp(logs) @ values)


def _log_choose(n, k):
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def excess(table, counts=COUNTS):
    """Training loss of the informed start less the lowest of it and `count` displaced ones, on each data set.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "lowest": start 0 is the informed one.
    counts : sequence of int

    Returns
    -------
    pandas.DataFrame
        By omega, alpha, d, valley and seed, a column for each count.
    """
    where, found = ["omega", "alpha", "d", "valley", "seed"], {}
    for key, rows in table.groupby(where, observed=True):
        losses = rows.sort_values("number")["train_loss"].to_numpy()
        # Where the least of the others is above the informed one, that is the lowest.
        lower = np.minimum(losses[1:], losses[0])
        found[key] = {n: losses[0] - expected_minimum(lower, n) for n in counts if n < len(losses)}
    return pd.DataFrame.from_dict(found, orient="index").rename_axis(where)


def later(table, slopes, counts=COUNTS):
    """By how much the losses cross later when the lowest minimum found stands for the informed one.

    The difference of the two valleys' `excess` on the same data, over the slope of the gap.

    Parameters
    ----------
    table : pandas.DataFrame
    slopes : mapping
        omega to the slope of the gap in alpha, below zero.
    counts : sequence of int

    Returns
    -------
    pandas.DataFrame
        By omega, d and `count`: `later` with `later_error`, and both valleys' mean excess with its error.
    """
    gained = excess(table, counts).groupby(["omega", "d", "valley", "seed"], observed=True).mean()
    rows = []
    for (omega, d), each in gained.groupby(["omega", "d"]):
        valleys = {name: each.xs(name, level="valley").droplevel(["omega", "d"]) for name in ("semantic", "positional")}
        difference = valleys["positional"] - valleys["semantic"]
        for count in each.columns:
            rows.append({
                "omega": omega, "d": d, "count": count,
                "later": difference[count].mean() / -slopes[omega],
                "later_error": difference[count].sem() / -slopes[omega],
                **{name: values[count].mean() for name, values in valleys.items()},
                **{f"{name}_error": values[count].sem() for name, values in valleys.items()},
            })  # fmt: skip
    return pd.DataFrame(rows).set_index(["omega", "d", "count"])
