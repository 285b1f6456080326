"""Students that are not found again because a second run ends in another minimum.

Where a valley holds many minima, the rounding of a sum can decide in which of them a descent ends: another processor
then finds another student. Starts that are displaced a little show the ends that lie side by side there. A stored
student among them is one more of them; one that is not is wrong.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import t

from attention_phases.training.optimizers import LBFGS_TOLERANCE

from ..store.running import agree

# Of each weight of the start. One rounding of float32 does what another processor does; the larger displacements, up
# to 2e-4, find the ends that lie side by side where one rounding seldom does.
DISPLACEMENTS = tuple(2.0 ** (k - 23) for k in range(12))
MISSED = 1e-3  # probability that one more end lies outside, were the ends Gaussian; and that so many cells are found
SAME_DIGITS = 1e-7  # between the overlaps of one student in float32
DRAWS = 10_000

# Students not found again, and students recomputed, by what was trained: random cells of the stored tables. Those with
# a value matrix on another processor; the others with sums in another order, most of them on another processor too.
MEASURED = {"lbfgs": (4, 1843), "gd": (0, 80), "adam": (0, 29), "value": (34, 60), "full_value": (0, 8)}


def is_another(stored, ends, tolerances):
    """Whether a stored student is one more of the ends that displaced starts lead to.

    Its gradient must be one at which L-BFGS stops, or no larger than twice that of the other ends (gradient descent and
    Adam make a fixed number of steps). Each quantity must lie within the prediction interval of the ends, widened by
    its tolerance. A student whose overlaps are found again to all digits is no other one: its losses must be too.

    Parameters
    ----------
    stored : dict
        Its row.
    ends : list of dict
        The same row of several runs; the first is not displaced.
    tolerances : dict
        Column to (relative, absolute), as for `sweep.verify`.

    Returns
    -------
    bool
    """
    again = ends[0]
    if all(abs(stored[name] - again[name]) <= SAME_DIGITS for name in ("q", "m", "theta")):
        losses = {"train_loss", "test_mse"} & again.keys()
        if not all(agree(stored[name], again[name], *tolerances[name]) for name in losses):
            return False
    if "grad_norm" in again:
        usual = max(LBFGS_TOLERANCE, 2 * max(end["grad_norm"] for end in ends[1:]))
        if max(stored["grad_norm"], again["grad_norm"]) > usual:
            return False
    reach = t.ppf(1 - MISSED / 2, len(ends) - 1) * (1 + 1 / len(ends)) ** 0.5
    for name in tolerances.keys() & again.keys():
        values = np.array([end[name] for end in ends])
        relative, absolute = tolerances[name]
        if abs(stored[name] - values.mean()) > absolute + relative * abs(again[name]) + reach * values.std(ddof=1):
            return False
    return True


class Expected(NamedTuple):
    """Cells in which another minimum is expected: mean, standard deviation, and the chance of as many as were found."""

    cells: float
    error: float
    chance: float


def expected(drawn, found):
    """How many of some cells have a student in another minimum, by the shares in `MEASURED`.

    Parameters
    ----------
    drawn : list of (str, int)
        What was trained in each cell, a key of `MEASURED`, and how many students.
    found : int
        Cells with another minimum.

    Returns
    -------
    Expected
        The share of each kind is drawn from its posterior (Jeffreys' prior), the cells by it.
    """
    rng = np.random.default_rng(0)
    shares = {key: rng.beta(count + 0.5, of - count + 0.5, DRAWS) for key, (count, of) in MEASURED.items()}
    counts = np.zeros(DRAWS)
    for key, students in drawn:
        counts += rng.random(DRAWS) > (1 - shares[key]) ** students
    return Expected(float(counts.mean()), float(counts.std()), float((counts >= found).mean()))


def trained(rows):
    """What the students of one cell are: a key of `MEASURED`."""
    first = rows.iloc[0]
    form = first.get("form", "tied")
    return form if "value" in form else first.get("optimizer", "lbfgs")
