"""Sentences and their teacher (paper, Section 3), and the linear model fitted to sentences.

A sentence is L tokens, xi (L, d), with N(0, sigma^2) entries. The teacher mixes the tokens with
Y = (1 - omega) softmax(y y^T) + omega A, where y = xi Q*/sqrt(d). The student reads x = xi + u 1_d^T/sqrt(d); for two
tokens u = (1, -1). It mixes x with S = softmax(h h^T), h = x Q/sqrt(d).

Sentences of a task with structure are drawn in the basis in which the covariances are diagonal.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from ..attention import attention, softmax
from ..errors import BadInput, check_choice, check_count, check_memory, check_positive
from ..task import Task, encoding, teacher_profile, variances
from .architectures import STANDARD, Architecture

TOKEN_COPIES = 3  # number of copies of the tokens in memory during a draw: as drawn, with encoding, and reduced
CHUNK = 2**27  # largest number of entries drawn at once (half a gigabyte); the stored results need fewer
LINEAR_RIDGE = 1e-4  # ridge penalty of the linear baseline, as published


class TensorRecord:
    """A dataclass whose tensors all have the same type and are on the same device. A record is equal only to itself."""

    inputs: Tensor  #: tokens x/sqrt(d), along the last axis

    @property
    def d(self) -> int:
        """The embedding dimension d."""
        return self.inputs.shape[-1]

    def to(self, *where: Any) -> Self:
        """Return a copy on a different device, or in float32 or float64.

        The arguments are as for `torch.Tensor.to`.
        """
        tensors = {name: value.to(*where) for name, value in vars(self).items() if torch.is_tensor(value)}
        for tensor in tensors.values():
            check_choice("dtype of data", tensor.dtype, (torch.float32, torch.float64))
        return replace(self, **tensors)  # pyright: ignore[reportArgumentType, reportType]

    def double(self) -> Self:
        """Return a copy in float64."""
        return self.to(torch.float64)


def sentence_count(alpha: float, d: int) -> int:
    """Return the number of training sentences n = alpha d, rounded; raise `BadInput` if it is zero."""
    d = check_count("d", d, at_least=2)
    n = round(check_positive("alpha", alpha) * d)
    if n < 1:
        raise BadInput(f"alpha = {alpha} gives no sentence at d = {d}; alpha d must be above 1/2")
    return n


def draw(
    task: Task, alpha: float, d: int, rng: np.random.Generator, architecture: Architecture = STANDARD
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw the teacher, then sentences and the teacher's fields; see `draw_teacher` and `draw_sentences`."""
    n = sentence_count(alpha, d)
    needed = TOKEN_COPIES * 4 * architecture.tokens * n * d
    check_memory({"d": d, "alpha": alpha}, needed)  # fail early, before an array of this size is allocated
    teacher = draw_teacher(task, d, rng)
    return teacher, *draw_sentences(task, teacher, n, rng, architecture)


class _ChunkGenerator:
    """A random generator with which sentences drawn in chunks are the same as sentences drawn all at once.

    A draw of all sentences gives the first tokens of all sentences before the second tokens.
    """

    def __init__(self, rng: np.random.Generator, counts: list[int], tokens: int, d: int):
        self.rng, self.streams = rng, []
        for _ in range(tokens):
            self.streams.append(deepcopy(rng))
            for count in counts:
                # Advance the generator to the beginning of the next token.
                rng.standard_normal((count, d), dtype=np.float32)
        self.choice = rng.choice

    def standard_normal(self, shape: tuple, dtype: type) -> np.ndarray:
        return np.stack([stream.standard_normal(shape[1:], dtype=dtype) for stream in self.streams])


