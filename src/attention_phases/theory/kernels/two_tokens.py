"""The proximal point of the loss of a two-token sentence, which is the inner problem of state evolution.

This is Eq. 9. The loss of the fields h = (h_1, h_2) is  ell(h) = sigma^2 sum_a (S_aa(h) - T_a)^2 + a constant,
with S_11 = logistic(h_1 (h_1 - h_2)), S_22 = logistic(h_2 (h_2 - h_1)) and T_a = (1 + Y_aa - Y_ab)/2.
Because a row of S sums to one, it fits the teacher's row best at S_aa = T_a.
"""

from math import exp, log, sqrt

import numpy as np

from ...machine import njit

NARROWEST = 0.5  # smallest (h_1 - h_2)^2 of a start, because the scores of equal fields are zero
MAX_STEPS = 100  # largest number of Newton steps of one descent
SAME_MINIMUM = 1e-3  # a descent that comes so close to a known minimum stops, because it would reach that minimum
NO_MINIMUM = (np.nan, np.nan, np.inf)  # fields and objective if there is no minimum
# In a flat valley, a new lower minimum can appear close to a known minimum. If the overlaps change by at most 5 %, this
# happens only where the smallest curvature of the objective is below this share of 1/V.
SMALLEST_CURVATURE = 0.3


@njit(cache=True)
def logistic(x):
    return 1.0 / (1.0 + exp(-x))


@njit(cache=True)
def objective(e1, e2, h1, h2, w1, w2, V, variance):
    """Return the Moreau objective ``|h - w|^2/(2V) + ell(h)``, without the additive constant in ell.

    The errors at h are e_a = S_aa - T_a.
    """
    return ((h1 - w1) ** 2 + (h2 - w2) ** 2) / (2.0 * V) + variance * (e1 * e1 + e2 * e2)


@njit(cache=True)
def derivatives(s1, s2, h1, h2, t1, t2, variance):
    """Return the gradient and the Hessian of the loss, given the fields h and the attention computed from them.

    The result has the entries 1, 2 and 11, 12, 22. The attention S_aa at h is s_a.
    """
    d1 = s1 * (1.0 - s1)
    d2 = s2 * (1.0 - s2)
    a = 2.0 * variance * (s1 - t1) * d1  # derivatives with respect to the scores h_1 (h_1 - h_2) and h_2 (h_2 - h_1)
    b = 2.0 * variance * (s2 - t2) * d2
    aa = 2.0 * variance * d1 * d1 + a * (1.0 - 2.0 * s1)
    bb = 2.0 * variance * d2 * d2 + b * (1.0 - 2.0 * s2)
    c1 = 2.0 * h1 - h2
    c2 = 2.0 * h2 - h1
    return (
        a * c1 - b * h2,
        b * c2 - a * h1,
        aa * c1 * c1 + bb * h2 * h2 + 2.0 * a,
        -aa * c1 * h1 - bb * h2 * c2 - a - b,
        aa * h1 * h1 + bb * c2 * c2 + 2.0 * b,
    )


@njit(cache=True)
def hessian(minimum, t1, t2, V, variance):
    """Return 1 + V H at a minimum, where V is the response of the fields and H is the Hessian of the loss.

    The result has the entries 11, 12, 22. A minimum is (h1, h2, ...).
    """
    h1, h2 = minimum[0], minimum[1]
    s1, s2 = logistic(h1 * (h1 - h2)), logistic(h2 * (h2 - h1))
    _, _, h11, h12, h22 = derivatives(s1, s2, h1, h2, t1, t2, variance)
    return 1.0 + V * h11, V * h12, 1.0 + V * h22


