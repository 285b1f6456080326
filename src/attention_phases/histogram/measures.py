"""What a trained transformer has become: how far it moved, what its attention looks at, which counts it gets right."""

import numpy as np
import torch

from .counting import LENGTH, TOKENS, Sequences
from .step import evaluate
from .transformer import SHAPES, as_tensors, attention, logits, views

SPANS = (("start", "trained"), ("trained", "final"), ("trained", "displaced"), ("displaced", "final"))
BATCH = 500


def distances(kept, frozen):
    """How far each tensor moved.

    Parameters
    ----------
    kept : dict of (SIZE,) arrays
        "start", "trained", "displaced", "final".
    frozen : (SIZE,) bool
        What was frozen at zero.

    Returns
    -------
    list of dict
        For each of `SPANS` and each tensor: `span`, `tensor`, `distance` (2-norm of the difference), and
        `of_zeros`, the same over the formerly frozen entries alone.
    """
    rows = []
    for before, after in SPANS:
        moved = kept[after].astype(float) - kept[before]
        for name, each, zeros in zip(SHAPES, views(moved), views(frozen)):
            rows.append({
                "span": f"{before} to {after}",
                "tensor": name,
                "distance": np.linalg.norm(each),
                "of_zeros": np.linalg.norm(each[zeros]),
            })  # fmt: skip
    return rows


def shares(flat, tokens):
    """Shares of the attention's variance that positions explain, and that tokens explain.

    The variance is that of the entries off the diagonal of all attention matrices, over sequences and places (i, j).
    Positions explain that of the means at each place, tokens that of the means over each pair (token at i, token at
    j). On the diagonal the two are one: a position and its token are always equal to themselves.

    Parameters
    ----------
    flat : (SIZE,) array
    tokens : (n, 10) int array

    Returns
    -------
    dict
        `by_position`, `by_token`.
    """
    weights = as_tensors(flat)
    entries = np.concatenate([
        attention(weights, torch.from_numpy(part)).double().numpy() for part in np.split(tokens, _cuts(tokens))
    ])  # (n, 10, 10)  # fmt: skip
    places = np.broadcast_to(np.arange(LENGTH**2).reshape(LENGTH, LENGTH), entries.shape)
    pairs = tokens[:, :, None] * TOKENS + tokens[:, None, :]
    off = ~np.eye(LENGTH, dtype=bool)
    entries, places, pairs = entries[:, off], places[:, off], pairs[:, off]
    total = entries.var()
    return {
        name: explained(entries.ravel(), groups.ravel()) / total
        for name, groups in (("by_position", places), ("by_token", pairs))
    }


def explained(values, groups):
    """Variance of the group means, each weighted by its group's size."""
    sizes = np.bincount(groups)
    sums = np.bincount(groups, values)
    return (sums[sizes > 0] ** 2 / sizes[sizes > 0]).sum() / len(values) - values.mean() ** 2


def by_count(flat, sequences):
    """For each count: positions with it, and how many of them are told right, as dicts `count`, `places`, `right`."""
    places = np.bincount(sequences.counts.ravel(), minlength=LENGTH + 1)
    right = np.bincount(sequences.counts[_told(flat, sequences) == sequences.counts], minlength=LENGTH + 1)
    return [{"count": c, "places": places[c], "right": right[c]} for c in range(1, LENGTH + 1)]


def by_letter(flat, sequences):
    """Share of the positions told wrong where each letter stands, (15,)."""
    wrong = _told(flat, sequences) != sequences.counts
    places = np.bincount(sequences.tokens.ravel(), minlength=TOKENS)
    return np.bincount(sequences.tokens[wrong], minlength=TOKENS) / places


def _told(flat, sequences):
    """The count that a model tells at each position, (n, 10)."""
    weights, parts = as_tensors(flat), np.split(sequences.tokens, _cuts(sequences.tokens))
    return np.concatenate([logits(weights, torch.from_numpy(part)).argmax(dim=-1).numpy() for part in parts])


def _cuts(tokens):
    return range(BATCH, len(tokens), BATCH)


def along_line(one, other, sequences, steps=21):
    """Loss and accuracy of the parameters on the straight line between two solutions.

    Parameters
    ----------
    one, other : (SIZE,) arrays
    sequences : Sequences
    steps : int

    Returns
    -------
    at : (steps,) array
        0 at `one`, 1 at `other`.
    losses, accuracies : (steps,) arrays
    """
    sequences = Sequences(*map(np.ascontiguousarray, sequences))
    at = np.linspace(0, 1, steps)
    found = [evaluate(views(((1 - t) * one + t * other).astype(np.float32)), sequences, BATCH) for t in at]
    return at, *np.transpose(found)
