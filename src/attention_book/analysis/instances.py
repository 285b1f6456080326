"""Means over instances, and where they cross, with their errors."""

import numpy as np
import pandas as pd

from attention_phases.task import Task
from attention_phases.theory import encoding_error, mean_attention

from ..experiments.simulation import linear_baselines

NEAR = 6  # together 0.4 of alpha on the published grid
CLEARLY = 2  # errors of its own by which a slope is below zero; else to divide by it means nothing
SAME_LOSS = 1e-8  # L-BFGS leaves less than this above a minimum
MEASURED = ("q", "m", "theta", "train_loss", "test_mse", "linear_mse")


def instance_means(table, along="alpha"):
    """Mean and standard error over instances.

    Parameters
    ----------
    table : pandas.DataFrame
        Results with columns start, alpha, d, seed and `MEASURED`, of one optimiser.
    along : {"alpha", "d"}
        What changes.

    Returns
    -------
    pandas.DataFrame
        By start and `along`: each measured quantity, and its standard error as "q_error" and so on; "m_rms" and
        "theta_rms", root mean squares, for the overlap whose sign is random, with theirs.
    """
    where = [table["start"], table[along]]
    groups = table[list(MEASURED)].groupby(where, observed=True)
    squares = (table[["m", "theta"]] ** 2).groupby(where, observed=True)
    rms = squares.mean() ** 0.5
    sizes = rms.add_suffix("_rms").join((squares.sem() / (2 * rms)).add_suffix("_rms_error"))
    return groups.mean().join(groups.sem().add_suffix("_error")).join(sizes)


def baseline_means(cells):
    """Mean and standard error over instances of both linear baselines, and of what lies between them.

    Parameters
    ----------
    cells : iterable of cells.StudentCell

    Returns
    -------
    pandas.DataFrame
        By d: "tokens", "tokens and positions" (`simulation.linear_baselines`), "difference" (the second less the first,
        on the same data), "encoding" (``|E[Y] p|^2/(2 d)``, without error), and "tokens_error" and so on.
    """
    rows = [{"d": each.d, **linear_baselines(each)} for each in cells]
    found = pd.DataFrame(rows).assign(difference=lambda row: row["tokens and positions"] - row["tokens"]).groupby("d")
    means = found.mean().join(found.sem().add_suffix("_error"))
    return means.assign(encoding=[encoding_error(mean_attention(cells[0].task), d) for d in means.index])


def paired(table, difference):
    """A difference within each instance, one row for each alpha and one column for each seed.

    Parameters
    ----------
    table : pandas.DataFrame
        As for `instance_means`.
    difference : callable
        Takes the table of one start ("semantic", then "positional"), indexed by alpha and seed, gives a Series.

    Returns
    -------
    pandas.DataFrame
    """
    starts = [table[table["start"] == start].set_index(["alpha", "seed"]) for start in ("semantic", "positional")]
    return difference(*starts).unstack("seed").sort_index()


def training_gap(table):
    """Semantic less positional training loss of each instance (alpha by seed)."""
    return paired(table, lambda semantic, positional: semantic["train_loss"] - positional["train_loss"])


def test_gap(table, start="semantic"):
    """Test error of one start less that of the linear fit on the same data, of each instance (alpha by seed)."""
    rows = table[table["start"] == start].set_index(["alpha", "seed"])
    return (rows["test_mse"] - rows["linear_mse"]).unstack("seed").sort_index()


GAPS = {"critical": training_gap, "linear": test_gap}  # what falls through zero at each threshold


def gap_map(table, gap):
    """A gap over alpha (rows) and omega (columns), mean over instances, from results of one optimiser.

    Parameters
    ----------
    table : pandas.DataFrame
    gap : callable
        Takes such a table at one omega, gives alpha by seed: `training_gap`, `test_gap`, `advantage`.

    Returns
    -------
    pandas.DataFrame
    """
    return pd.DataFrame({omega: gap(each).mean(axis=1) for omega, each in table.groupby("omega")})