@njit(cache=True)
def descend(h1, h2, known, w1, w2, t1, t2, V, variance):
    """Return the local minimum of the Moreau objective that a descent from (h1, h2) reaches.

    The method is Newton's, with backtracking and a Hessian that is shifted to be positive definite. A minimum is
    (h1, h2, objective), with an infinite objective if none was reached. If the descent reaches `known`, another
    minimum, the result is `known`.
    """
    s1, s2 = logistic(h1 * (h1 - h2)), logistic(h2 * (h2 - h1))
    value = objective(s1 - t1, s2 - t2, h1, h2, w1, w2, V, variance)
    for _ in range(MAX_STEPS):
        if (h1 - known[0]) ** 2 + (h2 - known[1]) ** 2 < SAME_MINIMUM**2:
            return known
        g1, g2, h11, h12, h22 = derivatives(s1, s2, h1, h2, t1, t2, variance)
        g1 += (h1 - w1) / V
        g2 += (h2 - w2) / V
        h11 += 1.0 / V
        h22 += 1.0 / V
        lowest = 0.5 * (h11 + h22 - sqrt((h11 - h22) ** 2 + 4.0 * h12 * h12))
        floor = 1e-4 / V
        if lowest < floor:  # reflect a negative curvature and raise one that is almost zero
            shift = max(floor - lowest, floor - 2.0 * lowest)
            h11 += shift
            h22 += shift
        determinant = h11 * h22 - h12 * h12
        if not determinant > 0.0:  # happens only by rounding, if fields exceed 10^7
            break
        p1 = (h12 * g2 - h22 * g1) / determinant
        p2 = (h12 * g1 - h11 * g2) / determinant
        if p1 * p1 + p2 * p2 < 1e-16:  # the error after this Newton step is of the order of the step squared
            return h1 + p1, h2 + p2, value
        slope = g1 * p1 + g2 * p2
        step = 1.0
        while True:
            n1, n2 = h1 + step * p1, h2 + step * p2
            s1, s2 = logistic(n1 * (n1 - n2)), logistic(n2 * (n2 - n1))
            trial = objective(s1 - t1, s2 - t2, n1, n2, w1, w2, V, variance)
            if trial <= value + 1e-4 * step * slope + 1e-15 or step < 1e-12:
                break
            step *= 0.5
        h1, h2, value = n1, n2, trial
    return h1, h2, np.inf


@njit(cache=True)
def starts(w1, w2, t1, t2):
    """Return five points from which descents start, besides the cavity fields w.

    Two starts fit both rows of the teacher, or come close if no fields fit both, because the scores have the sum
    (h_1 - h_2)^2 and the difference h_1^2 - h_2^2. Two starts have one field at zero. One start has equal fields, for
    which the scores of a row are equal.
    """
    t1, t2 = min(max(t1, 1e-3), 1.0 - 1e-3), min(max(t2, 1e-3), 1.0 - 1e-3)
    score1, score2 = log(t1 / (1.0 - t1)), log(t2 / (1.0 - t2))
    difference = sqrt(max(score1 + score2, NARROWEST))
    total = (score1 - score2) / difference
    h1, h2 = 0.5 * (total + difference), 0.5 * (total - difference)
    mean = 0.5 * (w1 + w2)
    return (h1, h2), (-h1, -h2), (0.0, w2), (w1, 0.0), (mean, mean)


@njit(cache=True)
def search(w1, w2, t1, t2, V, variance):
    """Descend the Moreau objective from `w` and from `starts`, and return the two lowest minima found.

    Each minimum is (h1, h2, objective), NaN with an infinite objective if there is none. The first is the proximal
    point with the Moreau envelope. The search can miss the lowest minimum: it does so for about one in 10^5 of uniform
    fields with ``|w_a| <= 2`` and V from 20 to 250, and for one in 10^4 of fields up to 4. Fields beyond 2 are at least
    five standard deviations away on every branch where V is large enough for several minima.

    Args:
        w1, w2: cavity fields
        t1, t2: values of S_11 and S_22 that fit the teacher best
        V, variance: sigma^2 chi and sigma^2
    """
    other = NO_MINIMUM
    best = descend(w1, w2, NO_MINIMUM, w1, w2, t1, t2, V, variance)
    for h1, h2 in starts(w1, w2, t1, t2):
        minimum = descend(h1, h2, best, w1, w2, t1, t2, V, variance)
        if minimum[2] < best[2]:
            best, other = minimum, best
        elif best[2] < minimum[2] < other[2]:
            other = minimum
    return best, other


@njit(cache=True)
def follow(kept, w1, w2, t1, t2, V, variance):
    """Find the lowest minimum of the Moreau objective by descents from two minima found for similar parameters.

    The two minima are `kept` (2, 2), and the second of them may be NaN. The function also returns the `hessian` at the
    lowest minimum. If the valley of this minimum is flat, the result comes from a new search instead.
    """
    best = descend(kept[0, 0], kept[0, 1], NO_MINIMUM, w1, w2, t1, t2, V, variance)
    if not np.isnan(kept[1, 0]):
        other = descend(kept[1, 0], kept[1, 1], best, w1, w2, t1, t2, V, variance)
        if other[2] < best[2]:
            best = other
    bend = hessian(best, t1, t2, V, variance)
    if 0.5 * (bend[0] + bend[2] - sqrt((bend[0] - bend[2]) ** 2 + 4.0 * bend[1] * bend[1])) >= SMALLEST_CURVATURE:
        return best, bend
    best = search(w1, w2, t1, t2, V, variance)[0]
    return best, hessian(best, t1, t2, V, variance)


