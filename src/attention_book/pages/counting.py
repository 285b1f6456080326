"""Table 1, the counting task: the published numbers beside ours, lost letters, and what SGD changes."""

import numpy as np
import pandas as pd

from attention_phases.histogram.counting import LETTERS, VARIANTS, Sequences
from attention_phases.histogram.measures import along_line, matrices, wrong_by_letter
from attention_phases.measured import Measured

from .. import published
from ..analysis.means import with_errors
from ..experiments.cells import EXCHANGED
from ..experiments.counting import data
from ..render.style import COLOURS, NEUTRAL, panels, styled
from ..render.verdicts import Comparison, compare
from .attention_matrices import weights

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
    tested = ["accuracy", "test_loss"]
    by_adam = epochs[epochs["epoch"] == epochs["adam_epochs"]].set_index(run)[tested]
    by_sgd = epochs.loc[epochs.groupby(run)["epoch"].idxmax()].set_index(run)[tested]
    sums = tensors(table).groupby([*run, "span"]).sum().unstack()
    spans = ["start to trained", "trained to final"]
    shares = table[table["what"] == "shares"].astype({"variant": str, "after": str}).set_index([*run, "after"])
    shares = shares[["by_position", "by_token"]]
    parts = [
        by_adam,
        by_sgd.add_suffix("_sgd"),
        sums["distance"][spans],
        sums["of_zeros"]["trained to final"].rename("of_zeros"),
        shares.xs("adam", level="after"),
        shares.xs("sgd", level="after").add_suffix("_sgd"),
    ]
    return pd.concat(parts, axis=1)


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


def as_published(runs, table):
    """Accuracies and distances of each run as the paper measures them: columns of `published.HISTOGRAM`.

    Before it measures what SGD moved, the paper sets the former zeros of the embeddings back to zero: its distance by
    SGD leaves out what they moved, and its former zeros are those of Q and K.

    runs: from `per_run`.
    table: the experiment "histogram".
    """
    by_sgd = tensors(table).xs("trained to final", level="span")
    distance, of_zeros = (by_sgd[name].unstack("tensor") for name in ("distance", "of_zeros"))
    distance[EMBEDDINGS] = (distance[EMBEDDINGS] ** 2 - of_zeros[EMBEDDINGS] ** 2) ** 0.5
    sums = {"trained to final": distance.sum(axis=1), "of_zeros": of_zeros.drop(columns=EMBEDDINGS).sum(axis=1)}
    return runs[["accuracy", "start to trained"]].assign(**sums)


def beside_published(runs):
    """Table 1 beside ours, means over runs and standard deviations between them, as from `verdicts.compare`.

    The error of a standard deviation is that of normal numbers.

    runs: from `as_published`.
    """
    rows = []
    for variant, name, *known in _published():
        values = runs.loc[variant, name]
        count, std = len(values), values.std(ddof=published.LESS[name])
        ours = Measured(values.mean(), values.sem()), Measured(std, std / (2 * (count - 1)) ** 0.5)
        reason = "lost letters" if (variant, name) == ("semantic", "accuracy") else "unknown"
        for statistic, theirs, number in zip(("mean", "standard deviation"), known, ours):
            where = {"solution": variant, "statistic": statistic}
            rows.append(Comparison(name, where, theirs, number, "transformers", count, reason))
    return compare(rows)


def table1(runs):
    """Table 1 in the paper's form: published means and standard deviations as printed, and ours.

    runs: from `as_published`.
    """
    rows = []
    for variant, name, mean, spread in _published():
        values = runs.loc[variant, name]
        ours = {"ours": values.mean(), "ours_std": values.std(ddof=published.LESS[name])}
        theirs = {"published": mean.text, "published_spread": spread.text}
        rows.append({"quantity": name, "solution": variant, **theirs, **ours})
    return pd.DataFrame(rows)


def _published():
    """Solution, quantity, published mean and published standard deviation."""
    for variant, known in published.HISTOGRAM.items():
        for name, (mean, spread) in known.items():
            yield variant, name, mean, spread


def readings(table, span="start to trained", column="distance"):
    """What the distance of a span is by other readings of its definition: means over runs with standard deviations."""
    moved = tensors(table)[column].xs(span, level="span").unstack("tensor")
    sums = {f"sum over {name}": moved[list(chosen or moved)].sum(axis=1) for name, chosen in SETS.items()}
    sums["one norm of all entries"] = (moved**2).sum(axis=1) ** 0.5
    runs = pd.DataFrame(sums).groupby("variant")
    return runs.mean().T.join(runs.std().T.add_suffix("_std")).rename_axis("reading").reset_index()


