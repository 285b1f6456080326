"""The data of the explorer on the landing page, as a script: theory of both branches, with its errors."""

import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from filelock import FileLock
from numpy.polynomial.hermite_e import hermegauss

from attention_book.analysis.arrivals import CLOSE_COSINE, SMALL_GRADIENT
from attention_book.analysis.thresholds import borders_of
from attention_book.experiments.results import read
from attention_book.paths import ROOT, stored_table
from attention_book.store.provenance import source_digest
from attention_phases.task import MATRICES, Task
from attention_phases.theory.branches import MINIMA, OWN_OVERLAP

CACHE = ROOT / "_build" / "explorer"
EXPERIMENTS = {"standard": "fig03_theory", "alternative": "fig09_theory"}  # experiment of each matrix A
NOISE_NODES = 9  # Gauss-Hermite nodes for the student's noise in a field; 15 nodes agree to 1e-5 of an attention
SCRIPT = "explorer-data.js"
SMOOTH_COLUMNS = ("train_loss", "test_mse", "q")
# At an end, the overlap vanishes like a square root, and its square vanishes linearly.
QUANTITIES = (*SMOOTH_COLUMNS, "own2")
CUBIC, LINEAR = 4, 2  # number of nodes in the interpolation of values, and of their errors


def write_script(folder):
    """Write `SCRIPT` into a folder, as a copy of a stored script if neither code nor data have changed."""
    digest = sha256(source_digest("attention_phases", "attention_book").encode() + Path(__file__).read_bytes())
    for name in EXPERIMENTS.values():
        digest.update(stored_table(name).read_bytes())
    kept = CACHE / f"{digest.hexdigest()[:12]}.js"
    CACHE.mkdir(parents=True, exist_ok=True)
    with FileLock(CACHE / "lock"):  # if two builds run at once, one makes it
        if not kept.exists():
            new = kept.with_suffix(".new")
            new.write_text(data_script(), encoding="utf-8")
            new.rename(kept)
    shutil.copy(kept, Path(folder, SCRIPT))


def data_script():
    """Return JavaScript that sets `explorerData`, which `book/_static/explorer.js` reads.

    A page can load a script from a disk, but it could not fetch data. The data are the stored theory of both matrices
    A, to seven digits.
    """
    noise, weights = hermegauss(NOISE_NODES)
    data = {
        "sigma": Task().sigma,
        "lam": Task().lam,
        "noise": list(noise),
        "weights": list(weights / weights.sum()),
        "arrival": {"cosine": CLOSE_COSINE, "gradient": SMALL_GRADIENT},
        "tasks": {name: _task(name, read(stored, "paper")) for name, stored in EXPERIMENTS.items()},
    }
    return f"window.explorerData = {json.dumps(data, separators=(',', ':'))};\n"


def _task(matrix, lines):
    """Return the data of one matrix A: the branches, where they are minima, the thresholds and the linear baseline."""
    borders = borders_of(lines)
    nodes = {branch: branch_nodes(lines, branch) for branch in MINIMA}
    return {
        "A": MATRICES[matrix],
        "branches": {branch: _branch(with_interpolation(line)) for branch, line in nodes.items()},
        "baseline": _curve(lines, "baseline", "test_mse"),
        "critical": _curve(lines, "critical"),
        "linear": _curve(lines, "linear"),
        "begins": {"semantic": _table(borders["semantic"]), "positional": _curve(lines, "positional start")},
        "ends": {"positional": _ends(borders["positional"], nodes["positional"])},
    }


def _ends(ends, nodes):
    """Return the alpha at which minima end along omega, with one further omega beyond the last known end.

    At this omega the minima continue up to the last alpha computed. The explorer draws ends up to `last`.
    """
    last = float(ends.index.max())
    onward = [pd.DataFrame({"alpha": line.alpha[-1], "alpha_error": 0.0}, [line.omega]) for line in nodes]
    return {"last": last, **_table(pd.concat([ends, *[row for row in onward if row.index[0] > last][:1]]))}


def _branch(nodes):
    """Return the omegas of a branch, and for each a line: alpha, and the values and errors of each quantity."""
    lines = [
        {"alpha": _round(line.alpha)}
        | {
            part: {name: _round(column) for name, column in zip(QUANTITIES, getattr(line, part).T)}
            for part in ("values", "errors")
        }
        for line in nodes
    ]
    return {"omega": [line.omega for line in nodes], "lines": lines}


def _curve(lines, what, value="alpha"):
    """Return a value along omega, with an error that includes the error of the interpolation.

    The error of the interpolation is its difference from a node that is left out.
    """
    rows = lines[lines["what"] == what].set_index("omega").sort_index()[[value, f"{value}_error"]].fillna(0.0)
    nodes, values, errors = rows.index.to_numpy(), *rows.to_numpy(copy=True).T
    for i in range(1, len(nodes) - 1):
        missed = polynomial(np.delete(nodes, i), np.delete(values, i), nodes[i]) - values[i]
        errors[i] = np.hypot(errors[i], missed)
    return _table(rows.assign(**{f"{value}_error": errors}))


def _table(rows):
    """Return a value and its error along omega."""
    return dict(zip(("omega", "value", "error"), map(_round, (rows.index, *rows.to_numpy().T))))


def _round(numbers):
    return [float(f"{number:.7g}") for number in numbers]


# Nodes of the theory and their interpolation, as in `book/_static/explorer-theory.js`


