"""Proximal point of one sentence's loss for any number of tokens, columns, score and token covariance.

The fields h are L x r, entry (a, k) at a r + k of a vector of length N = L r. The loss is
``ell(h) = 1/2 tr[(S - Y) C (S - Y)^T]`` with S = softmax(T) by rows and T_ab = h_a M h_b^T.

All compiled code is in this one file: Numba's cache notices a change only in the file of the outermost function.
"""

from collections import namedtuple
from math import exp, sqrt

import numpy as np
from numba import njit

MAX_STEPS = 100
FLAT = 0.3  # in units of A: a lower minimum can be born close to one with less curvature in some direction only
LONGEST = 1.0  # offset of a start from w, along one field
APART = 1e-3  # a descent that comes this close to a minimum ends there
SHORTEST = 0.2  # where the global minimum is known to be nearer than this to w, no other start is tried
TEACHER = np.ones((1, 1))  # matrix of its score

# The proximal problem of a sentence: cavity fields w (N,), the teacher's attention Y (L, L), the covariance C (L, L) of
# the tokens, the matrix M (r, r) of the score, A = C^-1 x chi^-1 (N, N), and the square roots (N,) of the diagonal of
# A^-1: by sqrt(2 v) the reach of the ellipsoid in `prox`.
Problem = namedtuple("Problem", "w Y C M A reach")
# Working space of a descent: S (L, L), u and curvature (2, L, L), D (L, N), hessian and gauss (N, N), the others (N,).
Space = namedtuple("Space", "S u curvature D gradient hessian gauss step trial")
# The two lowest minima (2, N) that a search knows, the lowest first, and their objectives (2,): NaN and infinite where
# there is none. `start` (N,) is working space.
Found = namedtuple("Found", "minima values start")
# Law of the fields: with Cholesky factors root (r, r) of q and root_C (L, L) of C, and standard normal numbers z, the
# noise of the cavity fields is root_C z_w root^T, their mean m (L, r), and the teacher's fields are
# root_C (z_w aligned + rest z_y), with aligned (r,) and a number rest. `fixed` (L, L) is its positional matrix.
Law = namedtuple("Law", "root m aligned rest root_C omega fixed")


@njit(cache=True)
def attention(h, M, S):
    """Write the attention of fields h (N,) into S (L, L)."""
    count, r = len(S), len(M)
    for a in range(count):
        for b in range(count):
            S[a, b] = 0.0
            for k in range(r):
                for j in range(r):
                    S[a, b] += h[a * r + k] * M[k, j] * h[b * r + j]
        top = S[a].max()
        total = 0.0
        for b in range(count):
            S[a, b] = exp(S[a, b] - top)
            total += S[a, b]
        for b in range(count):
            S[a, b] /= total


@njit(cache=True)
def loss(h, problem, S):
    """Return ell(h); leaves the attention in S."""
    Y, C = problem.Y, problem.C
    attention(h, problem.M, S)
    count = len(S)
    total = 0.0
    for a in range(count):
        for b in range(count):
            for c in range(count):
                total += (S[a, b] - Y[a, b]) * C[b, c] * (S[a, c] - Y[a, c])
    return 0.5 * total


@njit(cache=True)
def loss_derivatives(h, problem, space):
    """Write gradient, Hessian and its Gauss-Newton part of ell at h into `space`, whose S holds the attention there.

    The Gauss-Newton part leaves out the second derivatives of S, and has no negative eigenvalue.
    """
    Y, C, M = problem.Y, problem.C, problem.M
    S, u, curvature, D, gradient, hessian, gauss, _, _ = space
    count, r = len(S), len(M)
    size = count * r
    gradient[:] = 0.0
    hessian[:, :] = 0.0
    gauss[:, :] = 0.0
    for a in range(count):
        mean = 0.0
        spread = 0.0
        for b in range(count):
            f = 0.0
            k = 0.0
            for c in range(count):
                f += C[b, c] * (S[a, c] - Y[a, c])
                k += C[b, c] * S[a, c]
            u[0, a, b] = f
            u[1, a, b] = k
            mean += S[a, b] * f
            spread += S[a, b] * k
        # By the scores of row a: gradient S_b (f_b - mean), curvature J^T C J with J = dS/dT, and its remainder.
        for b in range(count):
            for c in range(count):
                both = S[a, b] * S[a, c]
                curvature[0, b, c] = both * (C[b, c] - u[1, a, b] - u[1, a, c] + spread)
                curvature[1, b, c] = curvature[0, b, c] - both * (u[0, a, b] + u[0, a, c] - 2.0 * mean)
            curvature[1, b, b] += S[a, b] * (u[0, a, b] - mean)
        for b in range(count):
            u[0, a, b] = S[a, b] * (u[0, a, b] - mean)
        for b in range(count):  # D_b = dT_ab/dh
            for i in range(size):
                D[b, i] = 0.0
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
                first = 0.0
                second = 0.0
                for b in range(count):
                    first += curvature[0, b, c] * D[b, i]
                    second += curvature[1, b, c] * D[b, i]
                for j in range(size):
                    gauss[i, j] += first * D[c, j]
                    hessian[i, j] += second * D[c, j]


