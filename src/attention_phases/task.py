"""What is to be learnt: the parameters of teacher, data and penalty (paper, Section 5)."""

from dataclasses import dataclass

import numpy as np

from .errors import BadInput, check_positive, check_real

MATRICES = {
    "standard": ((0.6, 0.4), (0.4, 0.6)),
    "alternative": ((0.3, 0.7), (0.8, 0.2)),
}


@dataclass(frozen=True)
class Task:
    """What is to be learnt, and with which penalty.

    Args:
        omega: weight of the positional part of the teacher (Eq. 16), in [0, 1]; 0 is purely semantic.
        sigma: standard deviation of a token's entries.
        lam: ridge penalty on the student's weights (Eq. 3).
        matrix: the fixed positional matrix A of Eq. 16: "standard", "alternative" or its entries, 2x2.
    """

    omega: float = 0.3
    sigma: float = 0.5
    lam: float = 0.01
    matrix: tuple = MATRICES["standard"]

    def __post_init__(self) -> None:
        within = check_real("omega", self.omega, "in [0, 1]", lambda v: 0 <= v <= 1)
        object.__setattr__(self, "omega", within)
        object.__setattr__(self, "sigma", check_positive("sigma", self.sigma))
        object.__setattr__(self, "lam", check_positive("lam", self.lam))
        object.__setattr__(self, "matrix", _matrix(self.matrix))


def _matrix(value: object) -> tuple:
    """A 2x2 tuple of finite floats from a name or from nested sequences."""
    if isinstance(value, str):
        if value not in MATRICES:
            raise BadInput("matrix", value, "standard, alternative or four finite numbers a,b;c,d")
        return MATRICES[value]
    try:
        entries = np.array(value, dtype=float)
    except (TypeError, ValueError):
        entries = np.empty(0)
    if entries.shape != (2, 2) or not np.isfinite(entries).all():
        raise BadInput("matrix", value, "a 2x2 matrix of finite numbers")
    rows: list[list[float]] = entries.tolist()  # pyright: ignore
    return tuple(map(tuple, rows))
