"""The transformer: its parameters, its variants with frozen parameters, its training, and analyses of the result.

Training follows the paper (Appendix A): Adam with some parameters frozen at zero, then noise on these parameters, then
SGD on all parameters.
"""

from collections import namedtuple
from collections.abc import Sequence

import numpy as np
import torch
from numpy.random import SeedSequence, default_rng
from torch import Tensor
from torch.nn import functional

from ..errors import check_choice
from ..machine import torch_defaults
from . import LENGTH, TOKENS, VARIANTS, Sequences

DIMENSION, HIDDEN_UNITS, CLASSES = 64, 128, LENGTH + 1
HALF_DIMENSION = DIMENSION // 2
# Tensors of which each variant freezes some entries, and to which noise is added when the entries are unfrozen.
FROZEN_TENSORS = ("token", "position", "query", "key")
SHAPES = {
    "token": (TOKENS, DIMENSION),
    "position": (LENGTH, DIMENSION),
    "query": (DIMENSION, DIMENSION),
    "key": (DIMENSION, DIMENSION),
    "value": (DIMENSION, DIMENSION),
    "norm_scale": (DIMENSION,),
    "norm_shift": (DIMENSION,),
    "hidden": (HIDDEN_UNITS, DIMENSION),
    "hidden_bias": (HIDDEN_UNITS,),
    "output": (CLASSES, HIDDEN_UNITS),
    "output_bias": (CLASSES,),
}
SIZE = sum(int(np.prod(shape)) for shape in SHAPES.values())
SPANS = (("start", "trained"), ("trained", "final"), ("trained", "displaced"), ("displaced", "final"))
BATCH = 32  # number of sequences per training step
RATE = 1e-3  # learning rate of Adam and of SGD
UNFREEZING_NOISE = 1e-3  # standard deviation of the noise on queries, keys and both embeddings
PART = 500  # number of sequences per call of the network in torch, which limits the memory that is needed


# The parameters by name, as arrays or tensors. The matrices of the linear layers are (outputs, inputs).
Weights = namedtuple("Weights", SHAPES)


def views(flat: np.ndarray) -> Weights:
    """Split the vector (SIZE,) of all parameters into named arrays, without a copy."""
    ends = np.cumsum([np.prod(shape) for shape in SHAPES.values()])
    parts = np.split(flat, ends[:-1])
    return Weights(*(part.reshape(shape) for part, shape in zip(parts, SHAPES.values())))


def start(rng: np.random.Generator) -> np.ndarray:
    """Draw initial parameters from the default distributions of PyTorch.

    They are (SIZE,) float32. Embeddings are N(0, 1); a linear layer's weights and biases are uniform within
    1/sqrt(inputs).
    """
    flat = np.zeros(SIZE, np.float32)
    weights = views(flat)
    for name, part in weights._asdict().items():
        if name in ("token", "position"):
            part[...] = rng.standard_normal(part.shape, dtype=np.float32)
        elif name.startswith("norm"):
            part[...] = name == "norm_scale"
        else:
            inputs = SHAPES[name.removesuffix("_bias")][1]
            part[...] = (2 * rng.random(part.shape, dtype=np.float32) - 1) / np.float32(inputs**0.5)
    return flat


def trained_mask(variant: str) -> np.ndarray:
    """Return a mask that is 1 for the parameters that a variant trains and 0 for frozen parameters.

    The mask is (SIZE,) float32. Frozen parameters are zero. In both variants the tokens fill the first half of an
    embedding and the positions the second half. Queries and keys read only the first half in the semantic variant, and
    only the second half in the positional variant.
    """
    mask = np.ones(SIZE, np.float32)
    weights = views(mask)
    check_choice("variant", variant, VARIANTS)
    unread = np.s_[HALF_DIMENSION:] if variant == "semantic" else np.s_[:HALF_DIMENSION]
    weights.token[:, HALF_DIMENSION:] = 0
    weights.position[:, :HALF_DIMENSION] = 0
    weights.query[:, unread] = 0
    weights.key[:, unread] = 0
    return mask


