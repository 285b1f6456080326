"""The counting task: say of each token of a sequence how often it occurs there (paper, Appendix A)."""

from typing import NamedTuple

import numpy as np

from ..errors import BadInput, check_count

LENGTH, TOKENS = 10, 15
LETTERS = "ABCDEFGHIJKLMNO"  # one for each token
TRAIN_SHARE = 0.7
VARIANTS = ("positional", "semantic")  # of the transformer


class Sequences(NamedTuple):
    """Token sequences (n, 10) with the count of each position's token (n, 10), both int64."""

    tokens: np.ndarray  #: (n, 10)
    counts: np.ndarray  #: (n, 10), of each position's token


def counts(tokens: np.ndarray) -> np.ndarray:
    """How often each position's token occurs in its sequence, (n, length) int64."""
    return (tokens[:, :, None] == tokens[:, None, :]).sum(axis=2)


def draw(sequences: int, rng: np.random.Generator) -> tuple[Sequences, Sequences]:
    """Draw so many uniform sequences, keep each once, and split them at random: 70 % for training, 30 % as a test."""
    drawn = rng.integers(TOKENS, size=(check_count("sequences", sequences, at_least=10), LENGTH))
    tokens = rng.permutation(np.unique(drawn, axis=0))
    kept = round(TRAIN_SHARE * len(tokens))
    training, test = tokens[:kept], tokens[kept:]
    return Sequences(training, counts(training)), Sequences(test, counts(test))


def from_letters(text: str) -> np.ndarray:
    """Tokens (10,) of a text of ten letters A to O, in either case."""
    letters = str(text).upper()
    if len(letters) != LENGTH or set(letters) - set(LETTERS):
        raise BadInput("sequence", text, f"{LENGTH} letters from {LETTERS[0]} to {LETTERS[-1]}")
    return np.array([LETTERS.index(letter) for letter in letters])
