"""The risk of any student on any sentences (paper, Appendices C.10 and E.3), in the form that `training.fit` minimises.

With x = xi + u 1_d^T/sqrt(d) and E = Y - S the miss of a sentence is ``Y xi - S x = E x - Y u 1_d^T/sqrt(d)``. Its
square needs only ``G = x x^T/d`` and ``K = u (x 1_d)^T/d^(3/2)``, so that all forms but the full value matrix leave
nothing of size d beside the fields h = x W/sqrt(d).
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..errors import COVERED, BadInput
from ..task import Task
from .architectures import Architecture
from .sentences import draw, fit_linear, positional_encoding


@dataclass(frozen=True)
class Sentences:
    """Training sentences, reduced to what the risk needs; n is the last axis."""

    inputs: Tensor  # x/sqrt(d), all first tokens above all second ones, and so on, (L n, d)
    gram: Tensor  # G, (L, L, n)
    attention: Tensor  # Y, (L, L, n)
    tilt: Tensor  # Y K, (L, L, n)
    floor: float  # sum over sentences of the loss at S = Y
    positions: Tensor  # u, (L,)
    teacher: Tensor  # Q*, (d,)
    score: Tensor  # M, (r, r)
    value: str  # kind of the student's value matrix, see `architectures.Form`

    @property
    def d(self) -> int:
        """Embedding dimension."""
        return self.inputs.shape[1]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of weights that a student of these sentences has."""
        beyond = {"none": 0, "pair": 2, "full": self.d}.get(self.value)  # the columns
        return () if beyond is None else ((len(self.score) + beyond) * self.d,)

    def double(self) -> "Sentences":
        """The same training set in float64."""
        tensors = {name: value.double() for name, value in vars(self).items() if torch.is_tensor(value)}
        return replace(self, **tensors)

    def linear(self) -> np.ndarray:
        """The linear model fitted on these sentences, (L, L)."""
        cross = (self.attention[:, :, None] * self.gram).sum(1) - self.tilt  # Y xi x^T/d
        return fit_linear(*(sums.sum(2).double().cpu().numpy() for sums in (self.gram, cross)))


def sample(
    task: Task, architecture: Architecture, alpha: float, d: int, rng: np.random.Generator, device: str = "cpu"
) -> Sentences:
    """Draw a teacher and a training set; with two independent tokens the same ones as `two_tokens.sample`."""
    if any(direction.encoding != 1 for direction in task.directions) or len(task.teachers) > 1:
        allowed = "tied or rank2, of two independent tokens, for this task"
        raise BadInput("architecture", architecture.form, allowed + COVERED)
    teacher, xi, y = draw(task, alpha, d, rng, architecture)
    target = task.omega * torch.tensor(architecture.attention(task), dtype=y.dtype)[:, :, None]
    target = target + (1 - task.omega) * torch.softmax(y[:, None] * y[None], dim=1)
    positions = torch.tensor(architecture.positions, dtype=y.dtype)
    x = positional_encoding(task, xi)
    gram = torch.stack([torch.stack([(first * second).sum(1) for second in x]) for first in x]) / d
    along = x.sum(2) / d**1.5
    marked = (target * positions[:, None]).sum(1)  # Y u
    return Sentences(
        inputs=(x / d**0.5).reshape(-1, d).to(device),
        gram=gram.to(device),
        attention=target.to(device),
        tilt=(marked[:, None] * along).to(device),
        floor=marked.double().square().sum().item() / (2 * d),
        positions=positions.to(device),
        teacher=teacher.to(device),
        score=torch.tensor(architecture.score, dtype=y.dtype, device=device),
        value=architecture.value,
    )


def risk(data: Sentences, weights: Tensor, lam: float) -> tuple[Tensor, Tensor]:
    """Empirical risk of `k` students, (k,) in float64, and its gradient, (k, p).

    Args:
        weights: as from `training.start_weights`, (k, p).
        lam: ridge penalty on the columns of fields and on the correction V of the value matrix, as ``lam/2 |V|_F^2`` in
            both its forms. On u and v themselves it would leave exactly nothing of u v^T/d.
    """
    k, r, d = len(weights), len(data.score), data.d
    of_output, further = OUTPUTS[data.value]
    vectors = weights.reshape(k, -1, d)  # columns of fields; then u and v, or the rows of V
    columns, read = vectors[:, :r], vectors[:, : r + further]  # what sentences are multiplied with
    fields = (read.reshape(-1, d) @ data.inputs.mT).reshape(k, read.shape[1], len(data.positions), -1)
    h, others = fields[:, :r], fields[:, r:]
    mixed = torch.einsum("rs,ksan->kran", data.score, h)  # M h
    scores = (h[:, :, :, None] * mixed[:, :, None]).sum(1)  # (k, L, L, n)
    attention = torch.softmax(scores, dim=2)
    part = of_output(data, lam, vectors[:, r:], others, attention)
    by_score = attention * (part.by_attention - (attention * part.by_attention).sum(2, keepdim=True))
    mixed_back = torch.einsum("sr,ksan->kran", data.score, h)  # M^T h
    by_field = (by_score[:, None] * mixed[:, :, None]).sum(3) + (by_score[:, None] * mixed_back[:, :, :, None]).sum(2)
    by_field = torch.cat([by_field, part.by_fields], dim=1)
    by_read = (by_field.reshape(k * read.shape[1], -1) @ data.inputs).reshape(read.shape)
    penalty = 0.5 * lam * columns.reshape(k, -1).square().sum(1, dtype=torch.float64)
    by_rest = part.by_rest + by_read[:, r:] if further else part.by_rest
    gradient = torch.cat([by_read[:, :r] + lam * columns, by_rest], dim=1)
    return part.value + penalty, gradient.reshape(k, -1)


