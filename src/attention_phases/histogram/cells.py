"""The cells of the counting experiment: one run of one variant each."""

from dataclasses import dataclass

from ..errors import check_count

VARIANTS = ("positional", "semantic")


@dataclass(frozen=True)
class CountingCell:
    """What fixes the outcome of a run.

    The variant does not enter the seed: both see the same data in the same order and start from the same numbers,
    of which each freezes its own part at zero.
    """

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
