"""Training from Python: results that depend only on the data, and the rules and results of the optimisers."""

import os
import subprocess
import sys
from contextlib import contextmanager
from time import perf_counter

import definition
import numpy as np
import pandas as pd
import pytest
import torch

from attention_book.experiments.beyond.optimal import with_positions_given
from attention_book.experiments.kinds import compute_rows
from attention_book.experiments.students import StudentCell
from attention_phases import Architecture, Task, data_set, measure, message_passing
from attention_phases.machine import ONE_THREAD, SpawnWithoutScript, map_jobs
from attention_phases.model import students, two_tokens
from attention_phases.model.architectures import STANDARD
from attention_phases.model.prediction_error import test_error as error_of
from attention_phases.model.sentences import draw_sentences
from attention_phases.model.weights import overlaps
from attention_phases.training import fit, optimizers, train
from attention_phases.training.optimizers import LBFGS_TOLERANCE, STARTS, start_weights

TASK = Task(omega=0.3)
OWN = data_set(TASK, 1.0, 20)


def test_a_row_is_that_of_the_stored_tables_and_says_whether_it_converged():
    rows = train(TASK, 2.0, 30, seeds=[5, np.int64(3)], starts=("positional", "random"))
    assert rows["seed"].tolist() == [5, 5, 3, 3] and rows["start"].tolist() == ["positional", "random"] * 2
    cells = [StudentCell("any", TASK, 2.0, 30, seed, "lbfgs", ("positional", "random")) for seed in (5, 3)]
    stored = pd.DataFrame([{"seed": cell.seed, **row} for cell in cells for row in compute_rows(cell)])
    pd.testing.assert_frame_equal(rows.drop(columns=["seconds", "converged"]), stored.drop(columns="seconds"))
    assert rows["converged"].tolist() == (rows["grad_norm"] <= LBFGS_TOLERANCE).tolist() == [True] * 4


def test_one_seed_and_one_start_are_enough_and_settings_reach_the_optimizer():
    (row,) = train(TASK, 2.0, 30, [7], "semantic", "gd", rate=0.1, steps=3).to_dict("records")
    assert (row["seed"], row["start"], row["steps"], row["converged"]) == (7, "semantic", 3, False)
    (rough,) = train(TASK, 2.0, 30, [7], "semantic", tolerance=0.1).to_dict("records")
    assert rough["converged"] and 1e-3 < rough["grad_norm"] < 0.1


# Every optimiser and both kinds of students, in one process.
TABLES = """
from attention_phases import Architecture, Task, train

size = Task(omega=0.3), 1.5, 150, range(2)
tables = [
    train(*size, ("semantic", "random"), workers=1),
    train(*size, "positional", "gd", workers=1, steps=30),
    train(*size, "mixed", "lbfgs", Architecture("untied", tokens=3), workers=1, tolerance=0.1),
]
"""
SCRIPT = """
import torch
from attention_phases import machine
torch.set_num_threads(2)
pool = machine.process_pool
machine.process_pool = lambda workers, context: pool(workers - 1, context)  # one, which loads for seconds
{TABLES}
for table in (*tables, train(*size, ("semantic", "random"), workers=2)):
    print(table.drop(columns="seconds").to_json(double_precision=15))
"""


@pytest.mark.slow
def test_neither_threads_nor_processes_change_a_digit(tmp_path):
    """The script does not test whether it is the main module, and this process has one thread."""
    (script := tmp_path / "script.py").write_text(SCRIPT.format(TABLES=TABLES), encoding="utf-8")
    environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "2"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    exec(TABLES, names := {})
    here = [table.drop(columns="seconds").to_json(double_precision=15) for table in names["tables"]]
    assert done.stdout.splitlines() == [*here, here[0]]


def settings():
    """Return the settings of torch: its number of threads, and the type, device and gradient mode of a new tensor."""
    new = torch.empty(0)
    return torch.get_num_threads(), new.dtype, new.device.type, torch.is_grad_enabled(), new.is_inference()


@contextmanager
def changed(what, value):
    """A context in which a setting of torch has another value."""
    before, change = getattr(torch, f"get_{what}")(), getattr(torch, f"set_{what}")
    change(value)
    try:
        yield
    finally:
        change(before)


