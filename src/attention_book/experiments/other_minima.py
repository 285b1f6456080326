"""Students that are not found again because a second run ends in another minimum.

Where a valley holds many minima, the rounding of a sum can decide in which of them a descent ends: another processor
then finds another student. Starts that are displaced a little show the ends that lie side by side there. A stored
student among them is one more of them; one that is not is wrong.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.stats import t

from attention_phases.training.optimizers import LBFGS_TOLERANCE

from .kinds import agree
from .landscape import descend, search

# Of each weight of the start. One rounding of float32 does what another processor does; the larger displacements, up
# to 2e-4, find the ends that lie side by side where one rounding seldom does.
DISPLACEMENTS = tuple(2.0 ** (k - 23) for k in range(12))
MISSED = 1e-3  # probability that one more end lies outside, were the ends Gaussian; and that so many cells are found
SAME_DIGITS = 1e-7  # between the overlaps of one student in float32
DRAWS = 10_000

# Students not found again, and students recomputed, by what was trained: random cells of the stored tables. Those with
# a value matrix on another processor; the others with sums in another order, most of them on another processor too.
MEASURED = {"lbfgs": (4, 1843), "gd": (0, 80), "adam": (0, 29), "value": (34, 60), "full_value": (0, 8)}


def displaced_ends(cell):
    """Rows of several runs of a cell whose worker displaces its starts; the first is not displaced."""
    return [cell.kind.work(cell, displaced=size) for size in (0, *DISPLACEMENTS)]


def valley_ends(cell):
    """The ends of a `ValleyCell` as runs: its starts are displaced already, and each end is one of the others."""
    rows = descend(cell)
    return [rows[k:] + rows[:k] for k in range(len(rows))]


def search_ends(cell):
    """What `search_first` gives, of each start of a `SearchCell`: rounding decides in which minimum a search ends."""
    rows = search(replace(cell, temperatures=()))
    return [rows[k : k + 2] for k in range(0, len(rows), 2)]


def is_another(stored, ends, tolerances):
    """Whether a stored student is one more of the ends that displaced starts lead to.

    Its gradient must be one at which L-BFGS stops, or no larger than twice that of the other ends (gradient descent and
    Adam make a fixed number of steps). Each quantity must lie within the prediction interval of the ends, widened by
    its tolerance. A student whose overlaps are found again to all digits is no other one: its losses must be too.

    Args:
        stored: its row, a dict.
        ends: the same row of several runs; the first is not displaced.
        tolerances: column to (relative, absolute).
    """
    recomputed = ends[0]
    if all(abs(stored[name] - recomputed[name]) <= SAME_DIGITS for name in ("q", "m", "theta")):
        losses = {"train_loss", "test_mse"} & recomputed.keys()
        if not all(agree(stored[name], recomputed[name], *tolerances[name]) for name in losses):
            return False
    if "grad_norm" in recomputed:
        usual = max(LBFGS_TOLERANCE, 2 * max(end["grad_norm"] for end in ends[1:]))
        if max(stored["grad_norm"], recomputed["grad_norm"]) > usual:
            return False
    interval = t.ppf(1 - MISSED / 2, len(ends) - 1) * (1 + 1 / len(ends)) ** 0.5  # in standard deviations
    for name in tolerances.keys() & recomputed.keys():
        values = np.array([end[name] for end in ends])
        relative, absolute = tolerances[name]
        allowed = absolute + relative * abs(recomputed[name]) + interval * values.std(ddof=1)
        if abs(stored[name] - values.mean()) > allowed:
            return False
    return True


class Expected(NamedTuple):
    """Cells in which another minimum is expected: mean, standard deviation, and the chance of as many as were found."""

    cells: float
    error: float
    chance: float


def expected(students, found):
    """In how many of some cells a student is in another minimum, by the shares in `MEASURED`.

    The share of each kind is drawn from its posterior (Jeffreys' prior), the cells by it.

    Args:
        students: what was trained in each cell, a key of `MEASURED`, and how many students.
        found: cells with another minimum.
    """
    rng = np.random.default_rng(0)
    shares = {key: rng.beta(count + 0.5, of - count + 0.5, DRAWS) for key, (count, of) in MEASURED.items()}
    cells = np.zeros(DRAWS)
    for key, count in students:
        cells += rng.random(DRAWS) > (1 - shares[key]) ** count
    return Expected(float(cells.mean()), float(cells.std()), float((cells >= found).mean()))


def trained(rows):
    """What the students of one cell are: a key of `MEASURED`."""
    first = rows.iloc[0]
    form = first.get("form", "tied")
    return form if "value" in form else first.get("optimizer", "lbfgs")
