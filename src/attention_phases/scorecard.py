"""The published numbers of each figure beside ours."""

from math import isfinite

from . import published
from .statistics import crossing, instance_means, test_gap, training_gap
from .task import Task

NAMES = {"gd": "gradient descent", "lbfgs": "L-BFGS"}
SYMBOLS = {
    "q": "q",
    "m": "m",
    "theta": "θ",
    "V": "V",
    "m/sigma^2": "m/σ²",
    "train_loss": "ε<sub>t</sub>",
    "test_mse": "ε<sub>g</sub>",
    "linear_mse": "ε<sub>g</sub> of the linear fit",
}


def fig02(task, solutions, critical, linear, table, rng):
    """Comparison of Figure 2.

    Parameters
    ----------
    task : Task
    solutions : dict of theory.Solution
        The branches at alpha = 2.
    critical, linear : theory.Threshold
    table : pandas.DataFrame
        Results of the experiment.
    rng : numpy.random.Generator
        For the bootstrap of the crossings.

    Returns
    -------
    theory, experiment : pandas.DataFrame
        As from `published.compare`.
    """
    thresholds = {
        "α<sub>c</sub>": (published.CRITICAL_ALPHA.get(task.omega), critical, training_gap),
        "α<sub>l</sub>": (published.LINEAR_ALPHA.get(task.omega), linear, test_gap),
    }
    rows = [(name, theirs, ours.alpha, ours.stderr) for name, (theirs, ours, _) in thresholds.items() if theirs]
    for branch, found in solutions.items() if task == Task() else ():
        values = {**found.overlaps._asdict(), "train_loss": found.train_loss, "test_mse": found.test_mse}
        for name, theirs in published.THEORY[branch].items():
            rows.append((f"{SYMBOLS[name]}, {branch}", theirs, values[name], found.stderr[name]))
    optimizers = list(table["optimizer"].unique())
    trained = []
    for name, (theirs, _, gap) in thresholds.items():
        for optimizer in optimizers if theirs else ():
            alpha, stderr = crossing(gap(table[table["optimizer"] == optimizer]), rng)
            if isfinite(alpha) and stderr > 0:  # a coarse grid may not show it
                trained.append((f"{name}, {NAMES[optimizer]}", theirs, alpha, stderr))
    published_by = "gd" if "gd" in optimizers else optimizers[0]
    means = instance_means(table[table["optimizer"] == published_by]).loc["positional"]
    for alpha in sorted(published.EXPERIMENT.keys() & set(means.index.to_numpy().round(4))) if task == Task() else ():
        ours = means.iloc[abs(means.index - alpha).argmin()]
        for name, theirs in published.EXPERIMENT[alpha].items():
            column, _, scaled = name.partition("/")
            unit = task.sigma**2 if scaled else 1.0
            label = f"{SYMBOLS[name]}, α = {alpha:g}"
            trained.append((label, theirs, ours[column] / unit, ours[f"{column}_error"] / unit))
    return published.compare(rows), published.compare(trained)


def as_html(comparison):
    """A comparison as an HTML table."""
    return comparison.to_html(index=False, border=0, escape=False, classes="comparison", justify="left")
