"""Interpolation over omega and alpha, as `book/_static/explorer.js` does it, and the error that it makes."""

import numpy as np

CUBIC, LINEAR = 4, 2  # nodes that a polynomial goes through: values, and their errors


def polynomial(nodes, values, at, count=CUBIC):
    """The polynomial through the `count` nodes around a point, or through all of fewer nodes.

    Parameters
    ----------
    nodes : (n,) array
        Ascending.
    values : (n, ...) array
    at : float
    count : int, even

    Returns
    -------
    float or array
    """
    x, y = (each[around(nodes, at, count)] for each in (nodes, values))
    weights = [np.prod([(at - other) / (x[i] - other) for other in np.delete(x, i)]) for i in range(len(x))]
    return np.tensordot(weights, y, 1)


def around(nodes, at, count=CUBIC):
    """Which `count` of ascending nodes are around a point, as a slice."""
    first = max(0, min(int(np.searchsorted(nodes, at, side="right")) - count // 2, len(nodes) - count))
    return slice(first, first + count)


def interpolate(branch, omega, alpha, part="values"):
    """Values of a branch between its nodes, or their errors.

    Along alpha a polynomial at the same relative place between the two ends of each of the nearest omega; along
    omega the polynomial through these.

    Parameters
    ----------
    branch : list of nodes.Nodes
    omega, alpha : float
    part : {"values", "errors"}

    Returns
    -------
    array or None
        None outside of the branch.
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
    """By how much the interpolation misses each node that it is not given.

    Of two attempts, without that node along alpha and without all of its omega, the larger miss counts; next to an
    end or to the border of the table there is only the second. Between
    neighbouring nodes the interpolation has half the distance to bridge, and misses less.

    Parameters
    ----------
    branch : list of nodes.Nodes

    Returns
    -------
    list of (n, 4) arrays
        For each omega. Zero where neither can be tried: at the ends of a branch, and on the borders of the table.
    """
    found = []
    for k, line in enumerate(branch):
        others = branch[:k] + branch[k + 1 :]
        missed = np.zeros_like(line.values)
        for i in range(1, len(line.alpha) - 1):
            inner = 1 < i < len(line.alpha) - 2  # else the attempt would reach over the bend next to an end
            tries = [polynomial(np.delete(line.alpha, i), np.delete(line.values, i, 0), line.alpha[i])] if inner else []
            across = interpolate(others, line.omega, line.alpha[i])
            tries += [across] if across is not None else []
            if tries:
                missed[i] = np.abs(np.array(tries) - line.values[i]).max(axis=0)
        found.append(missed)
    return found
