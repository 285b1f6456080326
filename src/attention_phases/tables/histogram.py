"""The published numbers of the counting task beside ours, and the tables of its pages."""

import numpy as np
import pandas as pd

from .. import published
from ..histogram.summary import tensors

NAMES = {
    "accuracy": "test accuracy",
    "start to trained": "distance by Adam",
    "trained to final": "distance by SGD",
    "of_zeros": "the same, former zeros",
}
# Which tensors a sum of distances may mean.
SETS = {
    "all tensors": None,
    "embeddings, Q, K, V": ("token", "position", "query", "key", "value"),
    "embeddings, Q, K": ("token", "position", "query", "key"),
    "Q, K": ("query", "key"),
    "embeddings": ("token", "position"),
    "all but biases and layer norm": ("token", "position", "query", "key", "value", "hidden", "output"),
}


def table1(runs):
    """Comparison of Table 1.

    Parameters
    ----------
    runs : pandas.DataFrame
        As from `histogram.summary.per_run`.

    Returns
    -------
    pandas.DataFrame
        As from `published.compare`, with standard errors of the means over runs.
    """
    return published.compare([
        (f"{NAMES[name]}, {variant}", theirs, runs.loc[variant, name].mean(), runs.loc[variant, name].sem())
        for variant, known in published.HISTOGRAM.items()
        for name, theirs in known.items()
    ])  # fmt: skip


def spreads(runs):
    """Table 1 in the paper's form: mean ± standard deviation over runs, published above ours."""
    rows = []
    for variant, known in published.HISTOGRAM.items():
        for name, theirs in known.items():
            ours = runs.loc[variant, name]
            digits = len(theirs.text.partition(".")[2])
            rows.append({
                "quantity": f"{NAMES[name]}, {variant}",
                "published": f"{theirs.text} ± {theirs.stderr * 10**0.5:.{digits}f}",
                "ours": f"{ours.mean():.{digits}f} ± {ours.std():.{digits}f}",
            })  # fmt: skip
    return pd.DataFrame(rows)


def definitions(table, span="start to trained", column="distance"):
    """What the distance of a span is by other readings of its definition: mean ± standard deviation over runs."""
    each = tensors(table)[column].xs(span, level="span").unstack("tensor")
    readings = {f"sum over {name}": each[list(chosen or each.columns)].sum(axis=1) for name, chosen in SETS.items()}
    readings["one norm of all entries"] = (each**2).sum(axis=1) ** 0.5
    rows = {
        name: {v: f"{r.loc[v].mean():.4g} ± {r.loc[v].std():.2g}" for v in published.HISTOGRAM}
        for name, r in readings.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("reading").reset_index()


def matrices(differences):
    """`histogram.summary.matrix_differences` as a table to read: means over runs with standard errors."""
    names = {
        "positional": "positional: after SGD less before",
        "semantic": "semantic: after SGD less before",
        "between": "semantic less positional",
    }
    return pd.DataFrame([
        {
            "attention matrices": name,
            "root mean square": published.with_error(differences[column].mean(), differences[column].sem()),
        }
        for column, name in names.items()
    ])  # fmt: skip


def shares(runs):
    """Shares of the attention's variance before and after SGD: means ± standard deviations over runs."""
    rows = []
    for variant in published.HISTOGRAM:
        for end, name in (("", "before SGD"), ("_sgd", "after SGD")):
            row = {"solution": f"{variant}, {name}"}
            for column, of in (("by_position", "by position"), ("by_token", "by token")):
                ours = runs.loc[variant, f"{column}{end}"]
                row[of] = f"{ours.mean():.4f} ± {ours.std():.4f}"
            rows.append(row)
    return pd.DataFrame(rows)


def moved_by(table):
    """Where the distance after SGD comes from: of the noise alone, of SGD alone, and of both, means over runs."""
    sums = tensors(table)[["distance", "of_zeros"]].groupby(["variant", "seed", "span"]).sum()
    means = sums.groupby(["variant", "span"]).mean()
    parts = {"trained to displaced": "noise alone", "displaced to final": "SGD alone", "trained to final": "both"}
    rows = []
    for variant in published.HISTOGRAM:
        for column, name in (("distance", "all entries"), ("of_zeros", "former zeros")):
            values = {text: f"{means[column][variant, span]:.3f}" for span, text in parts.items()}
            rows.append({"distance": f"{name}, {variant}", **values})
    return pd.DataFrame(rows)


def worst_letters(worst, variant):
    """The errors of each run of one solution at the letter that it tells worst after Adam, and at the others.

    Parameters
    ----------
    worst : dict of pandas.DataFrame
        "adam" and "sgd", as from `histogram.summary.worst_letter`.
    variant : {"positional", "semantic"}
    """
    adam, sgd = (worst[after].loc[variant] for after in ("adam", "sgd"))
    adam = adam.sort_values("all", ascending=False)
    percent = "{:.2%}".format
    return pd.DataFrame({
        "run": adam.index,
        "worst letter": adam["letter"],
        "wrong there": adam["there"].map(percent),
        "wrong at the other letters": adam["elsewhere"].map(percent),
        "worst letter after SGD": sgd["letter"].reindex(adam.index),
        "wrong there, after SGD": sgd["there"].reindex(adam.index).map(percent),
    })  # fmt: skip


def share(values):
    """Mean of shares over runs with its standard error, in per cent."""
    return published.with_error(100 * values.mean(), 100 * values.sem()) + " %"


def differences(runs):
    """Change of accuracy and loss by SGD, run by run, as mean with standard error."""
    rows = []
    for variant in published.HISTOGRAM:
        for name, label in (("accuracy", "test accuracy"), ("test_loss", "test loss")):
            change = runs.loc[variant, f"{name}_sgd"] - runs.loc[variant, name]
            error = max(change.sem(), np.finfo(np.float32).eps)
            by = published.with_error(change.mean(), error)
            rows.append({"quantity": f"{label}, {variant}", "change by noise and SGD": by})
    return pd.DataFrame(rows)
