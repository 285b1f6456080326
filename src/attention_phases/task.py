"""The learning task: parameters of the teacher, the data and the penalty (paper, Section 5).

Tokens can have structure: directions with different variances, and clusters (Assumptions 4.1 and C.1).
"""

from dataclasses import dataclass, field, fields, replace
from functools import reduce
from math import inf, isclose, sqrt
from operator import add
from typing import Any, NamedTuple

import numpy as np

from .errors import LIMITS_NOTE, BadInput, as_number, check_positive, check_real, check_several

MATRICES = {
    "standard": ((0.6, 0.4), (0.4, 0.6)),
    "alternative": ((0.3, 0.7), (0.8, 0.2)),
}


class Direction(NamedTuple):
    """A group of embedding directions that all have the same token, teacher and encoding variances.

    >>> from attention_phases import Direction, Task
    >>> Task(spectrum=[Direction(0.05, 0.5), Direction(0.45, 0.5)]).sigma
    0.5

    Args:
        eigenvalue: variance of a token's entries along these directions, or one variance for each token.
        weight: share of the d directions, in (0, 1]; the weights of a spectrum sum to 1.
        teacher: mean square of the teacher's entries along these directions, relative to `Task.teachers`.
        encoding: mean square of the positional encoding's entries along these directions, in units of 1/d.
    """

    eigenvalue: float | tuple[float, ...]
    weight: float
    teacher: float = 1.0
    encoding: float = 1.0

    @property
    def variance(self) -> float:
        """The variance of a token's entries, as a mean over the tokens if their variances differ."""
        return float(np.mean(self.eigenvalue))


class Cluster(NamedTuple):
    """A joint choice of clusters for all tokens of a sentence, with its probability.

    The mean of a token is ``encoding p + teacher Q*/|Q*|``, where p is the encoding of a token of mark 1 and Q* is the
    first column of the teacher. A list of joint choices can describe tokens that choose their clusters independently as
    well as tokens whose clusters depend on each other.

    >>> from attention_phases import Cluster, Task
    >>> left, right = Cluster(0.5, encoding=(0.3, -0.3)), Cluster(0.5, encoding=(-0.3, 0.3))
    >>> Task(clusters=[left, right]).structured
    True

    Args:
        weight: probability of this choice; the weights of a task sum to 1.
        encoding: displacement of each token along p.
        teacher: displacement of each token along the teacher's direction.
    """

    weight: float
    encoding: tuple[float, ...] = (0.0, 0.0)
    teacher: tuple[float, ...] = (0.0, 0.0)


def _optional_field(default: Any) -> Any:
    """Return a dataclass field that is omitted from records if it has its default value.

    Records from before the field was added therefore keep their names and seeds.
    """
    return field(default=default, metadata={"omitted at default": True})


