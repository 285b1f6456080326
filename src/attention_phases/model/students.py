"""The risk of any student on any sentences (paper, Appendices C.10 and E.3), with its gradient for `training.fit`.

With x = xi + u 1_d^T/sqrt(d) and E = Y - S, the error of the output is ``Y xi - S x = E x - Y u 1_d^T/sqrt(d)``. Its
square depends only on ``G = x x^T/d`` and ``K = u (x 1_d)^T/d^(3/2)``. All forms except the full value matrix therefore
need nothing of size d except the fields h = x W/sqrt(d).
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from ..errors import LIMITS_NOTE, BadInput, check_memory
from ..machine import torch_defaults
from ..task import Task
from .architectures import Architecture
from .sentences import TensorRecord, draw, fit_linear, positional_encoding, sentence_count


@dataclass(frozen=True, eq=False)
class Sentences(TensorRecord):
    """Training sentences, reduced to the quantities on which the risk depends.

    The number of sentences is n.
    """

    inputs: Tensor = field(repr=False)  #: x/sqrt(d), all first tokens, then all second tokens, and so on, (L n, d)
    gram: Tensor = field(repr=False)  #: G = x x^T/d of each sentence, (L, L, n)
    attention: Tensor = field(repr=False)  #: teacher's attention Y, (L, L, n)
    tilt: Tensor = field(repr=False)  #: Y K, with K = u (x 1_d)^T/d^(3/2), (L, L, n)
    floor: float  #: sum of the loss at S = Y over the sentences
    positions: Tensor  #: position marks u, (L,)
    teacher: Tensor = field(repr=False)  #: teacher Q*, (d,)
    score: Tensor  #: matrix M of the score, (r, r)
    value: str  #: kind of the student's value matrix, see `architectures.Form`

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of weights that a student must have, as a tuple with one element.

        The tuple is empty if the kind of the value matrix is unknown.
        """
        beyond = {"none": 0, "pair": 2, "full": self.d}.get(self.value)  # number of vectors besides the columns
        return () if beyond is None else ((len(self.score) + beyond) * self.d,)

    def linear(self) -> np.ndarray:
        """Return the linear model (L, L) that is fitted to these sentences."""
        cross = (self.attention[:, :, None] * self.gram).sum(1) - self.tilt  # Y xi x^T/d of each sentence
        return fit_linear(*(sums.sum(2).double().cpu().numpy() for sums in (self.gram, cross)))


@torch_defaults()
def sample(
    task: Task, architecture: Architecture, alpha: float, d: int, rng: np.random.Generator, device: str = "cpu"
) -> Sentences:
    """Draw a teacher and a training set for students of any architecture.

    For two independent tokens both are the same as in `two_tokens.sample`.
    """
    if any(direction.encoding != 1 for direction in task.directions) or len(task.teachers) > 1:
        allowed = "tied or rank2, with two independent tokens, for this task"
        raise BadInput("architecture", architecture.form, allowed + LIMITS_NOTE)
    check_memory({"d": d}, 4 * architecture.tokens * sentence_count(alpha, d) * d, device)
    teacher, xi, y = draw(task, alpha, d, rng, architecture)
    target = task.omega * torch.tensor(architecture.attention(task), dtype=y.dtype)[:, :, None]
    target = target + (1 - task.omega) * torch.softmax(y[:, None] * y[None], dim=1)
    positions = torch.tensor(architecture.positions, dtype=y.dtype)
    x = positional_encoding(task, xi)
    gram = torch.stack([torch.stack([(first * second).sum(1) for second in x]) for first in x]) / d
    along = x.sum(2) / d**1.5
    marked = (target * positions[:, None]).sum(1)  # Y u, the position marks mixed by the teacher
    return Sentences(
        inputs=(x / d**0.5).reshape(-1, d),
        gram=gram,
        attention=target,
        tilt=marked[:, None] * along,
        floor=marked.double().square().sum().item() / (2 * d),
        positions=positions,
        teacher=teacher,
        score=torch.tensor(architecture.score, dtype=y.dtype),
        value=architecture.value,
    ).to(device)


