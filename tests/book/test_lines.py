"""Branches along alpha, their ends, and the stored rows of a line of theory."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from attention_book.experiments import lines
from attention_phases import Architecture, Measured, Task
from attention_phases.measured import NO_VALUE
from attention_phases.theory import ends
from attention_phases.theory.branches import Branch
from attention_phases.theory.solver import BRANCH_END, NO_CONVERGENCE
from attention_phases.theory.thresholds import NO_THRESHOLD, guess_from_known

TASK = Task(omega=0.3)


# Branches


@pytest.mark.parametrize(
    ("found", "told"),
    [(0.93, (0.93, 0.01, BRANCH_END)), (0.6, (0.95, 0.05, NO_CONVERGENCE)), (np.nan, (0.95, 0.05, NO_CONVERGENCE))],
)
def test_an_end_is_believed_near_the_last_solution_alone(monkeypatch, found, told):
    """Otherwise it is another end or none, and the end is only known to one step of the alphas."""
    monkeypatch.setattr(ends, "branch_end", lambda *_, **__: Measured(found, 0.01))
    branch = Branch(TASK, {1.0: SimpleNamespace(overlaps=None)}, {0.9: BRANCH_END})
    end, cause = ends.branch_ends(TASK, "semantic", [0.9, 1.0], branch)["start"]
    assert [*end] == pytest.approx(told[:2]) and cause == told[2]


GAINS = [
    ("gains pass 1, again by the solution at 1.12", (1.3, 0.8), True, (1.12 + 0.02 * 0.12 / 0.28, 0.05 * 0.12 / 0.28)),
    ("gains pass 1, without a solution there", (1.3, 0.8), False, (1.12, 0.05 * 0.2 / 0.5)),
    ("a step outside", (0.9, 0.8), True, (0.8 + 0.02 * 0.4 / 0.22, 0.05 * 0.4 / 0.22)),
    ("farther outside, though within its error", (0.9, 0.85), False, NO_VALUE),
    ("no crossing", (1.3, 1.2), True, NO_VALUE),
]


@pytest.mark.parametrize(("case", "gains", "converged", "expected"), GAINS)
def test_a_crossing_is_looked_for_up_to_a_step_outside(case, gains, converged, expected):
    """By hand: the gains at alphas 1 and 1.2 are given, and 1.02 elsewhere; all errors are 0.05."""
    known = dict(zip((1.0, 1.2), gains))

    def solution_at(alpha):
        there = alpha in known or converged
        return SimpleNamespace(alpha=alpha, gain=known.get(alpha, 1.02), stderr={"gain": 0.05}, converged=there)

    limit = ends.gain_crossing("semantic", known, known.get, solution_at, beyond=True)
    assert limit == pytest.approx(expected, nan_ok=True), case


@pytest.mark.parametrize(
    ("branch", "limit", "kept"),
    [("semantic", 0.9, 0.9), ("semantic", 0.7, 0.8), ("positional", 0.7, 0.7), ("positional", 0.9, 0.8)],
)
def test_a_border_is_the_inner_one_of_the_end_at_hand_and_the_limit_of_stability(monkeypatch, branch, limit, kept):
    monkeypatch.setattr(ends, "stability_limit", lambda *_, **__: Measured(limit, 0.01))
    assert ends.border(TASK, branch, None, Measured(0.8, 0.02)).value == kept
    monkeypatch.setattr(ends, "stability_limit", lambda *_, **__: NO_VALUE)
    assert ends.border(TASK, branch, None, Measured(0.8, 0.02)) == (0.8, 0.02)


# Lines


def test_a_threshold_is_looked_for_where_the_gap_falls_for_the_last_time():
    """Before that, the two branches are the same solution, and their difference is a rounding error."""

    def branch(gaps):
        errors = {"spread": {"train_loss": np.zeros(4)}, "stderr": {"test_mse": 1.0}}
        rest = errors | {"train_slope": 0.0, "test_slope": -1.0}
        return {
            alpha: SimpleNamespace(alpha=alpha, free_energy=gap, test_mse=5 + gap, **rest)
            for alpha, gap in enumerate(gaps, 1)
        }

    branches = {"semantic": branch((1, -1, 1, -3)), "positional": branch((0, 0, 0, 0, 0))}
    for kind in ("critical", "linear"):
        near = guess_from_known(kind, branches, 5.0)
        assert near.alpha.value == 3.25 and near.solutions["semantic"] is branches["semantic"][3]
    assert not guess_from_known("critical", branches | {"semantic": branch((-1, 1))}, 5.0).exists


def test_no_threshold_without_a_positional_minimum():
    task = Task(omega=0.4, matrix="alternative")
    rows = lines.standard_line(lines.LineCell("line", task, 2**4, 8, alphas=(0.5, 1.0)))
    assert "critical" not in {row["what"] for row in rows}


@pytest.mark.parametrize(("form", "kept"), [("rank2", [1.6, 2.1]), ("untied", [0.5, 1.1, 1.6, 2.1])])
def test_semantic_solutions_of_two_columns_begin_at_the_limit_of_the_positional_ones(monkeypatch, form, kept):
    def at(alpha, gain):
        return SimpleNamespace(alpha=alpha, gain=gain, stderr={"gain": 0.01}, converged=True)

    def solve_from(near, task, alpha, branch, **options):
        assert (near.alpha, branch) == (1.1, "positional")  # the nearest solution
        return at(alpha, alpha / 1.3)

    alphas = (0.5, 1.1, 1.6, 2.1)
    branches = {"semantic": {a: at(a, np.nan) for a in alphas}, "positional": {a: at(a, a / 1.3) for a in alphas}}
    monkeypatch.setattr("attention_phases.theory.follow", lambda task, branch, *_, **__: branches[branch])
    monkeypatch.setattr("attention_phases.theory.branches.solve_from", solve_from)
    monkeypatch.setattr("attention_phases.theory.branches.row_of", lambda task, solution: {"gain": solution.gain})
    monkeypatch.setattr(lines, "_gap_rows", lambda *_: ())
    monkeypatch.setattr("attention_phases.theory.thresholds.guess_from_known", lambda *_: NO_THRESHOLD)
    line = lines.ArchitectureLineCell("line", TASK, 2**6, 4, alphas=alphas, architecture=Architecture(form))
    rows = pd.DataFrame(lines.variant_line(line)).set_index("what")
    limit = rows.loc["positional limit"]
    assert limit["alpha"] == pytest.approx(1.3) and limit["alpha_error"] == pytest.approx(0.013)
    assert list(rows.loc["semantic", "alpha"]) == kept and list(rows.loc["positional", "alpha"]) == list(alphas)
