"""One cell of an experiment: draw a training set, train from each start, measure (paper, Section 5)."""

import torch

from attention_phases.model.rank_one import fit_both_linear, fit_linear, overlaps, sample
from attention_phases.theory.baseline import linear_test_error
from attention_phases.theory.prediction_error import test_error
from attention_phases.training.optimizers import displace, fit, start_weights


def train_students(cell, device="cpu", displaced=0.0):
    """Train from every start of a cell.

    Parameters
    ----------
    cell : StudentCell
    device : str
        Where to train: the numbers agree between devices to float32 accuracy.
    displaced : float
        Relative displacement of every weight of the starts; the data stay the same.

    Returns
    -------
    list of dict
        One for each start: start, q, m, theta, train_loss, test_mse, linear_mse, grad_norm, steps, seconds.
        The test errors are exact expectations over test sentences at this d, up to 1e-3 of their value.
    """
    rng = cell.rng()
    return train_on(cell, sample(cell.task, cell.alpha, cell.d, rng, device), rng, displaced)


def train_on(cell, data, rng, displaced=0.0):
    """The rows of `train_students` on a training set that `rng` has drawn."""
    task = cell.task
    starts = torch.stack([start_weights(start, data.teacher, rng) for start in cell.starts])
    starts = displace(starts, displaced, rng)
    return [
        _measure(task, data, start, trained)
        for start, trained in zip(cell.starts, fit(data, task.lam, starts, cell.optimizer))
    ]


def linear_baselines(cell):
    """Test errors of the linear models fitted on a cell's data set, exact at its d.

    Parameters
    ----------
    cell : StudentCell

    Returns
    -------
    dict
        Test error by what the model reads: "tokens", "tokens and positions" (see `rank_one.fit_both_linear`).
    """
    task = cell.task
    teacher, fits = fit_both_linear(task, cell.alpha, cell.d, cell.rng())
    length = (teacher.double() @ teacher.double()).item() / cell.d
    return {
        name: linear_test_error(task, attention, cell.d, length, positions=name != "tokens", nodes=40)
        for name, attention in fits.items()
    }


def _measure(task, data, start, trained):
    point = overlaps(task, trained.weights, data.teacher)
    return {
        "start": start,
        "q": point["q"],
        "m": point["m"],
        "theta": point["theta"],
        "train_loss": trained.train_loss,
        "test_mse": test_error(task, point, data.d)[0],
        "linear_mse": test_error(task, point, data.d, fit_linear(data))[0],
        "grad_norm": trained.grad_norm,
        "steps": trained.steps,
        "seconds": trained.seconds,
    }
