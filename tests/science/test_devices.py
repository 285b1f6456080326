"""Training of students on a GPU: the operations, the sentences, and the errors if there is no GPU.

Without a GPU, PyTorch's device "meta", whose tensors have no values, stands for it. The code for a GPU is then compared
with the compiled code, both on the CPU.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from test_train import changed
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attention_book import sweep
from attention_book.experiments.beyond.optimal import with_positions_given
from attention_book.store import provenance
from attention_phases import Architecture, BadInput, Task, data_set, measure, train
from attention_phases.machine import SMALLEST_GPU_DIMENSION, choose_device, torch_defaults
from attention_phases.model import students, two_tokens
from attention_phases.training.trials import sample

TASK, func = Task(omega=0.3, l1=0.01), torch.func
STUDENTS = [None, *(Architecture(form) for form in ("untied", "value", "full_value")), Architecture(tokens=3)]


def on_a_gpu(test):
    found = torch.cuda.is_available()
    return pytest.mark.gpu(pytest.mark.skipif(not found, reason="PyTorch finds no GPU here")(test))


@pytest.fixture
def pretended(monkeypatch):
    """Return a function that says whether there is a GPU."""
    return lambda there: monkeypatch.setattr(torch.cuda, "is_available", lambda: there)


def test_a_device_that_is_not_there_is_refused_in_one_line(pretended, tmp_path):
    pretended(False)
    store = tmp_path / "mine.sqlite"
    for ask in (train, data_set, lambda *size, device: sweep({"alpha": 1.0, "d": 20}, store, device=device)):
        for device in ("cuda", "gpu"):
            with pytest.raises(BadInput) as caught:
                ask(TASK, 1.0, 20, device=device)
            said = f"device = '{device}': must be one of auto, cpu; PyTorch finds no GPU here"
            assert str(caught.value) == said
    assert not store.exists()


def test_auto_is_the_gpu_from_the_size_on_from_which_it_is_faster(pretended):
    for there, large in ((False, "cpu"), (True, "cuda")):
        pretended(there)
        assert choose_device("auto", SMALLEST_GPU_DIMENSION - 1) == "cpu"
        assert choose_device("auto", SMALLEST_GPU_DIMENSION) == large
        assert choose_device("cpu", SMALLEST_GPU_DIMENSION) == choose_device(torch.device("cpu"), 2) == "cpu"


def test_a_gpu_is_one_process_and_gets_all_sentences(pretended, monkeypatch):
    pretended(True)
    seen = []
    monkeypatch.setattr("attention_phases.training.trials.sample", lambda *given: seen.append(given[-1]) or 1 / 0)
    monkeypatch.setattr("attention_phases.machine.process_pool", lambda *given: pytest.fail("processes"))
    for device, d in (("cuda", 20), ("auto", SMALLEST_GPU_DIMENSION)):
        with pytest.raises(ZeroDivisionError):
            train(TASK, 1.0, d, 8, device=device)
    assert seen == ["cuda", "cuda"]


def test_a_cell_names_the_gpu_that_it_has_used_and_no_other_one(monkeypatch):
    count = 0
    cuda = SimpleNamespace(is_initialized=lambda: True, get_device_name=lambda: "a GPU")
    cuda.memory_stats = lambda: {"allocation.all.allocated": count}
    monkeypatch.setitem(provenance.sys.modules, "torch", SimpleNamespace(cuda=cuda))
    before, count = provenance.allocations(), 3
    assert provenance.environment(before)["accelerator"] == "a GPU"
    assert provenance.environment(provenance.allocations())["accelerator"] is None


# On another device, with tensors without values


class OneDevice(TorchDispatchMode):
    """A context in which no operation may combine tensors of two devices, which "meta" sometimes allows."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        tensors = (part for part in tree_leaves((args, kwargs)) if torch.is_tensor(part) and part.ndim)
        if len({part.device for part in tensors}) > 1:
            raise RuntimeError(f"{operation} of two devices")
        return operation(*args, **(kwargs or {}))


