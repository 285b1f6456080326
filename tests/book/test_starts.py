"""Where several starts end, on data with known answers."""

import numpy as np
import pandas as pd
import pytest

from attention_book.pages import minima, parameters, variant_maps


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
    assert variant_maps.unfinished(pd.DataFrame(rows)).to_dict() == {"gd": 2, "lbfgs": 1}
