"""The optimal learner, and students with unlimited data."""

from dataclasses import replace

import numpy as np
import pytest

from attention_book.experiments.beyond.optimal import RecoveryCell, look_for_teacher
from attention_phases import Architecture, Task, linear_baseline
from attention_phases.amp.recovery import fields_from_labels, recover
from attention_phases.attention import attention, target_attention
from attention_phases.beyond.optimal import alpha_of, estimate_error, optimal, overlap, thresholds_of_learning
from attention_phases.errors import ResultError
from attention_phases.quadrature import tensor_rule
from attention_phases.task import MATRICES
from attention_phases.theory import baseline
from attention_phases.theory.baseline import best_students, curvature, divergence_omega, floors, minimum_bound
from attention_phases.theory.branches import MINIMA

TASK = Task(omega=0.3)


@pytest.mark.parametrize("tokens", [2, 3])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_the_explicit_overlap_solves_the_state_evolution(q, tokens):
    """Compare with the forces, averaged over a million random sentences."""
    rng = np.random.default_rng(1)
    w, z = (root * rng.standard_normal((10**6, tokens)) for root in (q**0.5, (1 - q) ** 0.5))
    y = w + z
    g = (y * np.tanh((y * w).sum(1) / (1 - q))[:, None] - w) / (1 - q)
    squares = alpha_of(q, tokens) * (g**2).sum(1)
    assert abs(squares.mean() - q / (1 - q)) < 4 * squares.std() / 1e3


def test_for_one_token_it_is_phase_retrieval():
    qs = np.linspace(0.01, 0.999, 300)
    alphas = [alpha_of(q, 1) for q in qs]
    assert alpha_of(1e-7, 1) == pytest.approx(1 / 2, abs=1e-5)
    # Largest alpha at which the uninformed solution exists (Barbier et al.).
    assert max(alphas) == pytest.approx(1.128, abs=1e-3)
    assert alpha_of(1 - 1e-6, 1) == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("tokens", [2, 3, 4])
def test_learning_is_continuous_between_its_thresholds(tokens):
    weak, exact = thresholds_of_learning(tokens)
    assert overlap(weak, tokens) == 0 and overlap(exact, tokens) == 1
    alphas = [alpha_of(q, tokens) for q in np.linspace(1e-6, 1 - 1e-6, 200)]
    assert (np.diff(alphas) > 0).all()  # there is one fixed point at each alpha, so there is no hard phase
    assert alphas[0] == pytest.approx(weak, rel=1e-5) and alphas[-1] == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize(("alpha", "reached"), [(0.1, "nothing"), (1 / 6, "nothing"), (0.3, "part"), (0.5, "all")])
def test_what_is_reached(alpha, reached):
    learner = optimal(TASK, alpha)
    assert learner.reached == reached
    assert (learner.q.value == 0) == (reached == "nothing") and (learner.test_mse.value == 0) == (reached == "all")


@pytest.mark.parametrize(
    ("task", "tokens"), [(TASK, 2), (Task(omega=0.8, sigma=1.0, matrix="alternative"), 2), (TASK, 3), (TASK, 4)]
)
def test_the_test_error_is_that_of_the_posterior_mean_and_without_an_estimate_of_the_linear_model(task, tokens):
    """The prediction E[Y | w] is computed by brute force, as the mean label of fields around w."""
    blind = estimate_error(task, 0.0, tokens)
    assert abs(blind.value - linear_baseline(task, Architecture(tokens=tokens))) < 4 * blind.error < 0.01 * blind.value
    alpha, rng = np.mean(thresholds_of_learning(tokens)), np.random.default_rng(2)
    learner = optimal(task, alpha, tokens)
    q = learner.q.value
    w = q**0.5 * rng.standard_normal((400, 1, tokens))
    y = task.sigma * (w + (1 - q) ** 0.5 * rng.standard_normal((400, 800, tokens)))
    labels = target_attention(y, task.omega, Architecture(tokens=tokens).attention(replace(task, matrix="standard")))
    errors = task.sigma**2 / tokens * labels.var(axis=1, ddof=1).sum((1, 2))
    assert 0.2 < q == overlap(alpha, tokens) and abs(learner.test_mse.value - errors.mean()) < 4 * errors.std() / 20


