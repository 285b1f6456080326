"""Nodes of the theory between which the explorer interpolates, as `book/_static/explorer-theory.js` does it too."""

from typing import NamedTuple

import numpy as np

from attention_phases.theory.branches import OWN

SMOOTH = ("train_loss", "test_mse", "q")
# The square of the own overlap vanishes linearly at an end, the overlap itself like a root.
QUANTITIES = (*SMOOTH, "own2")
CUBIC, LINEAR = 4, 2  # nodes that a polynomial goes through: values, and their errors


class Nodes(NamedTuple):
    """A branch at one omega."""

    omega: float
    alpha: np.ndarray  # (n,), ascending, from one end of the branch to the other, or between the alphas computed
    values: np.ndarray  # (n, 4), `QUANTITIES` at each alpha: epsilon_t, epsilon_g, q, and theta^2 or m^2
    errors: np.ndarray  # (n, 4), their standard errors


def branch_nodes(lines, branch):
    """`Nodes` of one branch at each omega that has it, ascending, with the errors of the quadrature.

    lines: rows of `theory_lines.standard_line` with the omega of their lines.
    """
    nodes = []
    for omega, line in lines.groupby("omega"):
        tables = {what: rows.sort_values("alpha") for what, rows in line.groupby("what", observed=True)}
        if branch in tables:
            start, stop = (tables.get(f"{branch} {end}") for end in ("start", "stop"))
            rows = _rows(_within(tables[branch], start, stop), OWN[branch])
            first = [] if start is None else [_end(start, tables["symmetric"], rows[0])]
            last = [] if stop is None else [_end(stop, tables["symmetric"], rows[-1])]
            nodes.append(Nodes(float(omega), *(np.array(column) for column in zip(*first, *rows, *last))))
    return nodes


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
    values = polynomial(symmetric["alpha"].to_numpy(), symmetric[list(SMOOTH)].to_numpy(), alpha)
    slope = abs(beside[1][-1] / (beside[0] - alpha))
    errors = closest[[f"{name}_error" for name in SMOOTH]].to_numpy(float)
    return alpha, np.append(values, 0.0), np.append(errors, slope * error)


def polynomial(nodes, values, at, count=CUBIC):
    """The polynomial through the `count` (even) nodes around a point, or through all of fewer nodes, at this point.

    nodes: (n,), ascending.
    values: (n, ...).
    """
    near = around(nodes, at, count)
    x, y = nodes[near], values[near]
    weights = [np.prod([(at - other) / (x[i] - other) for other in np.delete(x, i)]) for i in range(len(x))]
    return np.tensordot(weights, y, 1)


def around(nodes, at, count=CUBIC):
    """Which `count` of ascending nodes are around a point, as a slice."""
    first = max(0, min(int(np.searchsorted(nodes, at, side="right")) - count // 2, len(nodes) - count))
    return slice(first, first + count)


def interpolate(branch, omega, alpha, part="values"):
    """Values of a branch, a list of `Nodes`, between them, or their errors; None outside of the branch.

    Along alpha a polynomial at the same relative place between the two ends of each of the nearest omega; along
    omega the polynomial through these.

    part: "values" or "errors".
    """
    count = CUBIC if part == "values" else LINEAR
    omegas = np.array([line.omega for line in branch])
    if not omegas[0] <= omega <= omegas[-1]:
        return None
    start, stop = (polynomial(omegas, np.array([line.alpha[end] for line in branch]), omega) for end in (0, -1))
    if not start <= alpha <= stop:
        return None
    share = (alpha - start) / (stop - start)
    near = branch[around(omegas, omega, count)]
    places = [line.alpha[0] + share * (line.alpha[-1] - line.alpha[0]) for line in near]
    rows = [polynomial(line.alpha, getattr(line, part), place, count) for line, place in zip(near, places)]
    return polynomial(np.array([line.omega for line in near]), np.array(rows), omega, count)


def left_out(branch):
    """By how much the interpolation misses each node that it is not given: an (n, 4) array for each omega.

    Of two attempts, without that node along alpha and without all of its omega, the larger miss counts; next to an
    end or to the border of the table there is only the second. Zero where neither can be tried: at the ends of a
    branch, and on the borders of the table. Between neighbouring nodes the interpolation has half the distance to
    bridge, and misses less.
    """
    misses = []
    for k, line in enumerate(branch):
        others = branch[:k] + branch[k + 1 :]
        missed = np.zeros_like(line.values)
        for i in range(1, len(line.alpha) - 1):
            attempts = []
            if 1 < i < len(line.alpha) - 2:  # else the attempt would reach over the bend next to an end
                alphas, values = np.delete(line.alpha, i), np.delete(line.values, i, 0)
                attempts.append(polynomial(alphas, values, line.alpha[i]))
            across = interpolate(others, line.omega, line.alpha[i])
            if across is not None:
                attempts.append(across)
            if attempts:
                missed[i] = np.abs(np.array(attempts) - line.values[i]).max(axis=0)
        misses.append(missed)
    return misses


def with_interpolation(branch):
    """The same nodes, with the error of the interpolation (`left_out`) added to theirs in quadrature."""
    return [line._replace(errors=np.hypot(line.errors, missed)) for line, missed in zip(branch, left_out(branch))]
