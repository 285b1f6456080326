"""Theory of the standard task along alpha, as stored, or computed where it is not; with one step of breaking."""

import numpy as np
import pandas as pd

from attention_phases.errors import ResultError
from attention_phases.records import fields_of
from attention_phases.task import Task
from attention_phases.theory.branches import MINIMA

from ..experiments.cells import LineCell
from ..experiments.results import read
from ..experiments.theory_grids import LINE
from ..experiments.theory_lines import standard_line
from ..store.parquet import as_column_value
from .thresholds import curve

SHIFTED = [f"{name}{error}" for name in ("symmetric", "shift", "alpha") for error in ("", "_error")]


def theory_lines(profile, omegas):
    """Rows of `theory_lines.standard_line` at some omega, of the standard task.

    At paper size those are read that are stored with both branches, not with the thresholds alone. ResultError where
    the losses do not cross.
    """
    stored = read("fig03_theory", profile) if profile == "paper" else None
    lines = pd.concat([_line(stored, omega, LINE[profile]) for omega in omegas])
    crossed = lines.loc[lines["what"] == "critical", "omega"]
    for omega in omegas:
        if not np.isclose(omega, crossed).any():
            raise ResultError(f"no critical threshold found at omega = {omega:g}")
    return lines


def _line(stored, omega, size):
    if stored is not None:
        rows = stored[np.isclose(stored["omega"], omega)]
        if rows["what"].isin(MINIMA).any():
            return rows
    cell = LineCell("fig03_theory", Task(omega=omega), **size)
    fields = {name: as_column_value(value) for name, value in fields_of(cell).items()}
    return pd.DataFrame([{**fields, **row} for row in standard_line(cell)])


def theory_gap(lines):
    """Semantic minus positional training loss of theory: alpha (rows) by omega."""
    return losses_of(lines, "semantic", "train_loss") - losses_of(lines, "positional", "train_loss")


def losses_of(lines, branch, name):
    """A loss of a minimum; where it is missing, that of the student with m = theta = 0 that takes its place."""
    minimum, symmetric = (
        lines[lines["what"] == what].pivot(index="alpha", columns="omega", values=name)
        for what in (branch, "symmetric")
    )
    return minimum.combine_first(symmetric)


# One step of replica symmetry breaking


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


def ground_states(table):
    """The lowest minima of both branches at the replica-symmetric alpha_c, from the experiment "one_step".

    Rows by omega and branch; `gained`, with its error, is the shift over phi.
    """
    rows = table[table["what"].isin(MINIMA)].rename(columns={"what": "branch"}).astype({"branch": str})
    rows = rows.assign(gained=rows["shift"] / rows["phi"], gained_error=rows["shift_error"] / rows["phi"])
    return rows.set_index(["omega", "branch"]).sort_index()
