"""What is to be learnt: the parameters of teacher, data and penalty (paper, Section 5)."""

from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from .errors import BadInput, check_positive, check_real
from .structure import Cluster, Direction, as_clusters, as_spectrum

MATRICES = {
    "standard": ((0.6, 0.4), (0.4, 0.6)),
    "alternative": ((0.3, 0.7), (0.8, 0.2)),
}


def _later(default: Any) -> Any:
    """A field that a record of a task names only where it differs, so that older results keep names and seeds."""
    return field(default=default, metadata={"omitted at default": True})


@dataclass(frozen=True)
class Task:
    """What is to be learnt, and with which penalty.

    Args:
        omega: weight of the positional part of the teacher (Eq. 16), in [0, 1]; 0 is purely semantic.
        sigma: standard deviation of a token's entries; it follows from a spectrum where there is one.
        lam: ridge penalty on the student's weights (Eq. 3).
        matrix: the fixed positional matrix A of Eq. 16: "standard", "alternative", "a,b;c,d" or its entries, 2x2.
        spectrum: covariance of the tokens; empty for sigma^2 along all directions.
        clusters: means of the tokens; empty for means of zero.
        teachers: mean square of the entries of each column of Q*; several make the rank of softmax(y y^T).
        density: share of the entries of Q* that are not zero, in (0, 1]; these are N(0, 1/density).
        l1: further penalty, so many times the size of each weight, at least 0.
    """

    omega: float = 0.3
    sigma: float = 0.5
    lam: float = 0.01
    matrix: tuple = MATRICES["standard"]
    spectrum: tuple[Direction, ...] = _later(())
    clusters: tuple[Cluster, ...] = _later(())
    teachers: tuple[float, ...] = _later((1.0,))
    density: float = _later(1.0)
    l1: float = _later(0.0)

    def __post_init__(self) -> None:
        spectrum = as_spectrum(self.spectrum)
        checked = {
            "omega": check_real("omega", self.omega, "in [0, 1]", lambda v: 0 <= v <= 1),
            "sigma": _sigma(self.sigma, spectrum),
            "lam": check_positive("lam", self.lam),
            "matrix": _matrix(self.matrix),
            "spectrum": spectrum,
            "clusters": as_clusters(self.clusters),
            "teachers": _teachers(self.teachers),
            "density": check_real("density", self.density, "in (0, 1]", lambda v: 0 < v <= 1),
            "l1": check_real("l1", self.l1, "a finite number >= 0", lambda v: v >= 0),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def structured(self) -> bool:
        """Whether anything goes beyond the main text, which knows omega, sigma, lam and A."""
        return (self.spectrum, self.clusters, self.teachers, self.density, self.l1) != ((), (), (1.0,), 1.0, 0.0)

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The spectrum, of a single direction where there is none."""
        return self.spectrum or (Direction(self.sigma**2, 1.0),)


def _sigma(value: Any, spectrum: tuple[Direction, ...]) -> float:
    """The standard deviation of a token's entries."""
    if not spectrum:
        return check_positive("sigma", value)
    sigma = sqrt(sum(direction.weight * direction.variance for direction in spectrum))
    if value not in (Task.sigma, sigma):
        raise BadInput("sigma", value, f"left out beside a covariance, of which it is {sigma:.6g}")
    return sigma


def _teachers(value: Any) -> tuple[float, ...]:
    """The mean squares of the columns of Q*."""
    if not isinstance(value, (tuple, list)) or not value:
        raise BadInput("teachers", value, "one number > 0 for each column of the teacher")
    return tuple(check_positive("teachers", size) for size in value)


def _matrix(value: object) -> tuple:
    """A 2x2 tuple of finite floats from a name, from a text "a,b;c,d" or from nested sequences."""
    if isinstance(value, str) and value in MATRICES:
        return MATRICES[value]
    rows = [row.split(",") for row in value.split(";")] if isinstance(value, str) else value
    try:
        entries = np.array(rows, dtype=float)
    except (TypeError, ValueError):
        entries = np.empty(0)
    if entries.shape != (2, 2) or not np.isfinite(entries).all():
        raise BadInput("matrix", value, "standard, alternative or four finite numbers a,b;c,d")
    return tuple(map(tuple, entries.tolist()))  # pyright: ignore
