"""The counting task: what the transformer looks at and counts (Figures 4 to 6), and its numbers (Table 1).

Of Table 1 the published numbers are beside ours; then what SGD changes, and lost letters.
"""

import numpy as np
import pandas as pd

from attention_phases.histogram.transformer import gradient_norm, matrices, wrong_by_letter
from attention_phases.measured import Measured

from .. import published
from ..analysis.instances import with_errors
from ..experiments.cells import EXCHANGED
from ..experiments.counting import data
from ..published import Comparison, compare
from ..render.attention import weights
from ..render.style import COLOURS, NEUTRAL, panels, styled, write_beside

EMBEDDINGS = ["token", "position"]
LOST = 0.25  # of a letter's places counted wrong after the first epochs: what is learned late is below a tenth by then
RUN = ["variant", "seed"]


def accuracy_curves(table):
    """Rows of the epochs: variant, seed, epoch, accuracy, and `adam_epochs`."""
    columns = [*RUN, "adam_epochs", "epoch", "accuracy"]
    return table.loc[table["what"] == "epoch", columns].astype({"epoch": int, "variant": str})


def tensors(table):
    """`distance` and `of_zeros` by variant, seed, span and tensor."""
    rows = table[table["what"] == "distance"].astype({"variant": str, "span": str, "tensor": str})
    return rows.set_index([*RUN, "span", "tensor"])[["distance", "of_zeros"]]


def per_run(table):
    """Accuracy after Adam and distances of each run as the paper measures them: columns of `published.HISTOGRAM`.

    A distance is the sum over the tensors of the 2-norms of their changes. Before it measures what SGD moved, the
    paper sets the former zeros of the embeddings back to zero: its distance by SGD leaves out what they moved, and its
    former zeros are those of Q and K.
    """
    epochs = accuracy_curves(table)
    accuracy = epochs[epochs["epoch"] == epochs["adam_epochs"]].set_index(RUN)["accuracy"]
    distance, of_zeros = (tensors(table)[name].unstack("tensor") for name in ("distance", "of_zeros"))
    by_adam = distance.xs("start to trained", level="span").sum(axis=1)
    by_sgd, zeros_by_sgd = (frame.xs("trained to final", level="span").copy() for frame in (distance, of_zeros))
    by_sgd[EMBEDDINGS] = (by_sgd[EMBEDDINGS] ** 2 - zeros_by_sgd[EMBEDDINGS] ** 2) ** 0.5
    columns = {"accuracy": accuracy, "start to trained": by_adam, "trained to final": by_sgd.sum(axis=1)}
    return pd.DataFrame(columns | {"of_zeros": zeros_by_sgd.drop(columns=EMBEDDINGS).sum(axis=1)})


def runs_beside_published(runs):
    """Table 1 beside `per_run`: means over runs and standard deviations between them, as from `published.compare`.

    The error of a standard deviation is that of normal numbers.
    """
    rows = []
    for variant, name, (mean, spread), values, std in _published_beside(runs):
        reason = "lost letters" if (variant, name) == ("semantic", "accuracy") else "cause unknown"
        count = len(values)
        for statistic, known, ours in (
            ("mean", mean, Measured(values.mean(), values.sem())),
            ("standard deviation", spread, Measured(std, std / (2 * (count - 1)) ** 0.5)),
        ):
            where = {"solution": variant, "statistic": statistic}
            rows.append(Comparison(name, where, known, ours, "transformers", count, reason))
    return compare(rows)


def table1(runs):
    """Table 1 in the paper's form: published means and standard deviations as printed, and those of `per_run`."""
    columns = ["quantity", "solution", "published", "published_spread", "ours", "ours_std"]
    rows = [
        (name, variant, mean.text, spread.text, values.mean(), std)
        for variant, name, (mean, spread), values, std in _published_beside(runs)
    ]
    return pd.DataFrame(rows, columns=columns)


def _published_beside(runs):
    """Solution, quantity, published mean and standard deviation, our values and their standard deviation."""
    for variant, known in published.HISTOGRAM.items():
        for name, numbers in known.items():
            values = runs.loc[variant, name]
            yield variant, name, numbers, values, values.std(ddof=published.LESS[name])


