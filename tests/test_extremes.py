"""Far from the published parameters: a solution that is whole and of its branch, or a reason why there is none."""

import importlib.util
from itertools import product

import pytest

from attention_phases import Task
from attention_phases.paths import ROOT

spec = importlib.util.spec_from_file_location("limits", ROOT / "benchmarks" / "limits.py")
limits = importlib.util.module_from_spec(spec)
spec.loader.exec_module(limits)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "branch"), [*product(limits.TASKS, limits.BRANCHES)])
def test_no_wrong_branch_and_no_nan_without_a_flag(name, branch):
    said = [limits.outcome(Task(**limits.TASKS[name]), alpha, branch, 64) for alpha in limits.ALPHAS]
    assert said[0] == "branch has ended"  # 1e-3 sentences a dimension teach nobody anything
