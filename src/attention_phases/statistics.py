"""Means over instances, and where they cross, with their errors."""

import numpy as np

MEASURED = ("q", "m", "theta", "train_loss", "test_mse", "linear_mse")


def instance_means(table):
    """Mean and standard error over instances.

    Parameters
    ----------
    table : pandas.DataFrame
        Results with columns start, alpha, seed and `MEASURED`, of one optimiser.

    Returns
    -------
    pandas.DataFrame
        By start and alpha: each measured quantity, and its standard error as "q_error" and so on.
    """
    groups = table.groupby(["start", "alpha"], observed=True)[list(MEASURED)]
    return groups.mean().join(groups.sem().add_suffix("_error"))


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


def test_gap(table):
    """Semantic test error less that of the linear fit on the same data, of each instance (alpha by seed)."""
    return paired(table, lambda semantic, positional: semantic["test_mse"] - semantic["linear_mse"])


def crossing(gaps, rng, resamples=2000):
    """Where the mean over instances falls through zero, with its bootstrap error.

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
        By linear interpolation between the alphas computed; (nan, nan) if the mean does not fall through zero.
    """
    alphas, values = gaps.index.to_numpy(), gaps.to_numpy()  # (A,), (A, S)
    drawn = rng.integers(values.shape[1], size=(resamples, *values.shape))
    means = np.take_along_axis(values[None], drawn, axis=2).mean(2)  # (resamples, A)
    roots = np.array([_last_fall(alphas, each) for each in means])
    return _last_fall(alphas, values.mean(1)), float(np.std(roots[np.isfinite(roots)], ddof=1))


def _last_fall(alphas, means):
    falls = np.flatnonzero((means[:-1] > 0) & (means[1:] <= 0))
    if not len(falls):
        return np.nan
    i = falls[-1]
    share = means[i] / (means[i] - means[i + 1])
    return float(alphas[i] + share * (alphas[i + 1] - alphas[i]))
