"""Where several starts end: how many minima a valley holds, what is kept of a start, which loss is lowest."""

from itertools import pairwise

import numpy as np
import pandas as pd

from .means import root_mean_squares, with_errors

SAME_LOSS = 1e-8  # L-BFGS leaves less than this above a minimum


def scatter(table):
    """How many minima the starts around one valley lead to, told apart by their losses.

    By `omega`, `alpha` and `valley`: `starts`; `minima`, their mean number over data sets, the `fewest` and the `most`;
    `scatter`, standard deviation of the training loss between the starts, root mean square over data sets, with its
    error, NaN where all starts end at the same loss.

    table: starts "semantic", "near_semantic" (several) and so on, from the same data.
    """
    where = ["omega", "alpha", "valley"]
    valley = table["start"].astype(str).str.removeprefix("near_")
    losses = table.assign(valley=valley).groupby([*where, "seed"])["train_loss"]
    minima = losses.agg(lambda ends: 1 + (np.diff(np.sort(ends)) > SAME_LOSS).sum()).groupby(where)
    spread = root_mean_squares(losses.var().to_frame("scatter").groupby(where))
    spread = spread.set_axis(["scatter", "scatter_error"], axis=1)
    counts = pd.DataFrame(
        {
            "starts": losses.size().groupby(where).max(),
            "minima": minima.mean(),
            "fewest": minima.min().astype(int),
            "most": minima.max().astype(int),
        }
    )
    return counts.join(spread.where(spread["scatter"] > SAME_LOSS)).reset_index()


def memory(table, lines):
    """Root mean squares of the overlaps of students from several starts, and their losses, beside theory.

    `start`, `dimension` (NaN: theory); `theta_rms`, `m_rms` and `train_loss` with errors.

    table: the experiment "memory" for one task.
    lines: theory of the same task; its solution without overlaps is shown.
    """
    # A mean overlap from random starts is zero by symmetry; its square tells. Starts on one data set are one instance.
    squared = table.assign(theta=table["theta"] ** 2, m=table["m"] ** 2)
    per_set = squared.groupby(["start", "d", "seed"], observed=True)[["theta", "m", "train_loss"]].mean()
    groups = per_set.groupby(["start", "d"], observed=True)
    students = root_mean_squares(groups[["theta", "m"]]).join(with_errors(groups["train_loss"])).reset_index()
    students = students.rename(columns={"d": "dimension"}).astype({"start": object, "dimension": float})
    students = students[["start", "dimension", *_with_error("theta_rms", "m_rms", "train_loss")]]
    symmetric = (lines["what"] == "symmetric") & np.isclose(lines["alpha"], table["alpha"].iloc[0])
    zero = dict.fromkeys(_with_error("theta_rms", "m_rms"), 0.0)
    theory = lines[symmetric].assign(start="any", dimension=np.nan, **zero)
    return pd.concat([students, theory[students.columns]], ignore_index=True) if len(theory) else students


def _with_error(*names):
    return [column for name in names for column in (name, f"{name}_error")]


def valleys(table):
    """How many minima the starts in one valley lead to, and how they differ.

    By `omega`, `alpha`, `valley` and `noise`: `starts` on a data set; `minima`, their mean number over data sets,
    and the least and the greatest as a range; `relative_scatter` of the training loss, standard deviation over the
    lowest, mean over data sets (NaN: below 1e-6); `aligned`, cosine of two ends, with its standard deviation.

    table: the experiment "landscape".
    """
    where = ["omega", "alpha", "valley", "noise"]
    groups = table.groupby(where, observed=True)
    per_set = table.groupby([*where, "seed"], observed=True)
    minima = per_set["minimum"].nunique().groupby(where, observed=True)
    losses = per_set["train_loss"]
    relative = (losses.std() / losses.min()).groupby(where, observed=True).mean()
    return pd.DataFrame(
        {
            "starts": groups.size() // groups["seed"].nunique(),
            "minima": minima.mean(),
            "minima_low": minima.min(),
            "minima_high": minima.max(),
            "relative_scatter": relative.where(relative > 1e-6),
            "aligned": groups["aligned"].mean(),
            "aligned_std": groups["aligned"].std(),
        }
    ).reset_index()


