"""The task and its empirical risk (paper, Sections 3 and 5).

A sentence is two tokens, xi (2, d), with independent N(0, sigma^2) entries. The teacher mixes
them with Y = (1 - omega) softmax(y y^T) + omega A, where y = xi Q*/sqrt(d). The student reads
x = xi + p, with p_1 = -p_2 = 1_d/sqrt(d), and mixes it with S = softmax(h h^T), h = x Q/sqrt(d).
"""

from dataclasses import dataclass, replace

import numpy as np
import torch

from ..errors import BadInput, check_count, check_memory, check_positive
from .one_pass import penalised_misfit

LINEAR_RIDGE = 1e-4  # ridge penalty of the linear baseline, as published


@dataclass(frozen=True)
class Dataset:
    """Training sentences, reduced to what the risk needs.

    A student's output for token 1 is x_2 + s (x_1 - x_2), s = S_11: it moves on the line through
    the two tokens. So each row's loss is ``1/2 |x_1 - x_2|^2/d (s - target)^2`` plus a constant, where
    `target` projects the label on that line, and nothing of size d is left beside h = x Q/sqrt(d).

    Attributes
    ----------
    inputs : (n, 2, d) tensor
        x/sqrt(d) of the two tokens of each sentence.
    stiffness : (n,) tensor
        ``|x_1 - x_2|^2/d``.
    targets : (n, 2) tensor
        The values of S_11 and S_22 that would fit each sentence best.
    floor : float
        Sum over sentences of the loss at `targets`.
    gram, cross : (2, 2) arrays
        Sums over sentences of x x^T/d and Y xi x^T/d, for the linear baseline.
    teacher : (d,) tensor
        Q*.
    """

    inputs: torch.Tensor
    stiffness: torch.Tensor
    targets: torch.Tensor
    floor: float
    gram: np.ndarray
    cross: np.ndarray
    teacher: torch.Tensor

    @property
    def d(self):
        """Embedding dimension."""
        return self.inputs.shape[2]

    def double(self):
        """The same training set in float64."""
        tensors = {name: value.double() for name, value in vars(self).items() if torch.is_tensor(value)}
        return replace(self, **tensors)


def sentences(alpha, d, copies=1):
    """Number of training sentences n = alpha d, rounded; `BadInput` if none, or no memory for `copies` such sets."""
    d = check_count("d", d, at_least=2)
    n = round(check_positive("alpha", alpha) * d)
    if n < 1:
        raise BadInput("alpha", alpha, f"large enough for one sentence: alpha d >= 1/2 at d = {d}")
    larger = max(("alpha", alpha), ("d", d), key=lambda each: each[1])
    check_memory(*larger, copies * 4 * 4 * 2 * n * d)  # four float32 arrays of (2, n, d)
    return n


def teacher_attention(task, y):
    """Attention matrix of the teacher (Eq. 16).

    Parameters
    ----------
    task : Task
    y : (2, n) tensor
        Teacher fields y = xi Q*/sqrt(d) of the two tokens.

    Returns
    -------
    (n, 2, 2) tensor
        Y = (1 - omega) softmax(y y^T) + omega A.
    """
    scores = torch.einsum("an,bn->nab", y, y)
    return (1 - task.omega) * torch.softmax(scores, dim=2) + task.omega * torch.tensor(task.matrix, dtype=y.dtype)


def sample_sentences(task, teacher, n, rng):
    """Draw `n` sentences xi (2, n, d) and their labels Y xi (2, n, d) for a teacher (d,), float32 tensors."""
    d = teacher.shape[0]
    xi = torch.from_numpy(rng.standard_normal((2, n, d), dtype=np.float32)).mul_(task.sigma)
    y = xi @ teacher / d**0.5
    return xi, torch.einsum("nab,bnd->and", teacher_attention(task, y), xi)


def positional_encoding(xi):
    """Tokens as the student reads them: x = xi + p, with p_1 = -p_2 = 1_d/sqrt(d); xi is (2, n, d)."""
    p = torch.tensor([1.0, -1.0], dtype=xi.dtype).reshape(2, 1, 1) / xi.shape[2] ** 0.5
    return xi + p


def sample(task, alpha, d, rng, device="cpu"):
    """Draw a teacher and a training set.

    Parameters
    ----------
    task : Task
    alpha : float > 0
        Sample complexity n/d.
    d : int >= 2
        Embedding dimension.
    rng : numpy.random.Generator
        Everything is drawn from it on the CPU, so that a seed means the same data on every device.
    device : str
        Where the training set is kept.

    Returns
    -------
    Dataset
    """
    teacher, xi, labels = _draw(task, alpha, d, rng)
    x = positional_encoding(xi)
    line = x[0] - x[1]
    stiffness = line.square().sum(1)
    start = torch.stack([labels[0] - x[1], labels[1] - x[0]])  # what s times the line should cover
    targets = torch.stack([(start[0] * line).sum(1), -(start[1] * line).sum(1)]) / stiffness
    distance = start.square().sum(2) - stiffness * targets.square()
    return Dataset(
        inputs=(x / d**0.5).transpose(0, 1).contiguous().to(device),
        stiffness=(stiffness / d).to(device),
        targets=targets.T.contiguous().to(device),
        floor=distance.sum(dtype=torch.float64).item() / (2 * d),
        gram=torch.einsum("and,bnd->ab", x, x).double().numpy() / d,
        cross=torch.einsum("and,bnd->ab", labels, x).double().numpy() / d,
        teacher=teacher.to(device),
    )