def numbers():
    """Return the results of all verbs that use torch, as lists and texts."""
    data, seen, rng = data_set(TASK, 1.5, 20), [], np.random.default_rng

    def risk(data, weights, lam):
        seen.append(settings())
        free = weights.detach().requires_grad_()
        return data.risk(free).detach(), torch.autograd.grad(data.risk(free).sum(), free)[0]

    general = students.sample(TASK, Architecture("value"), 1.5, 20, rng(0))
    drawn = [data, general, two_tokens.sample(TASK, 1.5, 20, rng(0))]
    parts = [part for some in drawn for part in vars(some).values() if torch.is_tensor(part)]
    parts += [fit(data, 0.01, torch.ones(1, 20, device="cpu").float(), risk=risk)[0].weights, data.risk([0.1] * 20)]
    tables = [train(TASK, 1.5, 20, 1, "semantic", "gd", some, steps=9) for some in (STANDARD, Architecture("untied"))]
    tables += [measure(TASK, [0.1] * 20, data), message_passing(TASK, 1.5, 20, steps=9).run.history]
    assert set(seen) == {(1, torch.float32, "cpu", True, False)} and not parts[0].is_inference()
    texts = [table.drop(columns="seconds", errors="ignore").to_json(double_precision=15) for table in tables]
    return [part.tolist() for part in parts], texts


CALLERS = {
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "device": lambda: torch.device("meta"),
    "number": lambda: changed("default_dtype", torch.bfloat16),
    "threads": lambda: changed("num_threads", 2),
    "no gradients": torch.no_grad,
    "inference": torch.inference_mode,
}


@pytest.mark.parametrize("caller", CALLERS)
def test_no_setting_of_the_caller_changes_a_number_or_is_changed(caller):
    expected = numbers()
    with CALLERS[caller]():
        before = settings()
        assert numbers() == expected and settings() == before


def test_of_ctrl_c_a_waiting_process_says_nothing():
    def interrupted():
        raise KeyboardInterrupt

    SpawnWithoutScript().Process(target=interrupted).run()


def test_short_work_stays_in_this_process_and_long_work_leaves_it(monkeypatch):
    counted = []
    assert map_jobs(abs, [-1, -2, -3], None, lambda: counted.append(1)) == [1, 2, 3] and len(counted) == 3
    monkeypatch.setattr("attention_phases.machine.START_SECONDS", 0.0)
    begun = "attention_phases.machine.process_pool"
    monkeypatch.setattr(begun, lambda workers, _: pytest.fail(f"{workers} processes"))
    with pytest.raises(pytest.fail.Exception, match="2 processes"):
        monkeypatch.setattr("attention_phases.machine.cores", lambda: 2)
        map_jobs(abs, [-1, -2, -3])
    with pytest.raises(pytest.fail.Exception, match="3 processes"):
        map_jobs(abs, [-1, -2, -3], workers=4)
    assert map_jobs(abs, [-1, -2, -3], workers=1) == [1, 2, 3]


# A user-defined training


