"""Where several starts end, on data with known answers."""

import numpy as np
import pandas as pd
import pytest

from attention_book.pages import minima, parameters, variant_maps, variants


def around(*by_data_set, omega=0.3):
    """Students from starts around the semantic minimum, from their losses on each data set."""
    rows = [
        {"start": "near_semantic" if number else "semantic", "seed": seed, "train_loss": loss}
        for seed, losses in enumerate(by_data_set)
        for number, loss in enumerate(losses)
    ]
    return pd.DataFrame(rows).assign(alpha=1.0, omega=omega)


def test_minima_are_counted_for_each_data_set():
    (row,) = minima.scatter(around([1.0, 1.0 + 1e-10, 1.0], [1.0, 1.0 + 2e-4, 1.0 + 4e-4])).to_dict("records")
    assert (row["omega"], row["alpha"], row["valley"]) == (0.3, 1.0, "semantic")
    assert [row[name] for name in ("starts", "minima", "fewest", "most")] == [3, 2, 1, 3]
    assert row["scatter"] == pytest.approx((4e-8 / 2) ** 0.5)


def test_a_scatter_has_an_error_and_there_is_none_where_all_starts_meet():
    table = pd.concat([around([0.0, 2e-4], [0.0, 4e-4], omega=0.1), around([0.0, 1e-10], [0.0, 1e-10])])
    divided, single = minima.scatter(table).to_dict("records")
    assert divided["scatter"] == pytest.approx(5e-8**0.5) and divided["minima"] == 2  # variances 2e-8 and 8e-8
    assert divided["scatter_error"] == pytest.approx(3e-8 / (2 * 5e-8**0.5))
    assert np.isnan(single["scatter"]) and np.isnan(single["scatter_error"]) and single["minima"] == 1


def test_memory_is_a_root_mean_square_over_data_sets():
    rows = [
        {"alpha": 0.5, "start": start, "d": 100, "seed": seed, "theta": theta, "m": m, "train_loss": loss}
        for start, seed, theta, m, loss in (
            ("semantic", 0, 0.3, 0.1, 1.0), ("semantic", 1, -0.5, -0.1, 3.0),
            ("random", 0, 0.1, 0.2, 1.0), ("random", 0, -0.3, 0.2, 2.0), ("random", 1, 0.1, -0.2, 2.5),
        )
    ]  # fmt: skip
    theory = pd.DataFrame({"what": ["symmetric", "symmetric", "semantic"], "alpha": [0.5, 0.6, 0.5],
                           "train_loss": [0.9, 5.0, 5.0], "train_loss_error": [0.01, 1.0, 1.0]})  # fmt: skip
    frame = parameters.memory(pd.DataFrame(rows), theory).set_index("start")
    assert frame.loc["semantic", "theta_rms"] == pytest.approx(((0.09 + 0.25) / 2) ** 0.5)
    assert frame.loc["semantic", "theta_rms_error"] == pytest.approx(0.08 / (2 * 0.17**0.5))
    # Starts on one data set are one instance: squares 0.05 and 0.01.
    assert frame.loc["random", "theta_rms"] == pytest.approx(0.03**0.5)
    assert frame.loc["random", "theta_rms_error"] == pytest.approx(0.02 / (2 * 0.03**0.5))
    assert frame.loc["random", "train_loss"] == 2.0 and frame.loc["random", "train_loss_error"] == pytest.approx(0.5)
    assert frame.loc["any", ["theta_rms", "m_rms", "train_loss", "train_loss_error"]].to_list() == [0, 0, 0.9, 0.01]
    assert np.isnan(frame.loc["any", "dimension"]) and frame.loc["random", "dimension"] == 100
    assert "any" not in set(parameters.memory(pd.DataFrame(rows), theory[:0])["start"])


