"""The proximal point of the loss of one sentence, for any student and any number of tokens.

The number of columns, the score and the covariance are arbitrary. The fields h are L x r, stored as a vector of length
N = L r with the entry (a, k) at index a r + k. The loss is ``ell(h) = 1/2 tr[(S - Y) C (S - Y)^T]`` with S = softmax(T)
by rows and T_ab = h_a M h_b^T. In all functions Y and C are (L, L), M is (r, r), the cavity fields w are (N,), and A =
C^-1 x chi^-1 is (N, N).
"""

from math import exp, sqrt

import numpy as np

from ...machine import njit

MAX_STEPS = 100  # largest number of Newton steps of one descent
# If the curvature of a minimum exceeds this share of A, no new lower minimum can appear close to the minimum.
SMALLEST_CURVATURE = 0.3
LONGEST_OFFSET = 1.0  # largest displacement of a start from w, along one field
SAME_MINIMUM = 1e-3  # a descent that comes so close to a known minimum stops, because it would reach that minimum
SHORTEST = 0.2  # if the global minimum must be closer to w than this, other starts are skipped


@njit(cache=True)
def attention(h, M, S):
    """Compute the attention matrix of given fields, and store it in S.

    h: fields (N,) of a sentence, r for each token. M: (r, r). S: (L, L).
    """
    r = len(M)
    for a in range(len(S)):
        top = -np.inf
        for b in range(len(S)):
            score = 0.0
            for k in range(r):
                for j in range(r):
                    score += h[a * r + k] * M[k, j] * h[b * r + j]
            S[a, b] = score
            top = max(top, score)
        total = 0.0
        for b in range(len(S)):
            S[a, b] = exp(S[a, b] - top)
            total += S[a, b]
        for b in range(len(S)):
            S[a, b] /= total


@njit(cache=True)
def loss(h, Y, C, M, S):
    """Return the loss ell(h), and store the attention in S."""
    attention(h, M, S)
    count = len(S)
    total = 0.0
    for a in range(count):
        for b in range(count):
            for c in range(count):
                total += (S[a, b] - Y[a, b]) * C[b, c] * (S[a, c] - Y[a, c])
    return 0.5 * total


@njit(cache=True)
def loss_derivatives(h, Y, C, M, S, u, curvature, D, gradient, hessian, gauss):
    """Compute the gradient and the Hessian of the loss at h, and the Gauss-Newton part of the Hessian.

    The gradient is (N,), and the matrices are (N, N). S holds the attention at h. The Gauss-Newton part contains no
    second derivatives of S and has no negative eigenvalue. u (2, L, L), curvature (2, L, L) and D (L, N) are working
    space.
    """
    count, r = len(S), len(M)
    size = count * r
    gradient[:] = 0.0
    hessian[:, :] = 0.0
    gauss[:, :] = 0.0
    for a in range(count):
        mean = spread = 0.0
        for b in range(count):
            f = k = 0.0
            for c in range(count):
                f += C[b, c] * (S[a, c] - Y[a, c])
                k += C[b, c] * S[a, c]
            u[0, a, b] = f
            u[1, a, b] = k
            mean += S[a, b] * f
            spread += S[a, b] * k
        # Derivatives with respect to the scores of row a: the gradient S_b (f_b - mean), the curvature J^T C J with
        # J = dS/dT, and the full second derivative.
        for b in range(count):
            for c in range(count):
                both = S[a, b] * S[a, c]
                curvature[0, b, c] = both * (C[b, c] - u[1, a, b] - u[1, a, c] + spread)
                curvature[1, b, c] = curvature[0, b, c] - both * (u[0, a, b] + u[0, a, c] - 2.0 * mean)
            curvature[1, b, b] += S[a, b] * (u[0, a, b] - mean)
        for b in range(count):
            u[0, a, b] = S[a, b] * (u[0, a, b] - mean)
        for b in range(count):  # the derivative D_b = dT_ab/dh
            D[b, :] = 0.0
            for k in range(r):
                for j in range(r):
                    D[b, a * r + k] += M[k, j] * h[b * r + j]
                    D[b, b * r + k] += M[j, k] * h[a * r + j]
            for k in range(r):
                for j in range(r):
                    hessian[a * r + k, b * r + j] += u[0, a, b] * M[k, j]
                    hessian[b * r + j, a * r + k] += u[0, a, b] * M[k, j]
        for i in range(size):
            for b in range(count):
                gradient[i] += u[0, a, b] * D[b, i]
            for c in range(count):
                first = second = 0.0
                for b in range(count):
                    first += curvature[0, b, c] * D[b, i]
                    second += curvature[1, b, c] * D[b, i]
                for j in range(size):
                    gauss[i, j] += first * D[c, j]
                    hessian[i, j] += second * D[c, j]


