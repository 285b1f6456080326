"""A run of the counting experiment: Adam with the frozen zeros, then noise on what was frozen, then SGD on everything.

Rates, batch size and noise as published (paper, Appendix A).
"""

import numpy as np

from attention_phases.histogram import measures
from attention_phases.histogram.counting import draw
from attention_phases.histogram.step import Rule, Trainable, evaluate, train_epoch
from attention_phases.histogram.transformer import ATTENTION, SIZE, free, start, views

from ..float32 import encode
from ..paths import CHECKPOINTS
from ..store.identity import canonical, key, seed_sequence
from . import checkpoint

BATCH = 32
ADAM = Rule(rate=1e-3, beta1=0.9, beta2=0.98, epsilon=1e-9)
SGD = Rule(rate=1e-3)
NOISE = 1e-3  # standard deviation, on queries, keys and both embeddings
SAVED_EVERY = 20  # epochs
BEGINNING = 2  # rows, those of `train_beginning`


def seeds(cell):
    """Streams of a cell, the same for both variants: data, start, noise, and the order of each epoch."""
    fields = {name: value for name, value in vars(cell).items() if name != "variant"}
    return seed_sequence(fields).spawn(3 + cell.adam_epochs + cell.sgd_epochs)


def data(cell):
    """Training and test sequences of a cell."""
    return draw(cell.sequences, np.random.default_rng(seeds(cell)[0]))


def train(cell, epochs=None, path=None):
    """Train the model of a cell.

    Parameters
    ----------
    cell : cells.CountingCell
    epochs : int, optional
        Stop after so many, counted through both phases; all by default.
    path : path-like, optional
        Checkpoint: gone on from where it exists, written every 20 epochs.

    Returns
    -------
    weights : dict of (SIZE,) float32 arrays
        "start" and, as far as it came, "trained" (by Adam), "displaced" (by the noise), "final" (by SGD), each as
        it is after its step. "current" is where it stands.
    curve : list of dict
        For each epoch, from 0 at the start: `epoch`, `train_loss` (the mean along the way), `test_loss`, `accuracy`
        (the last two on the test set, after the epoch).
    """
    streams = seeds(cell)
    training, test = draw(cell.sequences, np.random.default_rng(streams[0]))
    last = cell.adam_epochs + cell.sgd_epochs
    epochs = last if epochs is None else epochs
    mask = free(cell.variant)
    kept, state = (path and checkpoint.load(path)) or ({}, {"curve": []})
    curve = state["curve"]
    if not kept:
        current = start(np.random.default_rng(streams[1])) * mask
        kept = {"start": current.copy(), "current": current, "moments": np.zeros((2, SIZE), np.float32)}
        curve.append({"epoch": 0, **_tested(current, training, "train_loss"), **_tested(current, test)})
    current = kept["current"]
    model = trainable(current, mask, kept["moments"])
    for epoch in range(len(curve), epochs + 1):
        by_adam = epoch <= cell.adam_epochs
        if epoch == cell.adam_epochs + 1:
            displace(current, np.random.default_rng(streams[2]))
            kept["displaced"] = current.copy()
        if not by_adam:
            model = model._replace(free=np.ones_like(mask))
        order = np.random.default_rng(streams[2 + epoch]).permutation(len(training.tokens))
        batches = -(-len(order) // BATCH)
        rule = ADAM if by_adam else SGD
        loss = train_epoch(model, training, order, BATCH, rule, (epoch - 1) * batches)
        curve.append({"epoch": epoch, "train_loss": loss, **_tested(current, test)})
        if epoch == cell.adam_epochs:
            kept["trained"] = current.copy()
        if epoch == last:
            kept["final"] = current.copy()
        if path and (epoch % SAVED_EVERY == 0 or epoch == last):
            checkpoint.save(path, kept, curve=curve)
    return kept, curve


def trainable(flat, free, moments=None):
    """The parameters (SIZE,) ready for `step.train_epoch`, which changes them in place."""
    gradient = np.empty_like(flat)
    moments = np.zeros((2, SIZE), np.float32) if moments is None else moments
    return Trainable(views(flat), flat, views(gradient), gradient, free, moments)


def _tested(flat, sequences, *names):
    loss_and_accuracy = evaluate(views(flat), sequences, BATCH)
    return dict(zip(names or ("test_loss", "accuracy"), loss_and_accuracy))


def displace(flat, rng):
    """Add the noise that ends the freezing to queries, keys and both embeddings, in place."""
    for name in ATTENTION:
        each = getattr(views(flat), name)
        each += np.float32(NOISE) * rng.standard_normal(each.shape, dtype=np.float32)


def train_and_measure(cell):
    """Rows of a cell, each with `what` it is.

    Parameters
    ----------
    cell : cells.CountingCell

    Returns
    -------
    list of dict
        "epoch": as `train` gives them. Then as `measures` gives them: "distance", and for the weights `after` Adam
        and SGD "shares" of the attention's variance, "count" (how often each count is told right), and the "weights"
        themselves, as text (`float32.decode`).
    """
    path = CHECKPOINTS / f"{key(canonical(cell))}.safetensors"
    kept, curve = train(cell, path=path)
    test = data(cell)[1]
    rows = [{"what": "epoch", **each} for each in curve]
    rows += [{"what": "distance", **each} for each in measures.distances(kept, free(cell.variant) == 0)]
    for after, flat in (("adam", kept["trained"]), ("sgd", kept["final"])):
        rows.append({"what": "shares", "after": after, **measures.shares(flat, test.tokens)})
        rows += [{"what": "count", "after": after, **each} for each in measures.by_count(flat, test)]
        rows.append({"what": "weights", "after": after, "weights": encode(flat)})
    path.unlink()
    return rows


def train_beginning(cell):
    """The first rows of `train_and_measure`, those of the start and of one epoch: cheap to compute again, and rounding
    has not grown yet."""
    return [{"what": "epoch", **each} for each in train(cell, epochs=BEGINNING - 1)[1]]
