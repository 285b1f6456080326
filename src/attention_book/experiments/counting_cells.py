"""The cells of the counting experiment: one run of one variant each, and starts on the data of other runs."""

from dataclasses import dataclass, replace
from typing import ClassVar

from attention_phases.errors import check_count
from attention_phases.histogram.counting import VARIANTS

from . import kinds
from .grids import cells, sizes
from .kinds import Kind

EXCHANGED = 4  # epochs on several data sets


@dataclass(frozen=True)
class CountingCell:
    """What fixes the outcome of a run.

    The variant does not enter the seed: both see the same data in the same order and start from the same numbers,
    of which each freezes its own part at zero.
    """

    kind: ClassVar = Kind(
        ".counting_training:train_and_measure", kinds.COUNTING, beginning=".counting_training:train_beginning", rows=2
    )

    experiment: str
    variant: str
    seed: int
    sequences: int
    adam_epochs: int
    sgd_epochs: int


@sizes(paper=(10, 50_000, 200, 100), laptop=(2, 50_000, 20, 10), smoke=(2, 2_000, 4, 2))
def histogram(all_runs, sequences, adam_epochs, sgd_epochs, runs=None, variants=VARIANTS):
    """The counting task, all runs of both variants or some of them: Figures 4, 5, 6 and Table 1."""
    axes = {"seed": range(all_runs if runs is None else check_count("runs", runs)), "variant": variants}
    size = {"sequences": sequences, "adam_epochs": adam_epochs, "sgd_epochs": sgd_epochs}
    return cells("histogram", CountingCell, axes, **size)


@dataclass(frozen=True)
class ExchangedCell:
    """The start of one run on the data of another one or its own, trained by Adam for some epochs."""

    kind: ClassVar = Kind(
        ".counting_training:train_exchanged",
        kinds.EXCHANGED,
        ("letter",),
        beginning=".counting_training:train_exchanged_beginning",
        rows=EXCHANGED,
    )

    experiment: str
    variant: str
    data_seed: int
    start_seed: int
    sequences: int
    epochs: int

    def run(self, seed):
        """The run of the experiment "histogram" with a seed, at the paper's size but for the sequences."""
        return replace(histogram("paper")[0], variant=self.variant, seed=seed, sequences=self.sequences)


# Data sets, starts and epochs of the exchange; starts and epochs on the first data set alone; sequences.
@sizes(
    paper=((4, 40, EXCHANGED), (40, 200), 50_000),
    laptop=((2, 3, EXCHANGED), (4, 20), 50_000),
    smoke=((2, 2, 3), (3, 4), 2_000),
)
def lost_letters(exchange, alone, sequences):
    """How many semantic runs lose a letter, and does the start or do the data decide it?

    Starts and data sets are those of runs of the experiment "histogram", exchanged between them: every start sees some
    data sets for a few epochs, each in its own order, and many starts see one data set for as long as the paper trains.
    """
    blocks = []
    for data_sets, starts, epochs in (exchange, (1, *alone)):
        axes = {"data_seed": range(data_sets), "start_seed": range(starts)}
        size = {"sequences": sequences, "epochs": epochs}
        blocks += cells("lost_letters", ExchangedCell, axes, variant="semantic", **size)
    return blocks
