"""The transformer's loss, its gradient by hand, and the optimiser's step, compiled.

An input is one of 15 token embeddings plus one of 10 position embeddings. Queries, keys and values are therefore
sums of two rows of tables with 25 rows, and so are the scores: everything before the layer norm costs little. The
time goes into the two linear layers behind it.

All compiled code is in this one file: Numba's cache notices a change only in the file of the outermost function. It
keeps the types of arguments by their modules' names: when `Weights` or the data move, this file has to change too.
"""

from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np

from ..compiled import njit

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


class Rule(NamedTuple):
    """How a step is taken: Adam, or plain gradient descent where beta2 is 0."""

    rate: float
    beta1: float = 0.0
    beta2: float = 0.0
    epsilon: float = 0.0


class Trainable(NamedTuple):
    """The parameters while they are trained, all changed in place."""

    named: tuple  # transformer.Weights, views into `flat`
    flat: np.ndarray  # (SIZE,) float32
    slopes: tuple  # transformer.Weights, views into `gradient`
    gradient: np.ndarray  # (SIZE,) float32
    free: np.ndarray  # (SIZE,) float32, one where a parameter is trained, else zero
    moments: np.ndarray  # (2, SIZE) float32, Adam's averages


class Space(NamedTuple):
    """Room for a batch. The tables have a row for each of the 25 embeddings, the others one for each position."""

    inputs: np.ndarray  # (25, width), and so are the tables below
    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    part: np.ndarray
    by_inputs: np.ndarray
    scores: np.ndarray  # (25, 25)
    by_scores: np.ndarray
    attention: np.ndarray  # (rows, length)
    by_kind: np.ndarray  # (rows, 25), attention summed by row of the tables
    kind_slopes: np.ndarray
    normed: np.ndarray  # (rows, width)
    scaled: np.ndarray
    by_scaled: np.ndarray
    inverse: np.ndarray  # (rows,), 1 / standard deviation
    hidden: np.ndarray  # (rows, hidden units)
    by_hidden: np.ndarray
    logits: np.ndarray  # (rows, classes); then their softmax, then their gradient


