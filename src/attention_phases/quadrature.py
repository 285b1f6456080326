"""Gaussian averages with error bars, from independently scrambled Sobol points.

An average is computed on each scrambled set of points (scramble) separately. The mean over the scrambles is the result,
and their spread gives the standard error. For two tokens and a student with one column, a net has four dimensions:
xi_1, xi_2, zeta_1 and zeta_2, all N(0, 1). Antithetic pairs are not used, because at equal cost they have the larger
spread here (`benchmarks/quadrature.py`): half of the terms of the integrands are even, and for these a pair spends two
points on one value.

Smooth averages over a few normal variables use the Gauss-Hermite rule, whose error is at the level of rounding.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache, reduce
from typing import Any

import numpy as np
from numba import config
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import ndtri

from .errors import BadInput, check_count, check_memory

SCRAMBLES = 16  # default number of scrambles
# Default numbers of points per scramble, for the kernel of two tokens and for the general kernel, which is slower.
# Stored lines of ends and thresholds use other numbers, see `experiments.lines`.
USUAL_POINTS = {"solution": (2**14, 2**12), "threshold": (2**14, 2**11), "one step": (2**12,)}
LARGEST_NET = 21201  # largest number of dimensions; a copy of `Sobol.MAXDIM`, because SciPy's module is slow to import
# Numbers of points per scramble and of scrambles, with which test errors of given weights have relative errors of 1e-3.
TEST_ERROR_NET = (2**11, 8)


def usual_points(purpose: str, fast: bool = True) -> int:
    """Return the default number of points in each scrambled set, for one kind of computation.

    purpose: a key of `USUAL_POINTS`
    fast: whether the kernel of two tokens is used, not the general kernel
    """
    return USUAL_POINTS[purpose][not fast]


# Reuse the threads for all averages, because starting threads takes longer than a small average.
_thread_pool = cache(ThreadPoolExecutor)


@lru_cache(maxsize=4, typed=True)  # so that 256.0 is refused even after 256
def gaussian_points(points: int, scrambles: int = SCRAMBLES, seed: int = 0, dimensions: int = 4) -> np.ndarray:
    """Return independently scrambled Sobol points, mapped to standard normal variables.

    The array (scrambles, points, dimensions) is read-only. The first 2^k points of each scramble are again a net.

    Args:
        points: points per scramble, a power of two >= 16, so that every scramble is a balanced net
        scrambles: number of independent scrambles, >= 4, whose spread gives the error bar
    """
    # Import qmc here, because this takes longer than everything else that a fixed point needs.
    from scipy.stats import qmc

    points = check_count("points", points, at_least=16)
    if points & (points - 1):
        raise BadInput("points", points, "a power of two >= 16")
    scrambles = check_count("scrambles", scrambles, at_least=4)
    check_memory({"scrambles": scrambles, "points": points}, 8 * scrambles * points * dimensions)
    normal = np.empty((scrambles, points, dimensions))
    seeds = np.random.SeedSequence(check_count("seed", seed, at_least=0)).spawn(scrambles)
    for net, of_scramble in zip(normal, seeds):
        uniform = qmc.Sobol(dimensions, rng=np.random.default_rng(of_scramble), bits=53).random(points)
        net[:] = ndtri(uniform + 2.0**-54)  # the shift avoids 0, which a net may contain and `ndtri` maps to -inf
    normal.flags.writeable = False
    return normal


def map_scrambles(means: Callable, scrambles: tuple[np.ndarray, ...], *arguments, apart: bool = False) -> list:
    """Distribute the scrambled sets of quadrature points over several threads, and call `means` in each thread.

    The result is ``means(*scrambles, *arguments)``. `means` must release Python's lock. The first axis of all arrays in
    `scrambles` and in the result indexes scrambles. The first array, which is a net or a part of a net, is made
    contiguous and read-only, because numba would compile `means` again for each kind of array.

    apart: one call for each scramble, all in other threads than this one, so that Ctrl-C can act between the calls
    """
    net = np.ascontiguousarray(scrambles[0]).view()
    net.flags.writeable = False
    scrambles = (net, *scrambles[1:])

    @np.errstate(all="ignore")  # a large step of a search may overflow, and threads do not inherit this setting
    def of_part(part):
        return means(*part, *arguments)

    threads = min(config.NUMBA_NUM_THREADS, len(scrambles[0]))  # type: ignore[attr-defined]
    if threads == 1 and not apart:
        return [*of_part(scrambles)]
    parts = zip(*(np.array_split(array, len(net) if apart else threads) for array in scrambles))
    by_part = _thread_pool(threads).map(of_part, parts)
    return [*map(np.concatenate, zip(*by_part))]


def pool(averages: Any) -> Any:
    """Average every array of a named tuple over its first axis, which indexes the scrambled sets of points."""
    return type(averages)(*(np.add.reduce(values) / len(values) for values in averages))


def jackknife(estimate: Callable, samples: np.ndarray) -> tuple:
    """Estimate a quantity from the mean over samples, and return the estimate with its jackknife error.

    Samples are the values for the scrambled sets of points, along the first axis of `samples`. `estimate` maps a mean
    to a number or an array, real or complex. The value and the error have the same shape.
    """
    count = len(samples)
    means = [samples.mean(axis=0), *((samples.sum(axis=0) - sample) / (count - 1) for sample in samples)]
    value, *others = map(estimate, means)
    deviations = np.abs(np.array(others) - np.mean(others, axis=0)) ** 2
    return value, np.sqrt((count - 1) / count * deviations.sum(axis=0))


def tensor_rule(nodes: int, axes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and weights of the Gauss-Hermite rule for independent standard normal variables.

    The points are (nodes^axes, axes), and the weights are (nodes^axes,).
    """
    x, weight = hermegauss(check_count("nodes", nodes))
    points = np.stack(np.meshgrid(*[x] * axes, indexing="ij"), axis=-1).reshape(-1, axes)
    weights = reduce(np.multiply.outer, [weight] * axes).ravel()
    return points, weights / weights.sum()
