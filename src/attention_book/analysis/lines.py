"""What is read off lines of theory, from the rows of `theory_lines.standard_line`."""

import numpy as np

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
    """Whether a branch, where it exists, is a minimum at some alphas of an omega, given `borders_of` its lines."""
    border = borders[branch]["alpha"].get(omega)
    if border is None:
        return np.isfinite(alpha)
    return alpha >= border if branch == "semantic" else alpha <= border


def branches(line):
    """Rows of each branch and each gap by name, by ascending alpha; the two minima also at alpha_c."""
    names = {what: (what,) for what in ("symmetric", "gap", "symmetric gap")}
    names |= {branch: (branch, f"{branch} at critical") for branch in MINIMA}
    return {name: line[line["what"].isin(some)].sort_values("alpha") for name, some in names.items()}
