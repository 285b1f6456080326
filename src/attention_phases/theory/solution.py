"""A fixed point of the state evolution with its error bars, and why it failed if it did."""

from dataclasses import dataclass, field
from math import nan
from typing import Generic, TypeVar

import numpy as np

from ..measured import standard_error
from .standard import Overlaps
from .variants import VariantOverlaps

# Why a solution failed.
UNSETTLED = "did not settle"
ENDED = "branch has ended"
SADDLE = "is a saddle"

AnyOverlaps = TypeVar("AnyOverlaps", Overlaps, VariantOverlaps)


@dataclass(frozen=True)
class Solution(Generic[AnyOverlaps]):
    """A fixed point of the state evolution at one alpha, on one branch.

    The residual is the largest change of a coordinate of the branch under one more step. The two losses by different
    formulae, train_loss and free_energy, differ only because of it. Why a solution failed: `UNSETTLED`, the residual is
    above 1e-6 and the distance left above a fifth of a standard error, or a loss is not finite; `ENDED`, the overlap
    that the branch is named after is zero within its error; `SADDLE`, a damped iteration leaves the solution within its
    branch (for leaving the branch see `gain`).
    """

    alpha: float
    overlaps: AnyOverlaps  # of the standard student, or of another architecture
    train_loss: float  # epsilon_t (Eq. 14)
    test_mse: float  # epsilon_g (Eq. 10)
    free_energy: float  # Eq. 108
    train_slope: float  # d epsilon_t/d alpha: E[Moreau envelope], because the free energy is stationary
    test_slope: float  # d epsilon_g/d alpha
    residual: float
    reason: str  # why the solution failed; empty if it converged
    iterations: int  # evaluations of the map
    # What the fixed point of each scramble alone has, to first order, as (scrambles, ...) arrays: every overlap by its
    # name, test_mse, and replicon and gain where there are any. `train_loss` is given minus its mean.
    spread: dict[str, np.ndarray] = field(repr=False)
    replicon: float = nan  # Lambda = alpha E|d(h* - w)/dw|_F^2 (Appendix B.5), of the standard student only
    # Largest factor by which one step of the map multiplies small overlaps that the branch holds at zero. Above 1 the
    # solution is a saddle in their direction. NaN where nothing is held at zero (semantic branch of rank 2).
    gain: float = nan

    @property
    def converged(self) -> bool:
        """Whether this is a solution of its branch: there is no `reason` against it."""
        return not self.reason

    @property
    def stderr(self) -> dict:
        """Standard errors over the scrambles of everything in `spread`: floats, or arrays for matrices of overlaps."""
        return {name: standard_error(values) for name, values in self.spread.items()}

    @property
    def energies(self) -> np.ndarray:
        """Free energy of each scramble minus their mean (scrambles,), for the error of a difference of two losses."""
        return self.spread["train_loss"]

    def named(self, variance: float, flat: bool = False) -> dict[str, tuple]:
        """Return (value, standard error) of each overlap by name, see `VariantOverlaps.named`."""
        spread = type(self.overlaps)(*(self.spread[name] for name in self.overlaps._fields))
        values, spread = self.overlaps.named(variance, flat), spread.named(variance, flat)
        return {name: (value, standard_error(spread[name])) for name, value in values.items()}