@njit(cache=True, nogil=True)
def forces(w, t, V, variance):
    """Return the forces r = (h* - w)/V on the fields of many sentences, and the Moreau envelopes.

    The forces are (2, N). The envelopes (N,) do not include the constant of the loss. w and t are (2, N), and the other
    arguments are as for `search`.
    """
    r, envelopes = np.empty(w.shape), np.empty(w.shape[1])
    for i in range(w.shape[1]):
        h1, h2, envelopes[i] = search(w[0, i], w[1, i], t[0, i], t[1, i], V, variance)[0]
        r[0, i] = (h1 - w[0, i]) / V
        r[1, i] = (h2 - w[1, i]) / V
    return r, envelopes


@njit(cache=True, nogil=True)
def scramble_means(z, lowest, anew, q, m, theta, V, rho, omega, variance, lean1, lean2):
    """Return the averages over the fields of two tokens, for each scrambled set of quadrature points.

    The averages are the entries of `equations.Averages`. The losses are without their constant, and teacher_pull is
    zero. The net z is (scrambles, N, 4). The parameters of the loss are from `equations.loss_of`, with lean_a =
    A_aa - A_ab. If `anew`, the function searches for the proximal points and stores the two lowest minima of each point
    in `lowest` (scrambles, N, 2, 2). Otherwise descents start from the minima in `lowest`.
    """
    sums = np.zeros((len(z), 11))
    root = sqrt(q)
    aligned = theta / root
    rest = sqrt(rho - aligned * aligned)
    for s in range(len(z)):
        for i in range(z.shape[1]):
            x1, x2, z1, z2 = z[s, i]
            w1 = root * x1 + m
            w2 = root * x2 - m
            y1 = aligned * x1 + rest * z1
            y2 = aligned * x2 + rest * z2
            t1 = (1.0 - omega) * logistic(y1 * (y1 - y2)) + 0.5 * omega * (1.0 + lean1)
            t2 = (1.0 - omega) * logistic(y2 * (y2 - y1)) + 0.5 * omega * (1.0 + lean2)
            if anew:
                (h1, h2, moreau), other = search(w1, w2, t1, t2, V, variance)
                bend = hessian((h1, h2), t1, t2, V, variance)
                lowest[s, i, 0, 0], lowest[s, i, 0, 1] = h1, h2
                lowest[s, i, 1, 0], lowest[s, i, 1, 1] = other[0], other[1]
            else:
                (h1, h2, moreau), bend = follow(lowest[s, i], w1, w2, t1, t2, V, variance)
            r1 = (h1 - w1) / V
            r2 = (h2 - w2) / V
            h11, h12, h22 = bend
            # Between jumps of h*, the derivative d(h* - w)/dw is the inverse of this matrix, minus 1.
            determinant = h11 * h22 - h12 * h12
            j11, j12, j22 = h22 / determinant - 1.0, -h12 / determinant, h11 / determinant - 1.0
            sums[s, 0] += r1 * r1 + r2 * r2
            sums[s, 1] += r1 * x1 + r2 * x2
            sums[s, 2] += r1 - r2
            sums[s, 3] += r1 * z1 + r2 * z2
            sums[s, 5] += moreau - 0.5 * V * (r1 * r1 + r2 * r2)
            sums[s, 6] += moreau
            e1 = logistic(w1 * (w1 - w2)) - t1
            e2 = logistic(w2 * (w2 - w1)) - t2
            sums[s, 7] += variance * (e1 * e1 + e2 * e2)
            sums[s, 8] += (r1 * z1 + r2 * z2) * (x1 * z1 + x2 * z2)
            sums[s, 9] += (r1 - r2) * ((x1 - x2) - aligned / rest * (z1 - z2)) / root
            sums[s, 10] += j11**2 + j22**2 + 2.0 * j12**2
    return (sums / z.shape[1],)