@pytest.mark.parametrize(("tokens", "matrix"), [(2, "alternative"), (3, "standard")])
def test_a_label_tells_the_fields_up_to_a_sign(tokens, matrix):
    y = np.random.default_rng(3).normal(size=(50, tokens))
    A = np.array(MATRICES[matrix]) if tokens == 2 else np.full((3, 3), 1 / 3)
    read = fields_from_labels(target_attention(y, 0.9, A), 0.9, A).T
    assert np.allclose(read * np.sign(read[:, :1] * y[:, :1]), y, atol=1e-6)


@pytest.mark.parametrize("tokens", [2, 3])
def test_message_passing_finds_the_teacher_where_theory_says_so(tokens):
    weak, exact = thresholds_of_learning(tokens)
    runs = [recover(TASK, 1.4 * exact, 300, np.random.default_rng(seed), tokens) for seed in range(4)]
    assert sorted(run.q for run in runs)[1] > 1 - 1e-9 and all(run.converged for run in runs)
    blind = [recover(TASK, weak / 2, 300, np.random.default_rng(seed), tokens).q for seed in range(4)]
    assert max(blind) < 0.1


@pytest.mark.slow
def test_message_passing_reaches_the_overlap_of_the_theory():
    """An estimate of message passing has the test error that its overlap implies."""
    alpha, rows = 0.4, [look_for_teacher(RecoveryCell("any", TASK, 0.4, 1000, seed))[0] for seed in range(8)]
    overlaps = np.array([row["squared_cosine"] for row in rows])
    assert abs(overlaps.mean() - overlap(alpha)) < 4 * overlaps.std(ddof=1) / 8**0.5 < 0.2
    assert rows[0]["test_mse"] == estimate_error(TASK, overlaps[0]).value


# Unlimited data


def floor_of(task, kappa, m):
    """Return the test error, with unlimited data, of a student with weights ``kappa Q* + m 1_d``."""
    z, weights = tensor_rule(10, 4)
    y, n = task.sigma * z[:, :2], z[:, 2:]
    fields = kappa * y + m * (task.sigma * n + task.encoding * np.array([1, -1]))
    miss = target_attention(y, task.omega, np.array(task.matrix)) - attention(fields)
    return task.sigma**2 / 2 * (weights @ (miss**2).sum((1, 2)))


def test_floors_are_lowest():
    task = replace(TASK, encoding=2.0)
    level = floors(task)
    for kappa, m in ((0.8, 0.0), (1.0, 0.0), (0.0, 0.2), (0.0, 0.5)):
        assert floor_of(task, kappa, m) > level["positional" if m else "semantic"]
    assert level["linear"] == pytest.approx(linear_baseline(task), rel=1e-9)


@pytest.mark.parametrize("branch", MINIMA)
def test_curvatures_of_the_floors_are_those_of_finite_differences(branch):
    task, e = replace(TASK, encoding=1.5), 1e-2
    _, weight = best_students(task)[branch]
    first, second = ((weight, e), (weight, 0.0)) if branch == "semantic" else ((e, weight), (0.0, weight))
    bend = 2 * (floor_of(task, *first) - floor_of(task, *second)) / e**2
    assert curvature(task, branch) == pytest.approx(bend, rel=2e-2)


