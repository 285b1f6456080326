"""A fixed point of the state evolution with its error bars, and why it failed if it did."""

from dataclasses import dataclass, field
from math import nan
from typing import Generic, TypeVar

import numpy as np

from ..measured import standard_error
from .general.state_evolution import GeneralOverlaps
from .rank_one.state_evolution import Overlaps

# Why a solution failed.
UNSETTLED = "did not settle"
ENDED = "branch has ended"
SADDLE = "is a saddle"

AnyOverlaps = TypeVar("AnyOverlaps", Overlaps, GeneralOverlaps)


@dataclass(frozen=True)
class Solution(Generic[AnyOverlaps]):
    """A fixed point of the state evolution at one alpha, on one branch.

    Attributes
    ----------
    overlaps : Overlaps or GeneralOverlaps
        Of the standard student, or of another architecture.
    train_loss, test_mse : float
        epsilon_t (Eq. 14) and epsilon_g (Eq. 10).
    free_energy : float
        The training loss by another formula (Eq. 108): the two differ only because of the residual.
    train_slope, test_slope : float
        d epsilon_t/d alpha and d epsilon_g/d alpha. The first is E[Moreau envelope], because the free energy is
        stationary.
    residual : float
        Largest change of a coordinate of the branch (`rank_one.branch`, `general.branch`) under one more step.
    reason : str
        Why the solution failed; empty if it converged. `UNSETTLED`: the residual is above 1e-6, and the distance left
        above a fifth of a standard error, or a loss is not finite. `ENDED`: the overlap that the branch is named after
        is zero within its error. `SADDLE`: a damped iteration leaves the solution within its branch; for leaving the
        branch see `gain`.
    iterations : int
        Evaluations of the map.
    spread : dict of (scrambles, ...) arrays
        What the fixed point of each scramble alone has, to first order: every overlap by its name, test_mse, and
        replicon and gain where there are any. `train_loss` is given less its mean.
    replicon : float
        ``Lambda = alpha E|d(h* - w)/dw|_F^2`` (Appendix B.5), of the standard student only; else NaN.
    gain : float
        Largest factor by which one step of the map multiplies small overlaps that the branch holds at zero. Above 1 the
        solution is a saddle in their direction. NaN where nothing is held at zero (semantic branch of rank 2).
    """

    alpha: float
    overlaps: AnyOverlaps
    train_loss: float
    test_mse: float
    free_energy: float
    train_slope: float
    test_slope: float
    residual: float
    reason: str
    iterations: int
    spread: dict[str, np.ndarray] = field(repr=False)
    replicon: float = nan
    gain: float = nan

    @property
    def converged(self) -> bool:
        """Whether this is a solution of its branch: there is no `reason` against it."""
        return not self.reason

    @property
    def stderr(self) -> dict:
        """Standard errors over the scrambles of everything in `spread`: floats, or arrays for matrices of overlaps."""
        return {name: standard_error(each) for name, each in self.spread.items()}

    @property
    def energies(self) -> np.ndarray:
        """Free energy of each scramble less their mean (scrambles,), for the error of a difference of two losses."""
        return self.spread["train_loss"]

    def named(self, variance: float, flat: bool = False) -> dict[str, tuple]:
        """Return (value, standard error) of each overlap by name, see `GeneralOverlaps.named`."""
        spread = type(self.overlaps)(*(self.spread[name] for name in self.overlaps._fields))
        values, spread = (each.named(variance, flat) for each in (self.overlaps, spread))
        return {name: (value, standard_error(spread[name])) for name, value in values.items()}
