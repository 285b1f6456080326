"""Tools for user-defined training: the data sets of `train`, a differentiable risk, and measurements of weights."""

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from torch import Tensor

from ..errors import BadInput, check_kind
from ..machine import choose_device, torch_defaults
from ..model import two_tokens
from ..model.sentences import draw_in_chunks, labels, positional_encoding, sentence_count
from ..model.weights import measure_student
from ..records import origin_of, record_of, seed_sequence
from ..task import Task
from .optimizers import Risk, with_l1

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class LabelledData(two_tokens.Dataset):
    """The sentences that `train` draws for one seed, in float32, for `fit` or for user-defined training."""

    task: Task = field(repr=False)  #: teacher, data and penalty
    origin: dict[str, Any]  #: task, size and seed, see `origin_of`
    #: x = xi + u 1_d^T/sqrt(d) of the two tokens, as the student reads them, (n, 2, d)
    sentences: Tensor = field(repr=False)
    labels: Tensor = field(repr=False)  #: labels Y xi, (n, 2, d)

    def __repr__(self) -> str:
        alpha, d, seed = (self.origin[name] for name in ("alpha", "d", "seed"))
        return f"data_set({self.task!r}, alpha={alpha}, d={d}, seed={seed})"

    def risk(self, weights: Any) -> Tensor:
        """Return the risk R of one or several students, including the penalties.

        R is Eq. 3. For weights (d,) it is a scalar tensor and for weights (k, d) it is (k,), in float64. The training
        loss is R/d. Autograd takes the first derivatives from compiled code. Higher derivatives, `torch.func` and
        `torch.compile` use slower operations, which PyTorch can differentiate. The risk is computed on the device of
        the weights, with the accuracy of the data. The data are in float32, so differences of the risk need
        ``data.double().risk``.
        """
        weights = _tensor(self, weights)
        data = self._beside(weights)
        if torch._C._are_functorch_transforms_active() or torch.compiler.is_compiling():
            # torch.func and torch.compile cannot trace code that Numba has compiled.
            return _differentiable(data, weights)[0]
        return _Risk.apply(weights, data)  # pyright: ignore[reportReturnType]

    def _beside(self, weights: Tensor) -> Self:
        """Return the data on the device of the weights.

        If this needs a copy, the copy is cached for the next call.
        """
        if weights.device == self.inputs.device:
            return self
        copies = vars(self).setdefault("_copies", {})
        if weights.device not in copies:
            copies[weights.device] = self.to(weights.device)
        return copies[weights.device]


class _Risk(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, data: LabelledData) -> Tensor:  # pyright: ignore
        values, gradient = _evaluate(two_tokens.risk, data, weights.detach())
        ctx.save_for_backward(weights, gradient)
        ctx.data = data
        return values

    @staticmethod
    def backward(ctx: Any, of_values: Tensor) -> tuple:  # pyright: ignore[reportIncompatibleMethodOverride]
        weights, gradient = ctx.saved_tensors
        if torch.is_grad_enabled():  # with `create_graph` the gradient may be differentiated again
            gradient = _differentiable(ctx.data, weights)[1]
        return gradient * of_values[..., None].to(gradient.dtype), None


