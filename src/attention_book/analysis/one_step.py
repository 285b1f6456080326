"""What one step of replica symmetry breaking adds to thresholds and losses, beside students."""

from functools import cache

import numpy as np
import pandas as pd

from attention_phases.measured import UNKNOWN, Measured
from attention_phases.theory.branches import MINIMA

from .. import published
from ..paths import DATA
from ..store.parquet import load
from . import instances
from .instances import as_columns, difference_in_errors
from .thresholds import curve

SHIFTED = [f"{name}{error}" for name in ("symmetric", "shift", "alpha") for error in ("", "_error")]


def with_one_step(table, what="critical", lines=None):
    """A threshold with one step of breaking by omega, from the experiment "one_step".

    `symmetric`, `shift` and `alpha`, each with its error by quadrature; `resolved`, whether the maximum of Phi was seen
    on both branches. Where it was not, Phi hardly changes: the shift is the one at the last y tried.
    Without the omega where a branch has no solution.

    lines: theory of a map, if the thresholds that other pages give are to be those that the shift is added to.
    """
    rows = table[table["what"] == what].set_index("omega").sort_index()
    resolved = rows["reason"].astype(str) == ""
    rows = rows.reindex(columns=SHIFTED).astype(float).assign(resolved=resolved).dropna()
    if lines is not None:
        shared = curve(lines, what).set_axis(["symmetric", "symmetric_error"], axis=1)
        rows.update(shared)
        rows["alpha"] = rows["symmetric"] + rows["shift"]
        rows["alpha_error"] = np.hypot(rows["symmetric_error"], rows["shift_error"])
    return rows


def breaking_shift(kind, omega):
    """What one step of breaking adds to a threshold of the standard task, as `Measured`; NaN where it is not known."""
    known = _breaking_shifts(kind)
    return Measured(*known.loc[omega]) if omega in known.index else UNKNOWN


@cache
def _breaking_shifts(kind):
    """The stored shifts by omega, where the maxima of Phi were seen: they are computed at the published size alone."""
    stored = DATA / "one_step.parquet"
    if not stored.exists():
        return pd.DataFrame(columns=["shift", "shift_error"])
    rows = with_one_step(load(stored), kind)
    return rows.loc[rows["resolved"], ["shift", "shift_error"]]


def ground_states(table):
    """The lowest minima of both branches at the replica-symmetric alpha_c, from the experiment "one_step".

    Rows by omega and branch; `gained`, with its error, is the shift over phi.
    """
    rows = table[table["what"].isin(MINIMA)].rename(columns={"what": "branch"}).astype({"branch": str})
    rows = rows.assign(gained=rows["shift"] / rows["phi"], gained_error=rows["shift_error"] / rows["phi"])
    return rows.set_index(["omega", "branch"]).sort_index()


def student_crossings(table, searches, power=1.0):
    """Where the losses of trained students cross: by informed descent, and with the lowest minima that are found.

    By omega, at infinite d by straight lines in d^-power, each with its error: `informed`; `later`, by how much the
    lowest minima cross later; `searched`, the sum of the two.

    table, searches: the experiments "crossing" and "searched".
    """
    crossings, limits = instances.by_dimension(table, power)
    informed = limits.set_axis(["informed", "informed_error"], axis=1)
    later = instances.crossing_shifts(instances.searched(searches)["hop"], crossings, power)
    rows = informed.join(as_columns(later, "omega", "later"))
    error = np.hypot(rows["informed_error"], rows["later_error"])
    return rows.assign(searched=rows["informed"] + rows["later"], searched_error=error)


def three_ways(theory, trained):
    """alpha_c published, replica symmetric, with one step of breaking, and of students, by omega.

    By omega, where students were trained, each with its error: `explained`, the share that one step has in the
    difference of theory and informed students, and `descended`, that of the search in what one step leaves. In errors
    of both, students minus one step: `informed_off`, and `searched_off` of the lowest minima found.

    theory, trained: from `with_one_step` and `student_crossings`.
    """
    rows = trained.join(theory, how="inner")
    known = pd.Series({omega: f"{number.value:.3f}" for omega, number in published.CRITICAL_ALPHA.items()})
    rows["published"] = known.reindex(rows.index, fill_value="")
    for name, part, start, end in (
        ("explained", "shift", "symmetric", "informed"),
        ("descended", "later", "informed", "alpha"),
    ):
        whole = rows[end] - rows[start]
        share = rows[part] / whole
        error = np.hypot(rows[f"{start}_error"], rows[f"{end}_error"])
        rows[name], rows[f"{name}_error"] = share, np.hypot(rows[f"{part}_error"], share * error) / whole.abs()
    for name in ("informed", "searched"):
        rows[f"{name}_off"] = difference_in_errors(rows, name, "alpha")
    return rows
