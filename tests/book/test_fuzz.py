"""Whatever comes in, there is a result or one clear line; never a traceback, and never a NaN."""

import math

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from attention_phases.errors import BadInput
from attention_phases.model.architectures import FORMS, Architecture
from attention_phases.task import Task

ROWS = st.lists(st.one_of(st.floats(), st.text(max_size=3)), max_size=3)
SCALARS = st.one_of(st.floats(), st.integers(), st.text(max_size=8), st.none(), st.booleans())
ANYTHING = st.one_of(SCALARS, st.lists(st.floats(), max_size=3), st.lists(ROWS, max_size=3))
FIXED = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def one_line(error, *names):
    """The error names one of the parameters."""
    assert error.args[0] in names
    assert "\n" not in str(error) or any("\n" in str(given) for given in error.args[:2])
    assert "must be" in str(error)


@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING)
@settings(FIXED, max_examples=300)
@example(1.5, 0.5, 0.01, "standard")
@example(0.5, 0.0, 0.01, "standard")
@example(0.5, 0.5, 0.0, "standard")
@example(0.5, 0.5, 0.01, [[1, 2], [3, math.inf]])
def test_a_task_is_whole_or_refused(omega, sigma, lam, matrix):
    try:
        task = Task(omega, sigma, lam, matrix)
    except BadInput as error:
        one_line(error, "omega", "sigma", "lam", "matrix")
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
    try:
        task = Task(spectrum=spectrum, clusters=clusters, teachers=teachers, density=density, l1=l1)
    except BadInput as error:
        one_line(error, "covariance", "clusters", "teachers", "density", "l1")
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
    try:
        architecture = Architecture(form, tokens, correlation)
    except BadInput as error:
        one_line(error, "architecture", "tokens", "token-correlation")
        return
    assert (
        architecture.form in FORMS
        and architecture.tokens >= 2
        and -1 / (architecture.tokens - 1) < architecture.correlation < 1
    )
