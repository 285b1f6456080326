"""Whatever comes in, there is a result or one clear line; never a traceback, and never a NaN."""

import math

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from attention_phases.errors import BadInput
from attention_phases.model.architectures import FORMS, Architecture
from attention_phases.task import Task
from attention_phases.theory import baseline

ROWS = st.lists(st.one_of(st.floats(), st.text(max_size=3)), max_size=3)
SCALARS = st.one_of(st.floats(), st.integers(), st.text(max_size=8), st.none(), st.booleans())
ANYTHING = st.one_of(SCALARS, st.lists(st.floats(), max_size=3), st.lists(ROWS, max_size=3))
FIXED = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])


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
        one_line(error, "spectrum", "clusters", "teachers", "density", "l1")
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
        one_line(error, "form", "tokens", "correlation")
        return
    assert (
        architecture.form in FORMS
        and architecture.tokens >= 2
        and -1 / (architecture.tokens - 1) < architecture.correlation < 1
    )


# Command lines: usual values of an option, and values at and beyond the edges of what is allowed.

SPECTRA = (
    "0.05,0.5;0.45,0.5",
    "0.25,0.5;0.25,0.5",
    "0.05,0.5,1,0;0.45,0.5",
    "0,0.5;1,0.5",
    "0.1,0.5,0;1,0.5",
    "1e300,1",
)
TASK = {
    "omega": (0, 0.5, 1, 1 - 1e-12, 2),
    "sigma": (1e-200, 1e-9, 3, 1e3, 1e200),
    "lam": (1e-300, 0.1, 1e300, 0),
    "matrix": ("alternative", "0,100;100,0", "0.5,0.5;0.5,0.5", "1e300,0;0,1", "1,2"),
}
ALPHA = {"alpha": (1e-3, 0.3, 2, 1e20, 0)}
SENTENCES = {
    "tokens": (2, 3, 4, 1),
    "token-correlation": (-0.4, 0.3, 0.99, 1),
    "architecture": (*FORMS,),
    "covariance": SPECTRA,
}
SOLUTION = {"branch": ("positional", "symmetric"), "breaking": (1,), "y": (0, 300), "seed": (1, -1)}
DATA = {"seeds": (2, 0), "seed": (1, -1), "d": (10, 20, 1)}
OPTIONS = {
    "theory --points 16 --scrambles 4": ALPHA | TASK | SENTENCES | SOLUTION,
    "simulate --d 12 --seeds 1": ALPHA | TASK | SENTENCES | DATA | {"init": ("positional", "mixed", "random")},
    "optimal --seeds 1": ALPHA | TASK | DATA | {"tokens": (2, 3, 100, 10_700)},
    "end": {name: TASK[name] for name in ("omega", "sigma", "matrix")},
    "baseline": TASK | SENTENCES,
}


def command_line(draw):
    """A command with a few of its options."""
    command = draw(st.sampled_from([*OPTIONS]))
    names = draw(st.lists(st.sampled_from([*OPTIONS[command]]), unique=True, max_size=4))
    return " ".join([command, *(f"--{name}={draw(st.sampled_from(OPTIONS[command][name]))}" for name in names)])


@pytest.mark.slow
@given(line=st.composite(command_line)())
@settings(FIXED, max_examples=60)
@example(line="simulate --d 20 --tokens 3 --covariance 0.05,0.5;0.45,0.5 --seeds 1")
@example(line="optimal --alpha .3 --tokens 10700 --d 2")
def test_a_command_line_ends_with_a_result_or_one_line(run, monkeypatch, line):
    monkeypatch.setattr(baseline, "FLOOR_NODES", 12)  # for `end`, which would take most of the time
    monkeypatch.setattr(baseline, "RULES", (12, 6))
    code, out, err = run(*line.split(), "--quiet")
    assert code in (0, 1, 2) and err.count("\n") == (code > 0)
    assert code == 1 or bool(out) == (code == 0)  # what did not converge is shown too
    assert "nan" not in out
