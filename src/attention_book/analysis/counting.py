"""What the runs of the counting experiment say together."""

import numpy as np
import pandas as pd

from attention_phases.histogram.counting import LETTERS, VARIANTS, Sequences
from attention_phases.histogram.measures import along_line, matrices, wrong_by_letter

from ..experiments.counting import data
from ..store.parquet import decode


def weights(table, variant, after="adam", seed=0):
    """Trained parameters (SIZE,) of one run of the experiment "histogram", after "adam" or "sgd"."""
    chosen = (table["what"] == "weights") & (table["variant"] == variant) & (table["after"] == after)
    (text,) = table.loc[chosen & (table["seed"] == seed), "weights"]
    return decode(text)


def letters(sequence):
    """A sequence of tokens as letters A to O."""
    return "".join(LETTERS[token] for token in sequence)


def curves(table):
    """Rows of the epochs: variant, seed, epoch, train_loss, test_loss, accuracy, and `adam_epochs`."""
    columns = ["variant", "seed", "adam_epochs", "epoch", "train_loss", "test_loss", "accuracy"]
    return table.loc[table["what"] == "epoch", columns].astype({"epoch": int, "variant": str})


def per_run(table):
    """One row for each variant and seed.

    Columns are `accuracy` and `test_loss` after Adam, and with "_sgd" after SGD; "start to trained" and "trained to
    final", the sums over the tensors of their distances; `of_zeros`, the second over the formerly frozen entries;
    `by_position`, `by_token` and the same with "_sgd", as `measures.variance_shares`.
    """
    run = ["variant", "seed"]
    epochs = curves(table)
    by_adam = epochs[epochs["epoch"] == epochs["adam_epochs"]].set_index(run)
    by_sgd = epochs.loc[epochs.groupby(run)["epoch"].idxmax()].set_index(run)
    distances = tensors(table)
    total = distances["distance"].groupby([*run, "span"]).sum().unstack()
    by_zeros = distances["of_zeros"].xs("trained to final", level="span").groupby(run).sum()
    shares = table[table["what"] == "shares"].astype({"variant": str, "after": str}).set_index([*run, "after"])
    shares = shares[["by_position", "by_token"]]
    tested = ["accuracy", "test_loss"]
    return pd.concat(
        [
            by_adam[tested],
            by_sgd[tested].add_suffix("_sgd"),
            total[["start to trained", "trained to final"]],
            by_zeros,
            shares.xs("adam", level="after"),
            shares.xs("sgd", level="after").add_suffix("_sgd"),
        ],
        axis=1,
    )


def tensors(table):
    """`distance` and `of_zeros` by variant, seed, span and tensor."""
    rows = table[table["what"] == "distance"].astype({"variant": str, "span": str, "tensor": str})
    return rows.set_index(["variant", "seed", "span", "tensor"])[["distance", "of_zeros"]]


def by_count(table, after="adam"):
    """Share of the positions told wrong, for each count that occurs, over all runs.

    By variant and count: `places`, `wrong` (a share), `error` (standard error of the share by the scatter of the runs,
    at least one position).
    """
    rows = table[(table["what"] == "count") & (table["after"] == after) & (table["places"] > 0)]
    rows = rows.astype({"variant": str, "count": int}).assign(missed=rows["places"] - rows["right"])
    by = ["variant", "count"]
    sums = rows.groupby(by)[["places", "missed"]].sum()
    wrong = sums["missed"] / sums["places"]
    # A ratio of sums over runs: its error comes from the scatter of the runs, as errors of one model are no draws.
    rows["residual"] = rows["missed"] - rows["places"] * wrong.reindex(pd.MultiIndex.from_frame(rows[by])).to_numpy()
    scatter = rows.groupby(by)["residual"].agg(_scatter_of_sum)
    error = np.maximum(scatter, 1) / sums["places"]
    return pd.DataFrame({"places": sums["places"], "wrong": wrong, "error": error})


def worst_letter(table, cells, after="adam"):
    """Share of the test positions told wrong by each run: at all letters, at its worst one, and at the others.

    By variant and seed: `letter`, `there`, `elsewhere`, `all`.
    """
    rows = {}
    for cell in cells:
        test = data(cell)[1]
        wrong = wrong_by_letter(weights(table, cell.variant, after, cell.seed), test)
        places = np.bincount(test.tokens.ravel(), minlength=len(wrong))
        worst = wrong.argmax()
        rows[cell.variant, cell.seed] = {
            "letter": LETTERS[worst],
            "there": wrong[worst],
            "elsewhere": np.average(np.delete(wrong, worst), weights=np.delete(places, worst)),
            "all": np.average(wrong, weights=places),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["variant", "seed"])


def lasting_errors(runs):
    """Share told wrong at the worst letter of each run, the median of three tests that follow one another.

    A test sees one epoch, and any letter may have a bad one; the median leaves those out. There is a row for each epoch
    that was tested, and a column for each data set and start. At both ends it is the median of the three nearest tests.

    Args:
        runs: rows of the experiment "lost_letters" that train equally long.
    """
    shares = runs.pivot(index="epoch", columns=["data_seed", "start_seed"], values="there")
    return shares.rolling(3, center=True).median().bfill().ffill()


def _scatter_of_sum(values):
    """Standard error of a sum of independent values of mean zero."""
    return (len(values) / max(len(values) - 1, 1) * (values**2).sum()) ** 0.5


def matrix_differences(table, cells, sequences):
    """How much the attention matrices change by SGD, and how much those of the two solutions differ.

    Root mean squares over all entries, a row for each seed: "positional" and "semantic" (after SGD minus before), and
    "between" (semantic minus positional, before SGD). At most so many of the test sequences are read.
    """
    rows = {}
    for seed, cell in {cell.seed: cell for cell in cells}.items():
        tokens = data(cell)[1].tokens[:sequences]
        before, after = (
            {variant: matrices(weights(table, variant, end, seed), tokens) for variant in VARIANTS}
            for end in ("adam", "sgd")
        )
        changes = {variant: _root_mean_square(after[variant] - before[variant]) for variant in VARIANTS}
        rows[seed] = changes | {"between": _root_mean_square(before["semantic"] - before["positional"])}
    return pd.DataFrame.from_dict(rows, orient="index")


def _root_mean_square(values):
    return float(np.sqrt((values.astype(float) ** 2).mean()))


def lines(table, cells, after, sequences):
    """Loss on the straight line from the positional to the semantic solution of each run.

    There is a row for each place on the line from 0 to 1, and a column for each seed. At most so many of the test
    sequences are read.
    """
    losses = {}
    for seed, cell in {cell.seed: cell for cell in cells}.items():
        ends = [weights(table, variant, after, seed) for variant in VARIANTS]
        test = Sequences(*(values[:sequences] for values in data(cell)[1]))
        places, losses[seed], _ = along_line(*ends, test)
    return pd.DataFrame(losses, index=places)
