"""What one more sentence costs each student at the transition, and what it pays on one sentence."""

from typing import NamedTuple

import numpy as np

from attention_phases.theory import solve
from attention_phases.theory.kernels.two_tokens import logistic, prox, teacher_targets

SEEDS = 4  # independent quadratures: their spread gives the errors
SENTENCES = 2**12  # drawn to find one whose costs are usual
SIGNS = np.array([1.0, -1.0])  # of the positional encoding


class Price(NamedTuple):
    """A student at one alpha, all per dimension; each a pair of value and standard error.

    Attributes
    ----------
    loss : (float, float)
        Training loss epsilon_t.
    slope : (float, float)
        Its derivative in alpha, the mean Moreau envelope: by how much the risk grows with one more sentence.
    entry : (float, float)
        ``loss - alpha slope``, where the tangent starts: what is paid beyond the slope.
    """

    loss: tuple
    slope: tuple
    entry: tuple


class Sentence(NamedTuple):
    """One sentence before and after a student is trained on it too.

    Attributes
    ----------
    y : (2,) array
        Teacher fields.
    target : (2,) array
        Y_11 and Y_22.
    before, after : dict of (2,) arrays
        S_11 and S_22 of each student without the sentence, and with it.
    misfit, bending : dict of float
        What each pays: the loss that is left on the sentence, and what the change of its weights costs elsewhere.
    """

    y: np.ndarray
    target: np.ndarray
    before: dict
    after: dict
    misfit: dict
    bending: dict


def students_at(task, alpha, points, seeds=SEEDS):
    """Solutions of both branches by `seeds` independent quadratures, a list of `theory.Solution` for each branch."""
    return {
        branch: [solve(task, alpha, branch, points, seed=seed) for seed in range(seeds)]
        for branch in ("semantic", "positional")
    }


def prices(solutions, alpha):
    """`Price` of each branch from independent solutions, as `students_at` gives them."""
    return {
        branch: Price(
            _mean([each.train_loss for each in some]),
            _mean([each.train_slope for each in some]),
            _mean([each.train_loss - alpha * each.train_slope for each in some]),
        )
        for branch, some in solutions.items()
    }


def _mean(values):
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def usual_sentence(task, students, rng, sentences=SENTENCES):
    """Of many sentences the one whose costs are closest to the mean costs of both students, relative to these.

    Parameters
    ----------
    task : Task
        With an A whose rows sum to one.
    students : dict of theory.Solution
    rng : numpy.random.Generator
    sentences : int
        How many are drawn.

    Returns
    -------
    Sentence
    """
    y = task.sigma * rng.standard_normal((sentences, 2))
    fields = {branch: cavity_fields(task, each.overlaps, y, rng) for branch, each in students.items()}
    drawn = [
        one_sentence(task, y[i], {branch: w[i] for branch, w in fields.items()}, students) for i in range(sentences)
    ]
    away = [
        sum(((s.misfit[b] + s.bending[b]) / each.train_slope - 1) ** 2 for b, each in students.items()) for s in drawn
    ]
    return drawn[int(np.argmin(away))]


def cavity_fields(task, overlaps, y, rng):
    """Fields w (n, 2) of a student that has not seen the sentences, given the teacher's y (n, 2)."""
    rho = task.sigma**2
    noise = np.sqrt(max(overlaps.q - overlaps.theta**2 / rho, 0.0)) * rng.standard_normal(y.shape)
    return overlaps.theta / rho * y + overlaps.m * SIGNS + noise


def one_sentence(task, y, fields, students):
    """`Sentence` of teacher fields y (2,) and fields (2,) of each student that has not seen it."""
    (a11, a12), (a21, a22) = task.matrix
    target = np.array(teacher_targets(*y, task.omega, a11 - a12, a22 - a21))
    variance = task.sigma**2
    before, after, misfit, bending = {}, {}, {}, {}
    for branch, w in fields.items():
        V = students[branch].overlaps.V
        h1, h2, _ = prox(*w, *target, V, variance)
        before[branch], after[branch] = _attention(*w), _attention(h1, h2)
        misfit[branch] = float(variance * ((after[branch] - target) ** 2).sum())
        bending[branch] = float(((h1 - w[0]) ** 2 + (h2 - w[1]) ** 2) / (2 * V))
    return Sentence(np.asarray(y), target, before, after, misfit, bending)


def _attention(h1, h2):
    return np.array([logistic(h1 * (h1 - h2)), logistic(h2 * (h2 - h1))])
