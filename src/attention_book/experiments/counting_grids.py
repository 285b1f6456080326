"""Sizes of the experiments on transformers that count (paper, Appendix A)."""

from attention_phases.errors import check_count
from attention_phases.histogram import VARIANTS

from . import cells
from .grids import GRIDS, cells_of, register

COUNTED = {
    "paper": {"seed": range(10), "sequences": 50_000, "adam_epochs": 200, "sgd_epochs": 100},
    "laptop": {"seed": range(2), "sequences": 50_000, "adam_epochs": 20, "sgd_epochs": 10},
    "smoke": {"seed": range(2), "sequences": 2_000, "adam_epochs": 4, "sgd_epochs": 2},
}


def histogram(profile, runs=None, variants=VARIANTS):
    """The counting task, all runs of both variants or some of them: Figures 4, 5, 6 and Table 1."""
    table = COUNTED[profile] if runs is None else COUNTED[profile] | {"seed": range(check_count("runs", runs))}
    return cells_of("histogram", cells.CountingCell, {**table, "variant": [*variants]})


GRIDS["histogram"] = histogram
register(
    "counting_control",
    'First runs of the experiment "histogram" again, whose SGD begins where Adam has not yet found a minimum.',
    cell_type=cells.CountingCell,
    paper=COUNTED["paper"] | {"seed": range(4), "adam_epochs": 3, "variant": [*VARIANTS]},
    laptop=COUNTED["laptop"] | {"seed": range(1), "adam_epochs": 3, "variant": [*VARIANTS]},
    smoke=COUNTED["smoke"] | {"adam_epochs": 1, "variant": [*VARIANTS]},
)
# Starts and data sets are those of runs of the experiment "histogram", exchanged between them: every start sees some
# data sets for a few epochs, each in its own order, and many starts see one data set for as long as the paper trains.
register(
    "lost_letters",
    "How many semantic runs lose a letter, and does the start or do the data decide it?",
    {"variant": "semantic"},
    cells.ExchangedCell,
    paper=[
        {"data_seed": range(4), "start_seed": range(40), "sequences": 50_000, "epochs": cells.EXCHANGED},
        {"data_seed": range(1), "start_seed": range(40), "sequences": 50_000, "epochs": 200},
    ],
    laptop=[
        {"data_seed": range(2), "start_seed": range(3), "sequences": 50_000, "epochs": cells.EXCHANGED},
        {"data_seed": range(1), "start_seed": range(4), "sequences": 50_000, "epochs": 20},
    ],
    smoke=[
        {"data_seed": range(2), "start_seed": range(2), "sequences": 2_000, "epochs": 3},
        {"data_seed": range(1), "start_seed": range(3), "sequences": 2_000, "epochs": 4},
    ],
)
