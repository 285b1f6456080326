"""How far above the lowest minimum that a search finds informed descent ends, and what that moves alpha_c by."""

import numpy as np
import pandas as pd
from scipy.special import gammaln

from attention_phases.training.searches import LOWER

from .means import with_errors

COUNTS = (1, 3, 6, 12, 25, 49)
DATA_SET = ["omega", "alpha", "d", "valley", "seed"]


def expected_minimum(values, count):
    """Mean of the least of `count` of the values, over all ways to choose them."""
    values = np.sort(values)
    larger = np.arange(len(values))[::-1]  # values that are no smaller, of which the others are chosen
    fits = larger >= count - 1
    logs = _log_choose(larger[fits], count - 1) - _log_choose(len(values), count)
    return float(np.exp(logs) @ values[fits])


def _log_choose(n, k):
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def excess(table, counts=COUNTS):
    """Training loss of the informed start minus the lowest of it and `count` displaced ones, on each data set.

    By omega, alpha, d, valley and seed, a column for each count.

    table: the experiment "lowest": start 0 is the informed one.
    """
    gained = {}
    for data_set, rows in table.groupby(DATA_SET, observed=True):
        losses = rows.sort_values("number")["train_loss"].to_numpy()
        # Where the least of the others is above the informed one, that is the lowest.
        lower = np.minimum(losses[1:], losses[0])
        gained[data_set] = {n: losses[0] - expected_minimum(lower, n) for n in counts if n < len(losses)}
    return pd.DataFrame.from_dict(gained, orient="index").rename_axis(DATA_SET)


def searched(table):
    """Training loss of the informed start minus the lowest that each search finds, on each data set.

    By omega, alpha, d, valley and seed: "descent", the lowest end of all starts without a search; "hop", of all starts
    with one; `same`, share of the starts that "hop" leads to the lowest of them; and a column for each temperature of
    "anneal", from the informed start, below zero where it ends higher.

    table: the experiment "searched".
    """
    gained = {}
    for data_set, rows in table.astype({"search": str}).groupby(DATA_SET, observed=True):
        losses = {search: ends.set_index("number")["train_loss"] for search, ends in rows.groupby("search")}
        informed, hopped = losses["descent"].loc[0], losses["hop"]
        annealed = rows[rows["search"] == "anneal"].set_index("temperature")["train_loss"]
        gained[data_set] = {
            "descent": informed - losses["descent"].min(),
            "hop": informed - hopped.min(),
            "same": (hopped < hopped.min() + LOWER).mean(),
            **(informed - annealed).to_dict(),
        }
    return pd.DataFrame.from_dict(gained, orient="index").rename_axis(DATA_SET)


def later(gained, slopes):
    """By how much the losses cross later when the lowest minimum found stands for the informed one.

    The difference of what the two valleys gain on the same data, over the slope of the gap. By omega, d and `search`
    (the column): `later` with its error, and both valleys' mean gain with its error.

    gained: from `excess` or `searched`.
    slopes: omega to the slope of the gap in alpha, below zero.
    """
    per_set = gained.groupby(["omega", "d", "valley", "seed"], observed=True).mean()
    valleys = per_set.rename_axis(columns="search").stack().unstack("valley")
    falls = -valleys.index.get_level_values("omega").map(slopes)
    valleys["later"] = (valleys["positional"] - valleys["semantic"]) / falls
    columns = ["later", "later_error", "semantic", "positional", "semantic_error", "positional_error"]
    return with_errors(valleys.groupby(["omega", "d", "search"], sort=False))[columns]
