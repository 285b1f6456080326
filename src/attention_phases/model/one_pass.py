"""Risk and gradient of students in one pass over the training sentences (paper, Eqs. 3 and 15).

The derivative of a sentence needs only its own fields h = x Q/sqrt(d). So two sentences are read at a time: the loop
that forms their fields adds the two before them, still in the cache, to the gradient. A step then takes half as long as
the two products with the data matrix that it replaces, for each of which the data are read from memory.

All compiled code is in this one file: Numba's cache notices a change only in the file of the outermost function.
"""

import threading
from math import exp

import numpy as np
import torch
from numba import njit, prange

# Sums may be reordered, so that they are formed side by side. NaN and infinity keep their meaning.
REORDER = {"reassoc", "contract", "nsz"}
HALVES = 2  # always summed apart: how many threads there are changes no digit
_one_caller = threading.Lock()  # not every threading layer of Numba can be entered by two threads at once


def penalised_misfit(inputs, stiffness, targets, weights, lam, together):
    """Risk without its floor, and its gradient, of weights in pairs of columns.

    Parameters
    ----------
    inputs : (n, 2, d) array
        x/sqrt(d) of the two tokens of each sentence.
    stiffness : (n,) array
    targets : (n, 2) array
        As in `rank_one.Dataset`.
    weights : (p, 2, d) array
    lam : float
        Ridge penalty.
    together : bool
        Whether the two columns of a pair are one student, whose scores add up (rank 2), or two.

    Returns
    -------
    risk : (p, 2) float64 array
        Where the columns are one student, once for each of them.
    gradient : (p, 2, d) array
    """
    # torch's number of threads holds for the whole of a training.
    pair = _on_two_threads if torch.get_num_threads() > 1 else _on_one_thread
    risks, gradients = np.empty((len(weights), 2)), np.empty_like(weights)
    for each, risk, gradient in zip(weights, risks, gradients):
        with _one_caller:
            pair(inputs, stiffness, targets, each, lam, together, risk, gradient)
    return risks, gradients


@njit(cache=True, nogil=True)
def _on_one_thread(inputs, stiffness, targets, weights, lam, together, risk, gradient):
    """Risk (2,) and gradient (2, d) of one pair."""
    risks, gradients = np.empty((HALVES, 2)), np.zeros((HALVES, 2, weights.shape[1]), weights.dtype)
    for half in range(HALVES):
        risks[half] = _some(inputs, stiffness, targets, weights, together, half, gradients[half])
    _collect(weights, lam, together, risks, gradients, risk, gradient)


@njit(cache=True, nogil=True, parallel=True)
def _on_two_threads(inputs, stiffness, targets, weights, lam, together, risk, gradient):
    """The same digits as `_on_one_thread`, in half the time."""
    risks, gradients = np.empty((HALVES, 2)), np.zeros((HALVES, 2, weights.shape[1]), weights.dtype)
    for half in prange(HALVES):
        risks[half] = _some(inputs, stiffness, targets, weights, together, half, gradients[half])
    _collect(weights, lam, together, risks, gradients, risk, gradient)


@njit(cache=True, nogil=True)
def _collect(weights, lam, together, risks, gradients, risk, gradient):
    """Sum the halves and add the penalty."""
    for column in range(2):
        penalty = 0.0
        for j in range(weights.shape[1]):
            weight = weights[column, j]
            gradient[column, j] = gradients[0, column, j] + gradients[1, column, j] + lam * weight
            penalty += 0.5 * lam * weight * weight
        risk[column] = penalty + (0.0 if together and column else risks[0, column] + risks[1, column])
    if together:
        risk[:] = risk.sum()


