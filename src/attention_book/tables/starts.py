"""Where several starts end: how many minima a valley holds, what is kept of a start, which basin is found."""

from itertools import pairwise

import numpy as np
import pandas as pd

from ..analysis import instances
from ..analysis.basins import BASINS


def scatter(table):
    """`instances.minima` by omega, alpha and valley; no scatter where all starts end at the same loss."""
    found = instances.minima(table).reset_index()
    same = ~(found["scatter"] > instances.SAME_LOSS)
    return found.assign(**{name: found[name].mask(same) for name in ("scatter", "scatter_error")})


def memory(table, lines):
    """Root mean squares of the overlaps of students from several starts, and their losses, beside theory.

    Parameters
    ----------
    table : pandas.DataFrame
        Results of the experiment "memory" for one task.
    lines : pandas.DataFrame
        Rows of `theory.theory_line` for the same task; those of the solution without overlaps are shown.

    Returns
    -------
    pandas.DataFrame
        `start`, `dimension` (NaN: theory); `theta_rms`, `m_rms` and `train_loss` with their errors.
    """
    # A mean overlap from random starts is zero by symmetry; its square tells. Starts on one data set are one instance.
    squared = table.assign(theta=table["theta"] ** 2, m=table["m"] ** 2)
    per_set = squared.groupby(["start", "d", "seed"], observed=True)[["theta", "m", "train_loss"]].mean()
    groups = per_set.groupby(["start", "d"], observed=True)
    means, errors = groups.mean(), groups.sem()
    columns = {}
    for name in ("theta", "m"):
        columns[f"{name}_rms"] = means[name] ** 0.5
        columns[f"{name}_rms_error"] = errors[name] / (2 * columns[f"{name}_rms"])
    students = pd.DataFrame(columns | {"train_loss": means["train_loss"], "train_loss_error": errors["train_loss"]})
    students = students.reset_index().rename(columns={"d": "dimension"}).astype({"start": object, "dimension": float})
    here = (lines["what"] == "symmetric") & np.isclose(lines["alpha"], table["alpha"].iloc[0])
    theory = lines.loc[here, ["train_loss", "train_loss_error"]].assign(
        start="any", dimension=np.nan, theta_rms=0.0, theta_rms_error=0.0, m_rms=0.0, m_rms_error=0.0
    )
    return pd.concat([students, theory[students.columns]], ignore_index=True) if len(theory) else students


def valleys(table):
    """How many minima the starts in one valley lead to, and how they differ.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "landscape".

    Returns
    -------
    pandas.DataFrame
        By `omega`, `alpha`, `valley` and `noise`: `starts` on a data set; `minima`, their mean number over data sets,
        and the least and the greatest as a range; `relative_scatter` of the training loss, standard deviation over the
        lowest, mean over data sets (NaN: below 1e-6); `aligned`, cosine of two ends, with its standard deviation.
    """
    rows = []
    for where, each in table.groupby(["omega", "alpha", "valley", "noise"], observed=True):
        counts = each.groupby("seed")["minimum"].nunique()
        losses = each.groupby("seed")["train_loss"]
        relative = (losses.std() / losses.min()).mean()
        rows.append({
            **dict(zip(("omega", "alpha", "valley", "noise"), where)),
            "starts": len(each) // each["seed"].nunique(),
            "minima": counts.mean(), "minima_low": counts.min(), "minima_high": counts.max(),
            "relative_scatter": relative if relative > 1e-6 else np.nan,
            "aligned": each["aligned"].mean(), "aligned_std": each["aligned"].std(),
        })  # fmt: skip
    return pd.DataFrame(rows)


def neighbours(table, edges=(0, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 2)):
    """How many ends have their nearest other end between which distances, over their size."""
    counts = np.histogram(table["nearest"], edges)[0]
    low, high = zip(*pairwise(edges))
    return pd.DataFrame({"nearest": low, "farthest": high, "ends": counts})


def levels(table, limits):
    """Losses of the ends beside the replica-symmetric one.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "landscape".
    limits : dict of theory.Solution
        By (omega, alpha, valley).

    Returns
    -------
    pandas.DataFrame
        By `omega`, `valley` and `noise`: `lowest_loss` and `mean_loss` on a data set, means over data sets, and
        `theory_loss`, with their errors.
    """
    rows = []
    for (omega, alpha, valley, noise), each in table.groupby(["omega", "alpha", "valley", "noise"], observed=True):
        found = limits[omega, alpha, valley]
        losses = each.groupby("seed")["train_loss"].agg(["min", "mean"])
        rows.append({
            "omega": omega, "valley": valley, "noise": noise,
            "lowest_loss": losses["min"].mean(), "lowest_loss_error": losses["min"].sem(),
            "mean_loss": losses["mean"].mean(), "mean_loss_error": losses["mean"].sem(),
            "theory_loss": found.train_loss, "theory_loss_error": found.stderr["train_loss"],
        })  # fmt: skip
    return pd.DataFrame(rows)


