"""The functions of the library work together: solutions, overlaps and tables of one are arguments of others."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch

from attention_book.experiments.own import own_cells
from attention_book.experiments.results import sweep
from attention_book.paths import DATA
from attention_phases import Architecture, BadInput, Measured, Task, message_passing, test_error
from attention_phases.amp import message_passing as passing
from attention_phases.amp.message_passing import enough_damping, iterate, limiting_data, start_state
from attention_phases.measured import standard_error
from attention_phases.model import two_tokens
from attention_phases.model.sentences import positional_encoding
from attention_phases.model.weights import overlaps
from attention_phases.records import fields_of
from attention_phases.theory import follow, linear_baseline, phase_diagram, solve, spinodal, threshold, thresholds
from attention_phases.theory.branches import OWN_OVERLAP
from attention_phases.theory.solver import BRANCH_END, NO_RESOLUTION
from attention_phases.training import data_set, measure, train

test_error.__test__ = False  # keeps pytest from collecting it as a test
TASK, FEW = Task(omega=0.3), {"points": 64, "scrambles": 4}


def test_the_strength_of_the_encoding_is_a_number_of_the_task():
    strong, hidden = Task(encoding=3.0), Task(spectrum=((0.25, 1.0, 1.0, 9.0),))
    xi = torch.zeros(2, 1, 4)
    assert torch.equal(positional_encoding(strong, xi), 3 * positional_encoding(TASK, xi))
    for branch in ("semantic", "positional"):
        assert solve(strong, 2.0, branch, **FEW).overlaps == solve(hidden, 2.0, branch, **FEW).overlaps
    assert overlaps(strong, torch.ones(20), torch.ones(20)).m == pytest.approx(3.0)
    assert train(strong, 2.0, 20, 1)["converged"].all()
    assert replace(hidden, encoding=2.0).directions[0].encoding == 36.0


def test_a_solution_is_a_start_on_its_own_branch_alone():
    semantic, positional = (solve(TASK, 2.0, branch, **FEW) for branch in ("semantic", "positional"))
    again = solve(TASK, 2.0, "semantic", start=semantic, **FEW)
    assert again.converged and again.iterations < semantic.iterations
    assert again.overlaps.theta == pytest.approx(semantic.overlaps.theta, rel=1e-5)
    mirrored = solve(TASK, 2.0, "semantic", start=semantic.overlaps._replace(theta=-semantic.overlaps.theta), **FEW)
    assert mirrored.overlaps.theta == pytest.approx(semantic.overlaps.theta, rel=1e-5)
    for start in (positional, positional.overlaps, "semantic", semantic.overlaps._replace(q=np.nan)):
        with pytest.raises(BadInput, match=r"^start = .*: must be a solution of the semantic branch, or its overlaps$"):
            solve(TASK, 2.0, "semantic", start=start, **FEW)


def test_a_table_says_why_an_alpha_has_no_solution():
    nowhere = follow(TASK, "semantic", [0.01], **FEW)
    assert nowhere.table["alpha"].tolist() == [0.01] and nowhere.table["theta"].isna().all()
    assert nowhere.table["reason"].tolist() == [*nowhere.stopped.values()] == [BRANCH_END]
    table = follow(TASK, "semantic", [0.01, 0.02, 0.03, 2.0], **FEW).table
    assert table["reason"].str.partition(":")[0].tolist() == [BRANCH_END] * 3 + [""]
    assert table["theta"].notna().tolist() == [False] * 3 + [True]
    assert list(nowhere.table) == list(follow(TASK, "semantic", [2.0], **FEW).table)
    assert {"theta", "saddle"} <= set(follow(TASK, "semantic", [], **FEW).table)


@pytest.mark.parametrize("kind", [np.array, torch.tensor, pd.Series, tuple])
def test_numbers_and_lists_come_in_every_form(kind):
    one = np.array if kind in (pd.Series, tuple) else kind
    number = Task(omega=one(0.3), teachers=kind([1.0, 0.7]), matrix=one([[0.6, 0.2], [0.3, 0.5]]))
    assert number == Task(0.3, teachers=(1.0, 0.7), matrix=((0.6, 0.2), (0.3, 0.5)))
    assert Task(spectrum=[(one(0.1), one(0.7)), (0.2, 0.3)]) == Task(spectrum=[(0.1, 0.7), (0.2, 0.3)])
    assert list(follow(TASK, "semantic", kind([2.0]), **FEW)) == [2.0]
    assert solve(TASK, one(2.0), "semantic", **FEW).alpha == 2.0
    rows = train(TASK, one(1.0), one(20), kind([5, 2]), kind(["semantic"]) if kind != torch.tensor else "semantic")
    assert rows["seed"].tolist() == [5, 2] and train(TASK, 1.0, 20, one(2))["seed"].tolist() == [0, 0, 1, 1]
    plain = {"q": 0.125, "m": 0.0, "theta": 0.125, "rho": 0.25}
    given = {name: one(value) for name, value in plain.items()}
    assert test_error(TASK, given, one(100.0)) == test_error(TASK, plain, 100)
    cells = own_cells({"alpha": kind([1.1, 2.0]), "d": one(20), "seeds": kind([5, 7])}, "mine")
    assert len(cells) == 4 and {cell.alpha for cell in cells} == {1.1, 2.0}
    assert Architecture(tokens=one(3)) == Architecture(tokens=3) and type(Architecture(tokens=one(3)).tokens) is int


# Random parameters close to ends, where noise is large. At the first the gap at 0.75 was taken for an end. At the
# fourth jumps were taken for a solution. At the fifth the damped iteration left the branch, whose map oscillates with
# an eigenvalue of -22. At the last a solution was taken for a saddle.
NEAR_ENDS = [
    (Task(sigma=0.575), "semantic", 512, 16, 0, [0.735, 0.75, 0.8], []),
    (Task(0.22, 0.5, 0.0075), "semantic", 64, 8, 53, [0.6778, 0.7625, 0.8472], []),
    (Task(0.2, 0.67, 0.004), "semantic", 64, 8, 26, [0.492, 0.5535, 0.615], []),
    (Task(0.3702, 0.6185, 0.01619), "positional", 64, 8, 37, [0.85, 1.1, 1.534], [1.534]),
    (Task(0.2888, 0.4043, 0.006403, encoding=1.5), "positional", 128, 8, 50, [5.53, 10.0], []),
    (Task(0.3021, 0.65836, 0.027709, encoding=1.5), "positional", 64, 8, 46, [1.0, 1.6, 2.6], []),
]


@pytest.mark.slow
@pytest.mark.parametrize(("task", "branch", "points", "scrambles", "seed", "alphas", "ends"), NEAR_ENDS)
def test_noise_is_no_end_for_follow_solve_or_threshold(task, branch, points, scrambles, seed, alphas, ends):
    quadrature = {"points": points, "scrambles": scrambles, "seed": seed}
    found, place = follow(task, branch, alphas, **quadrature), threshold(task, "critical", **quadrature)
    assert {*found, *found.stopped} == {*alphas}, "given up at a hole"
    alone = {alpha: solve(task, alpha, branch, **quadrature) for alpha in alphas}
    for alpha, solution in alone.items():
        same = solution.reason.partition(":")[0] == found.stopped.get(alpha, "").partition(":")[0]
        assert same or (alpha in found and solution.reason.startswith(NO_RESOLUTION))
        if solution.reason.startswith(NO_RESOLUTION):
            name = OWN_OVERLAP[branch]
            known = Measured(getattr(solution.overlaps, name), solution.stderr[name])
            assert solution.reason == f"{NO_RESOLUTION}: {name} = {known} on {points} points; try {4 * points}"
    assert [alpha for alpha in alphas if alone[alpha].reason == BRANCH_END] == ends
    assert not any(branch in reason and BRANCH_END in reason for reason in place.reason.split("; "))
    # At sigma = 0.67 the positional branch has ended, with 2048 points as well.
    assert place.exists or NO_RESOLUTION in place.reason or task.sigma == 0.67


def test_a_measured_value_counts_as_a_number():
    a, b = Measured(2.0, 0.3), Measured(1.0, 0.4)
    assert [a - b, a + 1, 1 - a, sum([a, b])] == [(1.0, 0.5), (3.0, 0.3), (-1.0, 0.3), (3.0, 0.5)]
    with pytest.raises(TypeError):
        _ = a * 2  # not a tuple of four numbers
    assert (float(a), f"{a:.3f}", f"{a}") == (2.0, "2.000", "2.00(30)")
    assert pd.DataFrame({"a": [a, Measured.mean([])]}).to_string(index=False).split() == ["a", "2.00(30)", "none"]


def test_results_name_their_origin_and_how_to_cite_them(tmp_path, in_this_process):
    solution, place = solve(TASK, 2.0, "semantic", **FEW), threshold(TASK, "critical", **FEW)
    rows, data = train(TASK, 1.0, 20, [3], "semantic"), data_set(TASK, 1.0, 20, 3)
    branch = follow(TASK, "semantic", np.array([2.0]), **FEW)
    tables = {"train": rows, "measure": measure(TASK, data.teacher, data), "branch": branch.table}
    passed = message_passing(TASK, 1.0, 20, 3, steps=1)
    tables["sweep"] = sweep({"alpha": 1.0, "d": 20, "seeds": 1}, tmp_path / "mine.sqlite", workers=1, quiet=True)
    for origin in (solution.origin, place.origin, passed.origin, *(table.attrs for table in tables.values())):
        assert json.loads(json.dumps(origin)) and origin["version"] in origin["cite"]
        assert str(origin["commit"] or "") in origin["cite"]
    assert solution.origin["task"] == place.origin["task"] == rows.attrs["task"] == fields_of(TASK)
    for origin in (solution.origin, place.origin, branch.origin):
        assert (origin["points"], origin["scrambles"], origin["seed"]) == (64, 4, 0)
    assert (solution.origin["alpha"], solution.origin["branch"]) == (2.0, "semantic")
    assert rows.attrs["seeds"] == [3] and tables["measure"].attrs["seed"] == 3
    said = {column.name: column.metadata for column in pq.read_schema(tmp_path / "mine.parquet")}
    assert b"sample complexity" in said["alpha"][b"description"] and said["seconds"][b"unit"] == b"s"
    assert all(said.values())


@pytest.mark.slow
def test_spinodals_are_those_of_the_stored_lines():
    table = pd.read_parquet(DATA / "fig03_theory.parquet", filters=[("omega", "==", 0.3)]).set_index("what")
    found = spinodal(TASK, "semantic", points=256, scrambles=8, report=(counted := []).append)
    for place, what in ((found.exists, "semantic start"), (found.minimum, "semantic border")):
        known = Measured(*table.loc[what, ["alpha", "alpha_error"]])
        gap = place - known
        assert abs(gap.value) < 4 * gap.error < 0.5 * known.value, what
    assert not found.reason and len(counted) > 100
    few = spinodal(TASK, "positional", points=1024)
    assert np.isnan([*few.exists, *few.minimum]).all() and few.reason == "not resolved by 1024 points; try 2048"


def test_a_diagram_has_the_lower_of_the_minima():
    counted = []
    table = phase_diagram([0.3], np.array([2.1, 0.5], np.float32), **FEW, workers=1, report=lambda: counted.append(1))
    assert table["phase"].tolist() == ["positional", "semantic"] and counted == [1]
    early, late = table.to_dict("records")
    both = [solve(TASK, 2.1, branch, **FEW) for branch in ("semantic", "positional")]
    assert late["gap"] == pytest.approx(both[0].train_loss - both[1].train_loss, rel=0.02) and late["gap"] < 0
    assert late["test_mse"] == pytest.approx(both[0].test_mse, rel=1e-3)
    error = standard_error(both[0].spread["train_loss"] - both[1].spread["train_loss"])
    assert late["gap_error"] == pytest.approx(error, rel=0.05) and np.isnan(early["gap"])
    assert late["linear_mse"] == linear_baseline(TASK) and table.attrs["points"] == 64
    (saddle,) = phase_diagram([0.1], [2.0], **FEW, workers=1).to_dict("records")  # here the positional one is a saddle
    assert saddle["phase"] == "semantic" and np.isnan(saddle["gap"])


@pytest.mark.slow
def test_a_minimum_that_lasts_beyond_the_largest_alpha_has_no_end():
    found = spinodal(Task(), "positional", points=2048, scrambles=4)
    assert np.isnan([*found.exists, *found.minimum]).all()
    assert found.reason.endswith("the end of the range, and is a minimum beyond the largest alpha searched")


def test_a_branch_says_which_of_its_solutions_are_saddles():
    counted = []
    branch = follow(Task(omega=0.5), "semantic", [1.0, 3.0], report=counted.append, **FEW)
    table = branch.table.query("reason == ''")
    assert table["alpha"].tolist() == list(branch) and len(counted) > 20
    assert table["saddle"].tolist() == [solution.gain > 1 for solution in branch.values()]
    unknown = follow(TASK, "semantic", [2.0], architecture=Architecture("rank2"), points=16, scrambles=4)
    assert unknown.table["saddle"].isna().all()


def test_a_threshold_that_is_none_says_why():
    none = threshold(Task(omega=1.0), "critical", **FEW)
    assert not none.exists and none.reason.startswith("no semantic branch between alpha = 0.2 and 12.8: ")
    assert threshold(TASK, "critical", **FEW).reason == ""
    ordered = thresholds.Gap(1.0, 1.0, 0.1, {"semantic": solve(TASK, 12.8, "semantic", **FEW)})
    unchanged = "the two quantities that it compares do not cross between alpha = 0.2 and 12.8"
    assert thresholds._search(lambda *_: ordered, 64).reason == unchanged


@pytest.mark.parametrize("begins", [0.6, 0.609])
def test_a_threshold_is_found_next_to_where_its_branch_begins(begins):
    """The gap falls like a square root at the beginning of the branch, and Newton's method steps over it."""

    def gap_at(alpha, points, known):
        size = max(alpha - begins, 0.0) ** 0.5
        solution = SimpleNamespace(converged=size > 0, reason=BRANCH_END, alpha=alpha)
        zero = (0.61 - begins) ** 0.5
        return thresholds.Gap(zero - size, -0.5 / size if size else 0.01, 1e-3, {"semantic": solution})

    found = thresholds._refine(gap_at, thresholds.Threshold(Measured(0.7, np.nan), {}), 64)
    assert found.alpha.value == pytest.approx(0.61, abs=2e-3) and found.solutions["semantic"].converged


