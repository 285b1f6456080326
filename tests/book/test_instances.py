"""Means over instances and their crossings, on data with known answers."""

import numpy as np
import pandas as pd
import pytest
from frames import lines, students

from attention_book.analysis import instances, optimizers
from attention_book.analysis.differences import in_errors

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
    level = noisy_line(np.random.default_rng(1), 0.1) * 0
    level.iloc[:, 0], level.iloc[5, 1] = [1, -1] * 5 + [1], 3  # falls again and again, and on the whole not at all
    assert np.isfinite(instances.crossing(level, np.random.default_rng(0), 10)[0])
    assert np.isnan(instances.shift(level, level)).all()


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


def test_a_difference_in_errors_counts_standard_deviations_in_quadrature():
    assert in_errors(0.2, 0.03, 0.04) == pytest.approx(4.0)
    assert in_errors(-0.3, 0.1) == pytest.approx(-3.0)
    assert in_errors(np.array([1.0, 2.0]), 3.0, np.array([4.0, 0.0])) == pytest.approx([0.2, 2 / 3])


@pytest.mark.parametrize(
    "means, expected",
    [
        ([0.1, -0.1, 0.2, 0.1, -0.1], 3.5),  # the first fall is chance
        ([1.0, 0.0, 0.0, 3.0, -1.0], 3.75),
        ([1.0, 0.0], 1.0),
        ([0.5, 1.0, -3.0, -1.0, -1.0], 1.25),
        ([-1.0, 1.0], np.nan),
        ([-1.0, 1.0, 2.0, 0.5, 0.1], np.nan),
    ],
)
def test_the_last_fall_through_zero(means, expected):
    found = instances.last_fall(np.arange(float(len(means))), np.array(means))
    assert found == pytest.approx(expected, nan_ok=True)


def test_a_crossing_is_the_last_one():
    """Below the transition both starts end alike, and chance lets their difference cross zero."""
    gaps = noisy_line(np.random.default_rng(0), 0.0)
    gaps.iloc[:4] = np.array([1e-9, -1e-9, 1e-9, 1e-9])[:, None]
    assert instances.crossing(gaps, np.random.default_rng(1), 50)[0] == pytest.approx(1.3)


def test_a_shift_is_a_difference_over_a_slope():
    """Gaps with slope -2 that are 0.1 higher cross 0.05 later; the error is that of a mean over 6 alphas."""
    alphas, noise = np.arange(6.0), 0.03
    control = pd.DataFrame(np.tile(-2 * (alphas - 2.5), (2, 1)).T, index=alphas)
    gaps = control + 0.1 + noise * np.array([1, -1])
    later, error = instances.shift(gaps, control)
    assert later == pytest.approx(0.05)
    assert error == pytest.approx(noise / 6**0.5 / 2)  # of two instances: noise; over the slope


def test_gaps_have_the_sign_of_the_semantic_student_less_the_other():
    table = students(0.3, critical=1.0, linear=1.5, spread=0.25)
    assert instances.training_gap(table).loc[0.5].tolist() == [1.25, 0.75]  # positional lower before alpha_c
    assert instances.training_gap(table).loc[2.0].tolist() == [-1.75, -2.25]
    assert instances.test_gap(table).loc[2.0].tolist() == [-0.75, -1.25]
    assert instances.test_gap(table, "positional").loc[2.0].tolist() == [4.0, 4.0]


def test_the_advantage_is_that_of_the_start_with_the_lower_loss():
    found = instances.advantage(students(0.3, critical=1.0, linear=1.5, spread=0.25))
    assert found.loc[0.5].tolist() == [-4.0, -4.0]  # the positional student: 5 - 9
    assert found.loc[2.0].tolist() == [0.75, 1.25]
    semantic = pd.DataFrame({"train_loss": [1.0, 3.0], "test_mse": [0.5, 0.1]})
    positional = pd.DataFrame({"train_loss": [2.0, 2.0], "test_mse": [0.7, 0.8]})
    assert instances.theory_advantage(semantic, positional, 0.6).to_list() == pytest.approx([0.1, -0.2])


def test_standard_errors_are_of_the_mean():
    rows = [
        {"start": "semantic", "d": 10, "seed": seed, **dict.fromkeys(instances.MEASURED, value)}
        for seed, value in enumerate((1.0, 2.0, 3.0, 6.0))
    ]
    found = instances.instance_means(pd.DataFrame(rows), along="d").loc[("semantic", 10)]
    assert (found["q"], found["q_error"]) == (3.0, pytest.approx((14 / 3 / 4) ** 0.5))


