"""What a trained transformer has become: how far it moved, what it looks at, what it counts, how steep its loss is."""

import numpy as np
import torch

from .counting import LENGTH, TOKENS, Sequences
from .transformer import SHAPES, Weights, as_tensors, attention, logits, loss, views

SPANS = (("start", "trained"), ("trained", "final"), ("trained", "displaced"), ("displaced", "final"))
BATCH = 500


def distances(kept: dict[str, np.ndarray], frozen: np.ndarray) -> list[dict]:
    """How far each tensor moved in each of `SPANS`.

    A row has `span`, `tensor`, `distance` (2-norm of the difference), and `of_zeros`, the same over the formerly frozen
    entries alone.

    Args:
        kept: weights (SIZE,) at "start", "trained", "displaced", "final".
        frozen: what was frozen at zero, (SIZE,) bool.
    """
    rows = []
    for before, after in SPANS:
        change = kept[after].astype(float) - kept[before]
        for name, difference, zeros in zip(SHAPES, views(change), views(frozen)):
            row = {"span": f"{before} to {after}", "tensor": name, "distance": np.linalg.norm(difference)}
            rows.append(row | {"of_zeros": np.linalg.norm(difference[zeros])})
    return rows


def matrices(flat: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Attention matrices (n, 10, 10) of a model (SIZE,) for sequences of tokens (n, 10)."""
    return _by_parts(attention, flat, np.asarray(tokens))


def _by_parts(network, flat: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """What a function of the network gives for many sequences."""
    weights, parts = as_tensors(flat), np.split(tokens, range(BATCH, len(tokens), BATCH))
    return np.concatenate([network(weights, torch.from_numpy(part)).numpy() for part in parts])


def variance_shares(flat: np.ndarray, tokens: np.ndarray) -> dict[str, float]:
    """Shares of the attention's variance that positions explain, and that tokens explain: `by_position`, `by_token`.

    The variance is that of the entries off the diagonal of all attention matrices, over sequences and places (i, j).
    Positions explain that of the means at each place, tokens that of the means over each pair (token at i, token at
    j). On the diagonal the two are one: a position and its token are always equal to themselves.
    """
    entries = matrices(flat, tokens).astype(float)  # (n, 10, 10)
    places = np.broadcast_to(np.arange(LENGTH**2).reshape(LENGTH, LENGTH), entries.shape)
    pairs = tokens[:, :, None] * TOKENS + tokens[:, None, :]
    off = ~np.eye(LENGTH, dtype=bool)
    entries, places, pairs = entries[:, off], places[:, off], pairs[:, off]
    total = entries.var()
    return {
        "by_position": explained(entries.ravel(), places.ravel()) / total,
        "by_token": explained(entries.ravel(), pairs.ravel()) / total,
    }


def explained(values: np.ndarray, groups: np.ndarray) -> float:
    """Variance of the group means, each weighted by its group's size."""
    sizes = np.bincount(groups)
    sums = np.bincount(groups, values)
    return (sums[sizes > 0] ** 2 / sizes[sizes > 0]).sum() / len(values) - values.mean() ** 2


def right_by_count(flat: np.ndarray, sequences: Sequences) -> list[dict]:
    """For each count: positions with it, and how many of them are right, as dicts `count`, `places`, `right`."""
    places = np.bincount(sequences.counts.ravel(), minlength=LENGTH + 1)
    right = np.bincount(sequences.counts[counted(flat, sequences.tokens) == sequences.counts], minlength=LENGTH + 1)
    return [{"count": count, "places": places[count], "right": right[count]} for count in range(1, LENGTH + 1)]


def wrong_by_letter(flat: np.ndarray, sequences: Sequences) -> np.ndarray:
    """Share of the positions counted wrong where each letter stands, (15,)."""
    wrong = counted(flat, sequences.tokens) != sequences.counts
    places = np.bincount(sequences.tokens.ravel(), minlength=TOKENS)
    return np.bincount(sequences.tokens[wrong], minlength=TOKENS) / places


def counted(flat: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """The count that a model (SIZE,) gives at each position of sequences of tokens (n, 10), (n, 10)."""
    return _by_parts(logits, flat, np.asarray(tokens)).argmax(axis=-1)


def gradient_norm(flat: np.ndarray, sequences: Sequences) -> float:
    """2-norm of the gradient of the mean loss of all sequences, over all parameters (SIZE,), nothing frozen."""
    weights = Weights(*(part.requires_grad_() for part in as_tensors(flat)))
    tokens, counts = (torch.from_numpy(values).split(BATCH) for values in sequences)
    for batch in zip(tokens, counts):
        (loss(weights, *batch) * len(batch[0]) / len(sequences.tokens)).backward()
    return sum(float(part.grad.square().sum()) for part in weights) ** 0.5
