"""The risk of any student on any sentences (paper, Appendices C.10 and E.3), in the form that `training.fit` minimises.

With x = xi + u 1_d^T/sqrt(d) and E = Y - S the miss of a sentence is ``Y xi - S x = E x - Y u 1_d^T/sqrt(d)``. Its
square needs only ``G = x x^T/d`` and ``K = u (x 1_d)^T/d^(3/2)``, so that all forms but the full value matrix leave
nothing of size d beside the fields h = x W/sqrt(d).
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
import torch

from ..errors import check_choice
from .architectures import SCORES
from .rank_one import LINEAR_RIDGE, sentences


@dataclass(frozen=True)
class Sentences:
    """Training sentences, reduced to what the risk needs; n is the last axis.

    Attributes
    ----------
    inputs : (L n, d) tensor
        x/sqrt(d), all first tokens above all second ones, and so on.
    gram : (L, L, n) tensor
        G.
    attention : (L, L, n) tensor
        Y.
    tilt : (L, L, n) tensor
        Y K.
    floor : float
        Sum over sentences of the loss at S = Y.
    positions : (L,) tensor
        u.
    teacher : (d,) tensor
        Q*.
    score : (r, r) tensor
        M.
    form : str
    """

    inputs: torch.Tensor
    gram: torch.Tensor
    attention: torch.Tensor
    tilt: torch.Tensor
    floor: float
    positions: torch.Tensor
    teacher: torch.Tensor
    score: torch.Tensor
    form: str

    @property
    def d(self):
        """Embedding dimension."""
        return self.inputs.shape[1]

    def double(self):
        """The same training set in float64."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: value.double() for name, value in values.items() if torch.is_tensor(value)})


def sample(task, architecture, alpha, d, rng, device="cpu"):
    """Draw a teacher and a training set; with two independent tokens the same ones as `rank_one.sample`.

    Parameters
    ----------
    task : Task
    architecture : Architecture
    alpha, d, rng, device
        As for `rank_one.sample`.

    Returns
    -------
    Sentences
    """
    n, count = sentences(alpha, d, copies=architecture.tokens / 2), architecture.tokens
    teacher = torch.from_numpy(rng.standard_normal(d, dtype=np.float32))
    xi = torch.from_numpy(rng.standard_normal((count, n, d), dtype=np.float32)).mul_(task.sigma)
    if architecture.correlation:
        mixing = np.linalg.cholesky(architecture.covariance(task)) / task.sigma
        xi = torch.tensordot(torch.tensor(mixing, dtype=xi.dtype), xi, dims=1)
    y = xi @ teacher / d**0.5
    target = task.omega * torch.tensor(architecture.attention(task), dtype=y.dtype)[:, :, None]
    target = target + (1 - task.omega) * torch.softmax(y[:, None] * y[None], dim=1)
    positions = torch.tensor(architecture.positions, dtype=y.dtype)
    x = xi.add_(positions[:, None, None] / d**0.5)
    gram = torch.stack([torch.stack([(each * other).sum(1) for other in x]) for each in x]) / d
    along = x.sum(2) / d**1.5
    marked = (target * positions[:, None]).sum(1)  # Y u
    return Sentences(
        inputs=(x / d**0.5).reshape(count * n, d).to(device),
        gram=gram.to(device),
        attention=target.to(device),
        tilt=(marked[:, None] * along).to(device),
        floor=marked.double().square().sum().item() / (2 * d),
        positions=positions.to(device),
        teacher=teacher.to(device),
        score=torch.tensor(architecture.score, dtype=y.dtype, device=device),
        form=architecture.form,
    )


def starts_of(form):
    """The starts that a form has: a mixed one only for more than one column of weights."""
    return ("semantic", "positional", *(("mixed",) if len(SCORES[form]) > 1 else ()), "random")


def start_weights(form, start, teacher, rng):
    """Initial weights, flat: columns of fields first, then what belongs to the value matrix.

    Parameters
    ----------
    form : str
    start : {"semantic", "positional", "mixed", "random"}
        Of those that `starts_of` names. Every column at Q* (semantic) or 1_d/sqrt(d) (positional); the first at Q*, the
        others at 1_d/sqrt(d) (mixed); or 0.1 N(0, 1) (random). Columns that can be exchanged (rank 2) would stay equal
        for ever from equal starts: there all are displaced by 0.1 N(0, 1).
    teacher : (d,) tensor
    rng : numpy.random.Generator

    Returns
    -------
    (p,) tensor
        The rank-one correction u v^T/d of the value matrix starts at u = 0 and v ~ N(0, 1): it is zero, but no
        stationary point, as it would be with v = 0. The full one starts at V = 0.

    Raises
    ------
    BadInput
        The form has no such start.
    """
    check_choice("init", start, starts_of(form))
    d = len(teacher)
    kinds = {"semantic": teacher, "positional": torch.full_like(teacher, d**-0.5), "random": torch.zeros_like(teacher)}
    score = np.array(SCORES[form])
    first, others = ("semantic", "positional") if start == "mixed" else (start, start)
    columns = [kinds[name].clone() for name in (first, *[others] * (len(score) - 1))]
    exchangeable = len(score) > 1 and (score == score[::-1, ::-1]).all()
    for column in columns:
        if start == "random" or (exchangeable and start != "mixed"):
            column += torch.from_numpy(0.1 * rng.standard_normal(d, dtype=np.float32)).to(teacher)
    if form == "value":
        columns += [torch.zeros_like(teacher), torch.from_numpy(rng.standard_normal(d, dtype=np.float32)).to(teacher)]
    if form == "full_value":
        columns.append(torch.zeros(d * d).to(teacher))
    return torch.cat(columns)


