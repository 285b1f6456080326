"""Crossings with control variates, loops along alpha, and the lowest of many starts."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import torch

from attention_book.analysis.controlled import gaps, limit, losses, root
from attention_book.analysis.lowest import excess, expected_minimum, later, searched
from attention_book.experiments import grid
from attention_book.experiments.controls import CONTROLS, controls, train_controlled
from attention_book.experiments.landscape import follow
from attention_book.experiments.simulation import train_students
from attention_book.store.identity import canonical, flattened
from attention_phases import Task
from attention_phases.measured import Measured
from attention_phases.model.two_tokens import overlaps, risk, sample
from attention_phases.training.optimizers import fit


@pytest.mark.slow
@pytest.mark.parametrize("task", [Task(omega=0.3), Task(omega=0.6, matrix="alternative", sigma=0.8)])
def test_controls_vanish_in_the_mean(task):
    """Over data sets, small ones so that the teacher's overlap with the encoding is large."""
    rows = [controls(task, sample(task, 1.0, 12, np.random.default_rng(seed))) for seed in range(600)]
    table = pd.DataFrame(rows)
    assert set(table) == set(CONTROLS)
    assert (table.mean().abs() < 4 * table.sem()).all()
    assert (table.sem() < 0.05 * table.std()).all()


def test_a_control_is_the_loss_of_a_student_with_fixed_weights():
    """The aligned one, on data so large that the fluctuations of a token's length do not count."""
    task = Task(omega=0.2)
    data = sample(task, 0.05, 8000, np.random.default_rng(0))
    known = controls(task, data)
    values = []
    for size in (0.0, 0.4):
        loss = risk(data, (size * data.teacher)[None], 0.0)[0].item() / data.d
        exact = 0.05 * np.mean([_misfit(task, data, size)])
        values.append((loss, exact))
    blind, aligned = values
    assert aligned[0] - blind[0] == pytest.approx(aligned[1] - blind[1], rel=0.1)
    assert aligned[0] < 0.9 * blind[0]
    assert np.isfinite(list(known.values())).all()


def _misfit(task, data, size):
    """sigma^2 times the summed misfit of the student with weights `size` Q*, from its targets alone."""
    h = data.inputs @ (size * data.teacher)
    s = torch.sigmoid(h * (h - h.flip(1)))
    return float(task.sigma**2 * ((s - data.targets) ** 2).sum(1).mean())


def test_controlled_students_are_those_of_a_plain_cell():
    cell = grid("crossing", "smoke")[0]
    for ours, plain in zip(train_controlled(cell), train_students(cell), strict=True):
        assert all(ours[name] == plain[name] for name in plain if name != "seconds")
    table = pd.DataFrame([{**flattened(cell), "cell": canonical(cell), **row} for row in train_controlled(cell)])
    (length,) = gaps(table)["length"]
    teacher = sample(cell.task, cell.alpha, cell.d, cell.rng()).teacher.double()
    assert length == pytest.approx(float(teacher @ teacher) / cell.d - 1, abs=1e-6)


def drawn(rng, root=0.715, count=120):
    """Gaps with a known root, most of whose scatter two controls explain, and more of it at larger alpha."""
    alphas = np.repeat((0.65, 0.71, 0.77), count)
    known = rng.standard_normal((2, len(alphas))) * [[0.03], [1e-4]]
    noise = 3e-5 * (1 + 4 * (alphas - 0.65)) * rng.standard_normal(len(alphas))
    away = alphas - root
    gap = -6e-4 * away + 2e-3 * known[0] - 0.6 * known[1] + noise
    return pd.DataFrame({"alpha": alphas, "gap": gap, "length": known[0], "blind": known[1]})


@pytest.mark.slow
def test_the_error_of_a_crossing_covers_the_truth():
    """As often as a standard error should, and it is the smaller the more is controlled."""
    rng, repeats = np.random.default_rng(1), 600
    errors = {}
    for names in (("length", "blind"), ()):
        roots = [root(drawn(rng), names).alpha for _ in range(repeats)]
        away = np.array([(alpha - 0.715) / error for alpha, error in roots])
        inside = (np.abs(away) < 1.96).mean()
        assert abs(inside - 0.95) < 4 * np.sqrt(0.95 * 0.05 / repeats)
        assert abs(away.mean()) < 4 / np.sqrt(repeats)
        errors[names] = np.mean([error for _, error in roots])
    assert errors["length", "blind"] < 0.6 * errors[()]


def test_a_gap_that_does_not_fall_through_zero_has_no_crossing():
    rows = drawn(np.random.default_rng(3))
    assert np.isnan(root(rows.assign(gap=rows["gap"] + 1e-2), ()).alpha.value)
    assert np.isnan(root(rows.assign(gap=-rows["gap"]), ("length", "blind")).alpha.value)