class _Part(NamedTuple):
    """What a form of the output adds up to, given its attention: the risk without the columns' penalty, and slopes."""

    value: Tensor  # (k,), float64
    by_attention: Tensor  # (k, L, L, n)
    by_fields: Tensor  # (k, number of vectors read, L, n), by the fields of u and v
    by_rest: Tensor  # (k, vectors beyond the columns, d), at given fields


def _without_value(data: Sentences, lam: float, rest: Tensor, fields: Tensor, attention: Tensor) -> _Part:
    """The output S x."""
    miss = data.attention - attention
    pull = (miss[:, :, :, None] * data.gram).sum(2)  # E G
    value = (miss * (0.5 * pull - data.tilt)).sum((1, 2, 3), dtype=torch.float64) + data.floor
    return _Part(value, data.tilt - pull, fields, rest)


def _rank_one_value(data: Sentences, lam: float, rest: Tensor, fields: Tensor, attention: Tensor) -> _Part:
    """The output S x (1 + u v^T/d), with the penalty on u v^T/d."""
    plain, miss = _without_value(data, lam, rest, fields, attention), data.attention - attention
    (u, v), (a, b) = rest.unbind(1), fields.unbind(1)  # a = x u/sqrt(d), b = x v/sqrt(d)
    u_size, v_size = u.square().mean(1)[:, None], v.square().mean(1)[:, None]
    size, mean = v_size[:, :, None], v.mean(1)[:, None, None]
    marked = (data.attention * data.positions[:, None]).sum(1)  # Y u of the positions
    passed = (attention * a[:, None]).sum(2)  # S x u/sqrt(d)
    left = (miss * b[:, None]).sum(2) - marked * mean  # (Y xi - S x) v/sqrt(d)
    by_passed = size * passed - left
    added = (passed * (by_passed - left)).sum((1, 2), dtype=torch.float64) / (2 * data.d)
    by_attention = (by_passed[:, :, None] * a[:, None] + passed[:, :, None] * b[:, None]) / data.d
    by_a, by_b = (attention * by_passed[:, :, None]).sum(1), -(miss * passed[:, :, None]).sum(1)
    by_v = v * passed.square().sum((1, 2))[:, None] + (marked * passed).sum((1, 2))[:, None]
    return _Part(
        plain.value + (added + 0.5 * lam * (u_size * v_size)[:, 0]),
        plain.by_attention + by_attention,
        torch.stack([by_a, by_b], dim=1) / data.d,
        torch.stack([lam * v_size * u, lam * u_size * v + by_v / data.d], dim=1) / data.d,
    )


def _full_value(data: Sentences, lam: float, rest: Tensor, fields: Tensor, attention: Tensor) -> _Part:
    """The output S x (1 + V), with the penalty on V."""
    x = data.inputs.reshape(len(data.positions), -1, data.d)  # x/sqrt(d)
    marked = (data.attention * data.positions[:, None]).sum(1) / data.d  # Y u/d: xi/sqrt(d) is x/sqrt(d) - u 1_d/d
    values, by_attention, by_matrix = [], [], []
    for V, S, E in zip(rest, attention, data.attention - attention):
        mixed = torch.einsum("abn,bnd->and", S, x)
        left = torch.einsum("abn,bnd->and", E, x) - marked[:, :, None] - mixed @ V
        values.append(0.5 * (left.square().sum(dtype=torch.float64) + lam * V.square().sum(dtype=torch.float64)))
        back = left + left @ V.mT  # left (1 + V)^T
        by_attention.append(-torch.einsum("and,bnd->abn", back, x))
        by_matrix.append(-mixed.reshape(-1, data.d).mT @ left.reshape(-1, data.d) + lam * V)
    return _Part(torch.stack(values), torch.stack(by_attention), fields, torch.stack(by_matrix))


# Of each kind of value matrix: its risk, and how many vectors beyond the columns sentences are multiplied with.
OUTPUTS = {"none": (_without_value, 0), "pair": (_rank_one_value, 2), "full": (_full_value, 0)}
