"""Gaussian averages with error bars: independent scrambles of a Sobol net.

An average is taken on each scramble alone: the mean over the scrambles is the result, their spread gives its error.
For two tokens and a rank-one student a net has four dimensions: xi_1, xi_2, zeta_1 and zeta_2, all N(0, 1). Antithetic
pairs are not used: at equal cost plain scrambles have the smaller spread here (`benchmarks/quadrature.py`), because
half the terms of the integrands are even already and a pair then spends two points on one value.

Smooth averages over few normal numbers are taken by the rule of Gauss and Hermite, whose error is that of rounding.
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

SCRAMBLES = 16
# Points a scramble where the caller names no number: on the kernel of two tokens, and on the general one, which is
# slower. An end or a threshold on a line of theory takes a multiple of the points of its line (`experiments.lines`).
USUAL_POINTS = {"solution": (2**14, 2**12), "threshold": (2**14, 2**11), "one step": (2**12,)}
LARGEST_NET = 21201  # dimensions: `Sobol.MAXDIM`, which takes long to import
TEST_ERROR_NET = (2**11, 8)  # for test errors of given weights: about 1e-3 of the value, far below its spread


def usual_points(purpose: str, fast: bool = True) -> int:
    """Return the usual number of points a scramble, for a key of `USUAL_POINTS`, on the fast kernel or the other."""
    return USUAL_POINTS[purpose][not fast]


_pool_of = cache(ThreadPoolExecutor)  # kept from one average to the next: starting takes longer than a small average


@lru_cache(maxsize=4)
def gaussian_points(points: int, scrambles: int = SCRAMBLES, seed: int = 0, dimensions: int = 4) -> np.ndarray:
    """Return independent scrambles of a Sobol net, mapped to the normal law: (scrambles, points, dimensions).

    The first 2^k points of each scramble are a net again. The array is read-only.

    Args:
        points: a scramble, a power of two (so that every scramble is a balanced net), >= 16
        scrambles: independent ones, >= 4: their spread gives the error bar
    """
    # Here, because it takes longer to import than everything else that a fixed point needs.
    from scipy.stats import qmc

    points = check_count("points", points, at_least=16)
    if points & (points - 1):
        raise BadInput("points", points, "a power of two >= 16")
    scrambles = check_count("scrambles", scrambles, at_least=4)
    name, value = ("points", points) if points > scrambles else ("scrambles", scrambles)
    check_memory(name, value, 8 * scrambles * points * dimensions)
    normal = np.empty((scrambles, points, dimensions))
    seeds = np.random.SeedSequence(check_count("seed", seed, at_least=0)).spawn(scrambles)
    for net, of_scramble in zip(normal, seeds):
        uniform = qmc.Sobol(dimensions, rng=np.random.default_rng(of_scramble), bits=53).random(points)
        net[:] = ndtri(uniform + 2.0**-54)  # the cells of a net are half-open: this keeps 0 out
    normal.flags.writeable = False
    return normal


def over_scrambles(means: Callable, scrambles: tuple[np.ndarray, ...], *arguments, apart: bool = False) -> list:
    """Return ``means(*scrambles, *arguments)`` by threads; `means` releases Python's lock.

    The first axis of all arrays, those of `scrambles` and those returned, counts scrambles. The first one, a net or a
    part of it, becomes contiguous and read-only: numba would compile `means` for each kind of array.

    apart: one call for each scramble, and all in other threads than this one, which Ctrl-C stops between the calls
    """
    net = np.ascontiguousarray(scrambles[0]).view()
    net.flags.writeable = False
    scrambles = (net, *scrambles[1:])

    @np.errstate(all="ignore")  # of a wild step of a search, which no thread inherits
    def of_part(part):
        return means(*part, *arguments)

    threads = min(config.NUMBA_NUM_THREADS, len(scrambles[0]))  # type: ignore[attr-defined]
    if threads == 1 and not apart:
        return [*of_part(scrambles)]
    parts = zip(*(np.array_split(array, len(net) if apart else threads) for array in scrambles))
    by_part = _pool_of(threads).map(of_part, parts)
    return [*map(np.concatenate, zip(*by_part))]


def pool(averages: Any) -> Any:
    """Return the mean over scrambles, the first axis, of every entry of a named tuple of averages."""
    return type(averages)(*(np.add.reduce(values) / len(values) for values in averages))


def jackknife(estimate: Callable, samples: np.ndarray) -> tuple:
    """Return an estimate from the mean over scrambles, the first axis of `samples`, and its jackknife error.

    `estimate` maps a mean to a number or an array, real or complex; value and error have the shape of what it returns.
    """
    count = len(samples)
    means = [samples.mean(axis=0), *((samples.sum(axis=0) - sample) / (count - 1) for sample in samples)]
    value, *others = map(estimate, means)
    deviations = np.abs(np.array(others) - np.mean(others, axis=0)) ** 2
    return value, np.sqrt((count - 1) / count * deviations.sum(axis=0))


def tensor_rule(nodes: int, axes: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (nodes^axes, axes) and weights (nodes^axes,) for independent standard normal numbers."""
    x, weight = hermegauss(check_count("nodes", nodes))
    points = np.stack(np.meshgrid(*[x] * axes, indexing="ij"), axis=-1).reshape(-1, axes)
    weights = reduce(np.multiply.outer, [weight] * axes).ravel()
    return points, weights / weights.sum()