def matrix_changes(differences):
    """`matrix_differences` as means over runs with errors: `matrices` (which), `rms_change`."""
    names = {
        "positional": "positional: after SGD less before",
        "semantic": "semantic: after SGD less before",
        "between": "semantic less positional",
    }
    changes = differences[list(names)].rename(columns=names).rename_axis(columns="matrices")
    return with_errors(changes.unstack().rename("rms_change").groupby("matrices", sort=False)).reset_index()


def attention_shares(runs):
    """Shares of the attention's variance before and after SGD, means over runs with standard deviations.

    `solution`; `by_position` and `by_token`.

    runs: from `per_run`.
    """
    shares = ["by_position", "by_token"]
    by_sgd = runs[[f"{name}_sgd" for name in shares]].set_axis(shares, axis=1)
    phases = pd.concat({"before SGD": runs[shares], "after SGD": by_sgd}, names=["when"])
    groups = phases.groupby(["variant", "when"], sort=False)
    rows = groups.mean().join(groups.std().add_suffix("_std")).sort_index(level="variant", sort_remaining=False)
    rows.index = [f"{variant}, {when}" for variant, when in rows.index]
    return rows.rename_axis("solution").reset_index()


def moved_by(table):
    """Where the distance after SGD comes from, means over runs: `noise_alone`, `sgd_alone` and `both`, of `entries`."""
    sums = tensors(table)[["distance", "of_zeros"]].groupby(["variant", "seed", "span"]).sum()
    means = sums.groupby(["variant", "span"]).mean()
    spans = {"trained to displaced": "noise_alone", "displaced to final": "sgd_alone", "trained to final": "both"}
    rows = means.stack().unstack("span")[list(spans)].rename(columns=spans)
    names = {"distance": "all entries", "of_zeros": "former zeros"}
    rows.index = [f"{names[column]}, {variant}" for variant, column in rows.index]
    return rows.rename_axis("entries").rename_axis(columns=None).reset_index()


def changes_by_sgd(runs):
    """Change of accuracy and loss by SGD, run by run: `quantity`, `solution`, mean `change` with its error.

    runs: from `per_run`.
    """
    changes = pd.DataFrame({name: runs[f"{name}_sgd"] - runs[name] for name in ("accuracy", "test_loss")})
    changes = changes.rename_axis("quantity", axis=1).stack().rename("change")
    means = with_errors(changes.groupby(["variant", "quantity"]))
    means["change_error"] = means["change_error"].clip(lower=np.finfo(np.float32).eps)
    return means.rename_axis(["solution", "quantity"]).reset_index()[["quantity", "solution", *means]]


def worst_letters(worst, variant):
    """The errors of each run of one solution at the letter with the largest error after Adam, and at the others.

    `run`, the worst first; `letter`, `there`, `elsewhere` (shares of wrong positions); `letter_sgd`, `there_sgd`.

    worst: "adam" and "sgd", as from `worst_letter`.
    """
    adam, sgd = (worst[after].loc[variant] for after in ("adam", "sgd"))
    adam = adam.sort_values("all", ascending=False)[["letter", "there", "elsewhere"]]
    return adam.join(sgd[["letter", "there"]].add_suffix("_sgd")).rename_axis("run").reset_index()


def lost(errors):
    """Which runs have lost a letter: over a quarter of its places are told wrong after the first epochs.

    errors: from `lasting_errors`.
    """
    return errors.loc[:EXCHANGED].iloc[-1] > LOST


def lost_letters(errors, epochs):
    """What is told wrong at the worst letter of the runs that have lost one, and of the others, after some epochs.

    `epoch`; `there`, mean and range over the runs that have lost a letter; `kept`, the largest of the others.

    errors: from `lasting_errors`.
    """
    chosen, gone = errors.loc[sorted(epochs)], lost(errors)
    losing, keeping = chosen.loc[:, gone], chosen.loc[:, ~gone]
    columns = {"there": losing.mean(axis=1), "there_low": losing.min(axis=1), "there_high": losing.max(axis=1)}
    return pd.DataFrame(columns).assign(kept=keeping.max(axis=1)).rename_axis("epoch").reset_index()


def lost_by_start(errors):
    """On how many data sets a start loses a letter, and how often that would be if starts were all alike.

    `lost_on` so many data sets; `starts` that do; `if_alike`, mean and standard deviation of their number if each start
    lost a letter with the share of all starts on the same data set.

    errors: from `lasting_errors`, of each start on each data set.
    """
    gone = lost(errors).unstack("data_seed")
    chances = np.ones(1)
    for share in gone.mean():
        chances = np.convolve(chances, (1 - share, share))
    starts = np.bincount(gone.sum(axis=1), minlength=len(chances))
    rows = pd.DataFrame({"starts": starts, "if_alike": len(gone) * chances})
    rows["if_alike_std"] = (rows["if_alike"] * (1 - chances)) ** 0.5
    return rows.rename_axis("lost_on").reset_index()


