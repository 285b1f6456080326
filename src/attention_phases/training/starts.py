"""Where a training starts (paper, Section 5 and Appendix E)."""

import numpy as np
import torch
from torch import Tensor

from ..errors import check_choice, check_count
from ..model.architectures import FORMS

STARTS = ("semantic", "positional", "random", "near_semantic", "near_positional", "second", "encoding")
# Standard deviation of the noise on a start. That of "near_semantic", of the size of Q*, leaves the student in its
# valley.
NOISE = {"random": 0.1, "near_semantic": 1.0, "near_positional": 0.1}
ENCODED = 0.3  # weights of the start "encoding"


def starts_of(form: str) -> tuple[str, ...]:
    """The named starts of a form: a mixed one only for more than one column of weights."""
    mixed = ("mixed",) if len(FORMS[form].score) > 1 else ()
    return ("semantic", "positional", *mixed, "random")


def start_weights(start: str, teacher: Tensor, rng: np.random.Generator, form: str = "tied") -> Tensor:
    """Initial weights (p,), flat: columns of fields first, then what belongs to the value matrix.

    Every column starts at Q* (semantic), 1_d/sqrt(d) (positional) or 0.1 N(0, 1) (random), or the first at Q* and the
    others at 1_d/sqrt(d) (mixed). The one column of "tied" also starts near Q* or 1_d/sqrt(d), displaced by noise.
    Where Q* has several columns, each of the student's starts at its own (semantic), or the one column of "tied" at the
    second (second). An l1 penalty draws weights as small as 1_d/sqrt(d) to zero; 0.3 times 1_d is about what a
    positional student learns (encoding).
    Columns that can be exchanged (rank 2) would stay equal for ever from equal starts: there all are displaced by
    0.1 N(0, 1). The rank-one correction u v^T/d of the value matrix starts at u = 0 and v ~ N(0, 1): it is zero, but
    no stationary point, as it would be with v = 0. The full one starts at V = 0.

    Args:
        teacher: Q*, (d,), or (t, d) of t columns.
        rng: draws the noise, where there is any.
    """
    check_choice("init", start, STARTS if form == "tied" else starts_of(form))
    teachers = teacher.reshape(-1, teacher.shape[-1])
    d, score = teachers.shape[1], np.array(FORMS[form].score)
    if start == "second":
        teachers = teachers[1:]
        check_count("columns of the teacher", len(teachers))
    apart = start == "mixed" or (start == "semantic" and len(teachers) > 1)
    exchangeable = len(score) > 1 and (score == score[::-1, ::-1]).all() and not apart
    noise = NOISE["random"] if exchangeable else NOISE.get(start, 0.0)

    def drawn(size: float) -> Tensor:
        return torch.from_numpy(size * rng.standard_normal(d, dtype=np.float32)).to(teachers)

    vectors = []
    for column in range(len(score)):
        if start == "random":
            weights = torch.zeros_like(teachers[0])
        elif start.endswith(("semantic", "second")) or (start == "mixed" and column == 0):
            weights = teachers[min(column, len(teachers) - 1)].clone()
        else:
            weights = torch.full_like(teachers[0], ENCODED if start == "encoding" else d**-0.5)
        vectors.append(weights + drawn(noise) if noise else weights)
    if FORMS[form].value == "pair":
        vectors += [torch.zeros_like(teachers[0]), drawn(1.0)]
    if FORMS[form].value == "full":
        vectors.append(torch.zeros(d * d).to(teachers))
    return torch.cat(vectors)


def displace(starts: Tensor, size: float, rng: np.random.Generator) -> Tensor:
    """Starts (k, p) with each weight off by `size` times its own value, N(0, 1) times that."""
    noise = torch.from_numpy(rng.standard_normal(tuple(starts.shape), dtype=np.float32)).to(starts)
    return starts * (1 + size * noise)