@njit(cache=True)
def solve_positive(H, b, x):
    """Solve H x = -b and overwrite H by its Cholesky factor; return False if H is not positive definite."""
    n = len(b)
    for i in range(n):
        for j in range(i + 1):
            total = H[i, j]
            for k in range(j):
                total -= H[i, k] * H[j, k]
            if i == j:
                if total <= 1e-14:
                    return False
                H[i, i] = sqrt(total)
            else:
                H[i, j] = total / H[j, j]
    for i in range(n):
        total = -b[i]
        for k in range(i):
            total -= H[i, k] * x[k]
        x[i] = total / H[i, i]
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= H[k, i] * x[k]
        x[i] = total / H[i, i]
    return True


@njit(cache=True)
def moreau_objective(h, w, Y, C, M, A, S):
    """Return the Moreau objective ``1/2 (h - w)^T A (h - w) + ell(h)``, and store the attention in S."""
    total = 0.0
    for i in range(len(h)):
        for j in range(len(h)):
            total += (h[i] - w[i]) * A[i, j] * (h[j] - w[j])
    return 0.5 * total + loss(h, Y, C, M, S)


@njit(cache=True)
def descend(h, known, w, Y, C, M, A, work):
    """Move h to a local minimum of the Moreau objective, by Newton's method with backtracking; return the objective.

    If the Hessian is not positive definite, its Gauss-Newton part replaces it. The returned objective is infinite if no
    minimum was reached, or only the minimum `known` (N,).
    """
    S, u, curvature, D, gradient, hessian, gauss, step, trial = work
    n = len(h)
    value = moreau_objective(h, w, Y, C, M, A, S)
    for _ in range(MAX_STEPS):
        distance = 0.0
        for i in range(n):
            distance += (h[i] - known[i]) ** 2
        if distance < SAME_MINIMUM**2:
            return np.inf
        loss_derivatives(h, Y, C, M, S, u, curvature, D, gradient, hessian, gauss)
        for i in range(n):
            for j in range(n):
                gradient[i] += A[i, j] * (h[j] - w[j])
                hessian[i, j] += A[i, j]
                gauss[i, j] += A[i, j]
        if not solve_positive(hessian, gradient, step):
            solve_positive(gauss, gradient, step)
        size = slope = 0.0
        for i in range(n):
            size += step[i] * step[i]
            slope += gradient[i] * step[i]
        if size < 1e-16:  # the error after this Newton step is of the order of the step squared
            h += step
            return value
        factor = 1.0
        while True:
            for i in range(n):
                trial[i] = h[i] + factor * step[i]
            after = moreau_objective(trial, w, Y, C, M, A, S)
            if after <= value + 1e-4 * factor * slope + 1e-15 or factor < 1e-12:
                break
            factor *= 0.5
        h[:] = trial
        value = after
    return np.inf


@njit(cache=True)
def workspace(count, size):
    """Return the arrays that `descend` uses as working space."""
    S, u, curvature = np.zeros((count, count)), np.zeros((2, count, count)), np.zeros((2, count, count))
    D, hessian, gauss = np.zeros((count, size)), np.zeros((size, size)), np.zeros((size, size))
    gradient, step, trial = np.zeros(size), np.zeros(size), np.zeros(size)
    return S, u, curvature, D, gradient, hessian, gauss, step, trial