def test_maps_by_alpha_and_omega():
    table = pd.concat([students(0.1, 0.5, 1.0), students(0.3, 1.0, 1.5)])
    found = instances.gap_map(table, instances.training_gap)
    assert found.loc[0.0].to_dict() == pytest.approx({0.1: 1.0, 0.3: 2.0})
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

    def gap(semantic, positional, baseline):
        return semantic["train_loss"] - positional["train_loss"] + baseline

    found = instances.theory_map(theory, gap)[0.3]
    # Where a minimum is missing the student without overlaps takes its place.
    assert found.to_dict() == pytest.approx({0.5: 0.6, 1.0: -0.4, 2.0: 1.6})


def test_curves_of_theory_are_sorted():
    found = instances.curve(
        lines([("critical", 0.3, 1.2, 0.1), ("linear", 0.3, 1.5, 0.1), ("critical", 0.1, 0.7, 0.2)]), "critical"
    )
    assert found.index.to_list() == [0.1, 0.3] and found["alpha"].to_list() == [0.7, 1.2]
    assert found["alpha_error"].to_list() == [0.2, 0.1]


def test_between_optimizers_on_the_cells_of_both():
    rows = [
        ("lbfgs", 1.0, 0, 1.0), ("lbfgs", 1.0, 1, 3.0), ("lbfgs", 2.0, 0, 2.0), ("lbfgs", 2.0, 1, 8.0),
        ("gd", 1.0, 0, 1.5), ("gd", 1.0, 1, 3.1),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["optimizer", "alpha", "seed", "theta"])
    table = table.assign(start="semantic", omega=0.3, train_loss=0.0, m=0.0)
    found = optimizers.between_optimizers(table).set_index("quantity").loc["theta"]
    assert found["cells"] == 2 and found["difference"] == pytest.approx(0.3)
    assert found["error"] == pytest.approx(0.2)  # (0.5 - 0.1)/sqrt 2 over sqrt 2
    assert found["rms"] == pytest.approx((0.26 / 2) ** 0.5)
    assert found["spread"] == pytest.approx(((2.0 + 18.0) / 2) ** 0.5)  # variances 2 and 18 of all L-BFGS


def test_the_error_of_a_scatter():
    losses = {0: [0.0, 2e-4], 1: [0.0, 4e-4]}
    rows = [
        {"alpha": 1.0, "omega": 0.3, "start": start, "seed": seed, "train_loss": loss}
        for seed, values in losses.items()
        for start, loss in zip(["semantic", "near_semantic"], values)
    ]
    found = instances.minima(pd.DataFrame(rows)).iloc[0]
    assert found["scatter"] == pytest.approx(5e-8**0.5)  # variances 2e-8 and 8e-8
    assert found["scatter_error"] == pytest.approx(3e-8 / (2 * 5e-8**0.5))


def test_what_figure_8_shows():
    theory = [{"what": "semantic", "alpha": 1.0}, {"what": "positional", "alpha": 1.0}]
    parts, lines_of = [], []
    for omega, baseline in ((0.2, 0.5), (0.3, 0.6)):
        task = {"omega": omega, "sigma": 0.5, "lam": 0.01}
        parts.append(students(critical=1.0, linear=1.5, **task, q=1.0, m=omega, theta=1.0))
        lines_of.append(pd.DataFrame([{"what": "baseline", "test_mse": baseline}, *theory]).assign(**task))
    found = instances.changed(pd.concat(parts), pd.concat(lines_of), {"omega": [0.2, 0.3], "sigma": [0.5], "lam": []})
    (first, means, branches, baseline), (second, _, _, other) = found["omega"]
    assert (first, baseline, second, other) == (0.2, 0.5, 0.3, 0.6) and found["lam"] == []
    assert means["m"].unique() == [0.2] and branches["semantic"]["what"].to_list() == ["semantic"]
    assert found["sigma"][0][3] == 0.6


def test_the_map_of_optimizers_is_relative_and_paired():
    rows = [
        {"start": "semantic", "optimizer": name, "alpha": 1.0, "omega": 0.3, "seed": seed, "train_loss": loss}
        for name, losses in (("lbfgs", (1.0, 2.0, 9.0)), ("gd", (1.1, 2.4)))
        for seed, loss in enumerate(losses)
    ]
    assert optimizers.optimizer_map(pd.DataFrame(rows), "semantic").loc[1.0, 0.3] == pytest.approx((10 + 20) / 2)