def risk(data, weights, lam):
    """Empirical risk of `k` students and its gradient.

    The penalty is on the columns of fields and on the correction V of the value matrix, as ``lam/2 |V|_F^2`` in both
    its forms. On u and v themselves it would leave exactly nothing of u v^T/d.

    Parameters
    ----------
    data : Sentences
    weights : (k, p) tensor
        As from `start_weights`.
    lam : float

    Returns
    -------
    value : (k,) float64 tensor
    gradient : (k, p) tensor
    """
    k, r, d = len(weights), len(data.score), data.d
    output = OUTPUTS[data.form]
    vectors = weights.reshape(k, -1, d)  # columns of fields; then u and v, or the rows of V
    read = vectors[:, : r + output.read]  # what sentences are multiplied with
    fields = (read.reshape(-1, d) @ data.inputs.mT).reshape(k, read.shape[1], len(data.positions), -1)
    h, others = fields[:, :r], fields[:, r:]
    moved = torch.einsum("rs,ksan->kran", data.score, h)  # M h
    scores = (h[:, :, :, None] * moved[:, :, None]).sum(1)  # (k, L, L, n)
    attention = torch.softmax(scores, dim=2)
    found = output.risk(data, lam, vectors[:, r:], others, attention)
    by_score = attention * (found.by_attention - (attention * found.by_attention).sum(2, keepdim=True))
    moved_back = torch.einsum("sr,ksan->kran", data.score, h)  # M^T h
    by_field = (by_score[:, None] * moved[:, :, None]).sum(3) + (by_score[:, None] * moved_back[:, :, :, None]).sum(2)
    by_field = torch.cat([by_field, found.by_fields], dim=1)
    by_read = (by_field.reshape(read.shape[0] * read.shape[1], -1) @ data.inputs).reshape(read.shape)
    columns, penalty = vectors[:, :r], 0.5 * lam * vectors[:, :r].reshape(k, -1).square().sum(1, dtype=torch.float64)
    by_rest = found.by_rest
    if output.read:
        by_rest = by_rest + by_read[:, r:]
    gradient = torch.cat([by_read[:, :r] + lam * columns, by_rest], dim=1)
    return found.value + penalty, gradient.reshape(k, -1)


class _Output(NamedTuple):
    """What a form of the output adds up to, given its attention: the risk without the columns' penalty, and slopes."""

    value: torch.Tensor  # (k,), float64
    by_attention: torch.Tensor  # (k, L, L, n)
    by_fields: torch.Tensor  # (k, number of vectors read, L, n), by the fields of u and v
    by_rest: torch.Tensor  # (k, vectors beyond the columns, d), at given fields


def _without_value(data, lam, rest, fields, attention):
    """The output S x."""
    miss = data.attention - attention
    pull = (miss[:, :, :, None] * data.gram).sum(2)  # E G
    value = (miss * (0.5 * pull - data.tilt)).sum((1, 2, 3), dtype=torch.float64) + data.floor
    return _Output(value, data.tilt - pull, fields, rest)


def _rank_one_value(data, lam, rest, fields, attention):
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
    return _Output(
        plain.value + (added + 0.5 * lam * (u_size * v_size)[:, 0]),
        plain.by_attention + by_attention,
        torch.stack([by_a, by_b], dim=1) / data.d,
        torch.stack([lam * v_size * u, lam * u_size * v + by_v / data.d], dim=1) / data.d,
    )


def _full_value(data, lam, rest, fields, attention):
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
    return _Output(torch.stack(values), torch.stack(by_attention), fields, torch.stack(by_matrix))


class _Form(NamedTuple):
    """A form of the output: its risk, and how many vectors beyond the columns sentences are multiplied with."""

    risk: Callable
    read: int = 0


OUTPUTS = dict.fromkeys(SCORES, _Form(_without_value)) | {
    "value": _Form(_rank_one_value, read=2),
    "full_value": _Form(_full_value),
}


def fit_linear(data):
    """As `rank_one.fit_linear`: ridge regression of the labels on x with one L x L matrix."""
    gram = data.gram.sum(2).double().cpu().numpy()
    cross = (data.attention[:, :, None] * data.gram).sum(1) - data.tilt  # Y xi x^T/d
    return np.linalg.solve(gram + LINEAR_RIDGE * np.eye(len(gram)), cross.sum(2).double().cpu().numpy().T).T
