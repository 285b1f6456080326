"""Averages from known minima: what a search found at one point of the iteration serves the points around it.

A search for all proximal points takes about ten times as long as a descent from minima that are nearly right.
Averages therefore start from the minima of the last search as long as the coordinates stay near it. Beside the lowest
minimum of each point the second lowest is kept: where the prox jumps, the two change their order. Where the valley is
so flat that a new minimum may have appeared, the point is searched anyway. The fixed point is always confirmed by one
more search, and the iteration goes on if that search disagrees.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

REACH = 0.05  # in any coordinate
ROUNDS = 6


class Rough(NamedTuple):
    """How the damped iteration comes near a fixed point."""

    points: int  # a scramble
    kept: float  # share of the old coordinates
    near: float  # largest change of a coordinate at which Powell's method takes over
    scrambles: int = 16


class Net:
    """Points of a quadrature (scrambles, N, dimensions), with the minima found at the coordinates of the last search.

    Args:
        fields: number of fields of a sentence
        report: called with 1 after each average
    """

    def __init__(self, points: np.ndarray, fields: int, report: Callable[[int], object] | None = None):
        self.points, self.lowest = points, np.empty((*points.shape[:2], 2, fields))  # the two lowest minima of each
        self.searched, self.calls, self.report = None, 0, report or (lambda count: None)

    def averages(self, model, x: np.ndarray, anew: bool = False):
        """Return averages of a `BranchMap` at x for each scramble, by a search if `anew` or far from the last."""
        averages = model.average(x, self.points, self.lowest, self.search_at(x, anew))
        self.calls += 1
        self.report(1)
        return averages

    def search_at(self, x: np.ndarray, anew: bool) -> bool:
        """Return whether an average at the coordinates x has to search; if so, x counts as searched."""
        anew = anew or self.searched is None or not np.abs(x - self.searched).max() <= REACH
        if anew:
            self.searched = x.copy()
        return anew


def powell(displacement: Callable, x: np.ndarray, maxfev: int, xtol: float, eps: float = 1e-6):
    """Return SciPy's result of Powell's hybrid method for ``displacement(x) = 0``."""
    from scipy.optimize import root  # slow to import

    # The smallest first step: a larger one can leave the branch, or end where nothing can be computed.
    options = {"eps": eps, "xtol": xtol, "maxfev": maxfev, "factor": 0.1}
    return root(displacement, x, method="hybr", options=options)


def polish(at: Callable, x: np.ndarray, maxfev: int, xtol: float, eps: float = 1e-6):
    """Return where a map does not move its argument, by Powell's method on warm starts, confirmed by a search.

    Returned are x where the last search was made, and what `at` returned beside the displacement there.

    Args:
        at: ``at(x, anew)`` returns the displacement of x, with or without a search, and something to keep
        x: (n,), where to start
        maxfev: evaluations in one round
        xtol: tolerance, also of the displacement after a search
        eps: step of finite differences
    """
    for _ in range(ROUNDS):
        root = powell(lambda x: at(x, False)[0], x, maxfev, xtol, eps)
        x = root.x
        displacement, kept = at(x, True)
        # A larger displacement than on warm starts comes from points whose lowest minimum is another one.
        if not np.abs(displacement).max() > max(xtol, 2 * np.abs(root.fun).max()):
            break
    return x, kept