def _draw(task, alpha, d, rng):
    """Teacher (d,), sentences and labels (2, n, d)."""
    n = sentences(alpha, d)
    teacher = torch.from_numpy(rng.standard_normal(d, dtype=np.float32))
    return teacher, *sample_sentences(task, teacher, n, rng)


def risk(data, weights, lam):
    """Empirical risk R(Q) (Eq. 3) of `k` students, and its gradient.

    Parameters
    ----------
    data : Dataset
    weights : (k, r d) tensor
        One column Q of each student, r = 1, or the two of students whose scores add up, r = 2 (Appendix C.10).
    lam : float
        Ridge penalty.

    Returns
    -------
    value : (k,) float64 tensor
        R; the training loss is R/d.
    gradient : (k, r d) tensor
    """
    return (_by_products if weights.is_cuda else _in_one_pass)(data, weights, lam)


def _in_one_pass(data, weights, lam):
    """`risk` by a compiled pass over the sentences."""
    inputs, stiffness, targets = data.inputs.numpy(), data.stiffness.numpy(), data.targets.numpy()
    columns = weights.numpy().reshape(len(weights), -1, data.d)
    value, gradient = penalised_misfit(inputs, stiffness, targets, columns, lam)
    return torch.from_numpy(value + data.floor), torch.from_numpy(gradient.reshape(weights.shape))


def _by_products(data, weights, lam):
    """`risk` by two products with the data matrix."""
    columns, rows = weights.reshape(len(weights), -1, data.d), data.inputs.reshape(-1, data.d)
    h = (columns @ rows.mT).reshape(*columns.shape[:2], -1, 2)  # x Q/sqrt(d), as (k, r, n, 2)
    lean = h - h.flip(3)  # h_a - h_b
    s = torch.sigmoid((h * lean).sum(1))  # S_11 and S_22
    excess = s - data.targets
    force = data.stiffness[:, None] * excess
    slope = (force * s * (1 - s))[:, None]  # by the score h_a (h_a - h_b)
    field = slope * (h + lean) - (slope * h).flip(3)
    value = 0.5 * (force * excess).sum((1, 2), dtype=torch.float64)
    value = value + 0.5 * lam * columns.square().sum((1, 2), dtype=torch.float64)
    gradient = field.reshape(*columns.shape[:2], -1) @ rows + lam * columns
    return value + data.floor, gradient.reshape(weights.shape)


def misfits(data, weights):
    """Loss of each sentence (n,) under a student (d,); their sum, the penalty and `floor` are R."""
    h = data.inputs @ weights
    s = torch.sigmoid(h * (h - h.flip(1)))  # S_11 and S_22
    return 0.5 * data.stiffness * (s - data.targets).square().sum(1)


def overlaps(task, weights, teacher):
    """Order parameters of given weights (Eq. 6).

    Parameters
    ----------
    task : Task
    weights, teacher : (d,) tensors

    Returns
    -------
    dict
        ``q = sigma^2 |Q|^2/d``, ``m = Q.1/d``, ``theta = sigma^2 Q.Q*/d``, and of the teacher
        ``rho = sigma^2 |Q*|^2/d`` and ``m_teacher = Q*.1/d`` (both only differ from sigma^2 and 0 at finite d).
    """
    weights, teacher = weights.double(), teacher.double()
    d, variance = len(weights), task.sigma**2
    return {
        "q": variance * (weights @ weights).item() / d,
        "m": weights.mean().item(),
        "theta": variance * (weights @ teacher).item() / d,
        "rho": variance * (teacher @ teacher).item() / d,
        "m_teacher": teacher.mean().item(),
    }


def fit_linear(data):
    """Ridge regression of the labels on x with one 2x2 matrix: the purely positional model (Eq. 18)."""
    return _ridge(data.gram, data.cross)


def fit_both_linear(task, alpha, d, rng):
    """Linear models fitted on the data set that `sample` draws, by what they read.

    Parameters
    ----------
    task, alpha, d, rng
        As for `sample`.

    Returns
    -------
    teacher : (d,) tensor
    fits : dict of (2, 2) arrays
        "tokens": ridge regression of the labels on xi, as the published experiments have it. "tokens and positions":
        on x, which the student reads, as `fit_linear`.
    """
    teacher, xi, labels = _draw(task, alpha, d, rng)
    read = {"tokens": xi, "tokens and positions": positional_encoding(xi)}
    sums = lambda a, b: torch.einsum("and,bnd->ab", a, b).double().numpy() / d  # noqa: E731
    return teacher, {name: _ridge(sums(x, x), sums(labels, x)) for name, x in read.items()}


def _ridge(gram, cross):
    return np.linalg.solve(gram + LINEAR_RIDGE * np.eye(2), cross.T).T
