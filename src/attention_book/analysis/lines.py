"""Theory of the standard task along alpha, as stored, or computed where it is not."""

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