def _differentiable(data: LabelledData, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the risk and its gradient by operations that PyTorch can differentiate any number of times."""
    if torch._C._is_any_autocast_enabled():
        # Convert to float64, because autocast leaves products of float64 unchanged in the forward and in the backward
        # pass. The risk does not need the NumPy arrays, which torch.compile cannot trace here.
        changes: dict[str, Any] = {"gram": None, "cross": None}
        changes |= {name: getattr(data, name).double() for name in ("inputs", "stiffness", "targets")}
        data = replace(data, **changes)
    return _evaluate(two_tokens.risk_by_products, data, weights)


def _evaluate(risk: Risk, data: LabelledData, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return the risk of weights (..., d) and its gradient, computed by a given function.

    Both include the penalties of the task.
    """
    rows, task = weights.reshape(-1, data.d).to(data.inputs).contiguous(), data.task
    values, gradient = with_l1(risk, task.l1)(data, rows, task.lam)
    return values.reshape(weights.shape[:-1]), gradient.reshape(weights.shape).to(weights)


@torch_defaults()
def data_set(task: Task, alpha: float, d: int, seed: int = 0, device: str = "cpu") -> LabelledData:
    """Return as tensors the sentences, labels and teacher that ``train(task, alpha, d, seeds=[seed])`` uses.

    >>> from attention_phases import Task, data_set
    >>> data = data_set(Task(omega=0.3), alpha=1.5, d=40, seed=0)
    >>> data.sentences.shape, data.labels.shape, data.teacher.shape
    (torch.Size([60, 2, 40]), torch.Size([60, 2, 40]), torch.Size([40]))
    >>> weights = data.teacher.clone().requires_grad_()
    >>> data.risk(weights).backward()
    >>> weights.grad.shape
    torch.Size([40])

    A student with weights Q has the field ``h = x Q/sqrt(d)`` for each token x, and its answer is ``softmax(h h^T) x``.
    The risk R is the sum over sentences of ``|label - answer|^2/(2 d)``, plus ``lam |Q|^2/2``. The tensors are on the
    `device`, which is "cpu", "cuda" or "auto" as for `train`. The sentences do not depend on the device.
    """
    record, device = record_of(task, alpha, d, seed), choose_device(device, d)
    rng = np.random.default_rng(seed_sequence(record))
    origin = origin_of(task=task, alpha=alpha, d=d, seed=seed)
    teacher, chunks = draw_in_chunks(task, alpha, d, rng, device, copies=3)

    def labelled(xi: Tensor, y: Tensor) -> LabelledData:
        x, goal = positional_encoding(task, xi), labels(task, xi, y)
        tokens = {"sentences": x.transpose(0, 1).contiguous(), "labels": goal.transpose(0, 1).contiguous()}
        return LabelledData(**vars(two_tokens.reduce_sentences(x, goal, teacher)), task=task, origin=origin, **tokens)

    return two_tokens.join((labelled(*chunk) for chunk in chunks), sentence_count(alpha, d), device)


@torch_defaults()
def measure(task: Task, weights: Any, data: LabelledData) -> "pd.DataFrame":
    """Measure the overlaps, the loss and the test error of given weights, and return a table with a row per student.

    The weights are (d,) or (k, d). The columns are q, m, theta, train_loss, test_mse (exact at this d, up to a relative
    error of 1e-3) and linear_mse, the test error of the linear model on the same sentences. They are NaN if the weights
    are not finite.

    >>> from attention_phases import Task, data_set, measure
    >>> data = data_set(Task(), 2.0, 50)
    >>> measure(Task(), data.teacher, data)["theta"].round(4).tolist()
    [0.1523]

    Args:
        weights: a tensor, with or without a gradient, or an array.
        data: data from `data_set` for the same task; the weights are moved to their device if necessary.
    """
    import pandas as pd  # slow to load

    check_kind("data", data, LabelledData)
    check_kind("task", task, Task)
    for name in (parameter.name for parameter in fields(Task)):
        if (value := getattr(task, name)) != (of_data := getattr(data.task, name)):
            raise BadInput(f"the task has {name} = {value}, but the data were drawn with {name} = {of_data}")
    rows = _tensor(data, weights).detach().reshape(-1, data.d).to(data.inputs)
    # Evaluate one row at a time, so that the digits are the same as in `train`.
    table = pd.DataFrame([measure_student(task, data, row, data.risk(row).item() / data.d) for row in rows])
    table.attrs |= data.origin
    return table


def _tensor(data: two_tokens.Dataset, weights: Any) -> Tensor:
    """Return weights (d,) or (k, d) as a tensor."""
    try:
        if not isinstance(weights, Tensor):
            weights = torch_defaults()(torch.as_tensor)(weights).to(data.inputs.device)
    except (TypeError, ValueError, RuntimeError):
        raise BadInput("weights", weights, "a tensor or an array of numbers") from None
    if weights.is_complex():
        raise BadInput("dtype of weights", weights.dtype, "real")
    if weights.ndim not in (1, 2) or not len(weights) or weights.shape[-1] != data.d:
        allowed = f"({data.d},) or (k, {data.d}), a row for each student"
        raise BadInput("shape of weights", tuple(weights.shape), allowed)
    return weights