def ends():
    """Two data sets, three starts on each: three minima on the first, one on the second."""
    frame = pd.DataFrame({
        "seed": [0, 0, 0, 1, 1, 1], "minimum": [0, 1, 2, 0, 0, 0], "train_loss": [1.0, 1.1, 1.2, 2.0, 2.0, 2.0],
        "aligned": [0.5, 0.7, 0.6, 1.0, 1.0, 1.0], "nearest": [0.5, 0.05, 0.05, 0.0, 5e-4, 2e-3],
    })  # fmt: skip
    return frame.assign(omega=0.3, alpha=1.5, valley="positional", noise=0.1)


def test_minima_of_a_valley():
    (row,) = minima.valleys(ends()).to_dict("records")
    assert (row["starts"], row["minima"], row["minima_low"], row["minima_high"]) == (3, 2.0, 1, 3)
    assert row["relative_scatter"] == pytest.approx((0.1 + 0) / 2)  # standard deviation over the lowest, on average
    assert row["aligned"] == pytest.approx(0.8) and row["aligned_std"] == pytest.approx((0.26 / 5) ** 0.5)
    (row,) = minima.valleys(ends().assign(train_loss=1.0)).to_dict("records")
    assert np.isnan(row["relative_scatter"])


def test_starts_above_the_lowest_loss():
    losses = {"semantic": [1.0, 2.0, 3.2], "positional": [1.05, 2.5, 3.0]}  # lowest 1, 2, 3: spread 1
    rows = [
        {"alpha": 1.0, "seed": seed, "start": start, "train_loss": loss}
        for start, values in losses.items() for seed, loss in enumerate(values)
    ]  # fmt: skip
    (row,) = variants.between(pd.DataFrame(rows)).to_dict("records")
    assert (row["alpha"], row["semantic_above"], row["positional_above"]) == (1.0, 1, 1)  # by more than 0.1
    assert row["apart"] == pytest.approx(0.2) and row["loss_spread"] == pytest.approx(1.0)


def test_random_starts_beside_the_best_informed_ones():
    alphas = [0.1, 0.2, 0.3, 0.4, 0.5]
    informed = pd.DataFrame([
        {"alpha": alpha, "seed": seed, "start": start, "train_loss": loss + seed, "theta": theta, "test_mse": 2.0}
        for alpha in alphas for seed in (0, 1)
        for start, loss, theta in (("semantic", 1.0, 0.5), ("positional", 1.5, 9.0))
    ])  # fmt: skip
    random = pd.DataFrame([
        {"alpha": alpha, "seed": seed, "train_loss": 1.3 + seed, "theta": 0.4 - 0.1 * seed, "test_mse": 2.5}
        for alpha in alphas for seed in (0, 1)
    ])  # fmt: skip
    (row,) = variants.against_informed(informed, random).to_dict("records")
    assert row["alpha"] == 0.5  # the fifth
    assert row["train_loss_share"] == pytest.approx(0.3 / 1.5) and row["train_loss_share_error"] == pytest.approx(0)
    assert row["theta_share"] == pytest.approx(-0.3) and row["theta_share_error"] == pytest.approx(0.1)
    assert row["test_mse_share"] == pytest.approx(0.25)


def test_students_that_the_steps_do_not_suffice_for():
    rows = [
        {"omega": 0.3, "alpha": alpha, "seed": seed, "optimizer": optimizer, "start": start,
         "train_loss": loss, "grad_norm": 0.01 * (1 + seed)}
        for alpha, losses in ((1.0, (1.06, 1.04, 1.2)), (2.0, (1.0, 1.0, 1.0)))
        for seed, loss_of_descent in enumerate(losses)
        for optimizer, start, loss in (
            ("gd", "random", loss_of_descent), ("lbfgs", "random", 1.1 if seed == 2 and alpha == 1 else 1.0),
            ("lbfgs", "semantic", 1.0), ("lbfgs", "positional", 1.3),
        )
    ]  # fmt: skip
    early, late = variant_maps.unfinished(pd.DataFrame(rows)).to_dict("records")
    assert early == {"alpha": 1.0, "students": 3, "gd_above": 2, "lbfgs_above": 1, "gd_gradient": pytest.approx(0.02)}
    assert (late["students"], late["gd_above"], late["lbfgs_above"]) == (3, 0, 0) and np.isnan(late["gd_gradient"])
