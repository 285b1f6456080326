"""Both thresholds on the pages of Figures 2, 3 and 9: published, of theory, and of trained students."""

from functools import cache

import numpy as np
import pandas as pd

from attention_phases.measured import UNKNOWN, Measured
from attention_phases.task import Task

from .. import published
from ..analysis.instances import GAPS
from ..analysis.lines import curve
from ..analysis.thresholds import against_theory, by_name, crossing, crossings, mean_later, shifts, side_by_side
from ..paths import DATA
from ..render.verdicts import OF_THRESHOLD, Comparison, compare
from ..store.parquet import flat, load
from .breaking import moved

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


def of_slice(thresholds, table, rng):
    """Thresholds of the trained students of a slice beside those of theory, as from `thresholds.against_theory`.

    thresholds: `Measured` alpha of "critical" and "linear".
    table: the experiment "fig02".
    rng: for the bootstrap.
    """
    trained, theory = {}, {}
    for kind, alpha in thresholds.items():
        for optimizer, rows in table.groupby("optimizer", observed=True):
            trained[kind, optimizer] = crossing(GAPS[kind](rows), rng)
            theory[kind, optimizer] = alpha
    names = ["threshold", "optimizer"]
    return against_theory(by_name(trained, names), by_name(theory, names))


def agreement(table, lines, rng, ranges):
    """How trained students differ from theory in both thresholds, over all omega of a map.

    By `threshold`, `optimizer` and `range`: `count` of omega, `mean` of students minus theory with its error, `rms` and
    `largest` of the differences over their errors, and the omega of the largest.

    table, lines: students over alpha and omega, and theory.
    rng: for the bootstrap.
    ranges: title to a range (from, to) of omega, both included.
    """
    rows = []
    for kind, gap in GAPS.items():
        theory = curve(lines, kind)
        for optimizer, students in table.groupby("optimizer", observed=True):
            compared = against_theory(crossings(students, gap, rng), theory)
            for title, (first, last) in ranges.items():
                inside = compared[compared["omega"].between(first, last)]
                if len(inside):
                    rows.append({"threshold": kind, "optimizer": optimizer, "range": title, **_agreement(inside)})
    return pd.DataFrame(rows)


def _agreement(compared):
    mean, off = mean_later(compared), compared["sigma_off"]
    farthest = off.abs().idxmax()
    return {
        "count": len(compared),
        "mean": mean.value,
        "mean_error": mean.error,
        "rms": (off**2).mean() ** 0.5,
        "largest": off[farthest],
        "largest_at": compared.loc[farthest, "omega"],
    }


def by_optimizer(table, lines, rng):
    """Both thresholds of a map by each optimiser and in theory, and how far the optimiser moves them.

    By `threshold` and `omega`: `published` (text; of the standard task only), `theory`, `gd`, `lbfgs` with errors.
    `moved` is paired: the students of both optimisers that are compared saw the same data.

    table, lines: students of both optimisers over alpha and omega, and theory.
    rng: for the bootstrap.
    """
    by = dict(list(table.groupby("optimizer", observed=True)))
    moves = shifts(by["gd"], by["lbfgs"]) if "gd" in by else {}
    standard = table["matrix"].iloc[0] == flat(Task().matrix)  # that of the published numbers
    omegas = pd.Index(sorted(by["lbfgs"]["omega"].unique()), name="omega")
    parts = []
    for kind, gap in GAPS.items():
        columns = {"theory": curve(lines, kind)} | {name: crossings(rows, gap, rng) for name, rows in by.items()}
        if moves:
            columns["moved"] = moves[kind]
        part = side_by_side(columns, omegas).reset_index()
        if standard:
            texts = {omega: number.text for omega, number in published.THRESHOLDS[kind].items()}
            part.insert(1, "published", [texts.get(omega) for omega in omegas])
        part.insert(0, "threshold", kind)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def by_size(table, lines, rng):
    """Both thresholds of trained students at one omega by `dimension`, and of theory (NaN, last), with errors."""
    omega = table["omega"].iloc[0]
    columns = {}
    for kind, gap in GAPS.items():
        theory = curve(lines, kind)
        theory = theory[theory.index == omega].rename(index={omega: np.nan})
        rows = pd.concat([crossings(table, gap, rng, along="d"), theory])
        columns[kind], columns[f"{kind}_error"] = rows["alpha"], rows["alpha_error"]
    return pd.DataFrame(columns).rename_axis("dimension").reset_index()


def on_144_points(table, lines):
    """Every published threshold, and what the published kind of quadrature gives for it.

    `threshold`, `omega`, `published_alpha`; `rule`, everything on the 144 points; `exact`, only the overlaps on the 144
    points, their losses exact; `theory` with its error. NaN where the rule has no crossing near theory's.

    table: the experiment "published_rule".
    lines: theory; its thresholds are the better known ones, where it has this omega.
    """
    parts = {}
    for kind, known in published.THRESHOLDS.items():
        rows = table[(table["what"] == kind) & table["omega"].isin(list(known))].set_index("omega").sort_index()
        theory = curve(lines, kind).combine_first(rows[["alpha", "alpha_error"]]).loc[rows.index]
        parts[kind] = rows[["rule", "exact"]].assign(theory=theory["alpha"], theory_error=theory["alpha_error"])
        parts[kind].insert(0, "published_alpha", [known[omega].value for omega in rows.index])
    return pd.concat(parts, names=["threshold"]).reset_index()


def off_published(frame):
    """Root mean square differences of each way to compute a threshold from the published values.

    By `threshold`: `count`, the number of omega that all ways have, and `rule_off`, `exact_off`, `theory_off`.

    frame: from `on_144_points`.
    """
    ways = ["rule", "exact", "theory"]
    known = frame.dropna(subset=ways)
    squares = known[ways].sub(known["published_alpha"], axis=0) ** 2
    groups = squares.add_suffix("_off").groupby(known["threshold"])
    means = groups.mean() ** 0.5
    means.insert(0, "count", groups.size())
    return means.reset_index()