@pytest.mark.parametrize("architecture", STUDENTS, ids=str)
def test_no_tensor_of_the_cpu_is_left_in_the_risk_of_data_elsewhere(architecture):
    rng, task = np.random.default_rng, TASK if architecture is None else Task(omega=0.3)
    data = sample(task, 1.0, 12, rng(0), architecture)
    risk = two_tokens.risk if architecture is None else students.risk
    weights = torch.ones(2, data.sizes[-1], device="meta")
    with OneDevice():
        assert {part.device.type for part in risk(data.to("meta"), weights, 0.01)} == {"meta"}
        with pytest.raises(RuntimeError):  # the error that a tensor on the wrong device should cause
            risk(replace(data.to("meta"), inputs=data.inputs), weights, 0.01)


def test_a_student_who_is_given_the_positions_sees_them_on_another_device():
    data = sample(TASK, 1.0, 12, np.random.default_rng(0), None, "meta")
    assert vars(with_positions_given(TASK, data))["targets"].device.type == "meta"


LOOPS = {
    "autograd": lambda risk, weights: torch.autograd.grad(risk(weights).sum(), weights)[0],
    "again": lambda risk, weights: torch.autograd.functional.hvp(lambda w: risk(w).sum(), weights, weights)[1],
    "grad": lambda risk, weights: func.grad(lambda w: risk(w).sum())(weights),
    "vmap": lambda risk, weights: func.vmap(func.grad(risk))(weights),
    "jacrev": lambda risk, weights: func.jacrev(func.grad(risk))(weights[0]),
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_the_risk_is_computed_where_the_weights_are(loop):
    data, weights = data_set(TASK, 1.0, 12), torch.ones(2, 12, device="meta", requires_grad=True)
    with OneDevice():
        assert data.risk(weights).device.type == loop(data.risk, weights).device.type == "meta"
    copied = data._beside(weights)
    assert data._beside(weights) is copied and copied.risk([1.0] * 12).device.type == "meta"


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_autocast_of_the_caller_changes_no_derivative(loop):
    data = data_set(TASK, 1.5, 60)
    weights = torch.stack([data.teacher, 2 * data.teacher]).requires_grad_()
    expected = loop(data.risk, weights)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(loop(data.risk, weights), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("loop", ["autograd", "grad", "vmap"])
def test_a_compiled_loop_has_the_same_gradient(loop):
    torch.compiler.reset()
    data = data_set(TASK, 1.0, 12)
    weights = torch.stack([data.teacher, 0.3 * torch.ones(12)]).requires_grad_()
    risk = torch.compile(data.risk, backend="eager")
    found, expected = (LOOPS[loop](some, weights) for some in (risk, data.risk))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    with torch.autocast("cpu", torch.bfloat16):
        found = torch.compile(LOOPS[loop], backend="eager")(data.risk, weights)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


def test_products_have_all_digits_whatever_the_caller_has_set():
    seen, kinds = [], (torch.backends.cuda.matmul, torch.backends.mkldnn.matmul)
    with changed("float32_matmul_precision", "medium"):
        torch_defaults()(lambda: seen.append([kind.fp32_precision for kind in kinds]))()
        assert seen == [["ieee", "ieee"]] and torch.get_float32_matmul_precision() == "medium"


# Data sets that are larger than one draw


CLUSTERS = ((0.5, (0.3, -0.3), (0.2, 0.1)), (0.5, (-0.3, 0.3), (0.0, 0.1)))


@pytest.mark.parametrize("task", [TASK, Task(omega=0.3, clusters=CLUSTERS)], ids=["plain", "clusters"])
def test_a_data_set_that_is_drawn_in_chunks_is_the_same_and_so_is_what_is_drawn_next(task, monkeypatch):
    def drawn():
        rng = np.random.default_rng(3)
        return two_tokens.sample(task, 1.55, 20, rng), rng.standard_normal(5).tolist(), data_set(task, 1.55, 20)

    whole, after, tensors = drawn()
    # Chunks of 8 of the 31 sentences, with seven in the last chunk.
    monkeypatch.setattr("attention_phases.model.sentences.CHUNK", 2 * 20 * 8)
    chunked, later, joined = drawn()
    assert later == after and torch.equal(joined.sentences, tensors.sentences)
    pairs = [(chunked, whole), (joined, tensors)]
    for found, expected, name in ((a, b, name) for a, b in pairs for name in vars(b) if name not in ("task", "origin")):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=2e-5, atol=1e-6, err_msg=name)


def test_a_data_set_that_does_not_fit_is_refused_in_one_line_before_it_is_drawn(pretended, monkeypatch):
    pretended(True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (0, 10**9))
    three_tokens = Architecture(tokens=3)
    for ask, needed in (
        (lambda: train(TASK, 1.5, 30_000, 1, device="cuda"), "11"),
        (lambda: data_set(TASK, 1.5, 30_000, device="cuda"), "32"),
        (lambda: train(Task(), 1.5, 10_000, 1, architecture=three_tokens, device="cuda"), "1.8"),
    ):
        with pytest.raises(BadInput, match=f"needs at least {needed} GB of memory; 1 GB"):
            ask()
    with pytest.raises(BadInput, match=r"^d = 3000000 needs at least"):
        train(TASK, 1.5, 3_000_000, 1)


# Tests that need a GPU


@on_a_gpu
@pytest.mark.parametrize("architecture", [Architecture(), *STUDENTS[1:]], ids=str)
def test_the_same_seed_ends_at_the_same_losses_on_a_gpu(architecture):
    size = Task(omega=0.3), 1.5, 150, 2, ("semantic", "positional"), "lbfgs", architecture
    here, there = (train(*size, device=device) for device in ("cpu", "cuda"))
    assert there.attrs["device"] == "cuda"
    np.testing.assert_allclose(there["train_loss"], here["train_loss"], rtol=1e-6)
    np.testing.assert_allclose(there[["q", "m", "theta"]], here[["q", "m", "theta"]], atol=3e-4)


@on_a_gpu
def test_sentences_of_a_seed_are_the_same_on_a_gpu():
    here, there = data_set(TASK, 1.5, 50), data_set(TASK, 1.5, 50, device="cuda")
    for name in ("sentences", "labels", "teacher", "inputs", "targets"):
        assert torch.equal(getattr(there, name).cpu(), getattr(here, name))
    loss, other = (measure(TASK, here.teacher, data)["train_loss"].item() for data in (here, there))
    assert other == pytest.approx(loss, rel=1e-6)


@on_a_gpu
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_loops_of_ones_own_run_on_a_gpu(loop):
    data = data_set(TASK, 1.5, 50)
    weights = torch.stack([data.teacher, 0.3 * torch.ones(50)]).requires_grad_()
    there = weights.detach().cuda().requires_grad_()
    torch.testing.assert_close(loop(data.risk, there).cpu(), loop(data.risk, weights), rtol=1e-4, atol=1e-4)
    compiled = torch.compile(data.risk)(there)
    torch.testing.assert_close(compiled.cpu(), data.risk(weights), rtol=1e-6, atol=0)


@on_a_gpu
@pytest.mark.parametrize("caller", [lambda: torch.autocast("cuda", torch.bfloat16), lambda: torch.device("cuda")])
def test_no_setting_of_the_caller_changes_a_number_on_a_gpu(caller):
    expected = train(TASK, 1.5, 50, 1, device="cuda").drop(columns="seconds")
    with changed("float32_matmul_precision", "high"), caller():
        found = train(TASK, 1.5, 50, 1, device="cuda").drop(columns="seconds")
    assert found.equals(expected)


@on_a_gpu
def test_rows_of_a_sweep_say_where_they_were_made(tmp_path):
    for name, device in (("gpu", "cuda"), ("cpu", "cpu")):
        rows = sweep({"alpha": 1.0, "d": 20, "seeds": 2}, tmp_path / f"{name}.sqlite", 1, True, device=device)
        assert set(rows["accelerator"]) == {torch.cuda.get_device_name() if device == "cuda" else None}
