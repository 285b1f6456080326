"""Gaussian averages with error bars: independent scrambles of a Sobol net in four dimensions.

The fields enter through xi_1, xi_2, zeta_1, zeta_2 ~ N(0, 1). Antithetic pairs are not used: at equal
cost plain scrambles have the smaller spread here (`benchmarks/quadrature.py`), for half the terms of the
integrands are even already and a pair then spends two points on one value.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache

import numpy as np
from numba import config
from scipy.special import ndtri
from scipy.stats import qmc

from ..errors import BadInput, check_count

DIMENSIONS = 4
POINTS = 2**14
SCRAMBLES = 16


@lru_cache(maxsize=4)
def gaussian_points(points=POINTS, scrambles=SCRAMBLES, seed=0, dimensions=DIMENSIONS):
    """Independent scrambles of a Sobol net, mapped to the standard normal law.

    Parameters
    ----------
    points : int
        Points a scramble, a power of two (so that every scramble is a balanced net), >= 16.
    scrambles : int
        Independent scrambles, >= 4: their spread gives the error bar.
    seed : int
    dimensions : int
        Four for two tokens and a rank-one student.

    Returns
    -------
    (scrambles, points, dimensions) read-only array
        The first 2^k points of each scramble are a net again.
    """
    points = check_count("points", points, at_least=16)
    if points & (points - 1):
        raise BadInput("points", points, "a power of two >= 16")
    scrambles = check_count("scrambles", scrambles, at_least=4)
    seeds = np.random.SeedSequence(check_count("seed", seed, at_least=0)).spawn(scrambles)
    nets = [qmc.Sobol(dimensions, rng=np.random.default_rng(each), bits=53).random(points) for each in seeds]
    normal = ndtri(np.stack(nets) + 2.0**-54)  # the cells of a net are half-open: this keeps 0 out
    normal.flags.writeable = False
    return normal


def over_scrambles(means, scrambles, *arguments):
    """``means(*scramble, *arguments)`` of each scramble, shared out over threads, as rows of an array.

    `means` is compiled and lets other threads run meanwhile.
    """
    return np.array(list(_threads().map(lambda scramble: means(*scramble, *arguments), scrambles)))


@cache
def _threads():
    """Kept from one average to the next: to start threads takes longer than a small average."""
    return ThreadPoolExecutor(config.NUMBA_NUM_THREADS)
