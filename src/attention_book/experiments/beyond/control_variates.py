"""Control variates that reduce the error of the alpha at which the training losses cross.

The loss of trained students varies between data sets almost as the loss of students with fixed weights, whose mean is
known. Subtracting the latter removes most of the variance (`analysis.instances`).
"""

from math import sqrt

import torch

from attention_phases.attention import own_attention
from attention_phases.quadrature import tensor_rule

from ..students import CONTROLS

# The sizes of the two students with fixed weights are close to theta/sigma^2 and m of the trained students at alpha_c.
ALIGNED_SIZE, ENCODED_SIZE = 0.4, 0.22
CONTROL_NODES = 60  # number of Gauss-Hermite nodes for each of two fields


def controls(task, data):
    """Return the control variates: quantities whose mean over data sets is known to be zero.

    "length" is ``|Q*|^2/d - 1``. The other three are the excess losses of students with fixed weights, whose mean is
    zero for every teacher. The mean squared misfit ``(S_11 - Y_11)^2 + (S_22 - Y_22)^2`` on the data minus its mean
    over all sentences is multiplied by alpha sigma^2, which gives the loss of Eq. 14. The student "blind" has zero
    weights. The student "aligned" has the weights `ALIGNED_SIZE` Q*. The weights of the student "encoded" are
    `ENCODED_SIZE` times the part of 1_d that is orthogonal to Q*.
    """
    teacher = data.teacher.double()
    length, lean = teacher @ teacher / data.d, teacher.mean().item()  # mean square and mean of the teacher's entries
    encoded = ENCODED_SIZE * (1 - lean / length * teacher)
    fields = torch.stack([teacher, encoded]) @ data.inputs.double().reshape(-1, data.d).T
    (y, h) = fields.reshape(2, -1, 2).transpose(1, 2)  # y and h have the shape (2 tokens, n)
    y = y - lean * torch.tensor([[1.0], [-1.0]])  # removes the positions, which the teacher does not read
    aligned = ALIGNED_SIZE * (y + lean * torch.tensor([[1.0], [-1.0]]))
    target = _target(task, y)
    misfits = [((own_attention(fields) - target) ** 2).mean(dim=1).sum().item() for fields in (0 * y, aligned, h)]
    size = task.sigma * sqrt(float(encoded @ encoded) / data.d)
    known = expected_misfits(task, task.sigma * sqrt(length), lean, size, float(encoded.mean()))
    scale = task.sigma**2 * y.shape[1] / data.d
    excesses = [scale * (misfit - mean) for misfit, mean in zip(misfits, known)]
    return dict(zip(CONTROLS, [float(length) - 1, *excesses]))


def expected_misfits(task, spread, lean, size, shift):
    """Return the expected squared errors of the three fixed students that `controls` uses.

    spread, size: standard deviations of the fields of the teacher and of the encoded student.
    lean, shift: overlaps of the teacher and of the encoded student with 1_d/d, the positional encoding.
    """
    points, weights = tensor_rule(CONTROL_NODES, 2)
    grid = torch.from_numpy(points.T)
    sides = torch.tensor([[1.0], [-1.0]])
    y, encoded = spread * grid, own_attention(size * grid + shift * sides)
    target = _target(task, y)
    blind, aligned = ((own_attention(h) - target) ** 2 for h in (0 * y, ALIGNED_SIZE * (y + lean * sides)))

    def mean(values):
        return values.numpy() @ weights

    # The fields of the encoded student are independent of the fields of the teacher, so all means factorise.
    apart = mean(encoded**2) - 2 * mean(encoded) * mean(target) + mean(target**2)
    return mean(blind).sum(), mean(aligned).sum(), apart.sum()


def _target(task, y):
    """Return the target entries Y_11 and Y_22 for teacher fields (2, n)."""
    return (1 - task.omega) * own_attention(y) + task.omega * torch.tensor(task.matrix, dtype=y.dtype).diag()[:, None]
