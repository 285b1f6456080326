"""Thresholds on 144 points beside the published ones."""

import numpy as np
import pandas as pd
import pytest

from attention_book import published
from attention_book.tables import published_rule


@pytest.fixture
def frame():
    critical, linear = published.CRITICAL_ALPHA, published.LINEAR_ALPHA
    rows = [
        ("critical", 0.1, critical[0.1].value + 0.03, critical[0.1].value - 0.01, critical[0.1].value + 0.2),
        ("critical", 0.2, critical[0.2].value - 0.04, critical[0.2].value + 0.01, critical[0.2].value + 0.2),
        ("critical", 0.3, 1.0, 1.0, np.nan),
        ("linear", 0.3, linear[0.3].value + 0.05, linear[0.3].value + 0.02, linear[0.3].value + 0.01),
        ("linear", 0.123, 1.0, 1.0, 1.0),  # no published omega
    ]
    table = pd.DataFrame(rows, columns=["what", "omega", "alpha", "exact", "rule"]).assign(alpha_error=0.001)
    lines = pd.DataFrame({"what": ["linear"], "omega": 0.3, "alpha": linear[0.3].value + 0.03, "alpha_error": 0.0001})
    return published_rule.by_omega(table, lines)


def test_every_published_omega_has_a_row(frame):
    assert list(zip(frame["threshold"], frame["omega"])) == [
        ("critical", 0.1), ("critical", 0.2), ("critical", 0.3), ("linear", 0.3),
    ]  # fmt: skip
    assert frame["published_alpha"].tolist() == [0.707, 0.928, 1.241, 1.451]


def test_differences_are_root_mean_squares_over_the_same_omega(frame):
    critical, linear = published_rule.off(frame).itertuples()
    assert (critical.count, linear.count) == (2, 1)
    assert critical.theory_off == pytest.approx(((0.03**2 + 0.04**2) / 2) ** 0.5)
    assert (critical.exact_off, critical.rule_off) == (pytest.approx(0.01), pytest.approx(0.2))
    assert (linear.rule_off, linear.exact_off, linear.theory_off) == (
        pytest.approx(0.01), pytest.approx(0.02), pytest.approx(0.03),
    )  # fmt: skip
