"""Nodes between which the explorer interpolates: the stored lines of theory, with the ends of the branches."""

from typing import NamedTuple

import numpy as np

from attention_phases.theory.branches import OWN

from .interpolation import left_out, polynomial

SMOOTH = ("train_loss", "test_mse", "q")
# The square of the own overlap vanishes linearly at an end, the overlap itself like a root.
QUANTITIES = (*SMOOTH, "own2")


class Nodes(NamedTuple):
    """A branch at one omega.

    Attributes
    ----------
    omega : float
    alpha : (n,) array
        Ascending. The first and the last are ends of the branch, or the first and last alpha computed.
    values : (n, 4) array
        `QUANTITIES` at each alpha: epsilon_t, epsilon_g, q, and theta^2 or m^2.
    errors : (n, 4) array
        Their standard errors.
    """

    omega: float
    alpha: np.ndarray
    values: np.ndarray
    errors: np.ndarray


def branch_nodes(lines, branch):
    """Nodes of one branch at each omega that has it, with the errors of the quadrature.

    Parameters
    ----------
    lines : pandas.DataFrame
        Rows of `theory_lines.standard_line` with the omega of their lines.
    branch : {"semantic", "positional"}

    Returns
    -------
    list of Nodes
        By ascending omega.
    """
    found = []
    for omega, line in lines.groupby("omega"):
        tables = {what: rows.sort_values("alpha") for what, rows in line.groupby("what", observed=True)}
        if branch in tables:
            start, stop = (tables.get(f"{branch} {end}") for end in ("start", "stop"))
            rows = _rows(_within(tables[branch], start, stop), OWN[branch])
            first = [] if start is None else [_end(start, tables["symmetric"], rows[0])]
            last = [] if stop is None else [_end(stop, tables["symmetric"], rows[-1])]
            found.append(Nodes(float(omega), *(np.array(each) for each in zip(*first, *rows, *last))))
    return found


def with_interpolation(branch):
    """The same nodes, with the error of the interpolation (`interpolation.left_out`) added to theirs in quadrature."""
    return [line._replace(errors=np.hypot(line.errors, missed)) for line, missed in zip(branch, left_out(branch))]


def _within(table, start, stop):
    """Rows farther inside the branch than the error of its ends, which are extrapolated; closer ones are noise."""
    inside = table["alpha"] > -np.inf
    for end, side in ((start, 1), (stop, -1)):
        if end is not None:
            inside &= side * (table["alpha"] - end["alpha"].iloc[0]) > end["alpha_error"].iloc[0]
    return table[inside]


def _rows(table, own):
    values = table[list(SMOOTH)].assign(own2=table[own] ** 2)
    errors = table[[f"{name}_error" for name in SMOOTH]].assign(own2=2 * table[own] * table[f"{own}_error"])
    return list(zip(table["alpha"], values.to_numpy(), errors.to_numpy()))


def _end(end, symmetric, beside):
    """The node at an end: there the branch leaves the one with m = theta = 0. Its neighbour gives the slope."""
    alpha, error = end[["alpha", "alpha_error"]].iloc[0]
    closest = symmetric.iloc[(symmetric["alpha"] - alpha).abs().argmin()]
    found = polynomial(symmetric["alpha"].to_numpy(), symmetric[list(SMOOTH)].to_numpy(), alpha)
    slope = abs(beside[1][-1] / (beside[0] - alpha))
    errors = closest[[f"{name}_error" for name in SMOOTH]].to_numpy(float)
    return alpha, np.append(found, 0.0), np.append(errors, slope * error)