@njit(cache=True)
def solve_positive(H, b, x):
    """Solve H x = -b for a positive definite H, which is overwritten by its Cholesky factor; False if it is not."""
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
def moreau_objective(h, problem, S):
    """Return ``1/2 (h - w)^T A (h - w) + ell(h)``; leaves the attention in S."""
    w, A = problem.w, problem.A
    total = 0.0
    for i in range(len(h)):
        for j in range(len(h)):
            total += (h[i] - w[i]) * A[i, j] * (h[j] - w[j])
    return 0.5 * total + loss(h, problem, S)


@njit(cache=True)
def descend(h, known, problem, space):
    """Move h (N,) to a local minimum of the Moreau objective, by Newton's method with backtracking.

    Where the Hessian is not positive definite its Gauss-Newton part takes its place. Returns the objective, infinite
    if no minimum was reached, or none but `known` (N,).
    """
    w, A, gradient, hessian, gauss = problem.w, problem.A, space.gradient, space.hessian, space.gauss
    step, trial = space.step, space.trial
    n = len(h)
    value = moreau_objective(h, problem, space.S)
    for _ in range(MAX_STEPS):
        distance = 0.0
        for i in range(n):
            distance += (h[i] - known[i]) ** 2
        if distance < APART**2:
            return np.inf
        loss_derivatives(h, problem, space)
        for i in range(n):
            for j in range(n):
                gradient[i] += A[i, j] * (h[j] - w[j])
                hessian[i, j] += A[i, j]
                gauss[i, j] += A[i, j]
        if not solve_positive(hessian, gradient, step):
            solve_positive(gauss, gradient, step)
        size = 0.0
        slope = 0.0
        for i in range(n):
            size += step[i] * step[i]
            slope += gradient[i] * step[i]
        if size < 1e-16:  # Newton's error after this step is the square of it
            h += step
            return value
        factor = 1.0
        while True:
            for i in range(n):
                trial[i] = h[i] + factor * step[i]
            after = moreau_objective(trial, problem, space.S)
            if after <= value + 1e-4 * factor * slope + 1e-15 or factor < 1e-12:
                break
            factor *= 0.5
        h[:] = trial
        value = after
    return np.inf


@njit(cache=True)
def spaces(count, size):
    """Return a new `Space` and a new `Found` for L = `count` tokens and N = `size` fields."""
    square, pair, matrix, new = (count, count), (2, count, count), (size, size), np.zeros
    space = Space(
        new(square), new(pair), new(pair), new((count, size)), new(size), new(matrix), new(matrix), new(size), new(size)
    )
    return space, Found(np.zeros((2, size)), np.zeros(2), np.zeros(size))


@njit(cache=True)
def begin(start, found, problem, space):
    """Reset `found` to the one minimum to which a descent from `start` (N,) leads."""
    found.minima[0], found.minima[1], found.values[1] = start, np.nan, np.inf
    found.values[0] = descend(found.minima[0], found.minima[1], problem, space)


@njit(cache=True)
def try_start(found, problem, space):
    """Descend from `found.start`; put the minimum among the two lowest in `found`, if it belongs there."""
    minima, values, h = found
    value = descend(h, minima[0], problem, space)
    if value < values[0]:
        minima[1], values[1] = minima[0], values[0]
        minima[0], values[0] = h, value
    elif value < values[1]:
        minima[1], values[1] = h, value


@njit(cache=True)
def prox(problem, found, space):
    """Search for the global minimiser of the Moreau objective, from w and from starts around it, into `found`.

    The first value of `found` is then the Moreau envelope, infinite if no start led to a minimum. No point is lower
    than a minimum of value v unless it is in the ellipsoid ``1/2 (h - w)^T A (h - w) <= v``, because ell >= 0. The
    starts are displaced along one field each, to both sides, and stay in the ellipsoid.
    """
    w = problem.w
    begin(w, found, problem, space)
    for i in range(len(w)):
        for side in (1.0, -1.0):
            offset = min(LONGEST, problem.reach[i] * sqrt(2.0 * max(found.values[0], 0.0)))
            if offset < SHORTEST:
                continue
            found.start[:] = w
            found.start[i] += side * offset
            try_start(found, problem, space)


