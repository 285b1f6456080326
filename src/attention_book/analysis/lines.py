"""What is read off lines of theory, from the rows of `theory_lines.standard_line`."""

import numpy as np
import pandas as pd

from attention_phases.measured import UNKNOWN, Measured
from attention_phases.theory.branches import MINIMA


def mark(line, what):
    """A threshold, an end or a border in alpha by its name, as `Measured`; NaN if there is none."""
    rows = line[line["what"] == what]  # where there is no place at all, there is no alpha_error
    return Measured(*rows[["alpha", "alpha_error"]].to_numpy()[0].tolist()) if len(rows) else UNKNOWN


def curve(lines, what):
    """What "critical", "linear", "semantic border" and so on is along omega: alpha and alpha_error by omega."""
    return lines[lines["what"] == what].set_index("omega")[["alpha", "alpha_error"]].sort_index()


def borders_of(lines):
    """Where the semantic minimum begins and the positional one ends: for each branch alpha and alpha_error by omega."""
    return {branch: curve(lines, f"{branch} border") for branch in MINIMA}


def is_minimum(borders, branch, omega, alpha):
    """Whether a branch, where it is there, is a minimum at some alphas of an omega, given `borders_of` its lines."""
    border = borders[branch]["alpha"].get(omega)
    if border is None:
        return np.isfinite(alpha)
    return alpha >= border if branch == "semantic" else alpha <= border


def branches(line):
    """Rows of each branch and each gap by name, by ascending alpha; the two minima also at alpha_c."""
    names = {what: (what,) for what in ("symmetric", "gap", "symmetric gap")}
    names |= {branch: (branch, f"{branch} at critical") for branch in MINIMA}
    return {name: line[line["what"].isin(some)].sort_values("alpha") for name, some in names.items()}


def theory_map(lines, gap):
    """A gap of theory: alpha (rows) by omega (columns).

    Where a minimum is missing, the student with m = theta = 0 that takes its place stands for it.

    gap: `loss_gap` or `theory_advantage`; takes tables of both minima by alpha and the test error of the linear model.
    """
    columns = {}
    for omega, line in lines.groupby("omega"):
        tables = {what: rows.set_index("alpha") for what, rows in line.groupby("what", observed=True)}
        if "symmetric" in tables or "semantic" in tables:
            semantic, positional = (_filled(tables, branch) for branch in MINIMA)
            columns[omega] = gap(semantic, positional, tables["baseline"]["test_mse"].iloc[0])
    return pd.DataFrame(columns).sort_index()


def _filled(tables, branch):
    """The losses of a minimum, and where it is missing those of the student with m = theta = 0."""
    losses = [tables[what][["train_loss", "test_mse"]] for what in (branch, "symmetric") if what in tables]
    return losses[0] if len(losses) == 1 else losses[0].combine_first(losses[1])


def loss_gap(semantic, positional, baseline):
    """Semantic minus positional training loss."""
    return semantic["train_loss"] - positional["train_loss"]


def theory_advantage(semantic, positional, baseline):
    """Test error of the linear model minus that of the minimum with the lower training loss."""
    lower = semantic["train_loss"] <= positional["train_loss"]
    return baseline - semantic["test_mse"].where(lower, positional["test_mse"])