@dataclass(frozen=True)
class Task:
    """A learning task: the teacher, the distribution of the tokens, and the penalty on the student's weights.

    >>> from attention_phases import Task
    >>> Task(omega=0.3, encoding=2.0).matrix
    ((0.6, 0.4), (0.4, 0.6))

    Numbers of NumPy and PyTorch become Python floats. A number of float32 or a shorter type becomes the shortest
    decimal that it stands for, so that ``Task(omega=torch.tensor(0.3))`` equals ``Task(omega=0.3)``.

    Args:
        omega: weight of the positional part of the teacher (Eq. 16), in [0, 1]; 0 is purely semantic.
        sigma: standard deviation of a token's entries; if there is a spectrum, sigma follows from it.
        lam: ridge penalty on the student's weights (Eq. 3).
        matrix: the fixed positional matrix A of Eq. 16: "standard", "alternative", "a,b;c,d" or its entries, L x L.
        spectrum: covariance of the tokens; if it is empty, the variance is sigma^2 along all directions.
        clusters: means of the tokens; if it is empty, the means are zero.
        teachers: mean square of the entries of each column of Q*; several columns give softmax(y y^T) a higher rank.
        density: share of the entries of Q* that are not zero, in (0, 1]; these are N(0, 1/density).
        l1: strength of an additional penalty on the absolute value of each weight, at least 0.
        encoding: strength of the positional encoding, a factor of its entries.
    """

    omega: float = 0.3
    sigma: float = 0.5
    lam: float = 0.01
    matrix: tuple = MATRICES["standard"]
    spectrum: tuple[Direction, ...] = _optional_field(())
    clusters: tuple[Cluster, ...] = _optional_field(())
    teachers: tuple[float, ...] = _optional_field((1.0,))
    density: float = _optional_field(1.0)
    l1: float = _optional_field(0.0)
    encoding: float = _optional_field(1.0)

    def __post_init__(self) -> None:
        spectrum = _spectrum(self.spectrum)
        checked = {
            "omega": check_real("omega", self.omega, "in [0, 1]", lambda v: 0 <= v <= 1),
            "sigma": _sigma(self.sigma, spectrum),
            "lam": check_positive("lam", self.lam),
            "matrix": _matrix(self.matrix),
            "spectrum": spectrum,
            "clusters": _clusters(self.clusters),
            "teachers": tuple(check_positive("teachers", size) for size in check_several("teachers", self.teachers)),
            "density": check_real("density", self.density, "in (0, 1]", lambda v: 0 < v <= 1),
            "l1": check_real("l1", self.l1, "a finite number >= 0", lambda v: v >= 0),
            "encoding": check_positive("encoding", self.encoding),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def structured(self) -> bool:
        """Whether any parameter other than omega, sigma, lam and A differs from its default.

        The main text of the paper has only these four parameters.
        """
        return any(getattr(self, optional.name) != optional.default for optional in fields(self) if optional.metadata)

    def check_unstructured(self) -> None:
        """Raise `BadInput` if tokens or teachers have structure. The strength of the encoding may differ from 1."""
        if replace(self, encoding=1.0).structured:
            raise BadInput("task", self, "without structure of tokens, teachers or penalty" + LIMITS_NOTE)

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The groups of embedding directions, with the positional encoding scaled by `encoding`.

        Without a spectrum, there is a single group.
        """
        spectrum, square = self.spectrum or (Direction(self.sigma**2, 1.0),), self.encoding**2
        return tuple(direction._replace(encoding=square * direction.encoding) for direction in spectrum)


def _sigma(value: Any, spectrum: tuple[Direction, ...]) -> float:
    """Return the standard deviation of a token's entries, given or from the spectrum."""
    if not spectrum:
        return check_real("sigma", value, "a finite number > 0, as is its square", lambda v: v > 0 and 0 < v * v < inf)
    # `reduce` adds in order. From Python 3.12 on, `sum` rounds only once, but the names of cells depend on the last
    # bit.
    sigma = sqrt(reduce(add, (direction.weight * direction.variance for direction in spectrum)))
    if value not in (Task.sigma, sigma):
        raise BadInput(f"sigma = {value}: leave sigma out, because the spectrum gives sigma = {sigma:.6g}")
    return sigma


def _matrix(value: object) -> tuple:
    """Return a square tuple of finite floats from a name, a string "a,b;c,d" or nested sequences."""
    if isinstance(value, str) and value in MATRICES:
        return MATRICES[value]
    plain: Any = value.to_numpy() if hasattr(value, "to_numpy") else value  # pyright: ignore[reportAttributeAccessIssue]
    rows = [row.split(",") for row in value.split(";")] if isinstance(value, str) else plain
    try:
        entries = np.array([[as_number(entry) for entry in row] for row in rows], dtype=float)
    except (TypeError, ValueError):
        entries = np.empty(0)
    if entries.size < 4 or entries.shape != entries.shape[:1] * 2 or not np.isfinite(entries).all():
        raise BadInput("matrix", value, "standard, alternative or finite numbers a,b;c,d with a row for each token")
    return tuple(map(tuple, entries.tolist()))  # pyright: ignore


def _coordinate_values(task: Task, d: int, name: str) -> np.ndarray:
    """Return an attribute of the groups of directions as an array whose last axis has all `d` coordinates."""
    ends = np.rint(d * np.cumsum([0.0, *(direction.weight for direction in task.directions)])).astype(int)
    values = np.array([getattr(direction, name) for direction in task.directions])
    return np.repeat(values.T, np.diff(ends), axis=-1)


def variances(task: Task, d: int) -> np.ndarray:
    """Return the variances of a token's coordinates.

    They are (d,), or (L, d) if the tokens have different variances.
    """
    return _coordinate_values(task, d, "eigenvalue")


def teacher_profile(task: Task, d: int) -> np.ndarray:
    """Return the variances of the d entries of a teacher column, relative to the variance of the whole column.

    They are the mean squares of the entries, divided by the column's value in `Task.teachers`.
    """
    return _coordinate_values(task, d, "teacher")


def teacher_variances(task: Task) -> np.ndarray:
    """Return the variances of the teacher's fields in the limit of large d.

    They are the limits of the diagonal of Q*^T Sigma Q*/d, (t,).
    """
    parts = (direction.weight * direction.variance * direction.teacher for direction in task.directions)
    return sum(parts) * np.array(task.teachers)


def encoding(task: Task, d: int) -> np.ndarray:
    """Return the positional encoding, multiplied by sqrt(d).

    It is the encoding of a token with position mark 1. The result is (d,). Without a spectrum it is `Task.encoding`
    1_d.
    """
    return _coordinate_values(task, d, "encoding") ** 0.5


def _spectrum(value: Any) -> tuple[Direction, ...]:
    """Convert directions or a string "eigenvalue,weight[,teacher[,encoding]];..." to valid `Direction` tuples."""
    allowed = "directions eigenvalue,weight[,teacher[,encoding]];... of finite numbers >= 0"
    rows = [row.split(",") for row in value.split(";")] if isinstance(value, str) else value
    try:
        directions = tuple(Direction(_floats(eigenvalue), *map(_float, rest)) for eigenvalue, *rest in rows)
    except (TypeError, ValueError):
        raise BadInput("spectrum", value, allowed) from None
    numbers = np.concatenate([np.empty(0), *(np.ravel(part) for direction in directions for part in direction)])
    if not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise BadInput("spectrum", value, allowed)
    if len({np.shape(direction.eigenvalue) for direction in directions}) > 1:
        raise BadInput("spectrum", value, "one eigenvalue per direction, or one per token in every direction")
    _check_weights("spectrum", value, [direction.weight for direction in directions])
    for name in ("variance", "teacher", "encoding") if directions else ():
        if not any(getattr(direction, name) for direction in directions):
            raise BadInput("spectrum", value, f"such that some direction has a positive {name}")
    return directions


def _clusters(value: Any) -> tuple[Cluster, ...]:
    """Convert a value to a tuple of `Cluster`; raise `BadInput` if this is not possible."""
    allowed = "clusters (weight, encoding, teacher) of finite numbers, the last two with one for each token"
    try:
        clusters = tuple(Cluster(_float(choice[0]), *map(_floats, choice[1:])) for choice in value)
        displaced = np.array([cluster[1:] for cluster in clusters])  # (clusters, along, L), else a ValueError
    except (TypeError, ValueError, IndexError):
        raise BadInput("clusters", value, allowed) from None
    if (clusters and displaced.ndim != 3) or not np.isfinite(displaced).all():
        raise BadInput("clusters", value, allowed)
    _check_weights("clusters", value, [cluster.weight for cluster in clusters])
    return clusters


def _floats(value: Any) -> Any:
    return _float(value) if np.ndim(value) == 0 else tuple(map(_float, value))


def _float(value: Any) -> float:
    return float(as_number(value))


def _check_weights(name: str, value: Any, weights: list[float]) -> None:
    """Raise `BadInput` if weights are not probabilities; an empty list means no structure and is allowed."""
    if weights and not (min(weights) > 0 and isclose(sum(weights), 1, abs_tol=1e-9)):
        raise BadInput(name, value, f"such that its weights are positive and sum to 1, not to {sum(weights):.9g}")
