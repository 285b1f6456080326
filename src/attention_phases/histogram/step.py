"""Compiled code for the loss of the transformer, its hand-written gradient, and the steps of the optimisers.

An input is one of 15 token embeddings plus one of 10 position embeddings. Queries, keys and values are therefore
sums of two rows of tables with 25 rows, and so are the scores. Everything before the layer norm is therefore cheap, and
the two linear layers after the layer norm take most of the time.

Numba's cache identifies the types of arguments by the names of their modules. If `Weights` or the data move to another
module, this file must change as well, so that it is compiled again.
"""

from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np

from ..machine import njit

NORM_EPSILON = 1e-5  # the default of PyTorch's layer norm
# The error model "numpy" omits tests for division by zero, which would prevent vectorised loops. Fast math is off,
# because sums would depend on inlining, which differs between code that was just compiled and code from Numba's cache.
NUMBA_OPTIONS = {"cache": True, "error_model": "numpy"}


@njit(**NUMBA_OPTIONS)
def total(a):
    """Return the sum of a vector whose length is a multiple of 8, computed by 8 partial sums in parallel."""
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


@njit(**NUMBA_OPTIONS)
def softmax(a):
    """Replace a vector by its softmax, and return its maximum and the sum of ``exp(a - maximum)``."""
    top, mass = np.float32(-np.inf), np.float32(0)
    for i in range(len(a)):
        top = max(top, a[i])
    for i in range(len(a)):
        a[i] = exp(a[i] - top)
        mass += a[i]
    for i in range(len(a)):
        a[i] /= mass
    return top, mass


class Rule(NamedTuple):
    """The settings of the optimiser: Adam, or plain gradient descent if beta2 is 0."""

    rate: float  #: learning rate
    beta1: float = 0.0  #: decay of the mean gradient
    beta2: float = 0.0  #: decay of the mean square of the gradient
    epsilon: float = 0.0  #: constant added to the root of the mean square


class TrainableModel(NamedTuple):
    """The parameters and gradients of a transformer; training updates all of these arrays in place."""

    named: tuple  #: transformer.Weights, views into `flat`
    flat: np.ndarray  #: parameters, (SIZE,) float32
    slopes: tuple  #: transformer.Weights, views into `gradient`
    gradient: np.ndarray  #: gradient, (SIZE,) float32
    free: np.ndarray  #: (SIZE,) float32, one for each parameter that is trained and zero for the others
    moments: np.ndarray  #: (2, SIZE) float32, Adam's averages of the gradient and of its square


class Pass(NamedTuple):
    """Intermediate results of the forward pass that the backward pass needs.

    The arrays have one row per embedding, or one row per position.
    """

    inputs: np.ndarray  #: (25, width), embeddings
    queries: np.ndarray  #: (25, width), query of each embedding
    keys: np.ndarray  #: (25, width), key of each embedding
    values: np.ndarray  #: (25, width), value of each embedding
    attention: np.ndarray  #: (rows, length), one row for each position of each sequence
    by_kind: np.ndarray  #: (rows, 25), attention summed for each embedding
    normed: np.ndarray  #: (rows, width), normalised activations
    scaled: np.ndarray  #: (rows, width), output of the layer norm
    inverse: np.ndarray  #: (rows,), 1 / standard deviation
    hidden: np.ndarray  #: (rows, hidden units), after the ReLU
    softmax: np.ndarray  #: (rows, classes), softmax of the logits


