"""Means over data sets, differences on the same data, maps, and optimisers, on data with known answers."""

import numpy as np
import pandas as pd
import pytest
from frames import students

from attention_book.analysis import instances
from attention_book.analysis.instances import in_errors
from attention_book.pages.phase_diagram import theory_advantage, theory_gap


def test_means_and_paired_differences():
    rows = [
        {"start": start, "alpha": 1.0, "seed": seed, **{name: value for name in instances.MEASURED}}
        for start, values in (("semantic", (1.0, 4.0)), ("positional", (0.5, 3.0)))
        for seed, value in enumerate(values)
    ]
    table = pd.DataFrame(rows)
    means = instances.instance_means(table)
    assert means.loc[("semantic", 1.0), "theta"] == 2.5
    assert means.loc[("semantic", 1.0), "theta_error"] == pytest.approx(1.5)  # (4 - 1)/sqrt 2 over sqrt 2
    assert instances.training_gap(table).loc[1.0].tolist() == [0.5, 1.0]
    shuffled = table.sample(frac=1, random_state=1)
    assert instances.training_gap(shuffled).loc[1.0].tolist() == [0.5, 1.0]


def test_standard_errors_are_of_the_mean():
    rows = [
        {"start": "semantic", "d": 10, "seed": seed, **dict.fromkeys(instances.MEASURED, value)}
        for seed, value in enumerate((1.0, 2.0, 3.0, 6.0))
    ]
    means = instances.instance_means(pd.DataFrame(rows), along="d").loc[("semantic", 10)]
    assert (means["q"], means["q_error"]) == (3.0, pytest.approx((14 / 3 / 4) ** 0.5))


def test_a_difference_in_errors_counts_standard_deviations_in_quadrature():
    assert in_errors(0.2, 0.03, 0.04) == pytest.approx(4.0)
    assert in_errors(-0.3, 0.1) == pytest.approx(-3.0)
    assert in_errors(np.array([1.0, 2.0]), 3.0, np.array([4.0, 0.0])) == pytest.approx([0.2, 2 / 3])


def test_gaps_have_the_sign_of_the_semantic_student_less_the_other():
    table = students(0.3, critical=1.0, linear=1.5, spread=0.25)
    assert instances.training_gap(table).loc[0.5].tolist() == [1.25, 0.75]  # positional lower before alpha_c
    assert instances.training_gap(table).loc[2.0].tolist() == [-1.75, -2.25]
    assert instances.test_gap(table).loc[2.0].tolist() == [-0.75, -1.25]
    assert instances.test_gap(table, "positional").loc[2.0].tolist() == [4.0, 4.0]


def test_the_advantage_is_that_of_the_start_with_the_lower_loss():
    advantages = instances.advantage(students(0.3, critical=1.0, linear=1.5, spread=0.25))
    assert advantages.loc[0.5].tolist() == [-4.0, -4.0]  # the positional student: 5 - 9
    assert advantages.loc[2.0].tolist() == [0.75, 1.25]


def test_maps_by_alpha_and_omega():
    table = pd.concat([students(0.1, 0.5, 1.0), students(0.3, 1.0, 1.5)])
    means = instances.gap_map(table, instances.training_gap)
    assert means.loc[0.0].to_dict() == pytest.approx({0.1: 1.0, 0.3: 2.0})
    named = {
        "semantic": [(1.0, 3.0, 1.0), (2.0, 5.0, 0.5)],
        "symmetric": [(0.5, 9.0, 2.0), (1.0, 9.0, 2.0)],
        "positional": [(1.0, 4.0, 0.7), (2.0, 4.0, 0.7)],
    }
    theory = [
        {"what": what, "omega": 0.3, "alpha": alpha, "train_loss": loss, "test_mse": error, "q": 0, "m": 0, "theta": 0}
        for what, rows in named.items()
        for alpha, loss, error in rows
    ]
    theory = pd.DataFrame([*theory, {"what": "baseline", "omega": 0.3, "test_mse": 0.6}])

    # Where a minimum is missing the student without overlaps takes its place.
    assert theory_gap(theory)[0.3].to_dict() == pytest.approx({0.5: 0.0, 1.0: -1.0, 2.0: 1.0})
    assert theory_advantage(theory)[0.3].to_dict() == pytest.approx({0.5: -1.4, 1.0: -0.4, 2.0: -0.1})
