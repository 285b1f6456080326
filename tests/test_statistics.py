"""Means over instances and their crossings, on data with known answers."""

import numpy as np
import pandas as pd
import pytest

from attention_phases.analysis import instances

ALPHAS = np.linspace(0, 2, 11)


def noisy_line(rng, noise, instances=24):
    """Gaps 1.3 - alpha with independent noise; alpha by instance."""
    values = (1.3 - ALPHAS)[:, None] + noise * rng.standard_normal((len(ALPHAS), instances))
    return pd.DataFrame(values, index=pd.Index(ALPHAS, name="alpha"))


def test_crossing_of_a_line_without_noise():
    alpha, stderr = instances.crossing(noisy_line(np.random.default_rng(0), 0.0), np.random.default_rng(1), 50)
    assert alpha == pytest.approx(1.3, abs=1e-12) and stderr == pytest.approx(0, abs=1e-12)


def test_the_error_of_a_crossing_is_the_scatter_of_crossings():
    rng = np.random.default_rng(2)
    found = np.array([instances.crossing(noisy_line(rng, 0.3), rng, 300) for _ in range(150)])
    scatter = found[:, 0].std(ddof=1)
    # The scatter of 150 is known to 6 %, the bootstrap underestimates by 1/(2 * 24): 4 standard errors and that.
    assert found[:, 1].mean() == pytest.approx(scatter, rel=0.26)
    assert found[:, 0].mean() == pytest.approx(1.3, abs=4 * scatter / 150**0.5)


def test_no_fall_no_crossing():
    rising = -noisy_line(np.random.default_rng(0), 0.0)
    assert np.isnan(instances.crossing(rising, np.random.default_rng(0), 10)).all()


def test_a_shift_against_a_control_on_the_same_instances():
    rng = np.random.default_rng(3)
    found = []
    for _ in range(150):
        control = noisy_line(rng, 0.3)
        student = control + 0.05 + 0.02 * rng.standard_normal(control.shape)
        found.append(instances.shift(student, control.iloc[:, ::-1]))
    found, alone = np.array(found), instances.crossing(control, rng, 300)[1]
    scatter = found[:, 0].std(ddof=1)
    assert found[:, 0].mean() == pytest.approx(0.05, abs=4 * scatter / 150**0.5)
    assert found[:, 1].mean() == pytest.approx(scatter, rel=0.24)  # as above
    assert scatter < alone / 4


def test_no_shift_without_a_fall():
    falling = noisy_line(np.random.default_rng(0), 0.0)
    assert np.isnan(instances.shift(falling, -falling)).all()


def test_means_and_paired_differences():
    rows = [
        {"start": start, "alpha": 1.0, "seed": seed, **{name: value for name in instances.MEASURED}}
        for start, values in (("semantic", (1.0, 4.0)), ("positional", (0.5, 3.0)))
        for seed, value in enumerate(values)
    ]
    table = pd.DataFrame(rows)
    found = instances.instance_means(table)
    assert found.loc[("semantic", 1.0), "theta"] == 2.5
    assert found.loc[("semantic", 1.0), "theta_error"] == pytest.approx(1.5)  # (4 - 1)/sqrt 2 over sqrt 2
    assert instances.training_gap(table).loc[1.0].tolist() == [0.5, 1.0]
    shuffled = table.sample(frac=1, random_state=1)
    assert instances.training_gap(shuffled).loc[1.0].tolist() == [0.5, 1.0]


def test_minima_are_counted_for_each_data_set():
    losses = {0: [1.0, 1.0 + 1e-10, 1.0], 1: [1.0, 1.0 + 2e-4, 1.0 + 4e-4]}
    rows = [
        {"alpha": 1.0, "omega": 0.3, "start": start, "seed": seed, "train_loss": loss}
        for seed, values in losses.items()
        for start, loss in zip(["semantic", "near_semantic", "near_semantic"], values)
    ]
    found = instances.minima(pd.DataFrame(rows)).loc[(0.3, 1.0, "semantic")]
    assert [found[name] for name in ("starts", "minima", "fewest", "most")] == [3, 2, 1, 3]
    assert found["scatter"] == pytest.approx((4e-8 / 2) ** 0.5)


def straight(omega, critical, linear, instances=4):
    """Students at one omega without noise: training losses cross at `critical`, test errors at `linear`."""
    rows = []
    for alpha in ALPHAS:
        for seed in range(instances):
            same = {"omega": omega, "sigma": 0.5, "alpha": alpha, "seed": seed, "linear_mse": 2.0}
            rows.append(same | {"start": "semantic", "train_loss": critical - alpha, "test_mse": 2.0 + linear - alpha})
            rows.append(same | {"start": "positional", "train_loss": 0.0, "test_mse": 9.0})
    return pd.DataFrame(rows)


def test_shifts_of_both_thresholds_at_each_omega():
    control = pd.concat([straight(0.1, 0.7, 0.9), straight(0.3, 1.2, 9.0)])
    table = pd.concat([straight(0.1, 0.8, 0.85, 2), straight(0.3, 1.5, 9.0, 2)])
    found = instances.shifts(table, control)
    later = {kind: {omega: each[0] for omega, each in some.items()} for kind, some in found.items()}
    assert later == {"critical": pytest.approx({0.1: 0.1, 0.3: 0.3}), "linear": pytest.approx({0.1: -0.05})}
    assert all(each[1] == pytest.approx(0, abs=1e-12) for some in found.values() for each in some.values())
    assert instances.shifts(table, control, ["omega", "sigma"])["critical"][0.1, 0.5][0] == pytest.approx(0.1)
    assert instances.mean_shift({0.1: (1.0, 0.3), 0.2: (2.0, 0.4)}) == pytest.approx((1.5, 0.25))