@njit(**NUMBA_OPTIONS)
def attend(tokens, chosen, scores, known, scale):
    """Compute the attention to each position, and the total attention to each embedding.

    The embeddings are those of the tokens, followed by those of the positions. Both results have one row for each
    position of each sequence.
    """
    length = tokens.shape[1]
    attention = np.empty((len(chosen) * length, length), scores.dtype)
    by_kind = np.empty((len(attention), len(scores)), scores.dtype)
    for r in range(len(attention)):
        sentence, i = tokens[chosen[r // length]], r % length
        of_token, of_position = scores[sentence[i]], scores[known + i]
        line, entry = attention[r], by_kind[r]
        for j in range(length):
            c, d = sentence[j], known + j
            line[j] = scale * (of_token[c] + of_token[d] + of_position[c] + of_position[d])
        softmax(line)
        entry[:known] = 0
        for j in range(length):
            entry[sentence[j]] += line[j]
            entry[known + j] = line[j]
    return attention, by_kind


@njit(**NUMBA_OPTIONS)
def attend_back(tokens, chosen, attention, dby_kind, known, scale):
    """Backpropagate through the attention, and return the gradient with respect to the scores.

    dby_kind: gradient with respect to `Pass.by_kind`
    """
    length, kinds = tokens.shape[1], dby_kind.shape[1]
    dscores = np.zeros((kinds, kinds), dby_kind.dtype)
    for r in range(len(attention)):
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
    return dscores


@njit(**NUMBA_OPTIONS)
def norm(normed, scale, shift):
    """Apply the layer norm to each row, and return the output and the inverse standard deviation of each row.

    The rows of `normed` are replaced by the normalised rows. The output is scale * normed + shift.
    """
    width, inverse = np.float32(normed.shape[1]), np.empty_like(normed[:, 0])
    for r in range(len(normed)):
        line = normed[r]
        mean = total(line) / width
        for c in range(len(line)):
            line[c] -= mean
        factor = np.float32(1 / sqrt(total(line * line) / width + NORM_EPSILON))
        inverse[r] = factor
        for c in range(len(line)):
            line[c] *= factor
    return normed * scale + shift, inverse


@njit(**NUMBA_OPTIONS)
def norm_back(normed, dwide, inverse, scale, dscale, dshift):
    """Backpropagate through the layer norm.

    `dwide`, the gradient with respect to the output, is replaced by the gradient with respect to the input. The
    gradients with respect to scale and shift are written into `dscale` and `dshift`.
    """
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


@njit(**NUMBA_OPTIONS)
def rectify(hidden, bias):
    """Add the bias to the rows and apply the ReLU, in place."""
    for r in range(len(hidden)):
        line = hidden[r]
        for c in range(len(line)):
            line[c] = max(line[c] + bias[c], np.float32(0))


@njit(**NUMBA_OPTIONS)
def rectify_back(hidden, dhidden, dbias):
    """Backpropagate through the ReLU and the addition of the bias.

    `dhidden`, the gradient with respect to the output, is replaced by the gradient with respect to the input. The
    gradient with respect to the bias is written into `dbias`.
    """
    dbias[:] = 0
    for r in range(len(hidden)):
        line, out = hidden[r], dhidden[r]
        for c in range(len(line)):
            out[c] = out[c] if line[c] > 0 else np.float32(0)
            dbias[c] += out[c]


@njit(**NUMBA_OPTIONS)
def compare(logits, bias, counts, chosen):
    """Replace the logits by their softmax; return the summed cross-entropy and the number of correct predictions."""
    length = counts.shape[1]
    loss, right = 0.0, 0
    for r in range(len(logits)):
        line, label = logits[r], counts[chosen[r // length], r % length]
        line += bias
        right += line.argmax() == label
        wanted = line[label]
        top, mass = softmax(line)
        loss += log(mass) + top - wanted
    return loss, right


@njit(**NUMBA_OPTIONS)
def compare_back(logits, dbias, counts, chosen):
    """Backpropagate through the cross-entropy and the addition of the bias.

    The softmax in `logits` is replaced by the gradient of the mean cross-entropy with respect to the logits. The
    gradient with respect to the bias is written into `dbias`.
    """
    length = counts.shape[1]
    for r in range(len(logits)):
        logits[r, counts[chosen[r // length], r % length]] -= 1
    logits /= np.float32(len(logits))
    dbias[:] = 0
    for line in logits:
        dbias += line


@njit(**NUMBA_OPTIONS)
def forward(w, sequences, chosen):
    """Return the summed cross-entropy, the number of correct predictions and the activations for chosen sequences.

    The activations are in a `Pass`.
    """
    inputs, scale = np.concatenate((w.token, w.position)), np.float32(1 / sqrt(w.token.shape[1]))
    queries, keys, values = np.dot(inputs, w.query.T), np.dot(inputs, w.key.T), np.dot(inputs, w.value.T)
    attention, by_kind = attend(sequences.tokens, chosen, np.dot(queries, keys.T), len(w.token), scale)
    normed = np.dot(by_kind, values)
    scaled, inverse = norm(normed, w.norm_scale, w.norm_shift)
    hidden = np.dot(scaled, w.hidden.T)
    rectify(hidden, w.hidden_bias)
    logits = np.dot(hidden, w.output.T)
    loss, right = compare(logits, w.output_bias, sequences.counts, chosen)
    return loss, right, Pass(inputs, queries, keys, values, attention, by_kind, normed, scaled, inverse, hidden, logits)


@njit(**NUMBA_OPTIONS)
def backward(w, sequences, chosen, s, d):
    """Compute the gradient of the mean cross-entropy by backpropagation, and write it into the arrays `d`.

    s: the `Pass` of the same sequences
    """
    known, scale = len(w.token), np.float32(1 / sqrt(w.token.shape[1]))
    compare_back(s.softmax, d.output_bias, sequences.counts, chosen)
    np.dot(s.softmax.T, s.hidden, d.output)
    by_hidden = np.dot(s.softmax, w.output)
    rectify_back(s.hidden, by_hidden, d.hidden_bias)
    np.dot(by_hidden.T, s.scaled, d.hidden)
    by_scaled = np.dot(by_hidden, w.hidden)
    norm_back(s.normed, by_scaled, s.inverse, w.norm_scale, d.norm_scale, d.norm_shift)
    by_scores = attend_back(sequences.tokens, chosen, s.attention, np.dot(by_scaled, s.values.T), known, scale)
    by_values, by_queries = np.dot(s.by_kind.T, by_scaled), np.dot(by_scores, s.keys)
    by_keys = np.dot(by_scores.T, s.queries)
    np.dot(by_values.T, s.inputs, d.value)
    np.dot(by_queries.T, s.inputs, d.query)
    np.dot(by_keys.T, s.inputs, d.key)
    by_inputs = np.dot(by_values, w.value) + np.dot(by_queries, w.query) + np.dot(by_keys, w.key)
    d.token[:] = by_inputs[:known]
    d.position[:] = by_inputs[known:]


@njit(**NUMBA_OPTIONS)
def adam(flat, gradient, free, moments, step, rule):
    """Take one step of Adam, with PyTorch's update rule, on the parameters that are not frozen."""
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


@njit(**NUMBA_OPTIONS)
def train_epoch(model, sequences, order, batch, rule, step):
    """Train for one epoch over the sequences in the given order, in batches.

    Return the mean cross-entropy, for which each batch is evaluated before its step. The last batch may be smaller.
    `step` is the number of earlier steps of Adam.
    """
    loss = 0.0
    for begin in range(0, len(order), batch):
        chosen = order[begin : begin + batch]
        part, _, passed = forward(model.named, sequences, chosen)
        loss += part
        backward(model.named, sequences, chosen, passed, model.slopes)
        if rule.beta2 > 0:
            step += 1
            adam(model.flat, model.gradient, model.free, model.moments, step, rule)
        else:
            model.flat[:] -= np.float32(rule.rate) * model.free * model.gradient
    return loss / (len(order) * sequences.tokens.shape[1])


@njit(**NUMBA_OPTIONS)
def evaluate(w, sequences, batch):
    """Return the mean cross-entropy over all positions and the share of positions with the correct count."""
    every = np.arange(len(sequences.tokens))
    loss, right = 0.0, 0
    for begin in range(0, len(every), batch):
        part, correct, _ = forward(w, sequences, every[begin : begin + batch])
        loss += part
        right += correct
    return loss / sequences.tokens.size, right / sequences.tokens.size