@njit(**COMPILED)
def workspace(rows, w):
    """Room for `rows` positions, with the contents left open."""
    kinds, width, f = len(w.token) + len(w.position), w.token.shape[1], np.float32
    table, square, by_kind = (kinds, width), (kinds, kinds), (rows, kinds)
    wide, hidden = (rows, width), (rows, len(w.hidden))
    return Space(
        np.empty(table, f),
        np.empty(table, f),
        np.empty(table, f),
        np.empty(table, f),
        np.empty(table, f),
        np.empty(table, f),
        np.empty(square, f),
        np.empty(square, f),
        np.empty((rows, len(w.position)), f),
        np.empty(by_kind, f),
        np.empty(by_kind, f),
        np.empty(wide, f),
        np.empty(wide, f),
        np.empty(wide, f),
        np.empty(rows, f),
        np.empty(hidden, f),
        np.empty(hidden, f),
        np.empty((rows, len(w.output)), f),
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
    """Softmax of the logits, in place; sum of the cross-entropy, and the positions counted right."""
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
def forward(w, sequences, chosen, space):
    """Sum of the cross-entropy over the sequences `chosen`, and the positions counted right; fills `space`."""
    known, rows = len(w.token), len(chosen) * len(w.position)
    s, tokens, counts = space, sequences.tokens, sequences.counts
    s.inputs[:known] = w.token
    s.inputs[known:] = w.position
    np.dot(s.inputs, w.query.T, s.queries)
    np.dot(s.inputs, w.key.T, s.keys)
    np.dot(s.inputs, w.value.T, s.values)
    np.dot(s.queries, s.keys.T, s.scores)
    scale = np.float32(1 / sqrt(w.token.shape[1]))
    attend(tokens, chosen, s.scores, s.attention, s.by_kind, known, scale)
    np.dot(s.by_kind[:rows], s.values, s.normed[:rows])
    norm(s.normed[:rows], s.scaled, s.inverse, w.norm_scale, w.norm_shift)
    np.dot(s.scaled[:rows], w.hidden.T, s.hidden[:rows])
    rectify(s.hidden[:rows], w.hidden_bias)
    np.dot(s.hidden[:rows], w.output.T, s.logits[:rows])
    return compare(s.logits[:rows], w.output_bias, counts, chosen)


@njit(**COMPILED)
def backward(w, sequences, chosen, space, d):
    """Gradient of the mean cross-entropy, written into the views `d`; after `forward` on the same sequences."""
    known, rows = len(w.token), len(chosen) * len(w.position)
    s, tokens, counts = space, sequences.tokens, sequences.counts
    compare_back(s.logits[:rows], d.output_bias, counts, chosen)
    np.dot(s.logits[:rows].T, s.hidden[:rows], d.output)
    np.dot(s.logits[:rows], w.output, s.by_hidden[:rows])
    rectify_back(s.hidden[:rows], s.by_hidden, d.hidden_bias)
    np.dot(s.by_hidden[:rows].T, s.scaled[:rows], d.hidden)
    np.dot(s.by_hidden[:rows], w.hidden, s.by_scaled[:rows])
    norm_back(s.normed[:rows], s.by_scaled, s.inverse, w.norm_scale, d.norm_scale, d.norm_shift)
    np.dot(s.by_scaled[:rows], s.values.T, s.kind_slopes[:rows])
    scale = np.float32(1 / sqrt(w.token.shape[1]))
    attend_back(tokens, chosen, s.by_scores, s.attention, s.kind_slopes, known, scale)

    np.dot(s.by_kind[:rows].T, s.by_scaled[:rows], s.part)
    np.dot(s.part.T, s.inputs, d.value)
    np.dot(s.part, w.value, s.by_inputs)
    np.dot(s.by_scores, s.keys, s.part)
    np.dot(s.part.T, s.inputs, d.query)
    s.by_inputs[:] += np.dot(s.part, w.query)
    np.dot(s.by_scores.T, s.queries, s.part)
    np.dot(s.part.T, s.inputs, d.key)
    s.by_inputs[:] += np.dot(s.part, w.key)
    d.token[:] = s.by_inputs[:known]
    d.position[:] = s.by_inputs[known:]


@njit(**COMPILED)
def adam(flat, gradient, free, moments, step, rule):
    """One step of Adam, as PyTorch takes it, on the free parameters."""
    first, second = moments[0], moments[1]
    size = np.float32(rule.rate / (1 - rule.beta1**step))
    root = np.float32(1 / sqrt(1 - rule.beta2**step))
    b1, b2, small = np.float32(rule.beta1), np.float32(rule.beta2), np.float32(rule.epsilon)
    c1, c2 = np.float32(1 - rule.beta1), np.float32(1 - rule.beta2)
    for i in range(len(flat)):
        slope = free[i] * gradient[i]
        mean = b1 * first[i] + c1 * slope
        square = b2 * second[i] + c2 * slope * slope
        first[i] = mean
        second[i] = square
        flat[i] -= size * mean / (sqrt(square) * root + small)


@njit(**COMPILED)
def train_epoch(model, sequences, order, batch, rule, step):
    """One pass over the training sequences in the given order, in batches; the mean cross-entropy along the way.

    The last batch may be smaller. `step` counts the steps of Adam done before.
    """
    space = workspace(batch * len(model.named.position), model.named)
    loss = 0.0
    for begin in range(0, len(order), batch):
        chosen = order[begin : begin + batch]
        loss += forward(model.named, sequences, chosen, space)[0]
        backward(model.named, sequences, chosen, space, model.slopes)
        if rule.beta2 > 0:
            step += 1
            adam(model.flat, model.gradient, model.free, model.moments, step, rule)
        else:
            flat, gradient, free = model.flat, model.gradient, model.free
            for i in range(len(flat)):
                flat[i] -= np.float32(rule.rate) * free[i] * gradient[i]
    return loss / (len(order) * sequences.tokens.shape[1])


@njit(**COMPILED)
def evaluate(w, sequences, batch):
    """Mean cross-entropy over all positions, and the share of them counted right."""
    space = workspace(batch * len(w.position), w)
    every = np.arange(len(sequences.tokens))
    loss, right = 0.0, 0
    for begin in range(0, len(every), batch):
        part, correct = forward(w, sequences, every[begin : begin + batch], space)
        loss += part
        right += correct
    return loss / sequences.tokens.size, right / sequences.tokens.size