@pytest.mark.parametrize(
    ("kind", "matrix"), [("critical", "standard"), ("linear", "standard"), ("linear", "alternative")]
)
def test_at_an_end_the_semantic_floor_meets_the_other(kind, matrix):
    place = divergence_omega(Task(matrix=matrix), kind)
    assert place.error < 1e-8
    other = baseline.MATCHING_FLOOR[kind]
    below, at, above = (floors(Task(omega=place.value + step, matrix=matrix)) for step in (-0.01, 0.0, 0.01))
    assert at["semantic"] == pytest.approx(at[other], rel=1e-8)
    assert below["semantic"] < below[other] and above["semantic"] > above[other]


def test_ends_of_minima_with_the_alternative_matrix(monkeypatch):
    """The best semantic weights vanish at the end. The positional student is a saddle wherever it exists."""
    monkeypatch.setattr(baseline, "RULES", (20, 10))
    task = Task(matrix="alternative")
    place = minimum_bound(task, "semantic").value
    weights = [best_students(replace(task, omega=place + aside))["semantic"][1] for aside in (-1e-3, 1e-3)]
    assert abs(weights[0]) > 0.02 and abs(weights[1]) < 1e-4
    assert np.isnan(minimum_bound(task, "positional").value)
    assert curvature(replace(task, omega=0.1), "positional") < 0
    assert np.isnan(curvature(replace(task, omega=0.3), "positional"))


@pytest.mark.parametrize("matrix", ["alternative", "0,100;100,0", "0,1;1,0", "-1,2;2,-1"])
def test_where_nothing_is_positional_there_is_no_end(matrix):
    """The diagonal of each A is below one half, so the positional student with m = 0 equals a semantic student.

    At omega = 1 the limits of their test errors are equal. Only rounding distinguishes the two, so they would cross
    anywhere.
    """
    assert np.isnan(divergence_omega(Task(matrix=matrix), "critical").value)
    assert divergence_omega(Task(matrix=matrix), "linear").value > 0


@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_labels_that_are_positions_alone_say_nothing_of_the_teacher(alpha):
    learner = optimal(Task(omega=1.0), alpha)
    assert (learner.q, learner.test_mse, learner.reached) == ((0, 0), (0, 0), "nothing")


@pytest.mark.parametrize("sigma", [1e-9, 1e3])
def test_labels_that_rounding_has_made_positions_alone_are_a_failure(sigma):
    words = f"^rounding of the labels hides some of the teacher's fields at sigma = {sigma:g}$"
    with np.errstate(all="ignore"), pytest.raises(ResultError, match=words):
        recover(Task(sigma=sigma), 0.5, 20, np.random.default_rng(0))


def test_the_error_of_the_optimal_overlap_is_that_of_its_rule():
    for alpha in (0.2, 0.3, 0.45):
        value, error = optimal(TASK, alpha).q
        with np.errstate(over="ignore"):  # the outermost of many nodes have zero weight
            finer = overlap(alpha, nodes=(100, 240))
        assert abs(finer - value) < error + 1e-14 and error < 1e-4 * value


ENDS = dict.fromkeys(("critical", "linear"), divergence_omega) | dict.fromkeys(MINIMA, minimum_bound)


@pytest.mark.parametrize("which", ENDS)
def test_the_error_of_an_end_is_that_of_its_rule(which, monkeypatch):
    """For large tokens and few nodes, more nodes give a different result."""
    monkeypatch.setattr(baseline, "RULES", (20, 10))
    value, error = ENDS[which](Task(sigma=2.0), which)
    monkeypatch.setattr(baseline, "RULES", (32, 16))
    assert 1e-6 < abs(ENDS[which](Task(sigma=2.0), which).value - value) < error < 0.05 * value


def test_the_mean_attention_of_an_uneven_matrix_is_that_of_drawn_fields():
    task = Task(omega=0.7, sigma=0.8, matrix=((0.3, 0.6), (0.9, 0.2)))
    y = task.sigma * np.random.default_rng(6).standard_normal((10**5, 2))
    labels = target_attention(y, task.omega, np.array(task.matrix))
    assert (np.abs(labels.mean(0) - baseline.mean_attention(task)) < 4 * labels.std(0) / 10**2.5).all()
