"""How far above the lowest minimum that a search finds informed descent ends, and what that moves alpha_c by."""

import numpy as np
import pandas as pd

from attention_phases.measured import Measured
from attention_phases.training.searches import LOWER

from .controlled import limit
from .means import with_errors

DATA_SET = ["omega", "valley", "d", "seed"]


def searched(table):
    """The lowest minimum that hops find on each data set, against the informed one.

    By omega, valley, d and seed: `hop`, training loss gained; `hop_share`, that over the loss; `grows`, by which share
    q is larger; `same`, share of the starts that lead to this minimum.

    table: the experiment "searched".
    """
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


def at_infinite_d(gained, power=1.0):
    """Limit of infinite d of the mean over data sets: `Measured` by the other names of the index.

    gained: series over omega, d and seed, and perhaps the valley.
    """
    names = [name for name in gained.index.names if name not in ("d", "seed")]
    means = with_errors(gained.rename("gained").groupby([*names, "d"])).reset_index("d")
    return {
        where: limit({row.d: Measured(row.gained, row.gained_error) for row in rows.itertuples()}, power)
        for where, rows in means.groupby(names if len(names) > 1 else names[0])
    }


def later(gained, crossings, power=1.0):
    """By how much the losses cross later where the lowest minima found stand for the informed ones: by omega.

    What the positional valley gains more on the same data, over the mean slope of the gap, whose error is included.

    gained: `hop` of `searched`.
    crossings: from `controlled.by_dimension`.
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