@njit(cache=True, nogil=True, fastmath=REORDER)
def _some(inputs, stiffness, targets, weights, together, half, gradient):
    """Risk (2,) of one half of the sentences; their gradient is added to `gradient` (2, d)."""
    n, _, d = inputs.shape
    first, last = half * n // HALVES, (half + 1) * n // HALVES
    number = inputs.dtype.type  # of the data: the loop over d must not mix two precisions
    zero = number(0)
    p_risk, q_risk = 0.0, 0.0
    f1 = f2 = f3 = f4 = g1 = g2 = g3 = g4 = zero  # forces on the fields of the tokens read before
    p, q, p_gradient, q_gradient = weights[0], weights[1], gradient[0], gradient[1]
    y1 = y2 = y3 = y4 = inputs[0, 0]  # the tokens read before
    for i in range(first, last + 2, 2):  # the last round reads nothing new, and adds the last two to the gradient
        a, b = min(i, last - 1), min(i + 1, last - 1)
        x1, x2, x3, x4 = inputs[a, 0], inputs[a, 1], inputs[b, 0], inputs[b, 1]
        h1 = h2 = h3 = h4 = k1 = k2 = k3 = k4 = zero
        for j in range(d):
            p_gradient[j] += f1 * y1[j] + f2 * y2[j] + f3 * y3[j] + f4 * y4[j]
            q_gradient[j] += g1 * y1[j] + g2 * y2[j] + g3 * y3[j] + g4 * y4[j]
            h1 += x1[j] * p[j]
            h2 += x2[j] * p[j]
            h3 += x3[j] * p[j]
            h4 += x4[j] * p[j]
            k1 += x1[j] * q[j]
            k2 += x2[j] * q[j]
            k3 += x3[j] * q[j]
            k4 += x4[j] * q[j]
        f1 = f2 = f3 = f4 = g1 = g2 = g3 = g4 = zero
        if i < last:
            t1, t2 = targets[a, 0], targets[a, 1]
            p_loss, q_loss, a1, a2, b1, b2 = _sentence(h1, h2, k1, k2, stiffness[a], t1, t2, together)
            p_risk, q_risk = p_risk + p_loss, q_risk + q_loss
            f1, f2, g1, g2 = number(a1), number(a2), number(b1), number(b2)
        if i + 1 < last:
            t1, t2 = targets[b, 0], targets[b, 1]
            p_loss, q_loss, a1, a2, b1, b2 = _sentence(h3, h4, k3, k4, stiffness[b], t1, t2, together)
            p_risk, q_risk = p_risk + p_loss, q_risk + q_loss
            f3, f4, g3, g4 = number(a1), number(a2), number(b1), number(b2)
        y1, y2, y3, y4 = x1, x2, x3, x4
    return p_risk, q_risk


@njit(cache=True, nogil=True)
def _sentence(h1, h2, k1, k2, stiffness, t1, t2, together):
    """Losses of a sentence with fields h and k of the two columns, and their derivatives by h and k."""
    h_score1, h_score2 = h1 * (h1 - h2), h2 * (h2 - h1)
    k_score1, k_score2 = k1 * (k1 - k2), k2 * (k2 - k1)
    if together:
        h_score1 = k_score1 = h_score1 + k_score1
        h_score2 = k_score2 = h_score2 + k_score2
    h_loss, a, b = _loss(h_score1, h_score2, stiffness, t1, t2)
    k_loss, e, f = _loss(k_score1, k_score2, stiffness, t1, t2)
    return (
        h_loss,
        k_loss,
        a * (2 * h1 - h2) - b * h2,
        b * (2 * h2 - h1) - a * h1,
        e * (2 * k1 - k2) - f * k2,
        f * (2 * k2 - k1) - e * k1,
    )


@njit(cache=True, nogil=True)
def _loss(score1, score2, stiffness, t1, t2):
    """Loss of a sentence, without its floor, and its derivatives by the scores of S_11 and S_22."""
    s1, s2 = 1 / (1 + exp(-score1)), 1 / (1 + exp(-score2))
    e1, e2 = s1 - t1, s2 - t2
    loss = 0.5 * stiffness * (e1 * e1 + e2 * e2)
    return loss, stiffness * e1 * s1 * (1 - s1), stiffness * e2 * s2 * (1 - s2)
