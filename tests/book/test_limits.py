"""Where a minimum begins, with an error whose size and sign are right."""

import pytest

from attention_phases import Task
from attention_phases.theory import as_table, follow, solve, stability_limit


def test_a_limit_of_stability_has_the_error_of_its_gain_over_the_slope():
    """The gain of the semantic branch falls with alpha: a slope kept with its sign would make the error negative."""
    task, points = Task(), 128
    branch = as_table(task, follow(task, "semantic", [0.72, 0.78, 0.84, 0.9, 0.96], points=points))
    limit, error = stability_limit(task, "semantic", branch, points=points)
    below, here, above = (solve(task, limit + away, "semantic", points) for away in (-0.03, 0.0, 0.03))
    slope = (above.gain - below.gain) / 0.06
    assert slope < 0 and abs(here.gain - 1) < 3 * here.stderr["gain"]
    assert error == pytest.approx(here.stderr["gain"] / -slope, rel=0.5)
