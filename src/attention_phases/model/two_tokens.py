"""The empirical risk of students that read two independent tokens, computed from the fields of the tokens.

The risk is given by Eqs. 3 and 15 of the paper. A student's output for token 1 is x_2 + s (x_1 - x_2) with s = S_11, a
point on the line through the two tokens. The loss of a row is therefore ``1/2 |x_1 - x_2|^2/d (s - target)^2`` plus a
constant, where `target` is the projection of the label on this line. Only the fields h = x Q/sqrt(d) need the vectors
of size d.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from ..machine import torch_defaults
from ..task import Task
from .one_pass import risk_and_gradient
from .sentences import TensorRecord, draw_in_chunks, fit_linear, labels, moments, positional_encoding, sentence_count


@dataclass(frozen=True, eq=False)
class Dataset(TensorRecord):
    """Training sentences, reduced to the quantities on which the risk depends."""

    inputs: Tensor = field(repr=False)  #: x/sqrt(d) of the two tokens of each sentence, (n, 2, d)
    stiffness: Tensor = field(repr=False)  #: ``|x_1 - x_2|^2/d``, (n,)
    targets: Tensor = field(repr=False)  #: values of S_11 and S_22 that fit each sentence best, (n, 2)
    floor: float  #: sum over sentences of the loss at `targets`
    gram: np.ndarray = field(repr=False)  #: sum over sentences of x x^T/d, (2, 2), for the linear model
    cross: np.ndarray = field(repr=False)  #: sum of Y xi x^T/d
    teacher: Tensor = field(repr=False)  #: teacher Q*, (d,)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The possible numbers of weights of a student: d with one column of weights, 2 d with two columns."""
        return self.d, 2 * self.d

    def linear(self) -> np.ndarray:
        """Return the matrix (2, 2) of the linear model that is fitted to the sentences."""
        return fit_linear(self.gram, self.cross)


Chunk = TypeVar("Chunk", bound=Dataset)


@torch_defaults()
def sample(task: Task, alpha: float, d: int, rng: np.random.Generator, device: str = "cpu") -> Dataset:
    """Draw a teacher and a training set of two-token sentences.

    Args:
        alpha: sample complexity n/d.
        d: embedding dimension.
        rng: random generator, used on the CPU so that a seed gives the same data on every device.
        device: device on which the training set is stored.
    """
    teacher, chunks = draw_in_chunks(task, alpha, d, rng, device)
    parts = (reduce_sentences(positional_encoding(task, xi), labels(task, xi, y), teacher) for xi, y in chunks)
    return join(parts, sentence_count(alpha, d), device)


def join(parts: Iterator[Chunk], n: int, device: str) -> Chunk:
    """Join the parts of a training set of `n` sentences, without a second copy of its tensors."""
    first = next(parts).to(device)
    if len(first.targets) == n:
        return first
    tensors = {name: value for name, value in vars(first).items() if torch.is_tensor(value) and name != "teacher"}
    room = {name: torch.empty(n, *value.shape[1:], device=device) for name, value in tensors.items()}
    sums, done = dict.fromkeys(("floor", "gram", "cross"), 0.0), 0
    for part in chain([first], parts):
        for name, place in room.items():
            place[done : done + len(part.targets)] = getattr(part, name)
        done += len(part.targets)
        sums = {name: value + getattr(part, name) for name, value in sums.items()}
    return replace(first, **room, **sums)


def reduce_sentences(x: Tensor, goal: Tensor, teacher: Tensor) -> Dataset:
    """Build a training set from tokens with positional encoding and from their labels.

    The tokens `x` and the labels `goal` are (2, n, d).
    """
    d, line = x.shape[2], x[0] - x[1]
    stiffness = line.square().sum(1)
    start = torch.stack([goal[0] - x[1], x[0] - goal[1]])  # labels minus outputs at s = 0
    targets = (start * line).sum(2) / stiffness
    # Square the remainder itself, because a difference of squares would lose digits.
    missed = start - targets[:, :, None] * line
    return Dataset(
        inputs=(x / d**0.5).transpose(0, 1).contiguous(),
        stiffness=stiffness / d,
        targets=targets.T.contiguous(),
        floor=missed.square().sum(2).sum(dtype=torch.float64).item() / (2 * d),
        gram=moments(x, x),
        cross=moments(goal, x),
        teacher=teacher,
    )


def risk(data: Dataset, weights: Tensor, lam: float) -> tuple[Tensor, Tensor]:
    """Return the empirical risk of each student, and its gradient.

    The risk R(Q) of Eq. 3 is (k,) in float64 for k students, and the gradient is (k, r d).

    Args:
        weights: (k, r d), with one column Q per student, r = 1, or two whose scores add up, r = 2 (Appendix C.10).
        lam: ridge penalty.

    The training loss is R/d.
    """
    return (_one_pass_risk if weights.is_cpu else risk_by_products)(data, weights, lam)


def _one_pass_risk(data: Dataset, weights: Tensor, lam: float) -> tuple[Tensor, Tensor]:
    """Compute the risk and its gradient in one compiled pass over the sentences for every two columns."""
    inputs, stiffness, targets = data.inputs.numpy(), data.stiffness.numpy(), data.targets.numpy()
    columns = weights.numpy().reshape(-1, data.d)
    together, values, gradient = len(columns) > len(weights), np.empty(len(columns)), np.empty_like(columns)
    for first in range(0, len(columns), 2):
        some = slice(first, first + 2)  # two columns, or the last column alone
        risk_and_gradient(inputs, stiffness, targets, columns[some], lam, together, values[some], gradient[some])
    value = values.reshape(len(weights), -1).sum(1) + data.floor
    return torch.from_numpy(value), torch.from_numpy(gradient.reshape(weights.shape))


def risk_by_products(data: Dataset, weights: Tensor, lam: float) -> tuple[Tensor, Tensor]:
    """Compute the risk and its gradient with two multiplications by the data matrix."""
    columns, rows = weights.reshape(len(weights), -1, data.d), data.inputs.reshape(-1, data.d)
    h = (columns @ rows.mT).reshape(*columns.shape[:2], -1, 2)  # fields x Q/sqrt(d), as (k, r, n, 2)
    lean = h - h.flip(3)  # differences h_a - h_b of the two fields
    s = torch.sigmoid((h * lean).sum(1))  # attention S_11 and S_22
    excess = s - data.targets
    force = data.stiffness[:, None] * excess
    slope = (force * s * (1 - s))[:, None]  # derivative with respect to the score h_a (h_a - h_b)
    field = slope * (h + lean) - (slope * h).flip(3)
    value = 0.5 * (force * excess).sum((1, 2), dtype=torch.float64)
    value = value + 0.5 * lam * columns.square().sum((1, 2), dtype=torch.float64)
    gradient = field.reshape(*columns.shape[:2], -1) @ rows + lam * columns
    return value + data.floor, gradient.reshape(weights.shape)
