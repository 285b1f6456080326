"""Sentences as `two_tokens.sample` draws them, and their losses and risk by definition (paper, Eqs. 3, 15 and 16)."""

import numpy as np
import torch

from attention_phases.model import two_tokens
from attention_phases.model.sentences import draw, positional_encoding


def losses(task, xi, y, columns=None, fixed=None, given=0.0):
    """Return ``|Y xi - S x|^2/(2 d)`` of each sentence (n,), from tokens xi (2, n, d) and the teacher's fields y.

    y: (2, n) or (2, n, t)

    columns: weights (r, d), which give the student's attention S; without them S is `fixed` (2, 2)

    given: weight of A in the student's attention, for a student that is given A
    """
    parts = xi, positional_encoding(task, xi), y.reshape(*xi.shape[:2], -1)
    tokens, x, y = (part.transpose(0, 1) for part in parts)
    Y, A = torch.softmax(y @ y.mT, 2), torch.tensor(task.matrix, dtype=xi.dtype)
    if fixed is None:
        h = x @ columns.to(x).T / xi.shape[2] ** 0.5
        fixed = (1 - given) * torch.softmax(h @ h.mT, 2) + given * A
    miss = ((1 - task.omega) * Y + task.omega * A) @ tokens - fixed @ x
    return miss.square().sum((1, 2)) / (2 * xi.shape[2])


def risk(task, xi, y, columns, given=0.0):
    """Return the risk R (Eq. 3) of a student with these columns of weights, in float64; arguments as for `losses`."""
    return losses(task, xi, y, columns, given=given).sum() + task.lam / 2 * columns.square().sum()


def drawn(task, alpha, d, seed):
    """Return the tokens, the fields and the data set that `two_tokens.sample` draws from this seed, all in float64."""
    _, xi, y = draw(task, alpha, d, np.random.default_rng(seed))
    return xi.double(), y.double(), two_tokens.sample(task, alpha, d, np.random.default_rng(seed)).double()
