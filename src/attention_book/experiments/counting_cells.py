"""The cells of the counting experiment: one run of one variant each, and starts on the data of other runs."""

from dataclasses import dataclass, replace
from typing import ClassVar

from attention_phases.errors import check_count

from . import kinds
from .kinds import Kind

VARIANTS = ("positional", "semantic")
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


def histogram(profile, runs=None, variants=VARIANTS):
    """The counting task, all runs of both variants or some of them: Figures 4, 5, 6 and Table 1."""
    all_runs, sequences, adam_epochs, sgd_epochs = {
        "paper": (10, 50_000, 200, 100),
        "laptop": (2, 50_000, 20, 10),
        "smoke": (2, 2_000, 4, 2),
    }[profile]
    return [
        CountingCell("histogram", variant, seed, sequences, adam_epochs, sgd_epochs)
        for seed in range(all_runs if runs is None else check_count("runs", runs))
        for variant in variants
    ]


@dataclass(frozen=True)
class ExchangedCell:
    """The start of one run on the data of another one or its own, trained by Adam for some epochs."""

    kind: ClassVar = Kind(
        ".lost_letters:train_exchanged",
        kinds.EXCHANGED,
        ("letter",),
        beginning=".lost_letters:train_exchanged_beginning",
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


def lost_letters(profile):
    """How many semantic runs lose a letter, and does the start or do the data decide it?

    Starts and data sets are those of runs of the experiment "histogram", exchanged between them: every start sees some
    data sets for a few epochs, each in its own order, and many starts see one data set for as long as the paper trains.
    """
    data_sets, starts, sequences, epochs = {
        "paper": (4, 40, 50_000, EXCHANGED),
        "laptop": (2, 3, 50_000, EXCHANGED),
        "smoke": (2, 2, 2_000, 3),
    }[profile]
    exchanged = [
        ExchangedCell("lost_letters", "semantic", data_seed, start_seed, sequences, epochs)
        for data_seed in range(data_sets)
        for start_seed in range(starts)
    ]
    starts, epochs = {"paper": (40, 200), "laptop": (4, 20), "smoke": (3, 4)}[profile]
    return exchanged + [
        ExchangedCell("lost_letters", "semantic", 0, start_seed, sequences, epochs) for start_seed in range(starts)
    ]
