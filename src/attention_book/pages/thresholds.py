"""Both thresholds on the pages of Figures 2, 3 and 9: published, of theory, and of trained students."""

from functools import cache

import pandas as pd

from attention_phases.measured import UNKNOWN, Measured
from attention_phases.task import Task

from .. import published
from ..analysis.instances import GAPS
from ..analysis.lines import curve
from ..analysis.thresholds import crossings, shifts, side_by_side
from ..paths import DATA
from ..render.verdicts import OF_THRESHOLD, Comparison, compare
from ..store.parquet import flat, load
from .breaking import moved

MANY_MINIMA = 0.2  # below this omega both valleys hold many minima near the transition


def theory_comparison(kind, omega, ours, nets):
    """A published threshold of the standard task beside that of theory, from so many quadratures."""
    known = published.THRESHOLDS[kind][omega]
    broken = breaking_shift(kind, omega)
    return Comparison(kind, {"omega": omega}, known, ours, "theory", nets, OF_THRESHOLD[kind], breaking=broken)


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
