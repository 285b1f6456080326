"""Runs of the counting task from the start of one run on the data of another: which letters they lose, and when."""

from dataclasses import replace

import numpy as np

from attention_phases.histogram.counting import LETTERS
from attention_phases.histogram.measures import by_letter
from attention_phases.histogram.step import train_epoch
from attention_phases.histogram.transformer import free, start

from .counting_cells import EXCHANGED
from .counting_training import ADAM, BATCH, data, seeds, trainable

TESTED_EVERY = 5  # epochs after the first ones


def train_exchanged(cell):
    """Rows of a cell.

    Parameters
    ----------
    cell : ExchangedCell

    Returns
    -------
    list of dict
        After each `epoch` up to the fourth, every fifth and the last: the `letter` told worst on the test set, the
        share told wrong `there` and `elsewhere` (mean over the other letters).
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
