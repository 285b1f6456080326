"""What is read off one line of theory, from the rows of `theory.theory_line`."""

from typing import NamedTuple

import numpy as np

from attention_phases.theory.branches import MINIMA

from .instances import curve


class Mark(NamedTuple):
    """A place in alpha and its standard error, both NaN if there is none."""

    alpha: float
    stderr: float


def mark(line, what):
    """A threshold, an end or a border by its name, as a `Mark`."""
    found = line[line["what"] == what]  # where there is no place at all, there is no alpha_error
    return Mark(*found[["alpha", "alpha_error"]].to_numpy()[0].tolist()) if len(found) else Mark(np.nan, np.nan)


def branches(line):
    """Rows of each branch and each gap by name, by ascending alpha; the two minima also at alpha_c."""
    names = {what: (what,) for what in ("symmetric", "gap", "symmetric gap")}
    names |= {branch: (branch, f"{branch} at critical") for branch in MINIMA}
    return {name: line[line["what"].isin(some)].sort_values("alpha") for name, some in names.items()}


def is_minimum(borders, branch, omega, alpha):
    """Whether a branch, where it is there, is a minimum at some alphas of an omega, given `borders_of` its lines."""
    border = borders[branch]["alpha"].get(omega)
    if border is None:
        return np.isfinite(alpha)
    return alpha >= border if branch == "semantic" else alpha <= border


def borders_of(lines):
    """Where the semantic minimum begins and the positional one ends: for each branch alpha and alpha_error by omega."""
    return {branch: curve(lines, f"{branch} border") for branch in MINIMA}