def theory_map(lines, gap):
    """The same of the theory's lines: `gap(semantic, positional, baseline)` of tables by alpha, for each omega.

    Where a minimum is missing, the student with m = theta = 0 that takes its place stands for it.
    """
    maps = {}
    for omega, line in lines.groupby("omega"):
        tables = {what: rows.set_index("alpha") for what, rows in line.groupby("what", observed=True)}
        if "symmetric" in tables or "semantic" in tables:
            semantic, positional = (_filled(tables, what) for what in ("semantic", "positional"))
            maps[omega] = gap(semantic, positional, tables["baseline"]["test_mse"].iloc[0])
    return pd.DataFrame(maps).sort_index()


def changed(table, lines, values):
    """What Figure 8 shows: for each parameter a list of (value, means, theory by branch, linear baseline).

    Parameters
    ----------
    table, lines : pandas.DataFrame
        The experiments "fig08" and "fig08_theory".
    values : dict
        Values by parameter; the other parameters are those of `Task()`.
    """
    panels = {}
    for name, some in values.items():
        panels[name] = []
        for value in some:
            task = vars(Task(**{name: value}))
            here, theory = (
                each[np.all([each[key] == task[key] for key in values], axis=0)].dropna(axis=1, how="all")
                for each in (table, lines)
            )
            branches = {what: theory[theory["what"] == what] for what in ("semantic", "positional")}
            panels[name].append((value, instance_means(here), branches, theory["test_mse"].iloc[0]))
    return panels


def curve(lines, what):
    """What "critical", "linear", "semantic start" and so on is along omega: alpha and alpha_error by omega."""
    return lines[lines["what"] == what].set_index("omega")[["alpha", "alpha_error"]].sort_index()


def _filled(tables, what):
    there = [tables[each][list(MEASURED[:5])] for each in (what, "symmetric") if each in tables]
    return there[0] if len(there) == 1 else there[0].combine_first(there[1])


def crossings(table, gap, rng, along="omega"):
    """`crossing` at each omega of a map, or each d: alpha and its error as "alpha_error", by omega or d."""
    found = {value: crossing(gap(each), rng) for value, each in table.groupby(along)}
    return pd.DataFrame.from_dict(found, orient="index", columns=["alpha", "alpha_error"])


def minima(table):
    """How many minima the starts around one valley lead to, told apart by their losses.

    Parameters
    ----------
    table : pandas.DataFrame
        Results of starts "semantic", "near_semantic" (several) and so on, from the same data.

    Returns
    -------
    pandas.DataFrame
        By omega, alpha and valley: `starts`; `minima`, their mean number over data sets, the `fewest` and the `most`;
        `scatter`, standard deviation of the training loss between the starts, root mean square over data sets, and
        its standard error as `scatter_error`.
    """
    valley = table["start"].astype(str).str.removeprefix("near_").rename("valley")
    losses = table.groupby(["omega", "alpha", valley, "seed"])["train_loss"]
    where = ["omega", "alpha", "valley"]
    minima = losses.agg(lambda each: 1 + (np.diff(np.sort(each)) > SAME_LOSS).sum()).groupby(where)
    variance = losses.var().groupby(where)
    scatter = variance.mean() ** 0.5
    return pd.DataFrame({
        "starts": losses.size().groupby(where).max(),
        "minima": minima.mean(),
        "fewest": minima.min().astype(int),
        "most": minima.max().astype(int),
        "scatter": scatter,
        "scatter_error": variance.sem() / (2 * scatter),
    })  # fmt: skip


def advantage(table):
    """Test error of the linear fit less that of the start with the lower training loss, of each instance."""

    def difference(semantic, positional):
        lower = semantic["train_loss"] <= positional["train_loss"]
        return semantic["linear_mse"] - semantic["test_mse"].where(lower, positional["test_mse"])

    return paired(table, difference)


def theory_advantage(semantic, positional, baseline):
    """The same of theory, for `theory_map`."""
    lower = semantic["train_loss"] <= positional["train_loss"]
    return baseline - semantic["test_mse"].where(lower, positional["test_mse"])


