"""Pages of the other architectures: theory against students in growing dimension, and tables by hand."""

import numpy as np
import pandas as pd
import pytest
from cells import cell as cell_of_page
from frames import students as students_on_a_line

from attention_book.analysis.architectures import (
    ONE,
    TWO,
    beside_students,
    beside_theory,
    extrapolate,
    teacher_lengths,
    threshold_moves,
)
from attention_book.experiments.cells import ArchitectureCell
from attention_book.experiments.kinds import work
from attention_book.experiments.variant_grids import COMPARED, COMPARED_ALPHA
from attention_phases import Task
from attention_phases.measured import UNKNOWN, Measured
from attention_phases.model import students
from attention_phases.model.architectures import Architecture
from attention_phases.records import canonical
from attention_phases.theory import solve
from attention_phases.theory.branches import row_of

TASK = Task()
PAGE = "architectures_compared"


def variant_cell(architecture, alpha, d, seed):
    return ArchitectureCell("test", TASK, alpha, d, seed, "lbfgs", ("semantic",), architecture=architecture)


def lengths_of(cells):
    """By which share the teacher of each cell is longer than in the limit, as pages find it."""
    return teacher_lengths(pd.DataFrame({"cell": map(canonical, cells)}), ArchitectureCell).to_list()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["correlated", "untied", "rank2", "three tokens"])
def test_theory_and_students_agree(name):
    """Students in three dimensions, extrapolated to infinite d as 1/d, and theory."""
    architecture, alpha = COMPARED[name], COMPARED_ALPHA[name]
    cells = [variant_cell(architecture, alpha, d, seed) for d in (60, 120, 240) for seed in range(12)]
    rows = pd.DataFrame([{"d": cell.d, **work(cell)[0]} for cell in cells]).assign(length=lengths_of(cells))
    solution = solve(TASK, alpha, "semantic", 2**6, 8, architecture=architecture)
    assert solution.converged
    theory = row_of(TASK, solution)
    for quantity in TWO if architecture.rank == 2 else ONE:
        if theory[f"{quantity}_error"] > 0:
            (value, error), _ = extrapolate(rows, quantity)
            # 4.5: what is left at order 1/d^2.
            assert abs(value - abs(theory[quantity])) < 4.5 * np.hypot(error, theory[f"{quantity}_error"]), quantity
            assert error < 0.15 * value, quantity


@pytest.mark.slow
def test_forms_share_their_sentences_and_say_what_they_reached():
    one, two = (work(variant_cell(Architecture(form), 1.0, 60, 3))[0] for form in ("tied", "untied"))
    assert one["linear_mse"] == pytest.approx(two["linear_mse"], rel=4e-3)  # the quadrature of its test error
    assert {"q_11", "q_12", "theta_1", "m_2"} <= two.keys() and "q_11" not in one
    # What the score sees of Q and K is their product: the penalty makes them equally long.
    assert two["q_11"] == pytest.approx(two["q_22"], rel=1e-3)


@pytest.mark.parametrize("name", ["correlated", "untied"])
def test_the_length_of_the_teacher_is_that_of_the_run(name, monkeypatch):
    cell, seen = variant_cell(COMPARED[name], 1.0, 50, 2), []
    sample = students.sample
    monkeypatch.setattr(students, "sample", lambda *given: seen.append(sample(*given)) or seen[0])
    work(cell)
    assert lengths_of([cell]) == [pytest.approx(seen[0].teacher.double().square().mean().item() - 1, rel=1e-12)]


def test_extrapolation_finds_the_limit_for_a_teacher_of_length_one():
    rng = np.random.default_rng(0)
    d = np.repeat([100, 200, 400], 40)
    length = rng.standard_normal(120) * (2 / d) ** 0.5
    noise = rng.standard_normal(120) * 0.1 / d**0.5
    rows = pd.DataFrame({"d": d, "length": length, "q": 0.5 + 3 / d + 0.7 * length + noise})
    (value, error), chi2 = extrapolate(rows, "q")
    assert abs(value - 0.5) < 4 * error and error < 2.5e-3  # without the length: 6e-3
    assert chi2 < 10 < extrapolate(rows.assign(q=rows["q"] + 0.02 * (d == 200)), "q")[1]


def test_larger_dimensions_weigh_more_in_an_extrapolation():
    """Lengths that cancel in each dimension leave a straight line through points that are on none."""
    d, q = np.repeat([100, 200, 400], 2), np.array([0.50, 0.53, 0.40, 0.42, 0.36, 0.33])
    rows = pd.DataFrame({"d": d, "length": [0.1, -0.1] * 3, "q": q})
    assert extrapolate(rows, "q")[0].value == pytest.approx(np.polyfit(1 / d, q, 1, w=d**0.5)[1])


def test_overlaps_with_the_positions_count_without_their_sign():
    """Students and theory, each on one of two sides; the branch holds theta at zero."""
    rng = np.random.default_rng(1)
    d, side = np.repeat([100, 200, 400], 20), rng.choice([-1, 1], 60)
    students = pd.DataFrame({"d": d, "length": rng.standard_normal(60), "m": side * (0.3 + 2 / d), "theta": 0.0})
    lines = pd.DataFrame([{"alpha": 1.5, "m": -0.3, "m_error": 0.01, "theta": 0.0, "theta_error": 0.0}])
    (row,) = beside_theory([("case", students, lines, ("m", "theta"))]).itertuples()
    assert (row.case, row.alpha, row.quantity, row.theory) == ("case", 1.5, "m", 0.3)
    assert row.limit == pytest.approx(0.3, abs=1e-9)


