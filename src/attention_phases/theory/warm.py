"""Averages from known minima: what a search has found at one point of the iteration serves the points around it.

To search for all proximal points takes some ten times as long as to descend from minima that are nearly right. Hence
averages start from the minima of the last search as long as the coordinates are near it. Beside the lowest minimum of
each point the lowest other one is kept: where the prox jumps, the two change their order. In a valley so flat that a
minimum may have been born since, the point is searched all the same. The fixed point that the iteration comes to is
searched once more in any case, and the iteration goes on where the search does not agree.
"""

import numpy as np
import scipy.optimize

REACH = 0.05  # in any coordinate
ROUNDS = 6


class Net:
    """Points of a quadrature, and their minima at the coordinates of the last search.

    Parameters
    ----------
    points : (scrambles, N, dimensions) array
    fields : int
        Of a sentence.
    """

    def __init__(self, points, fields):
        self.points, self.minima, self.searched = points, np.empty((*points.shape[:2], 2, fields)), None

    def __len__(self):
        return len(self.points)

    def search_at(self, x, anew):
        """Whether an average at the coordinates `x` is to search, which is then noted; it must if `anew`."""
        anew = anew or self.searched is None or not np.abs(x - self.searched).max() <= REACH
        if anew:
            self.searched = x.copy()
        return anew


def polish(at, x, maxfev, xtol, eps=1e-6):
    """Where a map does not move its argument: Powell's hybrid method on warm starts, until a search agrees.

    Parameters
    ----------
    at : callable
        ``at(x, anew)``, with or without a search, gives the displacement of x and what else is to be kept of it.
    x : array
        To start from.
    maxfev : int
    xtol, eps : float
        Of the method, and on the displacement that a search finds; step of its finite differences.

    Returns
    -------
    x, kept
        Where the last search was made, and what `at` gave of it.
    """
    # The smallest first step: a larger one can leave the branch, or end where nothing can be computed.
    options = {"eps": eps, "xtol": xtol, "maxfev": maxfev, "factor": 0.1}
    for _ in range(ROUNDS):
        root = scipy.optimize.root(lambda x: at(x, False)[0], x, method="hybr", options=options)
        x = root.x
        displacement, kept = at(x, True)
        # What exceeds that of the warm starts comes from points whose minimum is another one.
        if not np.abs(displacement).max() > max(xtol, 2 * np.abs(root.fun).max()):
            break
    return x, kept
