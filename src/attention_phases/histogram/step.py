"""The transformer's loss, its gradient by hand, and the optimiser's step, compiled.

An input is one of 15 token embeddings plus one of 10 position embeddings. Queries, keys and values are therefore
sums of two rows of tables with 25 rows, and so are the scores: everything before the layer norm costs little. The
time goes into the two linear layers behind it.

All compiled code is in this one file: Numba's cache notices a change only in the file of the outermost function.
"""

from math import exp, log, sqrt

import numpy as np
from numba import njit

NORM_EPSILON = 1e-5  # PyTorch's layer norm
# No test for division by zero, which would keep loops off the vector units. And no fast math: sums in the order as
# written have the same bits whether the code was just compiled or comes from Numba's cache, which inline differently.
COMPILED = {"cache": True, "error_model": "numpy"}


@njit(**COMPILED)
def total(a):
    """Sum of a vector whose length is a multiple of 8, in 8 parts that the processor adds up side by side."""
    s0, s1, s2, s3, s4, s5, s6, s7 = a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]
    for i in range(8, len(a), 8):
        s0 += a[i]
        s1 += a[i + 1]
        s2 += a[i + 2]
        s3 += a[i + 3]
        s4 += a[i + 4]
        s5 += a[i + 5]
        s6 += a[i + 6]
        s7 += a[i + 7]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@njit(**COMPILED)
def workspace(batch, w):
    """Arrays for a batch: tables of 25 rows (inputs, queries, keys, values, scores), then rows for each position."""
    kinds, rows = len(w.token) + len(w.position), batch * len(w.position)
    width = w.token.shape[1]
    f = np.float32
    return (
        np.empty((6, kinds, width), f),  # inputs, queries, keys, values; two for gradients
        np.empty((2, kinds, kinds), f),  # scores, their gradient
        np.empty((rows, len(w.position)), f),  # attention
        np.empty((2, rows, kinds), f),  # attention by row of the tables, its gradient
        np.empty((3, rows, width), f),  # normed, scaled, their gradient
        np.empty(rows, f),  # 1 / standard deviation
        np.empty((2, rows, len(w.hidden)), f),  # hidden layer, its gradient
        np.empty((rows, len(w.output)), f),  # logits, their softmax, their gradient
    )


