"""The counting task: predict for each token how often it occurs in its sequence (paper, Appendix A)."""

from typing import NamedTuple

import numpy as np

from ..errors import BadInput, check_count

LENGTH, TOKENS = 10, 15
LETTERS = "ABCDEFGHIJKLMNO"  # one letter for each token
TRAIN_SHARE = 0.7
VARIANTS = ("positional", "semantic")  # variants of the transformer


class Sequences(NamedTuple):
    """A set of n token sequences, and how often the token at each position occurs in its sequence.

    Both arrays are int64.
    """

    tokens: np.ndarray  #: (n, 10), tokens of each sequence
    counts: np.ndarray  #: (n, 10), count of the token at each position


def counts(tokens: np.ndarray) -> np.ndarray:
    """Return, for each position, how often the token at this position occurs in the sequence.

    The result is (n, length) int64.
    """
    return (tokens[:, :, None] == tokens[:, None, :]).sum(axis=2)


def draw(sequences: int, rng: np.random.Generator) -> tuple[Sequences, Sequences]:
    """Draw uniform sequences, drop duplicates, and split the rest at random: 70 % for training and 30 % for tests."""
    drawn = rng.integers(TOKENS, size=(check_count("sequences", sequences, at_least=10), LENGTH))
    tokens = rng.permutation(np.unique(drawn, axis=0))
    kept = round(TRAIN_SHARE * len(tokens))
    training, test = tokens[:kept], tokens[kept:]
    return Sequences(training, counts(training)), Sequences(test, counts(test))


def parse_letters(text: str) -> np.ndarray:
    """Convert a string of ten letters from A to O, in upper or lower case, to tokens (10,)."""
    letters = str(text).upper()
    if len(letters) != LENGTH or set(letters) - set(LETTERS):
        raise BadInput("sequence", text, f"{LENGTH} letters from {LETTERS[0]} to {LETTERS[-1]}")
    return np.array([LETTERS.index(letter) for letter in letters])
