"""The task: say of each token of a sequence how often it occurs there (paper, Appendix A)."""

from typing import NamedTuple

import numpy as np

from ..errors import BadInput, check_count

LENGTH, TOKENS = 10, 15
LETTERS = "ABCDEFGHIJKLMNO"  # one for each token
TRAIN_SHARE = 0.7


class Sequences(NamedTuple):
    """Token sequences (n, 10) with the count of each position's token (n, 10), both int64."""

    tokens: np.ndarray
    counts: np.ndarray


def counts(tokens):
    """How often each position's token occurs in its sequence, (n, length) int64."""
    return (tokens[:, :, None] == tokens[:, None, :]).sum(axis=2)


def draw(sequences, rng):
    """Draw uniform sequences, keep each once, and split them at random.

    Parameters
    ----------
    sequences : int
        Drawn; duplicates among them are dropped.
    rng : numpy.random.Generator

    Returns
    -------
    train, test : Sequences
        70 % and 30 %.
    """
    drawn = rng.integers(TOKENS, size=(check_count("sequences", sequences, at_least=10), LENGTH))
    tokens = rng.permutation(np.unique(drawn, axis=0))
    kept = round(TRAIN_SHARE * len(tokens))
    return tuple(Sequences(part, counts(part)) for part in (tokens[:kept], tokens[kept:]))


def from_letters(text):
    """Tokens (10,) of a text of ten letters A to O, in either case."""
    letters = str(text).upper()
    if len(letters) != LENGTH or set(letters) - set(LETTERS):
        raise BadInput("sequence", text, f"{LENGTH} letters from {LETTERS[0]} to {LETTERS[-1]}")
    return np.array([LETTERS.index(letter) for letter in letters])
