"""How many semantic runs lose a letter, and does the start or do the data decide it?

Starts and data sets are those of runs of the experiment "histogram", exchanged between them: every start sees some data
sets for a few epochs, each in its own order, and many starts see one data set for as long as the paper trains.
"""

from dataclasses import dataclass, replace

import numpy as np

from .cells import histogram
from .counting import LETTERS
from .measures import by_letter
from .step import train_epoch
from .training import ADAM, BATCH, data, seeds, trainable
from .transformer import free, start

EXCHANGED = 4  # epochs on several data sets
TESTED_EVERY = 5  # epochs after these


@dataclass(frozen=True)
class ExchangedCell:
    """The start of one run on the data of another one or its own, trained by Adam for some epochs."""

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
    """Every start of some semantic runs on some data sets of theirs, then many starts on one data set for long."""
    data_sets, starts, sequences, epochs = {
        "paper": (4, 40, 50_000, EXCHANGED),
        "laptop": (2, 3, 50_000, EXCHANGED),
        "smoke": (2, 2, 2_000, 2),
    }[profile]
    exchanged = [
        ExchangedCell("lost_letters", "semantic", data_seed, start_seed, sequences, epochs)
        for data_seed in range(data_sets)
        for start_seed in range(starts)
    ]
    starts, epochs = {"paper": (40, 200), "laptop": (4, 20), "smoke": (3, 3)}[profile]
    return exchanged + [
        ExchangedCell("lost_letters", "semantic", 0, start_seed, sequences, epochs) for start_seed in range(starts)
    ]


def train_exchanged(cell):
    """Rows of a cell.

    Parameters
    ----------
    cell : ExchangedCell

    Returns
    -------
    list of dict
        After each `epoch` up to the fourth, every fifth and the last: the `letter` told worst on the test set, the share
        told wrong `there` and `elsewhere` (mean over the other letters).
    """
    training, test = data(cell.run(cell.data_seed))
    orders = seeds(cell.run(cell.data_seed))[3:]
    mask = free(cell.variant)
    current = start(np.random.default_rng(seeds(cell.run(cell.start_seed))[1])) * mask
    model, rows = trainable(current, mask), []
    for epoch in range(1, cell.epochs + 1):
        order = np.random.default_rng(orders[epoch - 1]).permutation(len(training.tokens))
        batches = -(-len(order) // BATCH)
        train_epoch(model, training, order, BATCH, ADAM, (epoch - 1) * batches)
        if epoch > EXCHANGED and epoch % TESTED_EVERY and epoch < cell.epochs:
            continue
        wrong = by_letter(current, test)
        worst = int(wrong.argmax())
        row = {"letter": LETTERS[worst], "there": wrong[worst], "elsewhere": np.delete(wrong, worst).mean()}
        rows.append({"epoch": epoch, **row})
    return rows


def train_exchanged_beginning(cell):
    """The first rows of `train_exchanged`, before rounding has grown."""
    return train_exchanged(replace(cell, epochs=min(cell.epochs, EXCHANGED)))