@torch_defaults()
def train(
    variant: str,
    training: Sequences,
    test: Sequences,
    streams: Sequence[SeedSequence],
    adam_epochs: int,
    sgd_epochs: int,
    epochs: int | None = None,
) -> tuple[dict[str, np.ndarray], list[dict[str, float]]]:
    """Train one variant of the transformer and return its weights at several stages and its learning curve.

    The weights (SIZE,) are those at "start" and, as far as the training came, after each step: "trained" (by Adam),
    "displaced" (by the noise) and "final" (by SGD). The curve has a row for each epoch, from 0 for the start, with
    `epoch`, `train_loss` (the mean during the epoch), and `test_loss` and `accuracy` on the test set after the epoch.

    Args:
        streams: random streams of the start, of the noise, and of the order of the sequences in each epoch.
        epochs: number of epochs after which to stop, counted through both phases; the default is all epochs.
    """
    of_start, of_noise, *orders = streams
    last = adam_epochs + sgd_epochs
    mask = trained_mask(variant)
    current = start(default_rng(of_start)) * mask
    kept, curve, optimizer = {"start": current.copy()}, [], adam(current, mask)

    def note(epoch: int, train_loss: float) -> None:
        loss, accuracy = evaluate(current, test)
        curve.append({"epoch": epoch, "train_loss": train_loss, "test_loss": loss, "accuracy": accuracy})

    note(0, evaluate(current, training)[0])
    for epoch, order in enumerate(orders[: last if epochs is None else epochs], 1):
        if epoch == adam_epochs + 1:
            displace(current, default_rng(of_noise))
            kept["displaced"] = current.copy()
            optimizer = torch.optim.SGD(trainable(current, np.ones_like(mask)), RATE)
        note(epoch, train_once(optimizer, training, default_rng(order)))
        if epoch == adam_epochs:
            kept["trained"] = current.copy()
    if len(curve) > last:
        kept["final"] = current
    return kept, curve


def trainable(flat: np.ndarray, mask: np.ndarray) -> Weights:
    """Return the parameters (SIZE,) as tensors in the same memory, for an optimiser that changes them in place.

    mask: (SIZE,), by which every gradient is multiplied; it is 0 for frozen parameters
    """
    weights = Weights(*map(torch.from_numpy, views(flat)))
    for part, of_part in zip(weights, views(mask)):
        part.requires_grad_().register_hook(torch.from_numpy(of_part).mul)
    return weights


def adam(flat: np.ndarray, mask: np.ndarray) -> torch.optim.Optimizer:
    """Return the optimiser Adam for the parameters that a mask does not freeze (see `trainable`)."""
    return torch.optim.Adam(trainable(flat, mask), RATE, betas=(0.9, 0.98), eps=1e-9)


@torch_defaults()
def train_once(optimizer: torch.optim.Optimizer, training: Sequences, rng: np.random.Generator) -> float:
    """Train for one epoch, in a random order, and return the mean loss, each batch evaluated before its step."""
    weights = Weights(*optimizer.param_groups[0]["params"])
    tokens, counts = map(torch.from_numpy, training)
    total = 0.0
    for chosen in torch.from_numpy(rng.permutation(len(tokens))).split(BATCH):
        optimizer.zero_grad()
        value = loss(weights, tokens[chosen], counts[chosen])
        value.backward()
        optimizer.step()
        total += len(chosen) * value.item()
    return total / len(tokens)


def evaluate(flat: np.ndarray, sequences: Sequences) -> tuple[float, float]:
    """Return the mean cross-entropy over all positions and the share of positions with the correct count."""
    scores = torch.from_numpy(_map_in_chunks(logits, flat, sequences.tokens))
    counts = torch.from_numpy(sequences.counts)
    right = (scores.argmax(-1) == counts).double().mean()
    return functional.cross_entropy(scores.flatten(0, 1), counts.flatten()).item(), right.item()


def displace(flat: np.ndarray, rng: np.random.Generator) -> None:
    """Add noise in place to queries, keys and both embeddings.

    Afterwards no parameter is frozen.
    """
    for name in FROZEN_TENSORS:
        weights = getattr(views(flat), name)
        weights += np.float32(UNFREEZING_NOISE) * rng.standard_normal(weights.shape, dtype=np.float32)


def attention(weights: Weights, tokens: Tensor) -> Tensor:
    """Return the attention matrices (n, 10, 10) of sequences (n, 10); row i is the attention of position i."""
    queries, keys = (_project(weights, matrix, tokens) for matrix in (weights.query, weights.key))
    return torch.softmax(queries @ keys.mT / DIMENSION**0.5, dim=-1)


def _project(weights: Weights, matrix: Tensor, tokens: Tensor) -> Tensor:
    """Return the embeddings of sequences (n, 10), each multiplied by a matrix: the queries, keys or values (n, 10, 64).

    The 25 different embeddings are multiplied, not the embeddings of all tokens, because this is faster.
    """
    return functional.embedding(tokens, weights.token @ matrix.mT) + weights.position @ matrix.mT


def logits(weights: Weights, tokens: Tensor) -> Tensor:
    """Return the logits (n, 10, 11) of the counts 0 to 10 at each position."""
    mixed = attention(weights, tokens) @ _project(weights, weights.value, tokens)
    normed = functional.layer_norm(mixed, (DIMENSION,), weights.norm_scale, weights.norm_shift)
    hidden = torch.relu(functional.linear(normed, weights.hidden, weights.hidden_bias))
    return functional.linear(hidden, weights.output, weights.output_bias)


def loss(weights: Weights, tokens: Tensor, counts: Tensor) -> Tensor:
    """Return the mean cross-entropy over all positions."""
    return functional.cross_entropy(logits(weights, tokens).flatten(0, 1), counts.flatten())