class Nodes(NamedTuple):
    """The nodes of a branch at one omega."""

    omega: float
    alpha: np.ndarray  # (n,), ascending, between the ends of the branch or the ends of the computed alphas
    values: np.ndarray  # (n, 4), `QUANTITIES` at each alpha: epsilon_t, epsilon_g, q, and theta^2 or m^2
    errors: np.ndarray  # (n, 4), standard errors of the values


def branch_nodes(lines, branch):
    """Return the `Nodes` of a branch at each omega that has it, ascending, with the errors of the quadrature.

    lines: rows of `lines.standard_line` with the omega of their lines.
    """
    nodes = []
    for omega, line in lines.groupby("omega"):
        tables = {what: rows.sort_values("alpha") for what, rows in line.groupby("what")}
        if branch in tables:
            start, stop = (tables.get(f"{branch} {end}") for end in ("start", "stop"))
            rows = _rows(_inner_rows(tables[branch], start, stop), OWN_OVERLAP[branch])
            first = [] if start is None else [_end(start, tables["symmetric"], rows[0])]
            last = [] if stop is None else [_end(stop, tables["symmetric"], rows[-1])]
            alpha, values, errors = map(np.array, zip(*first, *rows, *last))
            nodes.append(Nodes(float(omega), alpha, values, errors))
    return nodes


def _inner_rows(table, start, stop):
    """Return the rows that are farther inside the branch than the error of its ends.

    Closer rows are noise, because the ends are extrapolated.
    """
    inside = table["alpha"] > -np.inf
    for end, side in ((start, 1), (stop, -1)):
        if end is not None:
            inside &= side * (table["alpha"] - end["alpha"].iloc[0]) > end["alpha_error"].iloc[0]
    return table[inside]


def _rows(table, own):
    values = table[list(SMOOTH_COLUMNS)].assign(own2=table[own] ** 2)
    errors = table[[f"{name}_error" for name in SMOOTH_COLUMNS]].assign(own2=2 * table[own] * table[f"{own}_error"])
    return list(zip(table["alpha"], values.to_numpy(), errors.to_numpy()))


def _end(end, symmetric, beside):
    """Return the node at an end, where the branch meets the branch with m = theta = 0.

    beside: the neighbouring node, which gives the slope.
    """
    alpha, error = end[["alpha", "alpha_error"]].iloc[0]
    closest = symmetric.iloc[(symmetric["alpha"] - alpha).abs().argmin()]
    values = polynomial(symmetric["alpha"].to_numpy(), symmetric[list(SMOOTH_COLUMNS)].to_numpy(), alpha)
    slope = abs(beside[1][-1] / (beside[0] - alpha))
    errors = closest[[f"{name}_error" for name in SMOOTH_COLUMNS]].to_numpy(float)
    return alpha, np.append(values, 0.0), np.append(errors, slope * error)


def polynomial(nodes, values, at, count=CUBIC):
    """Return the value at a point of the polynomial through the `count` (even) nodes around it.

    If there are fewer nodes, the polynomial goes through all of them.

    nodes: (n,), ascending.
    values: (n, ...).
    """
    near = neighbours(nodes, at, count)
    x, y = nodes[near], values[near]
    weights = [np.prod([(at - other) / (x[i] - other) for other in np.delete(x, i)]) for i in range(len(x))]
    return np.tensordot(weights, y, 1)


def neighbours(nodes, at, count=CUBIC):
    """Return the slice of the `count` ascending nodes around a point."""
    first = max(0, min(int(np.searchsorted(nodes, at, side="right")) - count // 2, len(nodes) - count))
    return slice(first, first + count)


def interpolate(branch, omega, alpha, part="values"):
    """Return interpolated values of a branch (a list of `Nodes`), or their errors; None outside the branch.

    At each of the nearest omega, a polynomial along alpha is evaluated at the same relative place between the two ends.
    The results are interpolated by a polynomial along omega.

    part: "values" or "errors".
    """
    count = CUBIC if part == "values" else LINEAR
    omegas = np.array([line.omega for line in branch])
    if not omegas[0] <= omega <= omegas[-1]:
        return None
    start, stop = polynomial(omegas, np.array([line.alpha[[0, -1]] for line in branch]), omega)
    if not start <= alpha <= stop:
        return None
    share = (alpha - start) / (stop - start)
    near = branch[neighbours(omegas, omega, count)]
    places = [line.alpha[0] + share * (line.alpha[-1] - line.alpha[0]) for line in near]
    rows = [polynomial(line.alpha, getattr(line, part), place, count) for line, place in zip(near, places)]
    return polynomial(np.array([line.omega for line in near]), np.array(rows), omega, count)


def deviations(branch):
    """Return the difference between the interpolation and each node that is left out: an (n, 4) array for each omega.

    Each node is interpolated twice: without this node along alpha, and without all nodes of its omega. The larger
    difference counts. Next to an end and next to the border of the table, only the second one is possible. At the ends
    of a branch and on the borders of the table neither is possible, and the difference is set to zero. Between
    neighbouring nodes the interpolation bridges half the distance, so its error is smaller.
    """
    misses = []
    for k, line in enumerate(branch):
        others = branch[:k] + branch[k + 1 :]
        missed = np.zeros_like(line.values)
        for i in range(1, len(line.alpha) - 1):
            attempts = []
            if 1 < i < len(line.alpha) - 2:  # otherwise the polynomial would cross the bend next to an end
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
    """Return the same nodes, with the error of the interpolation (`deviations`) added to their errors in quadrature."""
    return [line._replace(errors=np.hypot(line.errors, missed)) for line, missed in zip(branch, deviations(branch))]