def neighbours(table, edges=(0, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 2)):
    """How many ends have their nearest other end between which distances, over their size."""
    counts = np.histogram(table["nearest"], edges)[0]
    low, high = zip(*pairwise(edges))
    return pd.DataFrame({"nearest": low, "farthest": high, "ends": counts})


def levels(table, limits):
    """Losses of the ends beside the replica-symmetric one.

    By `omega`, `valley` and `noise`: `lowest_loss` and `mean_loss` on a data set, means over data sets, and
    `theory_loss`, with errors.

    table: the experiment "landscape".
    limits: `theory.Solution` by (omega, alpha, valley).
    """
    where = ["omega", "alpha", "valley", "noise"]
    losses = table.groupby([*where, "seed"], observed=True)["train_loss"].agg(lowest_loss="min", mean_loss="mean")
    rows = with_errors(losses.groupby(where, observed=True)).reset_index()
    solutions = [limits[tuple(key)] for key in rows[["omega", "alpha", "valley"]].itertuples(index=False)]
    rows["theory_loss"] = [solution.train_loss for solution in solutions]
    rows["theory_loss_error"] = [solution.stderr["train_loss"] for solution in solutions]
    return rows[["omega", "valley", "noise", *_with_error("lowest_loss", "mean_loss", "theory_loss")]]


def between(table):
    """How often each start ends above the lowest training loss on its data set.

    Above means: by more than a tenth of the spread of the lowest loss between data sets. `alpha`; `semantic_above` and
    so on, numbers of data sets; `apart`, median of the highest loss minus the lowest; `loss_spread`, standard deviation
    of the lowest loss between data sets.

    table: several starts over alpha.
    """
    losses = table.pivot_table(index=["alpha", "seed"], columns="start", values="train_loss", observed=True)
    lowest = losses.min(axis=1)
    spread = lowest.groupby("alpha").std()
    above = losses.sub(lowest, axis=0).gt(spread / 10, axis=0, level="alpha").groupby("alpha").sum()
    apart = (losses.max(axis=1) - lowest).groupby("alpha").median()
    return above.add_suffix("_above").assign(apart=apart, loss_spread=spread).rename_axis(columns=None).reset_index()


def against_informed(informed, random):
    """Students of rank 2 from random starts beside the informed ones with the lowest loss.

    At every fifth `alpha`: random minus informed on the same data, over the informed mean, of training loss, overlap
    with the teacher and test error (`train_loss_share` and so on), with errors.

    informed: several informed starts by L-BFGS.
    random: the start "random" by gradient descent on some of the data sets.
    """
    where, quantities = ["alpha", "seed"], ["train_loss", "theta", "test_mse"]
    best = informed.loc[informed.groupby(where)["train_loss"].idxmin()].set_index(where)[quantities]
    other = random.set_index(where)[quantities]
    best = best.loc[other.index]
    shares = ((other - best) / best.groupby("alpha").mean()).add_suffix("_share")
    return with_errors(shares.groupby("alpha")).iloc[4::5][_with_error(*shares)].reset_index()


def unfinished(table, above=0.05):
    """How many students from random starts stop well above the lowest training loss that is known on their data.

    `alpha`; `students` by each optimiser; `gd_above` and `lbfgs_above`, how many of them are so far above;
    `gd_gradient`, the median norm of the gradient of the former (NaN: there are none).

    table: gradient descent from random starts over alpha and omega, and L-BFGS from these and others.
    above: by which share of the lowest loss, which L-BFGS reaches from any of its starts, theirs has to be higher.
    """
    where = ["alpha", "omega", "seed"]
    lowest = table[table["optimizer"] == "lbfgs"].groupby(where)["train_loss"].min()
    random = table[table["start"] == "random"].set_index(where)
    random = random.assign(stopped=random["train_loss"] > (1 + above) * lowest.loc[random.index])
    by_gd, by_lbfgs = (random[random["optimizer"] == name] for name in ("gd", "lbfgs"))
    return pd.DataFrame(
        {
            "students": by_gd.groupby("alpha").size(),
            "gd_above": by_gd.groupby("alpha")["stopped"].sum(),
            "lbfgs_above": by_lbfgs.groupby("alpha")["stopped"].sum(),
            "gd_gradient": by_gd[by_gd["stopped"]].groupby("alpha")["grad_norm"].median(),
        }
    ).reset_index()