@pytest.mark.parametrize("task", [TASK, Task(teachers=(1.0, 0.5), l1=0.02, encoding=2.0)])
def test_a_data_set_is_that_of_train_and_its_risk_is_the_definition_for_autograd(task):
    own, (row,) = data_set(task, 1.5, 20, 3), train(task, 1.5, 20, [3], "semantic").to_dict("records")
    first = own.teacher.reshape(-1, 20)[0]
    (student,) = fit(own, task.lam, first[None], l1=task.l1)
    for weights in (student.weights.numpy(), student.weights.clone().requires_grad_()):
        (again,) = measure(task, weights, own).to_dict("records")
        assert {name: again[name] for name in ("q", "m", "theta", "test_mse", "linear_mse")}.items() <= row.items()
        assert again["train_loss"] == pytest.approx(row["train_loss"], rel=1e-12)
    assert own == own and {own: 1}[own] == 1 and own != own.double()
    wide, columns = own.double(), torch.stack([first, 0.1 * torch.arange(1, 21)]).double().requires_grad_()
    h = wide.sentences @ columns.T / 20**0.5
    answers = torch.einsum("nabk,nbd->kand", torch.softmax(h[:, :, None] * h[:, None], 2), wide.sentences)
    squares = (wide.labels.transpose(0, 1) - answers).square().sum((1, 2, 3)) / 40
    expected = squares + task.lam / 2 * columns.square().sum(1) + task.l1 * columns.abs().sum(1)
    torch.testing.assert_close(wide.risk(columns), expected, rtol=1e-6, atol=0)  # labels are float32
    share = torch.tensor([1.0, -2.0])
    slopes = [torch.autograd.grad(risks @ share.double(), columns)[0] for risks in (wide.risk(columns), expected)]
    torch.testing.assert_close(*slopes, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(own.risk(columns[0]), own.risk(columns.float())[0], rtol=1e-6, atol=0)
    assert np.isnan(measure(task, first * np.nan, own)["theta"]).all()
    assert all(len(repr(some).splitlines()) == 1 and "tensor" not in repr(some) for some in (own, student))


def test_weights_of_zero_predict_as_the_smallest_do():
    zero, small = (measure(TASK, size * torch.ones(20), OWN)["test_mse"].item() for size in (0.0, 1e-9))
    assert zero == pytest.approx(small, rel=4e-3) and zero > 0


@pytest.mark.parametrize("optimizer", ["lbfgs", "gd", "adam"])
def test_a_risk_may_answer_in_double_precision(optimizer):
    def doubled(data, weights, lam):
        assert weights.dtype == torch.float32
        return tuple(part.double() for part in two_tokens.risk(data, weights, lam))

    risks, starts = (two_tokens.risk, doubled), OWN.teacher[None]
    one, other = (fit(OWN, 0.01, starts, optimizer, risk)[0].weights for risk in risks)
    assert torch.allclose(one, other, atol=1e-5)


# Optimisers, and students with given positions


@pytest.fixture(scope="module")
def data():
    return two_tokens.sample(TASK, 1.5, 300, np.random.default_rng(3))


@pytest.mark.parametrize("start, size", [("near_semantic", 1.0), ("near_positional", 0.1), ("random", 0.1)])
def test_starts_near_another_or_near_zero_add_noise(data, start, size):
    near = 0 if start == "random" else start_weights(start.removeprefix("near_"), data.teacher, None)
    noise = start_weights(start, data.teacher, np.random.default_rng(5)) - near
    assert abs(noise.mean().item()) < 4 * size / 300**0.5
    assert noise.std().item() == pytest.approx(size, rel=4 / 600**0.5)  # 4 standard errors of a standard deviation


@pytest.mark.parametrize(("optimizer", "settings"), [("lbfgs", {}), ("gd", {"steps": 100})])
def test_a_fit_says_what_it_reached(data, optimizer, settings):
    rng = np.random.default_rng(4)
    starts, began = torch.stack([start_weights(start, data.teacher, rng) for start in STARTS[:3]]), perf_counter()
    students = optimizers.fit(data, TASK.lam, starts, optimizer, **settings)
    assert sum(student.seconds for student in students) < perf_counter() - began
    for start, student in zip(starts, students):
        value, gradient = two_tokens.risk(data, student.weights[None], TASK.lam)
        assert student.train_loss == pytest.approx(value.item() / 300, rel=1e-6)
        # Tolerance for sums in float32.
        assert student.grad_norm == pytest.approx(gradient.norm().item(), rel=1e-2, abs=1e-5)
        assert student.train_loss < two_tokens.risk(data, start[None], TASK.lam)[0].item() / 300
        assert student.steps == settings.get("steps", student.steps) and student.seconds > 0


@pytest.mark.parametrize(
    ("descend", "step", "steps"), [(optimizers.gradient_descent, 0.15 * 3, 5000), (optimizers.adam, 0.01, 2500)]
)
def test_rates_and_steps_are_the_published_ones(descend, step, steps):
    """The risk has a gradient of 3 everywhere, and Adam's first step equals its rate."""
    seen = []

    def risk(data, weights, lam):
        seen.append(weights[0, 0].item())
        return None, torch.full_like(weights, 3.0)

    _, counted = descend(None, 0.0, torch.zeros(1, 2), risk)
    assert len(seen) == steps and counted == [steps]
    assert seen[0] == 0 and seen[1] == pytest.approx(-step)


@pytest.mark.parametrize("matrix", ["standard", "alternative"])
def test_students_beside_given_positions_have_the_teachers_form(matrix):
    """Their risk is the risk of the outputs ((1 - omega) S + omega A) x."""
    task = Task(omega=0.4, matrix=matrix)
    xi, y, data = definition.drawn(task, 0.5, 300, 1)
    weights = 0.5 * data.teacher[None] + 0.1
    value, _ = two_tokens.risk(with_positions_given(task, data), weights, task.lam)
    expected = definition.risk(task, xi, y, weights, given=task.omega)
    assert value.item() == pytest.approx(expected.item(), rel=1e-5)


def test_the_test_error_beside_given_positions_is_that_of_sampled_sentences():
    task, d, count, rng = Task(omega=0.4, matrix="alternative"), 12, 200_000, np.random.default_rng(5)
    teacher = torch.from_numpy(rng.standard_normal(d, dtype=np.float32) + 0.5)
    weights = 0.6 * teacher + 0.4
    losses = definition.losses(task, *draw_sentences(task, teacher, count, rng), weights[None], given=0.3).numpy()
    value, error = error_of(task, overlaps(task, weights, teacher), d, given=0.3)
    assert abs(value - losses.mean()) < 4 * np.hypot(error, losses.std() / count**0.5) < 0.02 * value
