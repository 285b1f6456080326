"""Risk and gradient of students, computed in one pass over the training sentences.

The risk is given by Eqs. 3 and 15 of the paper. The derivative of a sentence's loss depends only on the sentence's own
fields h = x Q/sqrt(d). The code therefore reads two sentences at a time and adds their contribution to the gradient
while they are in the cache. A step takes half to three quarters of the time of two products with the data matrix, each
of which would read all data again.

Two students share a pass: the loop that computes the fields of two sentences also adds the previous two sentences to
the gradients. For one student, two short loops are faster.
"""

from math import exp

import numpy as np

from ..machine import njit

# Allow Numba to reorder sums, so that the processor adds in parallel. NaN and infinity keep their meaning.
REORDER = {"reassoc", "contract", "nsz"}
HALVES = 2  # the data are summed in this number of parts, as they were for the stored results


@njit(cache=True, nogil=True)
def risk_and_gradient(inputs, stiffness, targets, weights, lam, together, risk, gradient):
    """Compute the risk and the gradient for one or two columns of weights.

    The results are written into `risk` (c,) and `gradient` (c, d). Two columns belong to one student if `together`, and
    to two students otherwise.
    """
    n, (c, d) = len(inputs), weights.shape
    risks, gradients = np.zeros((HALVES, c)), np.zeros((HALVES, c, d), weights.dtype)
    for half in range(HALVES):
        first, last = half * n // HALVES, (half + 1) * n // HALVES
        if c == 2:
            _two_columns(inputs, stiffness, targets, weights, together, first, last, risks[half], gradients[half])
        else:
            risks[half, 0] = _one_column(inputs, stiffness, targets, weights[0], first, last, gradients[half, 0])
    gradient[:] = gradients[0] + gradients[1] + lam * weights
    for column in range(c):
        penalty = np.sum(0.5 * lam * weights[column] * weights[column])
        risk[column] = penalty + (risks[0, column] + risks[1, column])


@njit(cache=True, nogil=True, fastmath=REORDER)
def _one_column(inputs, stiffness, targets, weights, first, last, gradient):
    """Return the risk of sentences `first` to `last` for one column (d,), and add its gradient to `gradient` (d,)."""
    d = len(weights)
    number = inputs.dtype.type  # number type of the data, because the loops over d must not mix two types
    risk = 0.0
    for i in range(first, last, 2):
        k = min(i + 1, last - 1)
        x1, x2, x3, x4 = inputs[i, 0], inputs[i, 1], inputs[k, 0], inputs[k, 1]
        h1 = h2 = h3 = h4 = number(0)
        for j in range(d):
            h1 += x1[j] * weights[j]
            h2 += x2[j] * weights[j]
            h3 += x3[j] * weights[j]
            h4 += x4[j] * weights[j]
        i_loss, a1, a2 = _column_loss(h1, h2, stiffness[i], targets[i, 0], targets[i, 1])
        k_loss, b1, b2 = _column_loss(h3, h4, stiffness[k], targets[k, 0], targets[k, 1])
        if k == i:  # the last of an odd number of sentences has no partner
            k_loss = b1 = b2 = 0.0
        risk += i_loss + k_loss
        f1, f2, f3, f4 = number(a1), number(a2), number(b1), number(b2)
        for j in range(d):
            gradient[j] += f1 * x1[j] + f2 * x2[j] + f3 * x3[j] + f4 * x4[j]
    return risk


@njit(cache=True, nogil=True)
def _column_loss(h1, h2, stiffness, t1, t2):
    """Return the loss of a sentence for one column of weights, and its derivatives with respect to the two fields."""
    loss, a, b = _loss(h1 * (h1 - h2), h2 * (h2 - h1), stiffness, t1, t2)
    return loss, *_field_derivatives(h1, h2, a, b)


@njit(cache=True, nogil=True, fastmath=REORDER)
def _two_columns(inputs, stiffness, targets, weights, together, first, last, risk, gradient):
    """Add the risk and gradient of sentences `first` to `last`, for two columns, to `risk` (2,) and `gradient` (2, d).

    If both columns belong to one student, its risk is added to the first entry.
    """
    d = weights.shape[1]
    number = inputs.dtype.type  # number type of the data, because the loop over d must not mix two types
    zero = number(0)
    p_risk, q_risk = 0.0, 0.0
    f1 = f2 = f3 = f4 = g1 = g2 = g3 = g4 = zero  # forces on the fields of the previous two sentences
    p, q, p_gradient, q_gradient = weights[0], weights[1], gradient[0], gradient[1]
    y1 = y2 = y3 = y4 = inputs[0, 0]  # tokens of the previous two sentences
    for i in range(first, last + 2, 2):  # the last round only adds the last two sentences to the gradient
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
    risk[0] += p_risk
    risk[1] += 0.0 if together else q_risk


@njit(cache=True, nogil=True)
def _sentence(h1, h2, k1, k2, stiffness, t1, t2, together):
    """Return the losses of a sentence for two columns of weights, and their derivatives with respect to the fields.

    The columns have the fields h and k.
    """
    h_score1, h_score2 = h1 * (h1 - h2), h2 * (h2 - h1)
    k_score1, k_score2 = k1 * (k1 - k2), k2 * (k2 - k1)
    if together:
        h_score1 = k_score1 = h_score1 + k_score1
        h_score2 = k_score2 = h_score2 + k_score2
    h_loss, a, b = _loss(h_score1, h_score2, stiffness, t1, t2)
    k_loss, e, f = _loss(k_score1, k_score2, stiffness, t1, t2)
    return h_loss, k_loss, *_field_derivatives(h1, h2, a, b), *_field_derivatives(k1, k2, e, f)


@njit(cache=True, nogil=True)
def _field_derivatives(h1, h2, a, b):
    """Convert derivatives with respect to the two scores to derivatives with respect to the fields.

    The scores are h1 (h1 - h2) and h2 (h2 - h1).
    """
    return a * (2 * h1 - h2) - b * h2, b * (2 * h2 - h1) - a * h1


@njit(cache=True, nogil=True)
def _loss(score1, score2, stiffness, t1, t2):
    """Return the loss of a sentence, and its derivatives with respect to the two scores.

    The loss at the targets, which `Dataset.floor` has, is not included.
    """
    s1, s2 = 1 / (1 + exp(-score1)), 1 / (1 + exp(-score2))
    e1, e2 = s1 - t1, s2 - t2
    loss = 0.5 * stiffness * (e1 * e1 + e2 * e2)
    return loss, stiffness * e1 * s1 * (1 - s1), stiffness * e2 * s2 * (1 - s2)
