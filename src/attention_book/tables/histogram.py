"""The published numbers of the counting task beside ours, and the numbers of its pages."""

import numpy as np
import pandas as pd

from attention_phases.measured import Measured

from .. import published
from ..analysis.counting import tensors
from ..experiments.counting_cells import EXCHANGED
from ..render.verdicts import Comparison, compare

# Which tensors a sum of distances may mean.
SETS = {
    "all tensors": None,
    "embeddings, Q, K, V": ("token", "position", "query", "key", "value"),
    "embeddings, Q, K": ("token", "position", "query", "key"),
    "Q, K": ("query", "key"),
    "embeddings": ("token", "position"),
    "all but biases and layer norm": ("token", "position", "query", "key", "value", "hidden", "output"),
}
EMBEDDINGS = ["token", "position"]
LOST = 0.25  # of a letter's places told wrong after the first epochs: what is learned late is below a tenth by then


def as_published(runs, table):
    """Accuracies and distances of each run as the paper measures them.

    Before it measures what SGD moved, the paper sets the former zeros of the embeddings back to zero: its distance by
    SGD leaves out what they moved, and its former zeros are those of Q and K.

    Parameters
    ----------
    runs : pandas.DataFrame
        As from `histogram.summary.per_run`.
    table : pandas.DataFrame
        The experiment "histogram".

    Returns
    -------
    pandas.DataFrame
        By variant and seed, the columns of `published.HISTOGRAM`.
    """
    each = tensors(table).xs("trained to final", level="span")
    distance, of_zeros = (each[name].unstack("tensor") for name in ("distance", "of_zeros"))
    distance[EMBEDDINGS] = (distance[EMBEDDINGS] ** 2 - of_zeros[EMBEDDINGS] ** 2) ** 0.5
    return pd.DataFrame({
        "accuracy": runs["accuracy"],
        "start to trained": runs["start to trained"],
        "trained to final": distance.sum(axis=1),
        "of_zeros": of_zeros.drop(columns=EMBEDDINGS).sum(axis=1),
    })  # fmt: skip


def table1(found):
    """Comparison of Table 1: means over runs, and the standard deviations between runs.

    Parameters
    ----------
    found : pandas.DataFrame
        As from `as_published`.

    Returns
    -------
    pandas.DataFrame
        As from `verdicts.compare`. The error of a standard deviation is that of normal numbers.
    """
    rows = []
    for variant, known in published.HISTOGRAM.items():
        for name, (mean, spread) in known.items():
            runs, n = found.loc[variant, name], len(found.loc[variant])
            std = runs.std(ddof=published.LESS[name])
            reason = "lost letters" if (variant, name) == ("semantic", "accuracy") else "unknown"
            ours = {
                "mean": (mean, runs.mean(), runs.sem()),
                "standard deviation": (spread, std, std / (2 * (n - 1)) ** 0.5),
            }
            for statistic, (theirs, value, error) in ours.items():
                where = {"solution": variant, "statistic": statistic}
                rows.append(Comparison(name, where, theirs, Measured(value, error), "transformers", n, reason))
    return compare(rows)


def spreads(found):
    """Table 1 in the paper's form.

    Parameters
    ----------
    found : pandas.DataFrame
        As from `as_published`.

    Returns
    -------
    pandas.DataFrame
        `quantity`, `solution`; `published` mean and `published_spread`, as printed; `ours` with its standard deviation.
    """
    return pd.DataFrame([
        {
            "quantity": name, "solution": variant, "published": mean.text, "published_spread": spread.text,
            "ours": found.loc[variant, name].mean(),
            "ours_std": found.loc[variant, name].std(ddof=published.LESS[name]),
        }
        for variant, known in published.HISTOGRAM.items()
        for name, (mean, spread) in known.items()
    ])  # fmt: skip


def definitions(table, span="start to trained", column="distance"):
    """What the distance of a span is by other readings of its definition.

    Returns
    -------
    pandas.DataFrame
        `reading`; `positional` and `semantic`, means over runs with standard deviations.
    """
    each = tensors(table)[column].xs(span, level="span").unstack("tensor")
    readings = {f"sum over {name}": each[list(chosen or each.columns)].sum(axis=1) for name, chosen in SETS.items()}
    readings["one norm of all entries"] = (each**2).sum(axis=1) ** 0.5
    return pd.DataFrame([{"reading": name} | _by_variant(values) for name, values in readings.items()])


def _by_variant(values):
    row = {}
    for variant in published.HISTOGRAM:
        row |= {variant: values.loc[variant].mean(), f"{variant}_std": values.loc[variant].std()}
    return row


def matrices(differences):
    """`histogram.summary.matrix_differences` as means over runs with errors: `matrices` (which), `rms_change`."""
    names = {
        "positional": "positional: after SGD less before",
        "semantic": "semantic: after SGD less before",
        "between": "semantic less positional",
    }
    return pd.DataFrame([
        {"matrices": name, "rms_change": differences[column].mean(), "rms_change_error": differences[column].sem()}
        for column, name in names.items()
    ])  # fmt: skip