def risk(data: Sentences, weights: Tensor, lam: float) -> tuple[Tensor, Tensor]:
    """Return the empirical risk of each student, and its gradient.

    The risk is (k,) in float64 for k students, and the gradient is (k, p). Both can be differentiated again if the
    weights require a gradient.

    Args:
        weights: (k, p), in the order of `training.start_weights`.
        lam: ridge penalty on the columns of fields, and ``lam/2 |V|_F^2`` on the correction V of the value matrix. The
            penalty is not on u and v themselves, because it would then drive u v^T/d to exactly zero.
    """
    k, r, d = len(weights), len(data.score), data.d
    of_output, further = OUTPUTS[data.value]
    again = weights.requires_grad and torch.is_grad_enabled()
    with torch.enable_grad():
        weights = weights if again else weights.detach().requires_grad_()
        vectors = weights.reshape(k, -1, d)  # columns that define the fields, then u and v or the rows of V
        columns, read = vectors[:, :r], vectors[:, : r + further]  # `read` are the vectors that multiply tokens
        fields = (read.reshape(-1, d) @ data.inputs.mT).reshape(k, read.shape[1], len(data.positions), -1)
        h, others = fields[:, :r], fields[:, r:]
        mixed = torch.einsum("rs,ksan->kran", data.score, h)  # M h, with the fields h
        scores = (h[:, :, :, None] * mixed[:, :, None]).sum(1)  # (k, L, L, n)
        value = of_output(data, lam, vectors[:, r:], others, torch.softmax(scores, dim=2))
        value = value + 0.5 * lam * columns.square().sum((1, 2), dtype=torch.float64)
        (gradient,) = torch.autograd.grad(value.sum(), weights, create_graph=again)
    return value if again else value.detach(), gradient


# Each function below returns the risk (k,) for one kind of output, without the penalty on the columns. The attention is
# (k, L, L, n), `rest` (k, vectors, d) are the vectors after the columns, and `fields` (k, 2, L, n) are the fields of u
# and v.
def _no_value_risk(data: Sentences, lam: float, rest: Tensor, fields: Tensor, attention: Tensor) -> Tensor:
    """Return the risk for the output S x."""
    miss = data.attention - attention
    pull = (miss[:, :, :, None] * data.gram).sum(2)  # E G, with the error E = Y - S of the attention
    return (miss * (0.5 * pull - data.tilt)).sum((1, 2, 3), dtype=torch.float64) + data.floor


def _rank_one_value(data: Sentences, lam: float, rest: Tensor, fields: Tensor, attention: Tensor) -> Tensor:
    """Return the risk for the output S x (1 + u v^T/d), with the penalty on u v^T/d."""
    plain, miss = _no_value_risk(data, lam, rest, fields, attention), data.attention - attention
    (u, v), (a, b) = rest.unbind(1), fields.unbind(1)  # fields a = x u/sqrt(d) and b = x v/sqrt(d)
    u_size, v_size, mean = u.square().mean(1), v.square().mean(1), v.mean(1)
    marked = (data.attention * data.positions[:, None]).sum(1)  # Y u, with the position marks u
    passed = (attention * a[:, None]).sum(2)  # fields of u after mixing, S x u/sqrt(d)
    left = (miss * b[:, None]).sum(2) - marked * mean[:, None, None]  # (Y xi - S x) v/sqrt(d)
    added = (passed * (v_size[:, None, None] * passed - 2 * left)).sum((1, 2), dtype=torch.float64) / (2 * data.d)
    return plain + added + 0.5 * lam * u_size * v_size


def _full_value(data: Sentences, lam: float, rest: Tensor, fields: Tensor, attention: Tensor) -> Tensor:
    """Return the risk for the output S x (1 + V), with the penalty on V."""
    x = data.inputs.reshape(len(data.positions), -1, data.d)  # tokens x/sqrt(d)
    marked = (data.attention * data.positions[:, None]).sum(1) / data.d  # Y u/d, the encoding in Y x/sqrt(d)
    mixed, missed = (torch.einsum("kabn,bnd->kand", S, x) for S in (attention, data.attention - attention))
    left = missed - marked[:, :, None] - mixed @ rest[:, None]
    size, of_value = (part.square().flatten(1).sum(1, dtype=torch.float64) for part in (left, rest))
    return 0.5 * (size + lam * of_value)


# For each kind of value matrix: the function for the risk, and the number of vectors by which tokens are multiplied in
# addition to the columns.
OUTPUTS = {"none": (_no_value_risk, 0), "pair": (_rank_one_value, 2), "full": (_full_value, 0)}
