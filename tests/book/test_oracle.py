"""Stored results as the judge: of each experiment the cheapest cell of smoke size is computed again, as `verify` does.

The notebooks are compared on stored results (tests/reference), so this is where the computing is tested.
"""

import numpy as np
import pytest
import reference

from attention_book.experiments import GRIDS, convergence, grid
from attention_book.experiments.verification import check_cell
from attention_book.store.parquet import load
from attention_phases import Task
from attention_phases.model.two_tokens import sample
from attention_phases.training.message_passing import limiting, start_state

pytestmark = pytest.mark.slow

DEAREST = {"one_step"}  # 12 seconds; its kind of cell has another experiment


def test_every_kind_of_cell_is_computed_again():
    kinds = {name: type(grid(name, "smoke")[0]) for name in GRIDS}
    assert {kind for name, kind in kinds.items() if name not in DEAREST} == set(kinds.values())


@pytest.mark.parametrize("name", sorted(GRIDS.keys() - DEAREST))
def test_the_cheapest_cell_is_found_again(name):
    stored = load(reference.RESULTS / f"{name}.parquet")
    cheapest = stored.loc[stored["cell_seconds"].idxmin(), "cell"]
    assert check_cell(type(grid(name, "smoke")[0]), stored[stored["cell"] == cheapest]) == ([], [])


def test_a_student_and_its_mirror_image_are_no_distance_apart():
    """Q and -Q attend alike; no stored copies happen to have come to opposite signs."""
    task, rng = Task(), np.random.default_rng(0)
    data = limiting(task, sample(task, 2.0, 60, rng))
    first = data.teacher.numpy() + 0.1 * rng.standard_normal(60)
    starts = [start_state(task, data, sign * first) for sign in (1, -1)]
    distances = convergence.copies(task, data, starts, 0.5, 0.0, 2, 2)
    assert distances["apart"] < 1e-6 < distances["q"]
