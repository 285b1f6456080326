"""The standard deviation of field averages between samples of equal cost, for three sampling methods.

    python benchmarks/quadrature.py

The methods are plain Monte Carlo, Sobol points, and Sobol points in antithetic pairs. For both branches at omega = 0.3,
the script prints the standard deviation over samples of E[r . xi] and of the Moreau envelope, relative to plain Monte
Carlo of the same size.
"""

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from attention_phases import Task
from attention_phases.theory import solve
from attention_phases.theory.equations import Overlaps, Setting, average

SAMPLES, SIZES = 16, (2**10, 2**12, 2**14)


def sobol(size, rng):
    return ndtri(qmc.Sobol(4, rng=rng, bits=53).random(size) + 2.0**-54)


def pairs(size, rng):
    half = sobol(size // 2, rng)
    return np.concatenate([half, -half])


def plain(size, rng):
    return rng.standard_normal((size, 4))


def main():
    task = Task()
    print("branch      points  rule    E[r.xi]  E[Moreau]   (spread, plain Monte Carlo = 1)")
    for branch in ("semantic", "positional"):
        overlaps = Overlaps.of(*solve(task, 1.2, branch, points=1024).overlaps)
        for size in SIZES:
            spread = {}
            for rule in (plain, sobol, pairs):
                points = np.stack([rule(size, np.random.default_rng(seed)) for seed in range(SAMPLES)])
                averages = average(Setting(task), overlaps, points)
                spread[rule.__name__] = np.array(
                    [averages.student_noise.ravel().std(ddof=1), averages.moreau.std(ddof=1)]
                )
            for rule, value in spread.items():
                first, second = value / spread["plain"]
                print(f"{branch:10}  {size:6}  {rule:6}  {first:7.3f}  {second:9.3f}")


if __name__ == "__main__":
    main()
