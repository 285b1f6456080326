"""Runs of the counting experiments: one variant on its data, and the start of one run on the data of another."""

import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from attention_phases.errors import StoreError
from attention_phases.histogram import measures, training
from attention_phases.histogram.counting import LETTERS, draw
from attention_phases.histogram.transformer import free, start

from ..paths import CHECKPOINTS
from ..store.identity import canonical, key, seed_sequence
from ..store.parquet import encode
from .cells import EXCHANGED
from .grids import grid

SAVED_EVERY = 20  # epochs
BEGINNING = 2  # rows, those of `train_beginning`
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


def train(cell, epochs=None, path=None):
    """Weights and curve of a cell's model, as `histogram.training.train` gives them.

    epochs: stop after so many.
    path: checkpoint, gone on from where it exists, written every 20 epochs.
    """
    last = cell.adam_epochs + cell.sgd_epochs

    def save(kept, curve):
        epoch = curve[-1]["epoch"]
        if path and (epoch % SAVED_EVERY == 0 or epoch == last):
            save_checkpoint(path, kept, curve)

    size = cell.adam_epochs, cell.sgd_epochs
    begun = load_checkpoint(path) if path and Path(path).exists() else None
    return training.train(cell.variant, *data(cell), seeds(cell)[1:], *size, epochs, begun, save)


def save_checkpoint(path, kept, curve):
    """Write where a run stands, arrays and a JSON text; the file is replaced whole or not at all."""
    partial = Path(f"{path}.{os.getpid()}")
    partial.parent.mkdir(parents=True, exist_ok=True)
    with partial.open("wb") as file:
        np.savez(file, **kept, curve=np.array(json.dumps(curve)))
    partial.replace(path)


def load_checkpoint(path):
    """Weights and curve as saved."""
    try:
        with np.load(path) as file:  # refuses pickles
            kept = {name: file[name] for name in file.files}
        return kept, json.loads(str(kept.pop("curve")))
    except (zipfile.BadZipFile, EOFError, OSError, TypeError, AttributeError, KeyError, ValueError) as error:
        raise StoreError(f"checkpoint {path}: {str(error).splitlines()[0]}; remove it to begin anew") from error


def train_and_measure(cell):
    """Rows of a cell, each with `what` it is.

    "epoch" has the curve. Then as `measures` gives them: "distance", and for the weights `after` Adam and SGD "shares"
    of the attention's variance, "count" (how often each count is told right), and the "weights" themselves, as text
    (`parquet.decode`).
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


def run_of(cell, seed):
    """The cell of the experiment "histogram" with a seed, at the paper's size but for the sequences of `cell`."""
    return replace(grid("histogram", "paper")[0], variant=cell.variant, seed=seed, sequences=cell.sequences)


def train_exchanged(cell):
    """Rows of an `ExchangedCell`, after each `epoch` up to the fourth, every fifth and the last.

    They have the `letter` told worst on the test set, and the share told wrong `there` and `elsewhere` (mean over the
    other letters).
    """
    sequences, test = data(run_of(cell, cell.data_seed))
    orders = seeds(run_of(cell, cell.data_seed))[3:]
    mask = free(cell.variant)
    current = start(np.random.default_rng(seeds(run_of(cell, cell.start_seed))[1])) * mask
    model, rows = training.trainable(current, mask), []
    for epoch in range(1, cell.epochs + 1):
        training.train_once(model, sequences, training.ADAM, epoch, orders)
        if epoch <= EXCHANGED or epoch % TESTED_EVERY == 0 or epoch == cell.epochs:
            wrong = measures.wrong_by_letter(current, test)
            worst = int(wrong.argmax())
            row = {"epoch": epoch, "letter": LETTERS[worst], "there": wrong[worst]}
            rows.append(row | {"elsewhere": np.delete(wrong, worst).mean()})
    return rows


def train_exchanged_beginning(cell):
    """The first rows of `train_exchanged`, before rounding has grown."""
    return train_exchanged(replace(cell, epochs=min(cell.epochs, EXCHANGED)))
