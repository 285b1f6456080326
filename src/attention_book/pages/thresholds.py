"""Both thresholds on the pages of Figures 2, 3 and 9: published, of theory, and of trained students."""

from functools import cache

import numpy as np
import pandas as pd

from attention_phases.measured import UNKNOWN, Measured

from .. import published
from ..analysis.instances import GAPS
from ..analysis.thresholds import crossings, curve
from ..paths import DATA
from ..render.panels import draw_points, panels, styled
from ..render.style import OMEGA
from ..render.verdicts import OF_THRESHOLD, Comparison, compare
from ..store.parquet import load
from .breaking import moved
from .phase_diagram import CURVES

MANY_MINIMA = 0.2  # below this omega both valleys hold many minima near the transition


def theory_comparison(kind, omega, ours, nets):
    """A published threshold of the standard task beside that of theory, from so many quadratures."""
    known = published.THRESHOLDS[kind][omega]
    return Comparison(kind, {"omega": omega}, known, ours, "theory", nets, OF_THRESHOLD[kind])


def breaking_shift(kind, omega):
    """What one step of breaking adds to a threshold of the standard task, as `Measured`; NaN where it is not known."""
    known = _breaking_shifts(kind)
    return Measured(*known.loc[omega]) if omega in known.index else UNKNOWN


@cache
def _breaking_shifts(kind):
    """The stored shifts by omega: they are computed at the published size alone."""
    stored = DATA / "one_step.parquet"
    rows = moved(load(stored), kind) if stored.exists() else pd.DataFrame(columns=["shift", "shift_error"])
    return rows.loc[rows["shift_error"].notna(), ["shift", "shift_error"]]


def theory_beside_published(lines):
    """All published thresholds beside those of theory of the standard task, as from `verdicts.compare`."""
    nets = lines.groupby("omega")["scrambles"].first()
    comparisons = []
    for kind, known in published.THRESHOLDS.items():
        ours = curve(lines, kind)
        for omega in ours.index.intersection(list(known)):
            comparisons.append(theory_comparison(kind, omega, Measured(*ours.loc[omega]), int(nets[omega])))
    return compare(comparisons)


def students_beside_published(table, rng):
    """Published thresholds, which are theory, beside those of trained students, as from `verdicts.compare`.

    A coarse grid may not show a crossing, which is then left out.

    table: students over alpha and omega of the standard task, by one optimiser or by several that have all cells.
    rng: for the bootstrap.
    """
    comparisons = []
    for kind, known in published.THRESHOLDS.items():
        for optimizer, rows in table.groupby("optimizer", observed=True):
            seeds = int(rows["seed"].nunique())
            alphas = crossings(rows[rows["omega"].isin(list(known))], GAPS[kind], rng).dropna()
            for omega, ours in alphas[alphas["alpha_error"] > 0].iterrows():
                where = {"omega": omega, "optimizer": optimizer}
                reason = "many minima" if omega < MANY_MINIMA else OF_THRESHOLD[kind]
                comparisons.append(Comparison(kind, where, known[omega], Measured(*ours), "students", seeds, reason))
    return compare(comparisons)


def minus_theory(kind, table, lines):
    """How far published thresholds, and those of two rules of 144 points, are from theory: by omega.

    `published`; `rule`, everything on the 144 points; `exact`, only the overlaps on these, their losses exact. NaN
    where the rule has no crossing near theory's.

    table: the experiment "published_rule".
    lines: theory; its thresholds are the better known ones, where it has this omega.
    """
    rows = table[table["what"] == kind].set_index("omega").sort_index()
    known = pd.Series({omega: number.value for omega, number in published.THRESHOLDS[kind].items()})
    theory = curve(lines, kind)["alpha"].combine_first(rows["alpha"])
    columns = rows[["rule", "exact"]].assign(published=known).dropna(subset="published")
    return columns.sub(theory, axis=0).loc[columns.index]


@styled
def draw_differences(trained, others):
    """Thresholds of students, published ones, and those on 144 points, minus theory; a panel for each threshold.

    trained: `against_theory` by threshold.
    others: `minus_theory` by threshold.
    """
    figure, rows = panels(len(trained), 3.6, sharex=True)
    for axes, (kind, students) in zip(rows, trained.items()):
        label, colour, _ = CURVES[kind]
        axes.axhline(0, color=colour, linewidth=1)
        away = students["trained"] - students["theory"]
        error = np.hypot(students["trained_error"], students["theory_error"])
        draw_points(axes, students["omega"], away, error, colour, label="trained students")
        rules = others[kind]
        axes.plot(rules.index, rules["published"], "s", color=colour, markerfacecolor="white", label="published theory")
        axes.plot(rules.index, rules["rule"], ":", color=colour, label="144 points")
        axes.plot(rules.index, rules["exact"], "--", color=colour, label="144 points, exact losses")
        axes.set_ylabel(f"{label} minus theory")
    rows[-1].set_xlabel(OMEGA)
    rows[0].legend(loc="lower center", bbox_to_anchor=(0.45, 1), ncols=2)
    return figure
