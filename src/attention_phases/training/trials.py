"""Training and measurements of students on sampled data sets (paper, Section 5 and Appendix E.3)."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..errors import BadInput, check_choice, check_seeds, check_several
from ..machine import choose_device, map_jobs, torch_defaults
from ..model import students, two_tokens
from ..model.architectures import STANDARD, Architecture
from ..model.sentences import draw_sentences, sampled_error
from ..model.weights import measure_student
from ..records import origin_of, record_of, seed_sequence
from ..task import Task
from .optimizers import fit, start_weights

if TYPE_CHECKING:
    import pandas as pd

TEST_SENTENCES = 4000  # number of test sentences; the test error on a different task is then accurate to 2 or 3 %


def train(
    task: Task,
    alpha: float,
    d: int,
    seeds: Iterable[int] | int = 4,
    starts: Sequence[str] | str = ("semantic", "positional"),
    optimizer: str = "lbfgs",
    architecture: Architecture = STANDARD,
    workers: int | None = None,
    report: Callable[[], object] | None = None,
    device: str = "cpu",
    **settings: float,
) -> "pd.DataFrame":
    """Train students on sampled sentences, and return a table with a row for each data set and start.

    The columns are seed, start, q, m, theta, train_loss, test_mse, linear_mse (the test error of the linear model on
    the same sentences), grad_norm, steps, seconds, and converged, which the stored tables lack. Test errors are exact
    expectations at this d, up to a relative error of 1e-3. With several columns of weights q is ``sigma^2 tr(q)``, m
    and theta are norms, and further columns hold the single overlaps without sigma^2: q_11, q_12, m_1 and so on. If the
    task has structure, `length` (the squared length of the teacher divided by its limit, minus 1) and the overlaps with
    each column of the teacher replace these further columns.

    >>> from attention_phases import Task, train
    >>> students = train(Task(omega=0.3), alpha=2.0, d=50, seeds=range(2))
    >>> students[["seed", "start", "converged"]]
       seed       start  converged
    0     0    semantic       True
    1     0  positional       True
    2     1    semantic       True
    3     1  positional       True

    Args:
        alpha: sample complexity n/d.
        d: embedding dimension.
        seeds: number of data sets, which are then 0 to seeds - 1, or a list of their numbers. The sentences are the
            same as in the stored tables, in `data_set` and in `message_passing`. A task with another parameter, even if
            it is only a penalty, has other sentences.
        starts: names, see `optimizers.start_weights`.
        optimizer, settings: as for `optimizers.fit`.
        architecture: a form of the student, and its sentences.
        workers: number of processes. The default is one per core if the work takes longer than starting them, and one
            for a GPU. No result depends on it.
        report: function that is called without arguments after each data set.
        device: "cpu", "cuda" for a GPU, or "auto", which is the GPU if there is one and d is at least
            `machine.SMALLEST_GPU_DIMENSION`. The sentences are the same on every device, but a GPU rounds sums
            differently.
    """
    import pandas as pd  # slow to load

    for name in settings:  # other names could be arguments of `train_on`
        check_choice("setting", name, ("tolerance", "rate", "steps"))
    seeds = check_seeds(seeds)
    starts = check_several("starts", [starts] if isinstance(starts, str) else starts)
    if len({*starts}) < len(starts):
        raise BadInput(f"starts = {starts} names a start twice")
    records, device = [record_of(task, alpha, d, seed, architecture) for seed in seeds], choose_device(device, d)
    jobs = [(record, (task, alpha, d, architecture, device), starts, optimizer, settings) for record in records]
    workers = 1 if workers is None and device != "cpu" else workers
    tables = map_jobs(_trial, jobs, workers, report)
    table = pd.DataFrame([{"seed": seed, **row} for seed, rows in zip(seeds, tables) for row in rows])
    asked = {"task": task, "architecture": architecture, "alpha": alpha, "d": d, "seeds": seeds, "optimizer": optimizer}
    table.attrs |= origin_of(**asked, device=device, **settings)
    return table


@torch_defaults()
def _trial(job: tuple) -> list[dict[str, Any]]:
    """Train students on one data set, and return their rows of the table of `train`."""
    record, (task, alpha, d, architecture, device), starts, optimizer, settings = job
    rng, own = np.random.default_rng(seed_sequence(record)), None if architecture == STANDARD else architecture
    return train_on(task, sample(task, alpha, d, rng, own, device), starts, rng, optimizer, own, **settings)


def sample(
    task: Task, alpha: float, d: int, rng: np.random.Generator, architecture: Architecture | None, device: str = "cpu"
) -> two_tokens.Dataset | students.Sentences:
    """Draw a teacher and a training set, in the form that makes the risk of the architecture fastest to compute."""
    if architecture in (None, Architecture("tied"), Architecture("rank2")):  # two independent tokens
        # `two_tokens` gives the same sentences as `students.sample`, and its gradient takes half the time.
        return two_tokens.sample(task, alpha, d, rng, device)
    return students.sample(task, architecture, alpha, d, rng, device)


def train_on(
    task: Task,
    data: two_tokens.Dataset | students.Sentences,
    starts: Sequence[str],
    rng: np.random.Generator,
    optimizer: str,
    architecture: Architecture | None = None,
    given: float = 0.0,
    displaced: float = 0.0,
    tested: Task | None = None,
    **settings: float,
) -> list[dict[str, Any]]:
    """Train a student from every start on one training set, and return one row of results per student.

    The rows are as for `train`, without the seed.

    Args:
        rng: random generator, after it has drawn the training set.
        architecture: None for the standard one, whose test error is computed from its overlaps.
        given: weight of A in the student's attention, for a student that is given A.
        displaced: standard deviation of a random relative displacement of every start weight; the data do not change.
        tested: a different task with the same teacher. The rows then have the test errors on `TEST_SENTENCES` sentences
            of this task: `tested_mse` of the student, and `tested_linear_mse` of the linear model fitted on the
            training set.
    """
    form = architecture.form if architecture else STANDARD.form
    weights = torch.stack([start_weights(start, data.teacher, rng, form) for start in starts])
    noise = torch.from_numpy(rng.standard_normal(tuple(weights.shape), dtype=np.float32)).to(weights)
    fits = fit(data, task.lam, weights * (1 + displaced * noise), optimizer, l1=task.l1, **settings)
    rows = []
    for start, student in zip(starts, fits):
        measured = measure_student(task, data, student.weights, student.train_loss, architecture, given)
        found = {name: getattr(student, name) for name in ("grad_norm", "steps", "seconds", "converged")}
        rows.append({"start": start, **measured, **found})
    if tested is not None:
        fresh = draw_sentences(tested, data.teacher.cpu(), TEST_SENTENCES, rng)
        linear = sampled_error(tested, *fresh, mixing=data.linear())
        for row, student in zip(rows, fits):
            row |= {"tested_mse": sampled_error(tested, *fresh, student.weights.cpu()), "tested_linear_mse": linear}
    return rows
