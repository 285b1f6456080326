"""Every experiment is complete; see `checks`."""

import pytest
import reference
from authors_tables import COLUMNS
from checks import check_columns, check_experiment

from attention_book.experiments import GRIDS
from attention_book.paths import DATA


@pytest.mark.parametrize("name", GRIDS)
def test_an_experiment_lacks_nothing(name):
    lacks = [*check_experiment(name)]
    assert not lacks, "\n".join(lacks)


def test_every_stored_table_belongs_to_an_experiment_but_the_one_that_compares():
    compared = DATA / "published_tables.parquet"
    assert {path.stem for path in DATA.glob("*.parquet")} == {*GRIDS, compared.stem}
    assert {path.stem for path in reference.RESULTS.glob("*.parquet")} == {*GRIDS}
    assert [*check_columns(compared, COLUMNS)] == []
