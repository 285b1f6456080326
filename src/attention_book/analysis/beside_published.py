"""What several pages set beside published numbers: thresholds of theory and students, students of growing d."""

from attention_phases.measured import Measured

from .. import published
from ..published import OF_THRESHOLD, Comparison, compare
from .instances import GAPS, absolute_means
from .thresholds import crossings

MANY_MINIMA = 0.2  # below this omega both valleys hold many minima near the transition


def theory_comparison(kind, omega, ours, nets):
    """A published threshold of the standard task beside that of theory, from so many quadratures."""
    known = published.THRESHOLDS[kind][omega]
    return Comparison(kind, {"omega": omega}, known, ours, "theory", nets, OF_THRESHOLD[kind])


def trained_thresholds_beside_published(table, rng):
    """Published thresholds, which are theory, beside those of trained students, as from `published.compare`.

    A coarse grid may not show a crossing, which is then left out.

    table: students over alpha and omega of the standard task, by one optimiser or by several that have all cells.
    """
    comparisons = []
    for kind, known in published.THRESHOLDS.items():
        for optimizer, rows in table.groupby("optimizer"):
            seeds = int(rows["seed"].nunique())
            alphas = crossings(rows[rows["omega"].isin(list(known))], GAPS[kind], rng).dropna()
            for omega, ours in alphas[alphas["alpha_error"] > 0].iterrows():
                where = {"omega": omega, "optimizer": optimizer}
                reason = "many minima" if omega < MANY_MINIMA else OF_THRESHOLD[kind]
                comparisons.append(Comparison(kind, where, known[omega], Measured(*ours), "students", seeds, reason))
    return compare(comparisons)


def sizes_beside_published(table, task, names):
    """Published students of Figures 3, left, and 7 in growing dimension beside ours, as from `published.compare`.

    table: the experiment "fig07", of gradient descent; `names` are keys of `published.SCALING`.
    """
    means, seeds = absolute_means(table, task.sigma, along="d"), int(table["seed"].nunique())
    comparisons = []
    for name in names:
        start = "positional" if name == "m/sigma^2" else "semantic"
        ours = means.loc[start, [name, f"{name}_error"]]
        for d in sorted(published.SCALING[name].keys() & set(ours.index)):
            known, where = published.SCALING[name][d], {"d": d, "branch": start}
            comparisons.append(Comparison(name, where, known, Measured(*ours.loc[d]), "students", seeds, "instances"))
    return compare(comparisons)