def test_theory_against_students_of_every_architecture():
    """Students at d and 2 d on the line 0.5 + 3/d, teachers of length 1 but for one: the limit is 0.5."""
    correlated = Architecture(correlation=0.3)
    sizes = pd.MultiIndex.from_product([(100, 200), (0.02, -0.02, 0.0)], names=["d", "away"]).to_frame(index=False)
    table = sizes.assign(**vars(correlated), alpha=3.0, cell=sizes["d"].astype(str) + sizes["away"].astype(str))
    table = table.assign(**dict.fromkeys(ONE, 0.5 + 3 / sizes["d"] + sizes["away"]))
    theory = {name: 0.49 for name in ONE} | {f"{name}_error": 0.03 for name in ONE}
    theory |= {"m": -0.49, "q_error": 0.0, "what": "semantic", "alpha": 3.0}
    given = {"table": table, "lines": pd.DataFrame([theory | vars(correlated)]), "COMPARED": {"correlated": correlated}}
    lengths = 0.1 * (table["cell"] == "1000.0")
    rows = cell_of_page(PAGE, "rows", lengths=lengths, **given)["rows"].set_index("quantity")
    assert list(rows.index) == ["m", "theta", "train_loss", "test_mse"]  # q has no error: held by the branch
    assert set(rows["architecture"]) == {"correlated tokens"} and set(rows["alpha"]) == {3.0}
    assert rows.loc["m", "theory"] == 0.49  # a student and its mirror image are one
    theta = rows.loc["theta"]
    assert theta["limit"] == pytest.approx(0.5)
    assert theta["sigma_off"] == pytest.approx(0.01 / (theta["limit_error"] ** 2 + 0.03**2) ** 0.5)


def test_thresholds_moved_by_an_architecture():
    usual = {"critical": Measured(1.25, 0.01), "linear": Measured(1.5, 0.02)}
    untied = {"critical": Measured(2.25, 0.03), "linear": UNKNOWN}
    first, second = threshold_moves({"standard": usual, "untied": untied}).to_dict("records")
    assert (first["student"], first["critical"], first["critical_error"]) == ("standard", 1.25, 0.01)
    assert first["linear"] == 1.5 and np.isnan(first["critical_moves"]) and np.isnan(first["linear_moves"])
    assert (second["critical"], second["critical_error"], second["critical_moves"]) == (2.25, 0.03, 1.0)
    assert np.isnan(second["linear"]) and np.isnan(second["linear_moves"])


def test_trained_thresholds_beside_both_theories():
    usual = {"critical": Measured(1.1, 0.001), "linear": Measured(1.2, 0.002)}
    theory = {"critical": Measured(1.26, 0.04), "linear": UNKNOWN}
    rows = beside_students(usual, theory, students_on_a_line(0.3, 1.3, 9.0))
    (row,) = rows.to_dict("records")
    assert (row["threshold"], row["usual"], row["usual_error"]) == ("critical", 1.1, 0.001)
    assert (row["theory"], row["theory_error"]) == (1.26, 0.04) and row["trained"] == pytest.approx(1.3)
    assert row["sigma_off"] == pytest.approx(0.04 / (row["trained_error"] ** 2 + 0.04**2) ** 0.5)


def test_maps_of_students_beside_theory():
    rows = (("critical", 0.1, 0.8), ("critical", 0.3, 1.2), ("critical", 0.5, 9.0), ("linear", 0.3, 1.5))
    lines = pd.DataFrame(rows, columns=["what", "omega", "alpha"])
    lines = lines.assign(alpha_error=0.03, form="untied", tokens=2, correlation=0.0)
    crossings = {0.1: (0.7, 9.0), 0.3: (1.3, 1.6), 0.5: (1.0, 1.0)}
    table = pd.concat([students_on_a_line(omega, *alphas) for omega, alphas in crossings.items()])
    compared = cell_of_page("fig14_maps", "checked", maps={"untied": table}, lines=lines, SHOWN=(0.1,))["checked"]
    assert list(zip(compared["student"], compared["threshold"], compared["omega"])) == [
        ("untied queries and keys", *where) for where in (("critical", 0.1), ("critical", 0.3), ("linear", 0.3))
    ]
    assert compared["trained"].to_list() == pytest.approx([0.7, 1.3, 1.6])
    assert np.sign(compared["sigma_off"]).to_list() == [-1, 1, 1]


def test_where_students_from_random_starts_cross():
    late = students_on_a_line(0.3, 0.0, 1.7, 0.1).query("start == 'semantic'").assign(start="random", optimizer="gd")
    never = late.assign(omega=0.5, test_mse=9.0)
    other = late.assign(optimizer="lbfgs", test_mse=0.0)
    table = pd.concat([late, never, other])
    crossed = cell_of_page("fig14_maps", "crossed", read=lambda *_: table, profile="")["crossed"]
    assert list(crossed.index) == [0.3] and crossed.loc[0.3].to_list() == pytest.approx([1.7, 0.0])