@njit(cache=True)
def follow(kept, problem, found, space):
    """Do as `prox`, but from minima `kept` (2, N) of a similar problem, the second maybe NaN. Not if one is flat."""
    begin(kept[0], found, problem, space)
    if not np.isnan(kept[1, 0]):
        found.start[:] = kept[1]
        try_start(found, problem, space)
    attention(found.minima[0], problem.M, space.S)
    loss_derivatives(found.minima[0], problem, space)
    space.hessian[:] += (1.0 - FLAT) * problem.A
    if not solve_positive(space.hessian, space.gradient, space.step):
        prox(problem, found, space)


@njit(cache=True)
def draw(z, law, noise, own, y, w, Y):
    """Write the fields of the sentence with standard normal numbers z (L (r + 1),), and what they are made of.

    These are the noise (L, r) of the cavity fields w (N,), the part `own` (L,) of the teacher's fields y (L,) that the
    student does not share, and the teacher's attention Y (L, L).
    """
    count, r = law.m.shape
    for a in range(count):
        own[a] = 0.0
        noise[a] = 0.0
        for b in range(a + 1):
            own[a] += law.root_C[a, b] * z[count * r + b]
            for k in range(r):
                noise[a, k] += law.root_C[a, b] * z[b * r + k]
        y[a] = law.rest * own[a]
        for k in range(r):
            y[a] += noise[a, k] * law.aligned[k]
            w[a * r + k] = law.m[a, k]
            for j in range(k + 1):
                w[a * r + k] += noise[a, j] * law.root[k, j]
    attention(y, TEACHER, Y)
    Y[:] = (1.0 - law.omega) * Y + law.omega * law.fixed


@njit(cache=True)
def set_force(h, problem, g):
    """Write the force ``A (h - w)`` into g (L, r); returns ``(h - w)^T A (h - w)``."""
    flat = g.reshape(len(h))
    distance = 0.0
    for i in range(len(h)):
        flat[i] = 0.0
        for j in range(len(h)):
            flat[i] += problem.A[i, j] * (h[j] - problem.w[j])
        distance += flat[i] * (h[i] - problem.w[i])
    return distance


@njit(cache=True, nogil=True)
def scramble_means(z, lowest, anew, law, C, M, A, reach):
    """Return the entries of `general.state_evolution.Averages` over one scramble z (points, L (r + 1)).

    With `anew` the proximal points are searched for, and the two lowest minima of each point are stored in `lowest`
    (points, 2, N); otherwise the descents start from what an earlier search stored there.
    """
    count, r = law.m.shape
    size = count * r
    power, noise_sum, pull, teacher = np.zeros((r, r)), np.zeros((r, r)), np.zeros((count, r)), np.zeros(r)
    fitted, envelope, test = 0.0, 0.0, 0.0
    slope, score = np.zeros((r, r)), np.zeros((count, r, count, r))
    noise, own, y, g = np.zeros((count, r)), np.zeros(count), np.zeros(count), np.zeros((count, r))
    problem = Problem(np.zeros(size), np.zeros((count, count)), C, M, A, reach)
    space, found = spaces(count, size)
    for point in range(len(z)):
        draw(z[point], law, noise, own, y, problem.w, problem.Y)
        if anew:
            prox(problem, found, space)
            lowest[point] = found.minima
        else:
            follow(lowest[point], problem, found, space)
        distance = set_force(found.minima[0], problem, g)
        fitted += found.values[0] - 0.5 * distance
        envelope += found.values[0]
        test += loss(problem.w, problem, space.S)
        x, x_own = z[point][:size].reshape(count, r), z[point][size:]
        for a in range(count):
            for k in range(r):
                pull[a, k] += g[a, k]
                teacher[k] += g[a, k] * own[a]
                for b in range(count):
                    for j in range(r):
                        power[k, j] += g[a, k] * C[a, b] * g[b, j]
                        slope[k, j] += g[a, k] * own[a] * x[b, j] * x_own[b]
                        score[a, k, b, j] += g[a, k] * (x[b, j] - x_own[b] * law.aligned[j] / law.rest)
                for j in range(r):
                    noise_sum[k, j] += g[a, k] * noise[a, j]
    n = len(z)
    return power / n, noise_sum / n, pull / n, teacher / n, fitted / n, envelope / n, test / n, slope / n, score / n