def crossing(gaps, rng, resamples=2000):
    """Where the mean over instances falls through zero for good, with its bootstrap error.

    Parameters
    ----------
    gaps : pandas.DataFrame
        alpha by seed.
    rng : numpy.random.Generator
    resamples : int
        Instances are drawn anew, with replacement, at each alpha.

    Returns
    -------
    alpha, stderr : float
        The last fall (`last_fall`); (nan, nan) if the mean does not fall through zero.
    """
    alphas, values = gaps.index.to_numpy(), gaps.to_numpy()  # (A,), (A, S)
    drawn = rng.integers(values.shape[1], size=(resamples, *values.shape))
    means = np.take_along_axis(values[None], drawn, axis=2).mean(2)  # (resamples, A)
    roots = np.array([last_fall(alphas, each) for each in means])
    roots = roots[np.isfinite(roots)]
    return last_fall(alphas, values.mean(1)), float(np.std(roots, ddof=1)) if len(roots) > 1 else np.nan


def shift(gaps, control):
    """By how much the mean falls through zero later than that of a control on the same instances, to first order.

    Difference of the two over the slope of the control, both by a straight line through the `NEAR` alphas next to
    where the control crosses. Much better known than the difference of two `crossing`, whose slopes are noisy.

    Parameters
    ----------
    gaps, control : pandas.DataFrame
        alpha by seed; the control has every one of both.

    Returns
    -------
    shift, stderr : float
        In alpha; (nan, nan) if the control does not fall through zero, or over these alphas by less than `CLEARLY`.
    """
    usual = control.loc[gaps.index, gaps.columns].to_numpy()  # (A, S)
    alphas = gaps.index.to_numpy()
    at = last_fall(alphas, usual.mean(1))
    if np.isnan(at):
        return np.nan, np.nan
    near = np.argsort(np.abs(alphas - at))[:NEAR]
    away, usual = gaps.to_numpy()[near] - usual[near], usual[near]
    level, slope = np.linalg.pinv(np.stack([np.ones(len(near)), alphas[near] - at], axis=1))
    falls, unclear = slope @ usual.mean(1), ((slope[:, None] * usual).var(1, ddof=1).sum() / usual.shape[1]) ** 0.5
    if falls > -CLEARLY * unclear:
        return np.nan, np.nan
    later = -level @ away.mean(1) / falls
    scatter = level[:, None] * away + later * slope[:, None] * usual  # to first order; independent at each alpha
    return later, (scatter.var(1, ddof=1).sum() / scatter.shape[1]) ** 0.5 / abs(falls)


def shifts(table, control, along="omega"):
    """`shift` of both thresholds between two sets of students trained on the same data.

    Parameters
    ----------
    table, control : pandas.DataFrame
        Results over alpha and `along`.
    along : str or list of str
        What else changes.

    Returns
    -------
    dict
        By threshold, "critical" and "linear", a dict: value of `along` to (later, stderr), by how much the threshold of
        `table` comes later in alpha, where the control has one.
    """
    usual = dict(list(control.groupby(along)))
    found = {
        kind: {value: shift(gap(each), gap(usual[value])) for value, each in table.groupby(along)}
        for kind, gap in GAPS.items()
    }
    return {kind: {at: each for at, each in some.items() if np.isfinite(each).all()} for kind, some in found.items()}


def mean_shift(found):
    """Mean, with its error, of shifts on independent data sets, one of the dicts of `shifts`."""
    away, errors = np.array(list(found.values())).T
    return away.mean(), np.linalg.norm(errors) / len(errors)


def last_fall(alphas, means):
    """Where values fall through zero for the last time, by linear interpolation; NaN where they do not fall.

    The last, as below a threshold the two students that are compared may be the same one: their difference is then zero
    but for noise, and falls through zero by chance. Beyond the threshold it comes back only where some students are
    unfinished.

    Parameters
    ----------
    alphas, means : (A,) arrays
        Growing alphas.
    """
    falls = np.flatnonzero((means[:-1] > 0) & (means[1:] <= 0))
    if not len(falls):
        return np.nan
    i = falls[-1]
    share = means[i] / (means[i] - means[i + 1])
    return float(alphas[i] + share * (alphas[i + 1] - alphas[i]))
