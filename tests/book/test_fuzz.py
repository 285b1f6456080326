"""For any input there is a result or one clear line, never a traceback and never a NaN."""

import math
from inspect import signature

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from attention_phases import Architecture, BadInput, Task, linear_baseline, solve, train
from attention_phases.amp.recovery import recover
from attention_phases.beyond.one_step.solution import one_step
from attention_phases.beyond.optimal import optimal
from attention_phases.errors import ResultError
from attention_phases.model.architectures import FORMS
from attention_phases.theory import baseline

ROWS = st.lists(st.one_of(st.floats(), st.text(max_size=3)), max_size=3)
SCALARS = st.one_of(st.floats(), st.integers(), st.text(max_size=8), st.none(), st.booleans())
ANYTHING = st.one_of(SCALARS, st.lists(st.floats(), max_size=3), st.lists(ROWS, max_size=3))
FIXED = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])


def made(kind, **values):
    """Return what is made of some values, or None if they are refused in one line that names one of them."""
    try:
        return kind(**values)
    except BadInput as error:
        assert error.args[0] in values
        assert "\n" not in str(error) or any("\n" in str(given) for given in error.args[:2])
        assert "must be" in str(error)


@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING)
@settings(FIXED, max_examples=300)
@example(1.5, 0.5, 0.01, "standard")
@example(0.5, 0.0, 0.01, "standard")
@example(0.5, 0.5, 0.0, "standard")
@example(0.5, 0.5, 0.01, [[1, 2], [3, math.inf]])
def test_a_task_is_whole_or_refused(omega, sigma, lam, matrix):
    task = made(Task, omega=omega, sigma=sigma, lam=lam, matrix=matrix)
    if task is None:
        return
    assert 0 <= task.omega <= 1 and 0 < task.sigma < math.inf and 0 < task.lam < math.inf
    assert all(type(entry) is float and math.isfinite(entry) for row in task.matrix for entry in row)
    assert hash(task) == hash(Task(**vars(task)))


FEW = st.lists(st.one_of(st.tuples(st.floats(0, 1), st.floats(0, 1)), ANYTHING), max_size=2)


@given(st.one_of(FEW, ANYTHING), st.one_of(FEW, ANYTHING), st.one_of(FEW, ANYTHING), ANYTHING, ANYTHING)
@settings(FIXED, max_examples=300)
@example([(0.1, 0.5), (1, 0.5, 0)], [], (1.0,), 1.0, 0.0)
@example([(0.1, 0.5), (1, 0.4)], [], (1.0,), 1.0, 0.0)
@example([((0.1, 0.2), 1)], [(0.5, (1, 0)), (0.5, (0, 1), (0, 0))], (1, 2), 0.1, 1)
@example([((0.1, 0.2), 0.5), (0.3, 0.5)], [], (1.0,), 1.0, 0.0)
@example([], [(1.0, (1,), (0, 0))], (1.0,), 1.0, 0.0)
@example([], [(1.0, (1, [2]))], (1.0,), 1.0, 0.0)
def test_structure_is_whole_or_refused(spectrum, clusters, teachers, density, l1):
    task = made(Task, spectrum=spectrum, clusters=clusters, teachers=teachers, density=density, l1=l1)
    if task is None:
        return
    assert sum(direction.weight for direction in task.directions) == pytest.approx(1)
    variance = sum(direction.weight * direction.variance for direction in task.directions)
    assert 0 < task.sigma < math.inf and task.sigma == pytest.approx(variance**0.5)
    assert {len(part) for cluster in task.clusters for part in cluster[1:]} <= {2, 3, 4, 5, 6}
    assert task == Task(**vars(task)) and hash(task) == hash(Task(**vars(task)))


@given(st.one_of(st.sampled_from([*FORMS]), ANYTHING), ANYTHING, ANYTHING)
@settings(FIXED, max_examples=300)
@example("tied", 3, -0.5)
@example("tied", 3, -0.49)
def test_an_architecture_is_whole_or_refused(form, tokens, correlation):
    architecture = made(Architecture, form=form, tokens=tokens, correlation=correlation)
    if architecture is None:
        return
    assert architecture.form in FORMS and architecture.tokens >= 2
    assert -1 / (architecture.tokens - 1) < architecture.correlation < 1


