"""What the page on another task shows: against the ends of the thresholds, and students against theory."""

import numpy as np
import pytest
from cells import stored
from scipy import stats

from attention_book.experiments import grid
from attention_phases import Task
from attention_phases.theory.baseline import diverges_at

PAGE, FEW = "another_task", {"points": 512}


@pytest.mark.slow
def test_theory_and_students_agree_on_every_task():
    """Twelve students a point, about the share by which all of a kind are off at finite d: normal numbers."""
    compared = stored(PAGE, "compared", **FEW).drop("linear", level="start")
    error = np.hypot(compared["tested_mse_error"], compared["theory_error"]) / compared["theory"]
    weight, above = error**-2, compared["tested_mse"] / compared["theory"] - 1
    share = ((weight * above).groupby("start").sum() / weight.groupby("start").sum()).reindex(
        above.index, level="start"
    )
    assert len(above) == 44 and share.abs().max() < 0.02
    off = stats.norm.isf(stats.t.sf(((above - share) / error).abs(), 11))
    assert abs(off).max() < 3 and (off**2).mean() ** 0.5 < 1.3
    assert (compared["theory_error"] < compared["tested_mse_error"]).all()
    changed = compared.xs("semantic", level="start")["theory"]
    assert changed.max() > 5 * changed.min()  # theory says something


@pytest.mark.slow
@pytest.mark.parametrize(("other", "kind"), [("linear", "linear"), ("positional", "critical")])
def test_with_unlimited_data_the_errors_meet_at_the_end_of_the_threshold(other, kind):
    """Trained there and tested there."""
    of_all_data, meets = (stored(PAGE, name, **FEW) for name in ("of_all_data", "meets"))
    place = diverges_at(Task(), kind).value
    trained = Task(omega=place)
    value, error = meets(trained, of_all_data(trained), other)
    assert abs(value - place) < 4 * error < 2e-3


def test_every_point_has_data_sets_of_its_own():
    cells = grid(PAGE, "paper")
    tests = {(cell.task, cell.tested) for cell in cells}
    assert len({(cell.task, cell.seed) for cell in cells}) == len(cells) == 12 * len(tests)
    assert len(tests) >= 8 and np.isin([cell.d for cell in cells], 1000).all()
