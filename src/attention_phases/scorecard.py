"""The published numbers of each figure beside ours."""

from math import isfinite

from . import published
from .statistics import crossing, instance_means, test_gap, training_gap

NAMES = {"gd": "gradient descent", "lbfgs": "L-BFGS"}
SYMBOLS = {
    "q": "q",
    "m": "m",
    "theta": "θ",
    "V": "V",
    "m/sigma^2": "m/σ²",
    "train_loss": "ε_t",
    "test_mse": "ε_g",
    "linear_mse": "ε_g, linear fit",
}


def fig02(solutions, critical, linear, table, sigma, rng):
    """Comparison of Figure 2.

    Parameters
    ----------
    solutions : dict of theory.Solution
        The branches at alpha = 2.
    critical, linear : theory.Threshold
    table : pandas.DataFrame
        Results of the experiment.
    sigma : float
    rng : numpy.random.Generator
        For the bootstrap of the crossings.

    Returns
    -------
    theory, experiment : pandas.DataFrame
        As from `published.compare`.
    """
    alpha_c, alpha_l = published.CRITICAL_ALPHA[0.3], published.LINEAR_ALPHA[0.3]
    rows = [
        ("α_c, theory", alpha_c, critical.alpha, critical.stderr),
        ("α_l, theory", alpha_l, linear.alpha, linear.stderr),
    ]
    for branch, found in solutions.items():
        values = {**found.overlaps._asdict(), "train_loss": found.train_loss, "test_mse": found.test_mse}
        for name, theirs in published.THEORY[branch].items():
            rows.append((f"{SYMBOLS[name]}, {branch}, α = 2", theirs, values[name], found.stderr[name]))
    optimizers = list(table["optimizer"].unique())
    trained = []
    for name, theirs, gap in (("α_c", alpha_c, training_gap), ("α_l", alpha_l, test_gap)):
        for optimizer in optimizers:
            alpha, stderr = crossing(gap(table[table["optimizer"] == optimizer]), rng)
            if isfinite(alpha) and stderr > 0:  # a coarse grid may not show it
                trained.append((f"{name}, {NAMES[optimizer]}", theirs, alpha, stderr))
    published_by = "gd" if "gd" in optimizers else optimizers[0]
    means = instance_means(table[table["optimizer"] == published_by]).loc["positional"]
    for alpha in sorted(published.EXPERIMENT.keys() & set(means.index.to_numpy().round(4))):
        ours = means.iloc[abs(means.index - alpha).argmin()]
        for name, theirs in published.EXPERIMENT[alpha].items():
            column, _, scaled = name.partition("/")
            unit = sigma**2 if scaled else 1.0
            label = f"{SYMBOLS[name]}, positional, α = {alpha:g}, {NAMES[published_by]}"
            trained.append((label, theirs, ours[column] / unit, ours[f"{column}_error"] / unit))
    return published.compare(rows), published.compare(trained)


def as_html(comparison):
    """A comparison as an HTML table."""
    return comparison.to_html(index=False, border=0, classes="comparison", justify="left")
