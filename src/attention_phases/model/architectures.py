"""Variants of the student and of the sentences that it reads, including those in Appendices C.10 and E.3."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import BadInput, check_choice, check_count, check_real
from ..task import MATRICES, Task


class Form(NamedTuple):
    """A variant of the student, defined by its attention score and its value matrix."""

    about: str  #: description in words
    score: tuple  #: matrix M (r, r) in the score T_ab = h_a M h_b^T, where h_a are the r fields of token a
    value: str = "none"  #: kind of V in the output S x (1 + V): "none"; "pair" for u v^T/d; "full" for any V


FORMS = {
    "tied": Form("one weight vector, Q = K", ((1.0,),)),
    "rank2": Form("two columns, whose scores add up", ((1.0, 0.0), (0.0, 1.0))),
    "untied": Form("Q and K apart", ((0.0, 1.0), (0.0, 0.0))),  # the columns are Q and K
    "value": Form("Q = K and a rank-one correction of the value matrix", ((1.0,),), "pair"),
    "full_value": Form("Q = K and a full value matrix", ((1.0,),), "full"),
}
CORRELATION = 0.3  # correlation between tokens in Figure 10; the paper does not print its value


@dataclass(frozen=True)
class Architecture:
    """A variant of the student, with the length of the sentences that it reads and the correlation of their tokens.

    >>> from attention_phases import Architecture, Task, solve
    >>> longer = Architecture(tokens=3)
    >>> solve(Task(), 1.0, "positional", points=64, scrambles=4, architecture=longer).converged
    True

    Args:
        form: a name in `FORMS`.
        tokens: length L of a sentence, at least 2.
        correlation: correlation between the entries of any two tokens, in (-1/(L - 1), 1).
    """

    form: str = "tied"
    tokens: int = 2
    correlation: float = 0.0

    def __post_init__(self) -> None:
        check_choice("form", self.form, tuple(FORMS))
        tokens = check_count("tokens", self.tokens, at_least=2)
        least = -1 / (tokens - 1)
        within = check_real("correlation", self.correlation, f"in ({least:g}, 1)", lambda c: least < c < 1)
        vars(self).update(tokens=tokens, correlation=within)  # plain numbers, and a frozen dataclass

    @property
    def score(self) -> np.ndarray:
        """The matrix M (r, r) of the bilinear form h_a M h_b^T that gives the attention scores."""
        return np.array(FORMS[self.form].score)

    @property
    def rank(self) -> int:
        """The number r of columns of weights, which is also the number of fields of a token."""
        return len(self.score)

    @property
    def value(self) -> str:
        """The kind of the value matrix: "none", "pair" or "full" (see `Form`)."""
        return FORMS[self.form].value

    @property
    def rotates(self) -> bool:
        """Whether the attention scores are invariant under rotations of the columns of weights."""
        return self.rank > 1 and np.array_equal(self.score, np.eye(self.rank))

    @property
    def positions(self) -> np.ndarray:
        """The coefficients u (L,) of the positional encoding in the tokens; for two tokens, u = (1, -1).

        These coefficients are called position marks. The student reads token a as xi_a + u_a 1_d/sqrt(d).
        """
        return np.linspace(1.0, -1.0, self.tokens)

    @property
    def correlations(self) -> np.ndarray:
        """The matrix (L, L) of the correlations between the tokens of a sentence."""
        return (1 - self.correlation) * np.eye(self.tokens) + self.correlation

    def attention(self, task: Task) -> np.ndarray:
        """Return the teacher's positional matrix A (L, L). The standard A shares 0.4 among the L - 1 other tokens."""
        if len(task.matrix) == self.tokens:
            return np.array(task.matrix)
        if task.matrix != MATRICES["standard"]:
            raise BadInput("matrix", task.matrix, f"standard, or a matrix of the entries for {self.tokens} tokens")
        own, other = task.matrix[0]
        shared = np.full((self.tokens, self.tokens), other / (self.tokens - 1))
        np.fill_diagonal(shared, own)
        return shared


STANDARD = Architecture()  # the student and the sentences of the main text