def draw_in_chunks(
    task: Task, alpha: float, d: int, rng: np.random.Generator, device: str, copies: int = 1
) -> tuple[Tensor, Iterator[tuple[Tensor, Tensor]]]:
    """Draw the same teacher and two-token sentences as `draw`, with the sentences in chunks.

    The caller reduces each chunk before it requests the next one, so that the drawn sentences need not fit into memory.

    device: device on which the caller keeps the reduced sentences.
    copies: size of the reduced sentences, in copies of the tokens.
    """
    n, most = sentence_count(alpha, d), max(1, CHUNK // (2 * d))
    check_memory({"d": d, "alpha": alpha}, copies * 8 * n * d, device)
    if n <= most:
        teacher, *sentences = draw(task, alpha, d, rng)
        return teacher, iter([tuple(sentences)])
    counts = [min(most, n - first) for first in range(0, n, most)]
    check_memory({"d": d, "alpha": alpha}, 8 * d * (TOKEN_COPIES * most + copies * n * (device == "cpu")))
    teacher = draw_teacher(task, d, rng)
    ahead: Any = _ChunkGenerator(rng, counts, 2, d)
    return teacher, (draw_sentences(task, teacher, count, ahead) for count in counts)


def draw_teacher(task: Task, d: int, rng: np.random.Generator) -> Tensor:
    """Draw the teacher Q* in float32.

    It is (d,), or (t, d) for t columns.
    """
    columns = len(task.teachers)
    entries = rng.standard_normal((columns, d) if columns > 1 else d, dtype=np.float32)
    if task.structured:
        size = np.array(task.teachers)[:, None] * teacher_profile(task, d) / task.density
        chosen = rng.random(size.shape) < task.density
        entries = entries * np.where(chosen, np.sqrt(size), 0.0).astype(np.float32).reshape(entries.shape)
    return torch.from_numpy(entries)


def draw_sentences(
    task: Task, teacher: Tensor, n: int, rng: np.random.Generator, architecture: Architecture = STANDARD
) -> tuple[Tensor, Tensor]:
    """Draw `n` sentences xi (L, n, d) and the teacher's fields y, in float32.

    The fields are (L, n) for a teacher (d,), and (L, n, t) for a teacher of t columns, (t, d).
    """
    d, _ = teacher.shape[-1], architecture.attention(task)  # raises `BadInput` if A is for another number of tokens
    xi = torch.from_numpy(rng.standard_normal((architecture.tokens, n, d), dtype=np.float32))
    if task.spectrum:
        of_tokens = np.sqrt(variances(task, d))
        if of_tokens.ndim == 2 and (len(of_tokens) != architecture.tokens or architecture.correlation):
            raise BadInput(f"spectrum: give one eigenvalue, or {architecture.tokens} for as many independent tokens")
        xi.mul_(torch.tensor(of_tokens, dtype=xi.dtype).reshape(-1, 1, d))
    else:
        xi.mul_(task.sigma)
    if architecture.correlation:
        mixing = np.linalg.cholesky(architecture.correlations)
        xi = torch.tensordot(torch.tensor(mixing, dtype=xi.dtype), xi, dims=1)
    if task.clusters:
        choices = rng.choice(len(task.clusters), n, p=[cluster.weight for cluster in task.clusters])
        first = teacher if teacher.ndim == 1 else teacher[0]
        along = torch.stack([torch.tensor(encoding(task, d)).to(first) / d**0.5, first / first.norm()])
        sizes = np.array([cluster[1:] for cluster in task.clusters])  # (clusters, along, L)
        xi += torch.einsum("nka,kd->and", torch.tensor(sizes[choices]).to(first), along)
    return xi, xi @ teacher.mT / d**0.5 if teacher.ndim == 2 else xi @ teacher / d**0.5


def positional_encoding(task: Task, xi: Tensor) -> Tensor:
    """Add the positional encoding to the tokens xi (L, n, d), and return x = xi + u 1_d^T/sqrt(d)."""
    positions = torch.tensor(Architecture(tokens=len(xi)).positions, dtype=xi.dtype)
    read = positions[:, None, None] / xi.shape[2] ** 0.5
    return xi + read * torch.tensor(encoding(task, xi.shape[2])).to(xi)


def labels(task: Task, xi: Tensor, y: Tensor) -> Tensor:
    """Return the labels Y xi of two-token sentences, given the teacher's fields.

    The labels are (2, n, d), and the fields are (2, n) or (2, n, t).
    """
    y = y.reshape(*xi.shape[:2], -1)
    semantic = softmax(torch.einsum("ant,bnt->nab", y, y))
    Y = (1 - task.omega) * semantic + task.omega * torch.tensor(task.matrix, dtype=y.dtype)
    return torch.einsum("nab,bnd->and", Y, xi)


def sampled_error(task: Task, xi: Tensor, y: Tensor, weights: Tensor | None = None, mixing: Any = None) -> float:
    """Return the test error on given two-token sentences, the mean of ``|Y xi - S x|^2/(2 d)``.

    xi, y: sentences and fields from `draw_sentences`
    weights: Q (d,) of a student; if they are left out, the attention S is `mixing`, a fixed (2, 2) matrix
    """
    x = positional_encoding(task, xi)
    S = torch.tensor(mixing).to(x)[None] if weights is None else attention((x @ weights / x.shape[2] ** 0.5).T)
    miss = labels(task, xi, y) - torch.einsum("nab,bnd->and", S.expand(x.shape[1], 2, 2), x)
    return miss.square().sum(dtype=torch.float64).item() / (2 * x[0].numel())


def fit_linear(gram: np.ndarray, cross: np.ndarray) -> np.ndarray:
    """Fit the linear model by ridge regression, from second moments of the sentences.

    This is Eq. 18. The moments are sums over the sentences: `gram` of x x^T/d, and `cross` of Y xi x^T/d. The linear
    model is (L, L).
    """
    return np.linalg.solve(gram + LINEAR_RIDGE * np.eye(len(gram)), cross.T).T


def moments(left: Tensor, right: Tensor) -> np.ndarray:
    """Return the sum over all sentences of ``a b^T/d`` for two arrays of tokens, ``a`` and ``b``.

    The tokens are (L, n, d), and the sum is (L, L).
    """
    return torch.einsum("and,bnd->ab", left, right).double().numpy() / left.shape[2]