# Calls: usual values of a parameter, and values at and beyond the limits of the allowed range.

OF_TASK = {
    "omega": (0, 0.5, 1, 1 - 1e-12, 2),
    "sigma": (1e-200, 1e-9, 3, 1e3, 1e200),
    "lam": (1e-300, 0.1, 1e300, 0),
    "matrix": ("alternative", "0,100;100,0", "0.5,0.5;0.5,0.5", "1e300,0;0,1", "1,2"),
    "spectrum": ("0.05,0.5;0.45,0.5", "0.05,0.5,1,0;0.45,0.5", "0,0.5;1,0.5", "0.1,0.5,0;1,0.5", "1e300,1"),
}
OF_STUDENT = {"tokens": (3, 4, 1), "correlation": (-0.4, 0.3, 0.99, 1), "form": (*FORMS,)}
OWN = {"alpha": (1e-3, 0.3, 2, 1e20, 0), "seed": (1, -1), "y": (0, 300), "d": (10, 20, 1), "tokens": (3, 100)}
OWN |= {"branch": ("positional", "symmetric"), "start": ("positional", "mixed", "random"), "kind": ("linear",)}


def find_solution(task, student, alpha=1.5, branch="semantic", seed=0):
    found = solve(task, alpha, branch, 16, 4, seed, architecture=student)
    return [found.train_loss, found.test_mse] if found.converged else []


def break_symmetry(task, student, alpha=1.5, branch="semantic", y=None, seed=0):
    found = one_step(task, alpha, branch, y, 16, 4, seed)
    return [*found.quantities.values()] if found.converged else []


def train_students(task, student, alpha=1.5, d=12, seed=0, start="semantic"):
    return train(task, alpha, d, [seed], start, architecture=student, workers=1)["test_mse"]


def learn_optimally(task, student, alpha=1.5, tokens=2):
    return [optimal(task, alpha, tokens).q.value]


def look_for_teacher(task, student, alpha=1.5, d=12, tokens=2):
    return [recover(task, alpha, d, np.random.default_rng(0), tokens).q]


def find_end(task, student, kind="critical"):
    return [] if math.isnan(baseline.divergence_omega(task, kind).value) else [*baseline.floors(task).values()]


def fit_linear_model(task, student):
    return [linear_baseline(task, student)]


CALLS = [find_solution, break_symmetry, train_students, learn_optimally, look_for_teacher, find_end, fit_linear_model]


def some(draw, values):
    """Draw values of a few parameters by name."""
    names = draw(st.lists(st.sampled_from([*values]), unique=True, max_size=2)) if values else []
    return {name: draw(st.sampled_from(values[name])) for name in names}


def a_call(draw):
    """Draw a function with parameters of the task, of the student and of its own."""
    call = draw(st.sampled_from(CALLS))
    own = {name: OWN[name] for name in signature(call).parameters if name in OWN}
    return call, some(draw, OF_TASK), some(draw, OF_STUDENT), some(draw, own)


@pytest.mark.slow
@given(st.composite(a_call)())
@settings(FIXED, max_examples=60)
@example((train_students, {"spectrum": "0.05,0.5;0.45,0.5"}, {"tokens": 3}, {"d": 20}))
@example((look_for_teacher, {}, {}, {"alpha": 0.3, "tokens": 10_700, "d": 2}))
def test_a_call_ends_with_finite_numbers_or_one_line(monkeypatch, drawn):
    monkeypatch.setattr(baseline, "FLOOR_NODES", 12)  # fewer nodes for omega*, which would take most of the time
    monkeypatch.setattr(baseline, "RULES", (12, 6))
    call, task, student, own = drawn
    try:
        with np.errstate(all="ignore"):
            assert np.isfinite(call(Task(**task), Architecture(**student), **own)).all()
    except (BadInput, ResultError, ArithmeticError, np.linalg.LinAlgError) as error:
        assert str(error) and "\n" not in str(error)