def test_the_limit_is_a_line_in_one_over_d():
    rng, repeats, errors = np.random.default_rng(4), 400, {250: 0.004, 500: 0.003, 1000: 0.003, 2000: 0.002}
    limits = [
        limit({d: Measured(0.71 - 3.0 / d + e * rng.standard_normal(), e) for d, e in errors.items()})
        for _ in range(repeats)
    ]
    away = np.array([(line.value.value - 0.71) / line.value.error for line in limits])
    assert abs((np.abs(away) < 1.96).mean() - 0.95) < 4 * np.sqrt(0.95 * 0.05 / repeats)
    assert abs(np.mean([line.chance for line in limits]) - 0.5) < 4 / np.sqrt(12 * repeats)
    assert abs(np.mean([line.over_d.value for line in limits]) + 3.0) < 0.5


def test_losses_extrapolate_means_with_their_controls():
    rng, rows = np.random.default_rng(5), []
    for d in (250, 1000):
        control = rng.standard_normal(500) * d**-0.5
        values = 2e-3 + 1e-2 / d + 3e-4 * control + 1e-7 * rng.standard_normal(500)
        part = {"omega": 0.1, "alpha": 0.7, "start": "semantic", "d": d, "train_loss": values, "length": control}
        rows.append(pd.DataFrame(part))
    extrapolated = losses(pd.concat(rows), ("length",)).loc[(0.1, 0.7, "semantic")]
    assert (
        extrapolated["loss"] == pytest.approx(2e-3, abs=4 * extrapolated["loss_error"])
        and extrapolated["loss_error"] < 2e-8
    )


def test_the_expected_minimum_is_the_mean_over_all_choices():
    values = np.random.default_rng(6).standard_normal(7)
    for count in range(1, 8):
        choices = [min(choice) for choice in combinations(values, count)]
        assert expected_minimum(values, count) == pytest.approx(np.mean(choices), rel=1e-9)


def test_the_lowest_of_many_starts_moves_the_crossing():
    """By hand: the semantic valley gains nothing, the positional one 3e-6 with all of its starts, on both data sets."""
    losses = {"semantic": [5.0, 5.0, 6.0, 7.0], "positional": [5.0, 2.0, 4.0, 9.0]}
    table = pd.DataFrame([
        {"omega": 0.1, "alpha": 0.7, "d": 100, "valley": valley, "seed": seed, "number": k, "train_loss": 1e-6 * loss}
        for valley, some in losses.items()
        for seed in (0, 1)
        for k, loss in enumerate(some)
    ])  # fmt: skip
    assert excess(table, (3,)).xs("positional", level="valley")[3].tolist() == pytest.approx([3e-6, 3e-6])
    moved = later(excess(table, (1, 3)), {0.1: -6e-4})
    assert moved.loc[(0.1, 100, 3), "later"] == pytest.approx(3e-6 / 6e-4)
    assert moved.loc[(0.1, 100, 1), "later"] == pytest.approx((3 + 1 + 0) / 3 * 1e-6 / 6e-4)


def test_a_search_gains_on_the_informed_minimum_of_its_data_set():
    """By hand, in units of 1e-6: the informed start ends at 9, its search at 7, the other start at 8 and 4."""
    losses = [("descent", 0, 9.0), ("hop", 0, 7.0), ("descent", 1, 8.0), ("hop", 1, 4.0), ("hop", 2, 4.0 + 1e-3)]
    rows = [{"search": search, "number": k, "train_loss": 1e-6 * loss} for search, k, loss in losses]
    rows += [{"search": "anneal", "number": 0, "train_loss": 1e-6 * (9 + k), "temperature": k} for k in (0.001, 0.01)]
    table = pd.DataFrame(rows).assign(omega=0.1, alpha=0.7, d=100, valley="positional", seed=3)
    gained = searched(table).loc[(0.1, 0.7, 100, "positional", 3)]
    assert gained[["descent", "hop", 0.001, 0.01]].tolist() == pytest.approx([1e-6, 5e-6, -1e-9, -1e-8])
    assert gained["same"] == pytest.approx(2 / 3)


def test_a_loop_starts_each_student_at_the_last_minimum():
    cell = grid("hysteresis", "smoke")[0]
    rows = pd.DataFrame(follow(cell))
    up, down = (rows[rows["way"] == way] for way in ("up", "down"))
    assert up["at"].tolist() == list(cell.alphas) and down["at"].tolist() == list(cell.alphas)[::-1]
    assert (rows["grad_norm"] < 1e-3).all()
    # The first of the way down is the informed student on the whole data set; the others are other minima than it.
    task = cell.task
    data = sample(task, cell.alpha, cell.d, cell.rng())
    informed = fit(data, task.lam, data.teacher[None])[0]
    assert down["excess"].iloc[0] == pytest.approx(informed.train_loss - data.floor / data.d, abs=1e-7)
    assert down["theta"].iloc[0] == pytest.approx(overlaps(task, informed.weights, data.teacher)["theta"], abs=1e-3)
    assert up["m"].iloc[0] > 0 and (up["excess"].diff().dropna() > 0).all()  # a sentence more costs more
