"""Control variates for the crossing of the training losses.

Trained students share most of the scatter between data sets with students of fixed weights, whose mean loss is known:
subtracting it leaves much less (`analysis.instances`).
"""

from math import sqrt

import torch

from attention_phases.attention import own_attention
from attention_phases.quadrature import tensor_rule

from ..students import CONTROLS

# Sizes of the two students with fixed weights: near those of the trained ones, theta/sigma^2 and m, at alpha_c.
ALIGNED_SIZE, ENCODED_SIZE = 0.4, 0.22
CONTROL_NODES = 60  # of Gauss and Hermite's rule, for each of two fields


def controls(task, data):
    """Numbers of mean zero over data sets, whatever the teacher.

    "length" is ``|Q*|^2/d - 1``. The others are of three students: what their mean squared misfit
    ``(S_11 - Y_11)^2 + (S_22 - Y_22)^2`` on the data differs by from its mean over sentences, times alpha sigma^2 (the
    loss of Eq. 14 at their fields). "blind" has weights zero; "aligned" has weights `ALIGNED_SIZE` Q*; "encoded" has
    weights `ENCODED_SIZE` times the part of 1_d that is orthogonal to Q*.
    """
    teacher = data.teacher.double()
    length, lean = teacher @ teacher / data.d, teacher.mean().item()  # |Q*|^2/d, Q*.1/d
    encoded = ENCODED_SIZE * (1 - lean / length * teacher)
    fields = torch.stack([teacher, encoded]) @ data.inputs.double().reshape(-1, data.d).T
    (y, h) = fields.reshape(2, -1, 2).transpose(1, 2)  # (2 tokens, n) each
    y = y - lean * torch.tensor([[1.0], [-1.0]])  # the teacher reads no positions
    aligned = ALIGNED_SIZE * (y + lean * torch.tensor([[1.0], [-1.0]]))
    target = _target(task, y)
    misfits = [((own_attention(fields) - target) ** 2).mean(dim=1).sum().item() for fields in (0 * y, aligned, h)]
    size = task.sigma * sqrt(float(encoded @ encoded) / data.d)
    known = expected_misfits(task, task.sigma * sqrt(length), lean, size, float(encoded.mean()))
    scale = task.sigma**2 * y.shape[1] / data.d
    excesses = [scale * (misfit - mean) for misfit, mean in zip(misfits, known)]
    return dict(zip(CONTROLS, [float(length) - 1, *excesses]))


def expected_misfits(task, spread, lean, size, shift):
    """Means over sentences of the three misfits of `controls`.

    spread, size: standard deviations of the fields of the teacher and of the encoded student.
    lean, shift: overlaps with the encoding, 1_d/d, of the teacher and of the encoded student.
    """
    points, weights = tensor_rule(CONTROL_NODES, 2)
    grid = torch.from_numpy(points.T)
    sides = torch.tensor([[1.0], [-1.0]])
    y, encoded = spread * grid, own_attention(size * grid + shift * sides)
    target = _target(task, y)
    blind, aligned = ((own_attention(h) - target) ** 2 for h in (0 * y, ALIGNED_SIZE * (y + lean * sides)))

    def mean(values):
        return values.numpy() @ weights

    # The encoded student's fields are independent of the teacher's: all means factorise.
    apart = mean(encoded**2) - 2 * mean(encoded) * mean(target) + mean(target**2)
    return mean(blind).sum(), mean(aligned).sum(), apart.sum()


def _target(task, y):
    """Y_11 and Y_22 of teacher fields (2, n)."""
    return (1 - task.omega) * own_attention(y) + task.omega * torch.tensor(task.matrix, dtype=y.dtype).diag()[:, None]
