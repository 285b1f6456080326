"""Runs of the counting experiments: one variant on its data, and the start of one run on the data of another."""

from dataclasses import replace

import numpy as np

from attention_phases.histogram import LETTERS, draw, transformer
from attention_phases.records import seed_sequence

from ..store.parquet import encode
from .cells import EXCHANGED
from .grids import grid

BEGINNING = 2  # rows, those of `train_beginning` and `train_exchanged_beginning`
TESTED_EVERY = 5  # epochs after the first ones


def seeds(cell):
    """Streams of a cell, the same for both variants: data, start, noise, and the order of each epoch.

    A control has those of the run of the experiment "histogram" that it repeats.
    """
    run = run_of(cell, cell.seed) if cell.experiment == "counting_control" else cell
    fields = {name: value for name, value in vars(run).items() if name != "variant"}
    return seed_sequence(fields).spawn(3 + run.adam_epochs + run.sgd_epochs)


def data(cell):
    """Training and test sequences of a cell."""
    return draw(cell.sequences, np.random.default_rng(seeds(cell)[0]))


def train(cell, epochs=None):
    """Weights and curve of a cell's model, as `transformer.train` gives them; `epochs`: stop after so many."""
    return transformer.train(cell.variant, *data(cell), seeds(cell)[1:], cell.adam_epochs, cell.sgd_epochs, epochs)


def train_and_measure(cell):
    """Rows of a cell, each with `what` it is.

    "epoch" has the curve. Then as `transformer` measures them: "distance", and for the weights `after` Adam and SGD
    "shares" of the attention's variance, "count" (how often each is told right), and "weights", as text for `decode`.
    """
    kept, curve = train(cell)
    return [{"what": "epoch", **epoch} for epoch in curve] + measure(cell, kept)


def measure(cell, kept):
    """The rows of `train_and_measure` that follow from the weights `kept`: all after the curve."""
    test, frozen = data(cell)[1], transformer.free(cell.variant) == 0
    rows = [{"what": "distance", **row} for row in transformer.distances(kept, frozen)]
    for after, flat in (("adam", kept["trained"]), ("sgd", kept["final"])):
        rows.append({"what": "shares", "after": after, **transformer.variance_shares(flat, test.tokens)})
        rows += [{"what": "count", "after": after, **row} for row in transformer.right_by_count(flat, test)]
        rows.append({"what": "weights", "after": after, "weights": encode(flat)})
    return rows


def train_beginning(cell):
    """The first rows of `train_and_measure`, of the start and of one epoch, before rounding has grown."""
    return [{"what": "epoch", **epoch} for epoch in train(cell, epochs=BEGINNING - 1)[1]]


def run_of(cell, seed):
    """The cell of the experiment "histogram" with a seed, at the paper's size but for the sequences of `cell`."""
    return replace(grid("histogram", "paper")[0], variant=cell.variant, seed=seed, sequences=cell.sequences)


def train_exchanged(cell):
    """Rows of an `ExchangedCell`, after each `epoch` up to the fourth, every fifth and the last.

    They have the `letter` told worst on the test set, and the share told wrong `there` and, in the mean, `elsewhere`.
    """
    sequences, test = data(run_of(cell, cell.data_seed))
    orders = seeds(run_of(cell, cell.data_seed))[3:]
    mask = transformer.free(cell.variant)
    current = transformer.start(np.random.default_rng(seeds(run_of(cell, cell.start_seed))[1])) * mask
    model, rows = transformer.trainable(current, mask), []
    for epoch in range(1, cell.epochs + 1):
        transformer.train_once(model, sequences, transformer.ADAM, epoch, orders)
        if epoch <= EXCHANGED or epoch % TESTED_EVERY == 0 or epoch == cell.epochs:
            wrong = transformer.wrong_by_letter(current, test)
            worst = int(wrong.argmax())
            row = {"epoch": epoch, "letter": LETTERS[worst], "there": wrong[worst]}
            rows.append(row | {"elsewhere": np.delete(wrong, worst).mean()})
    return rows


def train_exchanged_beginning(cell):
    """The first rows of `train_exchanged`, before rounding has grown."""
    return train_exchanged(replace(cell, epochs=min(cell.epochs, BEGINNING)))
