"""Averages over the fields with one step of replica symmetry breaking: inner fields reweighted around each outer one.

This file calls the compiled functions of `kernels.two_tokens`. Numba's cache does not notice a change there: save this
file too.
"""

from math import exp, log, sqrt

import numpy as np
from numba import njit

from ..kernels.two_tokens import prox, teacher_targets


@njit(cache=True, nogil=True)
def one_step_means(net, inner, q0, gap, m, theta, V, y, omega, variance, lean1, lean2):
    """Return the eight entries of `equations.InnerAverages` over one scramble, losses without their constant.

    Args:
        net: (N, 6), xi, zeta, and two normal numbers whose direction is the angle by which the inner points are turned
        inner: (K, 3), points z of the plane, and their weights under the normal law
        q0, gap, m, theta, V, y: order parameters, gap = q1 - q0
        omega, variance, lean1, lean2: see `prox.teacher_targets`; variance = sigma^2
    """
    sums = np.zeros(8)
    root = sqrt(q0)
    width = sqrt(gap)
    aligned = theta / root
    rest = sqrt(variance - aligned * aligned)
    for i in range(len(net)):
        x1, x2, z1, z2, cosine, sine = net[i]
        length = sqrt(cosine * cosine + sine * sine)
        cosine /= length
        sine /= length
        t1, t2 = teacher_targets(aligned * x1 + rest * z1, aligned * x2 + rest * z2, omega, lean1, lean2)
        mass = mean1 = mean2 = power = inner_noise = fitted = moreau = first = 0.0
        for k in range(len(inner)):
            u1 = cosine * inner[k, 0] - sine * inner[k, 1]
            u2 = sine * inner[k, 0] + cosine * inner[k, 1]
            w1 = root * x1 + m + width * u1
            w2 = root * x2 - m + width * u2
            h1, h2, value = prox(w1, w2, t1, t2, V, variance)
            r1 = (h1 - w1) / V
            r2 = (h2 - w2) / V
            square = r1 * r1 + r2 * r2
            if k == 0:
                first = value  # keeps the weights near 1
            weight = inner[k, 2] * exp(-y * (value - first))
            mass += weight
            mean1 += weight * r1
            mean2 += weight * r2
            power += weight * square
            inner_noise += weight * (r1 * u1 + r2 * u2)
            fitted += weight * (value - 0.5 * V * square)
            moreau += weight * value
        mean1 /= mass
        mean2 /= mass
        sums[0] += mean1 - mean2
        sums[1] += power / mass
        sums[2] += mean1 * mean1 + mean2 * mean2
        sums[3] += mean1 * z1 + mean2 * z2
        sums[4] += mean1 * x1 + mean2 * x2
        sums[5] += inner_noise / mass
        sums[6] += fitted / mass
        sums[7] += first - log(mass) / y if y > 0 else moreau / mass
    return sums / len(net)