@njit(cache=True)
def insert_minimum(h, value, minima, values):
    """Update the two lowest known minima with a new minimum, if it is lower than one of them.

    The new minimum is at h (N,) with the objective `value`. The known ones are at `minima` (2, N) with the objectives
    `values` (2,).
    """
    if value < values[0]:
        minima[1], values[1] = minima[0], values[0]
        minima[0], values[0] = h, value
    elif value < values[1]:
        minima[1], values[1] = h, value


@njit(cache=True)
def prox(w, Y, C, M, A, reach, minima, values, h, work):
    """Find the global minimiser of the Moreau objective by descents from w and from points around w.

    Because ell >= 0, a point is lower than a minimum of value v only if it lies in the ellipsoid
    ``1/2 (h - w)^T A (h - w) <= v``. Each start is displaced along one field, to either side, within the ellipsoid.

    Args:
        reach: (N,), square roots of the diagonal of A^-1, which times sqrt(2 v) are the half widths of the ellipsoid
        minima: (2, N), filled with the minimiser and with the lowest other minimum found, NaN if there is none
        values: (2,), filled with the objectives of the minima; the first is the Moreau envelope, infinite if no
            minimum was found
        h, work: working space, (N,) and from `workspace`
    """
    minima[0], minima[1], values[1] = w, np.nan, np.inf
    values[0] = descend(minima[0], minima[1], w, Y, C, M, A, work)
    for i in range(len(w)):
        for side in (1.0, -1.0):
            offset = min(LONGEST_OFFSET, reach[i] * sqrt(2.0 * max(values[0], 0.0)))
            if offset < SHORTEST:
                continue
            h[:] = w
            h[i] += side * offset
            insert_minimum(h, descend(h, minima[0], w, Y, C, M, A, work), minima, values)


@njit(cache=True)
def follow(kept, w, Y, C, M, A, reach, minima, values, h, work):
    """Find the two lowest minima of the Moreau objective by descents from the two minima of a similar problem.

    The minima of the similar problem are `kept` (2, N), and the second of them may be NaN. If the lowest minimum lies
    in a flat valley, the function calls `prox`.
    """
    minima[0], minima[1], values[1] = kept[0], np.nan, np.inf
    values[0] = descend(minima[0], minima[1], w, Y, C, M, A, work)
    if not np.isnan(kept[1, 0]):
        h[:] = kept[1]
        insert_minimum(h, descend(h, minima[0], w, Y, C, M, A, work), minima, values)
    S, u, curvature, D, gradient, hessian, gauss, step, _ = work
    attention(minima[0], M, S)
    loss_derivatives(minima[0], Y, C, M, S, u, curvature, D, gradient, hessian, gauss)
    hessian += (1.0 - SMALLEST_CURVATURE) * A
    if not solve_positive(hessian, gradient, step):
        prox(w, Y, C, M, A, reach, minima, values, h, work)


@njit(cache=True, nogil=True)
def proximal_points(w, Y, lowest, anew, C, M, A, reach):
    """Return the proximal point of each sentence's loss, its Moreau envelope, and the loss at the cavity fields w.

    The proximal points are (scrambles, points, N).

    If `anew`, the function searches for the proximal points and stores the two lowest minima of each point in `lowest`
    (scrambles, points, 2, N). Otherwise descents start from the minima in `lowest`.

    The other arguments are as for `prox`; w and Y have the first two axes of `lowest`.
    """
    scrambles, points, size = w.shape
    h, envelopes, losses = np.empty(w.shape), np.empty((scrambles, points)), np.empty((scrambles, points))
    minima, values, other, S = np.zeros((2, size)), np.zeros(2), np.zeros(size), np.zeros(C.shape)
    work = workspace(len(C), size)
    for i in range(scrambles):
        for j in range(points):
            if anew:
                prox(w[i, j], Y[i, j], C, M, A, reach, minima, values, other, work)
                lowest[i, j] = minima
            else:
                follow(lowest[i, j], w[i, j], Y[i, j], C, M, A, reach, minima, values, other, work)
            h[i, j], envelopes[i, j] = minima[0], values[0]
            losses[i, j] = loss(w[i, j], Y[i, j], C, M, S)
    return h, envelopes, losses
