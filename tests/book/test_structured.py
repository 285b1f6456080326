"""What the page on structured tokens reads off its tables."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from cells import cell

from attention_book.experiments.cells import ArchitectureCell, LineCell
from attention_book.experiments.variant_grids import TWO_TEACHERS, VALUE, power_law
from attention_book.store.parquet import column_value
from attention_phases import Architecture, Task
from attention_phases.model.architectures import STANDARD
from attention_phases.records import fields_of

ALPHAS = (0.5, 1.0, 1.5, 2.0)


def of_page(name, **given):
    """A function of the notebook, or what the cell that binds a name makes of given values."""
    return cell("structured_tokens", name, after=("of_task",), read=lambda *_: None, profile="", **given)[name]


def rows_of(task, cell_type, **more):
    """A row with the columns that a cell of a task has in a table."""
    fields = {"alphas": (1.0,), "points": 16, "scrambles": 4}
    if cell_type is ArchitectureCell:
        fields = {"alpha": 1.0, "d": 100, "seed": 0, "optimizer": "lbfgs", "architecture": Architecture()}
    cell = cell_type("toy", task, **fields)
    return {name: column_value(value) for name, value in fields_of(cell).items()} | more


def students(task, critical, linear, lean=0.0):
    """Both starts on four data sets at each alpha: gaps fall through zero at the thresholds, but for the lengths."""
    rng, rows = np.random.default_rng(0), []
    for alpha in ALPHAS:
        lengths = rng.normal(size=4)
        for seed, length in enumerate(lengths - lengths.mean()):
            for start in ("semantic", "positional"):
                gap = critical - alpha + lean * length if start == "semantic" else 0.0
                values = {"cell": f"{alpha} {seed}", "alpha": alpha, "seed": seed, "start": start, "length": length}
                errors = {"train_loss": 1 + gap, "test_mse": 1 + linear - alpha + lean * length, "linear_mse": 1.0}
                rows.append(rows_of(task, ArchitectureCell) | values | errors)
    return pd.DataFrame(rows)


def test_rows_of_a_task_are_its_own():
    tasks = [Task(), Task(l1=0.1), power_law(1.0), power_law(1.0, 1.0), TWO_TEACHERS]
    for cell_type in (ArchitectureCell, LineCell):
        table = pd.DataFrame([rows_of(task, cell_type, number=number) for number, task in enumerate(tasks)])
        assert [of_page("of_task")(table, task)["number"].tolist() for task in tasks] == [[k] for k in range(5)]
        assert of_page("of_task")(table, Task(density=0.5)).empty
        assert of_page("of_task")(table[["omega", "sigma", "lam", "matrix"]], Task(l1=0.1)).empty


def test_thresholds_lie_where_the_gaps_fall_whatever_the_lengths():
    places = of_page("trained_thresholds")(students(Task(), 1.2, 1.6, lean=0.3))
    assert places["trained_critical"].value == pytest.approx(1.2)
    assert places["trained_linear"].value == pytest.approx(1.6)
    none = of_page("trained_thresholds")(students(Task(), 0.2, 3.0))
    assert np.isnan([place.value for place in none.values()]).all()


def test_linear_thresholds_are_those_of_each_dimension():
    task = power_law(1.5)
    tables = [students(task, 0.0, linear).assign(d=d) for d, linear in ((100, 1.2), (200, 1.4), (400, 3.0))]
    theory = pd.DataFrame([rows_of(task, LineCell, what="critical", alpha=1.0, alpha_error=0.1)])
    roots = of_page("by_dimension", tables={"spectra": pd.concat(tables)}, lines={"spectra": theory}, standard=theory)
    assert list(roots) == [100, 200] and [alpha.value for alpha in roots.values()] == pytest.approx([1.2, 1.4])


@pytest.mark.parametrize("power", [-1.0, -0.5])
def test_a_value_matrix_is_compared_on_the_same_data(power):
    rng, rows = np.random.default_rng(1), []
    for d, seed, start in product((100, 200, 400), range(8), ("semantic", "positional")):
        loss, share = rng.uniform(1, 2), (2 + 0.1 * rng.normal()) * d**power / 10
        for architecture, its_loss in ((VALUE, loss * (1 - share)), (STANDARD, loss)):
            fields = rows_of(Task(), ArchitectureCell) | vars(architecture)
            rows.append(fields | {"d": d, "seed": seed, "start": start, "train_loss": its_loss})
    tables = {"limits": pd.DataFrame(rows)}
    gains = of_page("gains", tables=tables).reset_index()
    assert gains["gain"].to_numpy() == pytest.approx(0.2 * gains["d"].to_numpy() ** power, rel=0.06)
    found = of_page("powers", tables=tables).values()
    assert max(abs(value - power) for value, _ in found) < 4 * min(error for _, error in found) < 0.2


def test_the_lowest_student_of_each_data_set_is_shown():
    columns = {"form": "tied", "tokens": 2, "correlation": 0.0, "d": 100, "alpha": 1.0}
    rows = [
        columns | {"cell": cell, "start": start, "train_loss": loss, "m": -0.25, "teacher_1": size, "teacher_2": 0.125}
        for cell, losses in (("a", (1.0, 2.0)), ("b", (2.0, 1.0)))
        for start, loss, size in zip(("semantic", "positional"), losses, (0.5, 0.25))
    ]
    rows.append(
        columns | {"cell": "c", "start": "semantic", "train_loss": 0.0, "m": 9.0, "teacher_1": 9.0, "teacher_2": 9}
    )
    tables = {"two_teachers": pd.DataFrame([*rows, *(row | {"form": "rank2"} for row in rows)])}
    shown = of_page("means", tables=tables, lines={"two_teachers": pd.DataFrame({"what": []})}).loc[1.0]
    assert shown[["teacher_1", "teacher_2", "m"]].tolist() == [1.5, 1.0, 1.0]  # over sigma^2, and over the mean square
    assert shown["teacher_1_error"] == pytest.approx(0.5)
