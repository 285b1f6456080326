"""Train the transformer: Adam with the frozen zeros, then noise on what was frozen, then SGD on everything.

Rates, batch size and noise as published (paper, Appendix A).
"""

from collections.abc import Sequence

import numpy as np
from numpy.random import SeedSequence, default_rng

from . import Sequences
from .step import Rule, Trainable, evaluate, train_epoch
from .transformer import ATTENTION, SIZE, free, start, views

BATCH = 32
ADAM = Rule(rate=1e-3, beta1=0.9, beta2=0.98, epsilon=1e-9)
SGD = Rule(rate=1e-3)
NOISE = 1e-3  # standard deviation, on queries, keys and both embeddings

Kept = dict[str, np.ndarray]
Curve = list[dict[str, float]]


def train(
    variant: str,
    training: Sequences,
    test: Sequences,
    streams: Sequence[SeedSequence],
    adam_epochs: int,
    sgd_epochs: int,
    epochs: int | None = None,
) -> tuple[Kept, Curve]:
    """Train one variant.

    The weights (SIZE,) that are kept are "start" and, as far as it came, "trained" (by Adam), "displaced" (by the
    noise) and "final" (by SGD), each as it is after its step. The curve has for each epoch, from 0 at the start:
    `epoch`, `train_loss` (the mean along the way), and after the epoch on the test set `test_loss` and `accuracy`.

    Args:
        streams: of the start, of the noise, and of the order of the sequences in each epoch.
        epochs: stop after so many, counted through both phases; all by default.
    """
    of_start, of_noise, *orders = streams
    last = adam_epochs + sgd_epochs
    mask = free(variant)
    current = start(default_rng(of_start)) * mask
    kept, model = {"start": current.copy()}, trainable(current, mask)
    train_loss, _ = evaluate(views(current), training, BATCH)
    curve = [{"epoch": 0, "train_loss": train_loss, **_tested(current, test)}]
    for epoch in range(1, (last if epochs is None else epochs) + 1):
        by_adam = epoch <= adam_epochs
        if epoch == adam_epochs + 1:
            displace(current, default_rng(of_noise))
            kept["displaced"] = current.copy()
            model = model._replace(free=np.ones_like(mask))
        loss = train_once(model, training, ADAM if by_adam else SGD, epoch, orders)
        curve.append({"epoch": epoch, "train_loss": loss, **_tested(current, test)})
        if epoch == adam_epochs:
            kept["trained"] = current.copy()
    if len(curve) > last:
        kept["final"] = current
    return kept, curve


def _tested(flat: np.ndarray, test: Sequences) -> dict[str, float]:
    loss, accuracy = evaluate(views(flat), test, BATCH)
    return {"test_loss": loss, "accuracy": accuracy}


def trainable(flat: np.ndarray, free: np.ndarray) -> Trainable:
    """The parameters (SIZE,) ready for `train_once`, which changes them in place."""
    gradient = np.empty_like(flat)
    return Trainable(views(flat), flat, views(gradient), gradient, free, np.zeros((2, SIZE), np.float32))


def train_once(model: Trainable, training: Sequences, rule: Rule, epoch: int, orders: Sequence[SeedSequence]) -> float:
    """Train for one epoch, counted from 1, in the order of its stream; the mean loss along the way."""
    order = default_rng(orders[epoch - 1]).permutation(len(training.tokens))
    batches = -(-len(order) // BATCH)
    return train_epoch(model, training, order, BATCH, rule, (epoch - 1) * batches)


def displace(flat: np.ndarray, rng: np.random.Generator) -> None:
    """Add the noise that ends the freezing to queries, keys and both embeddings, in place."""
    for name in ATTENTION:
        weights = getattr(views(flat), name)
        weights += np.float32(NOISE) * rng.standard_normal(weights.shape, dtype=np.float32)