@styled
def draw_curves(curves):
    """Share of wrong positions, and loss, against the epoch, all runs.

    curves: from `curves`.
    """
    figure, (top, bottom) = panels(2, 4, sharex=True)
    first = curves["seed"].min()
    for (variant, seed), run in curves[curves["epoch"] > 0].groupby(["variant", "seed"]):
        names = (variant, f"{variant}, test", f"{variant}, training") if seed == first else [None] * 3
        style = {"color": COLOURS[variant], "linewidth": 0.9, "alpha": 0.7}
        top.plot(run["epoch"], 1 - run["accuracy"], **style, label=names[0])
        bottom.plot(run["epoch"], run["test_loss"], **style, label=names[1])
        bottom.plot(run["epoch"], run["train_loss"], **style | {"linewidth": 0.6, "alpha": 0.35}, label=names[2])
    end_of_adam = curves["adam_epochs"].iloc[0] + 0.5
    for text, side, shift in (("Adam", "right", -4), ("SGD", "left", 4)):
        place = {"xycoords": ("data", "axes fraction"), "xytext": (shift, 0), "textcoords": "offset points"}
        top.annotate(text, (end_of_adam, 0.97), **place, color=NEUTRAL, ha=side, va="top")
    for axes in (top, bottom):
        axes.axvline(end_of_adam, color=NEUTRAL, linewidth=1, linestyle="-.")
        axes.set_yscale("log")
        for line in axes.legend(loc="lower left").get_lines():
            line.set(linewidth=1.8, alpha=0.5 if "training" in line.get_label() else 1)
    top.set(title="Test positions told wrong", ylabel="share")
    bottom.set(title="Loss", xlabel="epoch", ylabel="cross-entropy of a position")
    return figure


@styled
def draw_worst_letters(errors, lost):
    """Share of the places of the worst letter told wrong, against the epoch; runs that have lost a letter are thick.

    errors: from `lasting_errors`.
    """
    figure, (axes,) = panels(1, 4.2)
    for gone, width, name in ((False, 0.7, "the others"), (True, 1.8, "runs that lose a letter")):
        runs = errors.loc[:, lost == gone]
        lines = axes.plot(runs.index, runs, color=COLOURS["semantic"], linewidth=width, alpha=0.7)
        for line in lines[:1]:
            line.set_label(name)
    axes.set(yscale="log", xlabel="epoch of Adam", ylabel="share wrong at the worst letter")
    axes.legend(loc="upper left", bbox_to_anchor=(0, 0.84))
    return figure


@styled
def draw_errors_by_count(shares):
    """Share of the positions told wrong, by how often their token occurs.

    shares: from `by_count`.
    """
    figure, (axes,) = panels(1, 4.2)
    for variant, shift, marker in (("positional", -0.08, "o"), ("semantic", 0.08, "s")):
        own = shares.loc[variant]
        style = {"color": COLOURS[variant], "marker": marker, "linestyle": "none", "label": variant}
        axes.errorbar(own.index + shift, own["wrong"], own["error"], **style)
    smallest = shares["wrong"][shares["wrong"] > 0].min()
    axes.set_yscale("symlog", linthresh=10 ** np.floor(np.log10(smallest)))
    axes.set(xlabel="count to be told", ylabel="share told wrong", ylim=(0, 1.5))
    axes.set_xticks(sorted(shares.index.unique("count")))
    axes.legend(loc="upper left")
    return figure


@styled
def draw_losses_between(lines):
    """Loss along straight lines between the two solutions: frames from `lines` by their name."""
    figure, (axes,) = panels(1, 4.2)
    for (name, losses), style in zip(lines.items(), ("-", "--")):
        axes.plot(losses.index, losses, style, color=NEUTRAL, linewidth=0.8, alpha=0.35)
        axes.plot(losses.index, losses.mean(axis=1), style, color=NEUTRAL, linewidth=2.2, label=name)
    axes.set(yscale="log", xlabel="place on the line", ylabel="test loss")
    axes.set_xticks((0, 0.25, 0.5, 0.75, 1), ("positional", "¼", "½", "¾", "semantic"))
    first, *_, last = axes.get_xticklabels()
    first.set_color(COLOURS["positional"])
    last.set_color(COLOURS["semantic"])
    axes.legend()
    return figure