def shares(runs):
    """Shares of the attention's variance before and after SGD, means over runs with standard deviations.

    Returns
    -------
    pandas.DataFrame
        `solution`; `by_position` and `by_token`.
    """
    rows = []
    for variant in published.HISTOGRAM:
        for end, name in (("", "before SGD"), ("_sgd", "after SGD")):
            row = {"solution": f"{variant}, {name}"}
            for column in ("by_position", "by_token"):
                ours = runs.loc[variant, f"{column}{end}"]
                row |= {column: ours.mean(), f"{column}_std": ours.std()}
            rows.append(row)
    return pd.DataFrame(rows)


def moved_by(table):
    """Where the distance after SGD comes from, means over runs: `noise_alone`, `sgd_alone` and `both`, of `entries`."""
    sums = tensors(table)[["distance", "of_zeros"]].groupby(["variant", "seed", "span"]).sum()
    means = sums.groupby(["variant", "span"]).mean()
    parts = {"noise_alone": "trained to displaced", "sgd_alone": "displaced to final", "both": "trained to final"}
    return pd.DataFrame([
        {"entries": f"{name}, {variant}"} | {part: means[column][variant, span] for part, span in parts.items()}
        for variant in published.HISTOGRAM
        for column, name in (("distance", "all entries"), ("of_zeros", "former zeros"))
    ])  # fmt: skip


def worst_letters(worst, variant):
    """The errors of each run of one solution at the letter with the largest error after Adam, and at the others.

    Parameters
    ----------
    worst : dict of pandas.DataFrame
        "adam" and "sgd", as from `histogram.summary.worst_letter`.
    variant : {"positional", "semantic"}

    Returns
    -------
    pandas.DataFrame
        `run`, the worst first; `letter`, `there`, `elsewhere` (shares of wrong positions); `letter_sgd`, `there_sgd`.
    """
    adam, sgd = (worst[after].loc[variant] for after in ("adam", "sgd"))
    adam = adam.sort_values("all", ascending=False)
    found = adam[["letter", "there", "elsewhere"]].join(sgd[["letter", "there"]].add_suffix("_sgd"))
    return found.rename_axis("run").reset_index()


def lost(errors):
    """Whether a run has lost a letter: over a quarter of its places are told wrong after the first epochs.

    Parameters
    ----------
    errors : pandas.DataFrame
        As from `histogram.summary.lasting_errors`.

    Returns
    -------
    pandas.Series of bool
        By data set and start.
    """
    return errors.loc[:EXCHANGED].iloc[-1] > LOST


def lost_letters(errors, epochs):
    """What is told wrong at the worst letter of the runs that have lost one, and of the others.

    Parameters
    ----------
    errors : pandas.DataFrame
        As from `histogram.summary.lasting_errors`.
    epochs : iterable of int
        Of those after which the runs were tested.

    Returns
    -------
    pandas.DataFrame
        `epoch`; `there`, mean and range over the runs that have lost a letter; `kept`, the largest of the others.
    """
    gone, rows = lost(errors), []
    for epoch, each in errors.loc[sorted(epochs)].iterrows():
        ends = {"there": each[gone].mean(), "there_low": each[gone].min(), "there_high": each[gone].max()}
        rows.append({"epoch": epoch, **ends, "kept": each[~gone].max()})
    return pd.DataFrame(rows)


def lost_by_start(errors):
    """On how many data sets a start loses a letter, and how often that would be if starts were all alike.

    Parameters
    ----------
    errors : pandas.DataFrame
        As from `histogram.summary.lasting_errors`, of each start on each data set.

    Returns
    -------
    pandas.DataFrame
        `lost_on` so many data sets; `starts` that do; `if_alike`, mean and standard deviation of their number if each
        start lost a letter with the share of all starts on the same data set.
    """
    gone = lost(errors).unstack("data_seed")
    chances = np.ones(1)
    for share in gone.mean():
        chances = np.convolve(chances, (1 - share, share))
    return pd.DataFrame({
        "lost_on": range(len(chances)),
        "starts": np.bincount(gone.sum(axis=1), minlength=len(chances)),
        "if_alike": len(gone) * chances,
        "if_alike_std": (len(gone) * chances * (1 - chances)) ** 0.5,
    })  # fmt: skip


def differences(runs):
    """Change of accuracy and loss by SGD, run by run: `quantity`, `solution`, mean `change` with its error."""
    rows = []
    for variant in published.HISTOGRAM:
        for name in ("accuracy", "test_loss"):
            change = runs.loc[variant, f"{name}_sgd"] - runs.loc[variant, name]
            error = max(change.sem(), np.finfo(np.float32).eps)
            rows.append({"quantity": name, "solution": variant, "change": change.mean(), "change_error": error})
    return pd.DataFrame(rows)