def basins(found):
    """Shares of runs by basin, side by side.

    Parameters
    ----------
    found : pandas.DataFrame
        From `basins.fractions`.

    Returns
    -------
    pandas.DataFrame
        `optimizer`, `d`, `alpha`; `semantic`, `positional` and `neither`, each with a range.
    """
    wide = found.pivot(index=["optimizer", "d", "alpha"], columns="basin", values=["fraction", "low", "high"])
    parts = {"fraction": "", "low": "_low", "high": "_high"}
    columns = {f"{basin}{end}": wide[part, basin] for basin in (*BASINS, "neither") for part, end in parts.items()}
    return pd.DataFrame(columns).reset_index().astype({"optimizer": object})


def between(table):
    """How often each start ends above the lowest training loss on its data set.

    Above means: by more than a tenth of the spread of the lowest loss between data sets.

    Parameters
    ----------
    table : pandas.DataFrame
        Results of several starts over alpha.

    Returns
    -------
    pandas.DataFrame
        `alpha`; `semantic_above` and so on, numbers of data sets; `apart`, median of the highest loss less the lowest;
        `loss_spread`, standard deviation of the lowest loss between data sets.
    """
    losses = table.pivot_table(index=["alpha", "seed"], columns="start", values="train_loss", observed=True)
    lowest = losses.min(axis=1)
    spread = lowest.groupby("alpha").std()
    above = losses.sub(lowest, axis=0).gt(spread / 10, axis=0, level="alpha").groupby("alpha").sum()
    return pd.DataFrame({
        **{f"{start}_above": above[start] for start in above},
        "apart": (losses.max(axis=1) - lowest).groupby("alpha").median(),
        "loss_spread": spread,
    }).reset_index()  # fmt: skip


def against_informed(informed, random):
    """Students of rank 2 from random starts beside the informed ones with the lowest loss.

    Parameters
    ----------
    informed, random : pandas.DataFrame
        Results of informed starts by L-BFGS, and of the start "random" by gradient descent on some of the data sets.

    Returns
    -------
    pandas.DataFrame
        At every fifth `alpha`: random less informed on the same data, over the informed mean, of training loss, overlap
        with the teacher and test error (`train_loss_share` and so on), with errors.
    """
    where = ["alpha", "seed"]
    best = informed.loc[informed.groupby(where)["train_loss"].idxmin()].set_index(where)
    other = random.set_index(where)
    best = best.loc[other.index]
    rows = []
    for alpha in sorted(random["alpha"].unique())[4::5]:
        row = {"alpha": alpha}
        for name in ("train_loss", "theta", "test_mse"):
            one, two = best.loc[alpha, name], other.loc[alpha, name]
            share = (two - one) / one.mean()
            row |= {f"{name}_share": share.mean(), f"{name}_share_error": share.sem()}
        rows.append(row)
    return pd.DataFrame(rows)


def unfinished(table, above=0.05):
    """How many students from random starts stop well above the lowest training loss that is known on their data.

    Parameters
    ----------
    table : pandas.DataFrame
        Results of gradient descent from random starts over alpha and omega, and of L-BFGS from these and others.
    above : float
        By which share of the lowest loss, which L-BFGS reaches from any of its starts, theirs has to be higher.

    Returns
    -------
    pandas.DataFrame
        `alpha`; `students` by each optimiser; `gd_above` and `lbfgs_above`, how many of them are so far above;
        `gd_gradient`, the median norm of the gradient of the former (NaN: there are none).
    """
    where = ["alpha", "omega", "seed"]
    lowest = table[table["optimizer"] == "lbfgs"].groupby(where)["train_loss"].min()
    random = table[table["start"] == "random"].set_index(where)
    stopped = random["train_loss"] > (1 + above) * lowest.loc[random.index]
    rows = []
    for alpha, each in random.assign(stopped=stopped).groupby("alpha"):
        by_gd, by_lbfgs = (each[each["optimizer"] == name] for name in ("gd", "lbfgs"))
        rows.append({
            "alpha": alpha, "students": len(by_gd),
            "gd_above": int(by_gd["stopped"].sum()), "lbfgs_above": int(by_lbfgs["stopped"].sum()),
            "gd_gradient": by_gd.loc[by_gd["stopped"], "grad_norm"].median(),
        })  # fmt: skip
    return pd.DataFrame(rows)