# Message passing


def test_message_passing_has_the_data_and_the_names_of_training():
    (row,) = train(TASK, 2.0, 100, seeds=[3], starts="semantic").to_dict("records")
    passed = message_passing(TASK, 2.0, 100, seed=3)
    assert passed.converged and passed.reason == ""
    for name in ("q", "theta", "train_loss", "test_mse"):
        found = getattr(passed.overlaps if name in ("q", "theta") else passed, name)
        # Message passing uses the limiting form of the sentences.
        assert found == pytest.approx(row[name], rel=0.3), name
    assert test_error(TASK, passed.overlaps, 100).value == pytest.approx(passed.test_mse, rel=1e-9)


def test_it_says_which_damping_would_settle(monkeypatch):
    monkeypatch.setattr(passing, "MODE_POINTS", 128)
    undamped = message_passing(TASK, 2.0, 100, seed=3, damping=0.0, steps=40)
    enough = enough_damping(TASK, 2.0, "semantic")
    assert not undamped.converged and f"try {enough:.3f}" in undamped.reason and 0.4 < enough < 0.8
    short = message_passing(TASK, 2.0, 100, seed=3, steps=5)
    assert short.reason.startswith("did not settle in 5 iterations") and "or more steps" in short.reason
    assert enough_damping(TASK, 2.0, "random") >= enough_damping(TASK, 2.0, "positional") > enough


def test_data_that_miss_the_limiting_form_are_completed():
    data = two_tokens.sample(TASK, 2.0, 60, np.random.default_rng(0))
    states = [iterate(TASK, some, start_state(TASK, some, data.teacher), steps=5).state for some in
              (data, limiting_data(TASK, data))]  # fmt: skip
    np.testing.assert_allclose(*(state.weights for state in states))
