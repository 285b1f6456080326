"""How far above the lowest minimum that a search finds informed descent ends, and what that moves alpha_c by."""

import numpy as np
import pandas as pd
from scipy.special import gammaln

from attention_phases.training.searches import LOWER

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


def searched(table):
    """Training loss of the informed start less the lowest that each search finds, on each data set.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "searched".

    Returns
    -------
    pandas.DataFrame
        By omega, alpha, d, valley and seed: "descent", the lowest end of all starts without a search; "hop", of all
        starts with one; and a column for each temperature of "anneal", from the informed start, below zero where it
        ends higher. `same`, share of the starts that "hop" leads to the lowest of them.
    """
    where, found = ["omega", "alpha", "d", "valley", "seed"], {}
    for key, rows in table.astype({"search": str}).groupby(where, observed=True):
        losses = {search: each.set_index("number")["train_loss"] for search, each in rows.groupby("search")}
        informed, hopped = losses["descent"].loc[0], losses["hop"]
        annealed = rows[rows["search"] == "anneal"].set_index("temperature")["train_loss"]
        found[key] = {
            "descent": informed - losses["descent"].min(),
            "hop": informed - hopped.min(),
            "same": (hopped < hopped.min() + LOWER).mean(),
            **(informed - annealed).to_dict(),
        }
    return pd.DataFrame.from_dict(found, orient="index").rename_axis(where)


def later(gained, slopes):
    """By how much the losses cross later when the lowest minimum found stands for the informed one.

    The difference of what the two valleys gain on the same data, over the slope of the gap.

    Parameters
    ----------
    gained : pandas.DataFrame
        From `excess` or `searched`: loss gained by omega, alpha, d, valley and seed, a column for each way to search.
    slopes : mapping
        omega to the slope of the gap in alpha, below zero.

    Returns
    -------
    pandas.DataFrame
        By omega, d and `search` (the column): `later` with `later_error`, and both valleys' mean gain with its error.
    """
    gained = gained.groupby(["omega", "d", "valley", "seed"], observed=True).mean()
    rows = []
    for (omega, d), each in gained.groupby(["omega", "d"]):
        valleys = {name: each.xs(name, level="valley").droplevel(["omega", "d"]) for name in ("semantic", "positional")}
        difference = valleys["positional"] - valleys["semantic"]
        for search in each.columns[each.notna().any()]:
            rows.append({
                "omega": omega, "d": d, "search": search,
                "later": difference[search].mean() / -slopes[omega],
                "later_error": difference[search].sem() / -slopes[omega],
                **{name: values[search].mean() for name, values in valleys.items()},
                **{f"{name}_error": values[search].sem() for name, values in valleys.items()},
            })  # fmt: skip
    return pd.DataFrame(rows).set_index(["omega", "d", "search"])