def tensors_of(flat: np.ndarray, dtype: torch.dtype = torch.float32) -> Weights:
    """Convert the vector (SIZE,) of all parameters to named torch tensors."""
    return Weights(*(torch.tensor(part, dtype=dtype) for part in views(flat)))


def distances(kept: dict[str, np.ndarray], frozen: np.ndarray) -> list[dict]:
    """Return how far each weight tensor moved during each stage of training.

    The stages are `SPANS`. A row has `span`, `tensor`, `distance` (2-norm of the difference), and `of_zeros` (2-norm
    over the entries that were frozen).

    Args:
        kept: weights (SIZE,) at "start", "trained", "displaced", "final".
        frozen: mask of the entries that were frozen at zero, (SIZE,) bool.
    """
    rows = []
    for before, after in SPANS:
        change = kept[after].astype(float) - kept[before]
        for name, difference, zeros in zip(SHAPES, views(change), views(frozen)):
            row = {"span": f"{before} to {after}", "tensor": name, "distance": np.linalg.norm(difference)}
            rows.append(row | {"of_zeros": np.linalg.norm(difference[zeros])})
    return rows


def matrices(flat: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Return the attention matrices (n, 10, 10) of a model with parameters (SIZE,) for token sequences (n, 10)."""
    return _map_in_chunks(attention, flat, np.asarray(tokens))


def _map_in_chunks(network, flat: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Apply a function of the network to many sequences, in chunks and in float64.

    Float64 gives the same digits on all machines.
    """
    weights, parts = tensors_of(flat, torch.float64), np.split(tokens, range(PART, len(tokens), PART))
    return np.concatenate([network(weights, torch.from_numpy(part)).numpy() for part in parts])


def variance_shares(flat: np.ndarray, tokens: np.ndarray) -> dict[str, float]:
    """Return the shares of the variance of the attention that are explained by positions and by tokens.

    The shares are named `by_position` and `by_token`. The variance is over the off-diagonal entries of all attention
    matrices, over sequences and places (i, j). Positions explain the variance of the means at each place. Tokens
    explain the variance of the means over each pair (token at i, token at j). The diagonal is left out, because there
    position and token are always equal to themselves.
    """
    entries = matrices(flat, tokens)  # (n, 10, 10)
    places = np.broadcast_to(np.arange(LENGTH**2).reshape(LENGTH, LENGTH), entries.shape)
    pairs = tokens[:, :, None] * TOKENS + tokens[:, None, :]
    off = ~np.eye(LENGTH, dtype=bool)
    entries, places, pairs = entries[:, off], places[:, off], pairs[:, off]
    total = entries.var()
    return {
        "by_position": explained_variance(entries.ravel(), places.ravel()) / total,
        "by_token": explained_variance(entries.ravel(), pairs.ravel()) / total,
    }


def explained_variance(values: np.ndarray, groups: np.ndarray) -> float:
    """Return the variance of the group means, each weighted by the size of its group."""
    sizes = np.bincount(groups)
    sums = np.bincount(groups, values)
    return (sums[sizes > 0] ** 2 / sizes[sizes > 0]).sum() / len(values) - values.mean() ** 2


def right_by_count(flat: np.ndarray, sequences: Sequences) -> list[dict]:
    """Return, for each count, the number of positions with this count and the number of correct predictions.

    The rows are dictionaries with `count`, `places` and `right`.
    """
    places = np.bincount(sequences.counts.ravel(), minlength=LENGTH + 1)
    correct = predicted_counts(flat, sequences.tokens) == sequences.counts
    right = np.bincount(sequences.counts[correct], minlength=LENGTH + 1)
    return [{"count": count, "places": places[count], "right": right[count]} for count in range(1, LENGTH + 1)]


def wrong_by_letter(flat: np.ndarray, sequences: Sequences) -> np.ndarray:
    """Return, for each of the 15 letters, the share of its positions at which the model predicts a wrong count."""
    wrong = predicted_counts(flat, sequences.tokens) != sequences.counts
    places = np.bincount(sequences.tokens.ravel(), minlength=TOKENS)
    return np.bincount(sequences.tokens[wrong], minlength=TOKENS) / places


def predicted_counts(flat: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Return the counts (n, 10) that a model with parameters (SIZE,) predicts for token sequences (n, 10)."""
    return _map_in_chunks(logits, flat, np.asarray(tokens)).argmax(axis=-1)


def gradient_norm(flat: np.ndarray, sequences: Sequences) -> float:
    """Return the 2-norm of the gradient of the mean loss with respect to all parameters (SIZE,).

    The mean is over all sequences.
    """
    weights = Weights(*(part.requires_grad_() for part in tensors_of(flat)))
    tokens, counts = (torch.from_numpy(values).split(PART) for values in sequences)
    for batch in zip(tokens, counts):
        (loss(weights, *batch) * len(batch[0]) / len(sequences.tokens)).backward()
    return sum(float(part.grad.square().sum()) for part in weights) ** 0.5
