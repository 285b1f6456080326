"""Runs of the counting experiments: one variant on its data, and the start of one run on the data of another."""

from dataclasses import replace

import numpy as np

from attention_phases.histogram import measures, training
from attention_phases.histogram.counting import LETTERS, draw
from attention_phases.histogram.transformer import free, start

from ..paths import CHECKPOINTS
from ..store.identity import canonical, key, seed_sequence
from ..store.parquet import encode
from . import checkpoint
from .counting_cells import EXCHANGED

SAVED_EVERY = 20  # epochs
BEGINNING = 2  # rows, those of `train_beginning`
TESTED_EVERY = 5  # epochs after the first ones


def seeds(cell):
    """Streams of a cell, the same for both variants: data, start, noise, and the order of each epoch."""
    fields = {name: value for name, value in vars(cell).items() if name != "variant"}
    return seed_sequence(fields).spawn(3 + cell.adam_epochs + cell.sgd_epochs)


def data(cell):
    """Training and test sequences of a cell."""
    return draw(cell.sequences, np.random.default_rng(seeds(cell)[0]))


def train(cell, epochs=None, path=None):
    """Weights and curve of a cell's model, as `histogram.training.train` gives them.

    Args:
        epochs: stop after so many.
        path: checkpoint, gone on from where it exists, written every 20 epochs.
    """
    last = cell.adam_epochs + cell.sgd_epochs
    saved = checkpoint.load(path) if path else None
    begun = (saved[0], saved[1]["curve"]) if saved else None

    def save(kept, curve):
        epoch = curve[-1]["epoch"]
        if path and (epoch % SAVED_EVERY == 0 or epoch == last):
            checkpoint.save(path, kept, curve=curve)

    size = cell.adam_epochs, cell.sgd_epochs
    return training.train(cell.variant, *data(cell), seeds(cell)[1:], *size, epochs, begun, save)


def train_and_measure(cell):
    """Rows of a cell, each with `what` it is.

    "epoch" has the curve. Then as `measures` gives them: "distance", and for the weights `after` Adam and SGD "shares"
    of the attention's variance, "count" (how often each count is told right), and the "weights" themselves, as text
    (`float32.decode`).
    """
    path = CHECKPOINTS / f"{key(canonical(cell))}.npz"
    kept, curve = train(cell, path=path)
    test = data(cell)[1]
    rows = [{"what": "epoch", **epoch} for epoch in curve]
    rows += [{"what": "distance", **row} for row in measures.distances(kept, free(cell.variant) == 0)]
    for after, flat in (("adam", kept["trained"]), ("sgd", kept["final"])):
        rows.append({"what": "shares", "after": after, **measures.variance_shares(flat, test.tokens)})
        rows += [{"what": "count", "after": after, **row} for row in measures.right_by_count(flat, test)]
        rows.append({"what": "weights", "after": after, "weights": encode(flat)})
    path.unlink()
    return rows


def train_beginning(cell):
    """The first rows of `train_and_measure`, those of the start and of one epoch: cheap to compute again, and rounding
    has not grown yet."""
    return [{"what": "epoch", **epoch} for epoch in train(cell, epochs=BEGINNING - 1)[1]]


def train_exchanged(cell):
    """Rows of an `ExchangedCell`, after each `epoch` up to the fourth, every fifth and the last.

    They have the `letter` told worst on the test set, and the share told wrong `there` and `elsewhere` (mean over the
    other letters).
    """
    of_data, of_start = (cell.run(seed) for seed in (cell.data_seed, cell.start_seed))
    sequences, test = data(of_data)
    mask = free(cell.variant)
    current = start(np.random.default_rng(seeds(of_start)[1])) * mask
    model, orders, rows = training.trainable(current, mask), seeds(of_data)[3:], []
    for epoch in range(1, cell.epochs + 1):
        training.train_once(model, sequences, training.ADAM, epoch, orders)
        if epoch > EXCHANGED and epoch % TESTED_EVERY and epoch < cell.epochs:
            continue
        wrong = measures.wrong_by_letter(current, test)
        worst = int(wrong.argmax())
        row = {"letter": LETTERS[worst], "there": wrong[worst], "elsewhere": np.delete(wrong, worst).mean()}
        rows.append({"epoch": epoch, **row})
    return rows


def train_exchanged_beginning(cell):
    """The first rows of `train_exchanged`, before rounding has grown."""
    return train_exchanged(replace(cell, epochs=min(cell.epochs, EXCHANGED)))