@njit(**COMPILED)
def attend(tokens, chosen, scores, attention, by_kind, known, scale):
    """Softmax of the scores, per position and summed by row of the tables."""
    length = tokens.shape[1]
    for r in range(len(chosen) * length):
        sentence, i = tokens[chosen[r // length]], r % length
        of_token, of_position = scores[sentence[i]], scores[known + i]
        line, entry = attention[r], by_kind[r]
        top = np.float32(-np.inf)
        for j in range(length):
            c, d = sentence[j], known + j
            line[j] = scale * (of_token[c] + of_token[d] + of_position[c] + of_position[d])
            top = max(top, line[j])
        mass = np.float32(0)
        for j in range(length):
            line[j] = exp(line[j] - top)
            mass += line[j]
        entry[:known] = 0
        for j in range(length):
            line[j] /= mass
            entry[sentence[j]] += line[j]
            entry[known + j] = line[j]


@njit(**COMPILED)
def attend_back(tokens, chosen, dscores, attention, dby_kind, known, scale):
    """Gradient by the scores, from that by the attention summed by row of the tables."""
    length = tokens.shape[1]
    dscores[:] = 0
    for r in range(len(chosen) * length):
        sentence, i = tokens[chosen[r // length]], r % length
        of_token, of_position = dscores[sentence[i]], dscores[known + i]
        line, out = attention[r], dby_kind[r]
        mean = np.float32(0)
        for j in range(length):
            mean += line[j] * (out[sentence[j]] + out[known + j])
        for j in range(length):
            c, d = sentence[j], known + j
            change = scale * line[j] * (out[c] + out[d] - mean)
            of_token[c] += change
            of_token[d] += change
            of_position[c] += change
            of_position[d] += change


@njit(**COMPILED)
def norm(normed, scaled, inverse, scale, shift):
    """Layer norm of the rows of `normed`, in place, and its scaled form."""
    width = np.float32(normed.shape[1])
    for r in range(len(normed)):
        line, out = normed[r], scaled[r]
        mean = total(line) / width
        for c in range(len(line)):
            line[c] -= mean
            out[c] = line[c] * line[c]
        factor = np.float32(1 / sqrt(total(out) / width + NORM_EPSILON))
        inverse[r] = factor
        for c in range(len(line)):
            line[c] *= factor
            out[c] = line[c] * scale[c] + shift[c]


@njit(**COMPILED)
def norm_back(normed, dwide, inverse, scale, dscale, dshift):
    """Gradient by the layer norm's input, in place of that by its output; and by its scale and shift."""
    width = np.float32(normed.shape[1])
    along = np.empty_like(scale)
    dscale[:] = 0
    dshift[:] = 0
    for r in range(len(normed)):
        line, out = normed[r], dwide[r]
        for c in range(len(line)):
            dshift[c] += out[c]
            dscale[c] += out[c] * line[c]
        for c in range(len(line)):
            out[c] *= scale[c]
            along[c] = out[c] * line[c]
        mean, slope = total(out) / width, total(along) / width
        for c in range(len(line)):
            out[c] = inverse[r] * (out[c] - mean - line[c] * slope)


@njit(**COMPILED)
def rectify(hidden, bias):
    """ReLU of the rows plus the bias, in place."""
    for r in range(len(hidden)):
        line = hidden[r]
        for c in range(len(line)):
            line[c] = max(line[c] + bias[c], np.float32(0))


@njit(**COMPILED)
def rectify_back(hidden, dhidden, dbias):
    """Gradient by the ReLU's input, in place of that by its output; and by the bias."""
    dbias[:] = 0
    for r in range(len(hidden)):
        line, out = hidden[r], dhidden[r]
        for c in range(len(line)):
            out[c] = out[c] if line[c] > 0 else np.float32(0)
            dbias[c] += out[c]


@njit(**COMPILED)
def compare(logits, bias, counts, chosen):
    """Softmax of the logits, in place; sum of the cross-entropy, and the positions told right."""
    length = counts.shape[1]
    loss, right = 0.0, 0
    for r in range(len(logits)):
        line, label = logits[r], counts[chosen[r // length], r % length]
        best = 0
        for c in range(len(line)):
            line[c] += bias[c]
            if line[c] > line[best]:
                best = c
        top, wanted = line[best], line[label]
        mass = np.float32(0)
        for c in range(len(line)):
            line[c] = exp(line[c] - top)
            mass += line[c]
        for c in range(len(line)):
            line[c] /= mass
        loss += log(mass) + top - wanted
        right += best == label
    return loss, right


@njit(**COMPILED)
def compare_back(logits, dbias, counts, chosen):
    """Gradient of the mean cross-entropy by the logits, in place of their softmax; and by the bias."""
    length, rows = counts.shape[1], np.float32(len(logits))
    dbias[:] = 0
    for r in range(len(logits)):
        line = logits[r]
        line[counts[chosen[r // length], r % length]] -= 1
        for c in range(len(line)):
            line[c] /= rows
            dbias[c] += line[c]


@njit(**COMPILED)
def forward(w, tokens, counts, chosen, space):
    """Sum of the cross-entropy over the sequences `chosen`, and the positions told right; fills `space`."""
    tables, scores, attention, by_kind, wide, inverse, hidden, logits = space
    known, rows = len(w.token), len(chosen) * len(w.position)
    inputs, queries, keys, values = tables[0], tables[1], tables[2], tables[3]
    inputs[:known] = w.token
    inputs[known:] = w.position
    np.dot(inputs, w.query.T, queries)
    np.dot(inputs, w.key.T, keys)
    np.dot(inputs, w.value.T, values)
    np.dot(queries, keys.T, scores[0])
    scale = np.float32(1 / sqrt(w.token.shape[1]))
    attend(tokens, chosen, scores[0], attention, by_kind[0], known, scale)
    np.dot(by_kind[0, :rows], values, wide[0, :rows])
    norm(wide[0, :rows], wide[1], inverse, w.norm_scale, w.norm_shift)
    np.dot(wide[1, :rows], w.hidden.T, hidden[0, :rows])
    rectify(hidden[0, :rows], w.hidden_bias)
    np.dot(hidden[0, :rows], w.output.T, logits[:rows])
    return compare(logits[:rows], w.output_bias, counts, chosen)


@njit(**COMPILED)
def backward(w, tokens, counts, chosen, space, d):
    """Gradient of the mean cross-entropy, written into the views `d`; after `forward` on the same sequences."""
    tables, scores, attention, by_kind, wide, inverse, hidden, logits = space
    known, rows = len(w.token), len(chosen) * len(w.position)
    inputs, queries, keys, values, part, dinputs = tables[0], tables[1], tables[2], tables[3], tables[4], tables[5]
    compare_back(logits[:rows], d.output_bias, counts, chosen)
    np.dot(logits[:rows].T, hidden[0, :rows], d.output)
    np.dot(logits[:rows], w.output, hidden[1, :rows])
    rectify_back(hidden[0, :rows], hidden[1], d.hidden_bias)
    np.dot(hidden[1, :rows].T, wide[1, :rows], d.hidden)
    np.dot(hidden[1, :rows], w.hidden, wide[2, :rows])
    norm_back(wide[0, :rows], wide[2], inverse, w.norm_scale, d.norm_scale, d.norm_shift)
    np.dot(wide[2, :rows], values.T, by_kind[1, :rows])
    scale = np.float32(1 / sqrt(w.token.shape[1]))
    attend_back(tokens, chosen, scores[1], attention, by_kind[1], known, scale)

    np.dot(by_kind[0, :rows].T, wide[2, :rows], part)
    np.dot(part.T, inputs, d.value)
    np.dot(part, w.value, dinputs)
    np.dot(scores[1], keys, part)
    np.dot(part.T, inputs, d.query)
    dinputs += np.dot(part, w.query)
    np.dot(scores[1].T, queries, part)
    np.dot(part.T, inputs, d.key)
    dinputs += np.dot(part, w.key)
    d.token[:] = dinputs[:known]
    d.position[:] = dinputs[known:]


@njit(**COMPILED)
def adam(flat, gradient, free, first, second, step, rate, beta1, beta2, epsilon):
    """One step of Adam, as PyTorch takes it, on the free parameters."""
    size = np.float32(rate / (1 - beta1**step))
    root = np.float32(1 / sqrt(1 - beta2**step))
    small = np.float32(epsilon)
    b1, b2, c1, c2 = np.float32(beta1), np.float32(beta2), np.float32(1 - beta1), np.float32(1 - beta2)
    for i in range(len(flat)):
        slope = free[i] * gradient[i]
        mean = b1 * first[i] + c1 * slope
        square = b2 * second[i] + c2 * slope * slope
        first[i] = mean
        second[i] = square
        flat[i] -= size * mean / (sqrt(square) * root + small)


@njit(**COMPILED)
def sgd(flat, gradient, free, rate):
    """One step of gradient descent on the free parameters."""
    for i in range(len(flat)):
        flat[i] -= np.float32(rate) * free[i] * gradient[i]


@njit(**COMPILED)
def train_epoch(w, flat, d, gradient, free, moments, step, tokens, counts, order, batch, settings):
    """One pass over the training sequences in the given order, in batches; the last one may be smaller.

    Parameters
    ----------
    w, d : Weights
        Views into `flat` and `gradient`.
    flat, gradient, free : (size,) float32
        Parameters, changed in place; room for their gradient; one where a parameter is trained, else zero.
    moments : (2, size) float32
        Adam's averages, changed in place.
    step : int
        Steps of Adam done before.
    tokens, counts : (n, 10) int64
    order : (n,) int64
    batch : int
    settings : (4,) float64
        Rate, beta1, beta2, epsilon of Adam; a beta2 of 0 stands for plain gradient descent.

    Returns
    -------
    float
        Mean cross-entropy along the way.
    """
    space = workspace(batch, w)
    loss = 0.0
    for begin in range(0, len(order), batch):
        chosen = order[begin : begin + batch]
        loss += forward(w, tokens, counts, chosen, space)[0]
        backward(w, tokens, counts, chosen, space, d)
        if settings[2] > 0:
            step += 1
            adam(flat, gradient, free, moments[0], moments[1], step, settings[0], settings[1], settings[2], settings[3])
        else:
            sgd(flat, gradient, free, settings[0])
    return loss / (len(order) * tokens.shape[1])


@njit(**COMPILED)
def evaluate(w, tokens, counts, batch):
    """Mean cross-entropy over all positions, and the share of them told right."""
    space = workspace(batch, w)
    every = np.arange(len(tokens))
    loss, right = 0.0, 0
    for begin in range(0, len(every), batch):
        more, told = forward(w, tokens, counts, every[begin : begin + batch], space)
        loss += more
        right += told
    return loss / tokens.size, right / tokens.size
