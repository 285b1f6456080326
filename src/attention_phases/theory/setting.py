"""What the equations of the state evolution need of a task and an architecture."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from ..errors import BadInput
from ..model.architectures import STANDARD, Architecture
from ..task import Cluster, Task


class Spectrum(NamedTuple):
    """What tokens, teacher and encoding have in n groups of directions of the embedding space (Assumption 4.1)."""

    weights: np.ndarray  # (n,), shares of the directions
    eigenvalues: np.ndarray  # (n, k), variances of the tokens of each law
    teacher: np.ndarray  # (n, t), mean squares of the entries of W*
    encoding: np.ndarray  # (n,), mean square of those of sqrt(d) times the encoding


@dataclass
class Setting:
    """A task and an architecture, as the equations see them.

    The L tokens have one law, k = 1, or each its own, k = L; the teacher has t columns.

    fast: whether the kernel of two tokens serves where it can
    """

    task: Task
    architecture: Architecture = STANDARD
    fast: bool = True

    def __post_init__(self) -> None:
        directions, tokens = self.task.directions, self.architecture.tokens
        self.spectrum = Spectrum(
            np.array([direction.weight for direction in directions]),
            np.array([np.atleast_1d(direction.eigenvalue) for direction in directions]),
            np.outer([direction.teacher for direction in directions], self.task.teachers),
            np.array([direction.encoding for direction in directions]),
        )
        weights, eigenvalues, teacher, _ = self.spectrum
        (_, laws), columns = eigenvalues.shape, teacher.shape[1]
        if laws > 1 and (laws != tokens or self.architecture.correlation):
            raise BadInput("covariance", laws, f"one eigenvalue, or one for each of {tokens} independent tokens")
        if self.task.l1 and (self.architecture.rank, columns) != (1, 1):
            raise BadInput("l1", self.task.l1, "0 where student or teacher have several columns")
        # What tokens may have together: odds (K,), marks of the encoding (K, L), and displacements of the teacher's
        # first field (K, L).
        choices = self.task.clusters or (Cluster(1.0, (0.0,) * tokens, (0.0,) * tokens),)
        if {len(part) for choice in choices for part in choice[1:]} != {tokens}:
            raise BadInput("clusters", len(choices), f"choices of displacements for {tokens} tokens")
        self.odds, encoding, along = (np.array(part) for part in zip(*choices))
        self.marks, self.leans = self.architecture.positions + encoding, along * np.sqrt(teacher[0, 0])
        if self.leans.any() and (len(directions), laws, columns) != (1, 1, 1):
            raise BadInput("clusters", len(choices), "displaced along the encoding alone beside other structure")
        self.law_of = np.arange(tokens) if laws > 1 else np.zeros(tokens, dtype=int)  # (L,)
        self.fast &= self.architecture == STANDARD and (laws, columns, len(choices)) == (1, 1, 1)
        self.shares = weights[:, None] * eigenvalues  # (n, k), of the directions in an average that carries Sigma
        self.rho = self.shares.T @ teacher  # (k, t), variances of the teacher's fields: its columns are independent

    @property
    def fields(self) -> int:
        """Number L r of the student's fields of a sentence."""
        return self.architecture.tokens * self.architecture.rank

    @property
    def dimensions(self) -> int:
        """Number of normal numbers that a sentence is made of: L (r + t) of its fields, and one of its clusters."""
        return self.fields + self.architecture.tokens * len(self.task.teachers) + (len(self.odds) > 1)

    def choices(self, points: np.ndarray) -> np.ndarray:
        """Which choice of clusters each sentence has (...,), from its normal numbers (..., dimensions)."""
        if len(self.odds) == 1:
            return np.zeros(points.shape[:-1], dtype=int)
        return np.searchsorted(self.odds.cumsum()[:-1], ndtr(points[..., -1]))

    @property
    def correlations(self) -> np.ndarray:
        """Correlations of the tokens' entries (L, L)."""
        return self.architecture.covariance(self.task) / self.task.sigma**2

    @property
    def covariance(self) -> np.ndarray:
        """Mean covariance C (L, L) of the tokens' entries."""
        scale = np.sqrt(self.shares.sum(axis=0)[self.law_of])
        return self.correlations * np.outer(scale, scale)