def by_sgd(table, cells, sequences):
    """What SGD does to each run.

    By variant and seed: `sgd_alone`, the distance that it moves after the noise; `gradient` and `gradient_sgd`, the
    gradient's norm on the training set before noise and SGD and after them; `rms_change`, root mean square over all
    entries of the change of the attention matrices; `explained_sgd`, the share of their variance after SGD that
    positions explain, of a positional run, or tokens, of a semantic one.

    table: the experiment "histogram" or its control, of whose `cells` so many test `sequences` give the matrices.
    """
    moved = tensors(table)["distance"].xs("displaced to final", level="span").groupby(RUN).sum()
    shares = table[(table["what"] == "shares") & (table["after"] == "sgd")].set_index(RUN)
    rows = {}
    for cell in cells:
        run = cell.variant, cell.seed
        training, test = data(cell)
        ends = [weights(table, cell.variant, after, cell.seed) for after in ("adam", "sgd")]
        before, after = (matrices(flat, test.tokens[:sequences]).astype(float) for flat in ends)
        rows[run] = {
            "sgd_alone": moved[run],
            "gradient": gradient_norm(ends[0], training),
            "gradient_sgd": gradient_norm(ends[1], training),
            "rms_change": ((after - before) ** 2).mean() ** 0.5,
            "explained_sgd": shares.loc[run, {"positional": "by_position", "semantic": "by_token"}[cell.variant]],
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(RUN)


def staying(trained, control):
    """Means with errors of what SGD does, of two frames from `by_sgd`: `solution`, `begun`, and their columns."""
    both = pd.concat({"Adam has ended": trained, "three epochs (control)": control}, names=["begun"])
    means = with_errors(both.groupby(["variant", "begun"]))
    return means.rename_axis(["solution", "begun"]).reset_index()


def worst_letter(table, cells):
    """Share of the test positions counted wrong after Adam: at all letters, at its worst one, and at the others.

    By variant and seed: `letter` (its number), `there`, `elsewhere`, `all`.
    """
    rows = {}
    for cell in cells:
        test = data(cell)[1]
        wrong = wrong_by_letter(weights(table, cell.variant, seed=cell.seed), test)
        places = np.bincount(test.tokens.ravel(), minlength=len(wrong))
        worst = wrong.argmax()
        rows[cell.variant, cell.seed] = {
            "letter": worst,
            "there": wrong[worst],
            "elsewhere": np.average(np.delete(wrong, worst), weights=np.delete(places, worst)),
            "all": np.average(wrong, weights=places),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(RUN)


def lasting_errors(runs):
    """Share counted wrong at the worst letter of each run: tested epoch by data set and start.

    A test sees one epoch, and any letter may have a bad one: taken is the median of three tests that follow one
    another, at both ends of the three nearest.

    runs: rows of the experiment "lost_letters" that train equally long.
    """
    shares = runs.pivot(index="epoch", columns=["data_seed", "start_seed"], values="there")
    return shares.rolling(3, center=True).median().bfill().ffill()


def lost(errors):
    """Which runs of `lasting_errors` have lost a letter: over `LOST` of its places are wrong after the first epochs."""
    return errors.loc[:EXCHANGED].iloc[-1] > LOST


def lost_letters(errors, epochs):
    """`lasting_errors` of the runs that have lost a letter, and of the others, after some epochs.

    `epoch`; `there`, mean and range over the runs that have lost a letter; `kept`, the largest of the others.
    """
    chosen, gone = errors.loc[sorted(epochs)], lost(errors)
    losing, keeping = chosen.loc[:, gone], chosen.loc[:, ~gone]
    columns = {"there": losing.mean(axis=1), "there_low": losing.min(axis=1), "there_high": losing.max(axis=1)}
    return pd.DataFrame(columns).assign(kept=keeping.max(axis=1)).rename_axis("epoch").reset_index()


@styled
def draw_curves(curves):
    """Share of wrong positions against the epoch, all runs of `accuracy_curves`."""
    figure, (axes,) = panels(1, 4.2)
    first = curves["seed"].min()
    for (variant, seed), run in curves[curves["epoch"] > 0].groupby(RUN):
        style = {"color": COLOURS[variant], "linewidth": 0.9, "alpha": 0.7}
        axes.plot(run["epoch"], 1 - run["accuracy"], **style, label=variant if seed == first else None)
    end_of_adam = curves["adam_epochs"].iloc[0] + 0.5
    axes.axvline(end_of_adam, color=NEUTRAL, linewidth=1, linestyle="-.")
    for text in ("Adam", "SGD"):
        write_beside(axes, end_of_adam, 0.97, text, NEUTRAL, left=text == "Adam", va="top")
    axes.set(yscale="log", xlabel="epoch", ylabel="share of wrong counts")
    for line in axes.legend(loc="lower left").get_lines():
        line.set(linewidth=1.8, alpha=1)
    return figure
