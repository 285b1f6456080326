"""The counting task and its transformer, compared with formulas; `book/test_oracle.py` tests the training."""

import numpy as np
import pytest
import torch

from attention_phases import histogram
from attention_phases.histogram import transformer as tf

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sequences():
    return histogram.draw(300, np.random.default_rng(0))[0]


@pytest.fixture(params=["semantic", "positional", "free"])
def flat(request):
    """Return parameters away from the start, so that no value is special."""
    rng = np.random.default_rng(1)
    mask = 1 if request.param == "free" else tf.trained_mask(request.param)
    return (tf.start(rng) + 0.1 * rng.standard_normal(tf.SIZE, dtype=np.float32)) * mask


@pytest.mark.fast
def test_counts_are_what_a_person_counts():
    tokens = histogram.parse_letters("AABOCCcCad")[None]
    assert histogram.counts(tokens).tolist() == [[3, 3, 1, 1, 4, 4, 4, 4, 3, 1]]


@pytest.mark.fast
def test_sequences_are_drawn_once_and_split():
    train, test = histogram.draw(5000, np.random.default_rng(0))
    both = np.concatenate([train.tokens, test.tokens])
    assert len(np.unique(both, axis=0)) == len(both) and len(train.tokens) == round(0.7 * len(both))
    frequencies = np.bincount(both.ravel(), minlength=15) / both.size
    assert abs(frequencies - 1 / 15).max() < 4 * (1 / 15 / both.size) ** 0.5


def test_loss_and_accuracy_are_those_of_the_formulas(flat, sequences, monkeypatch):
    """The network of Appendix A, written with NumPy."""
    w = tf.Weights(*(part.astype(float) for part in tf.views(flat)))
    x = w.token[sequences.tokens] + w.position
    scores = np.exp((x @ w.query.T) @ (x @ w.key.T).mT / 8)
    mixed = scores / scores.sum(2, keepdims=True) @ x @ w.value.T
    centred = mixed - mixed.mean(2, keepdims=True)
    normed = centred / np.sqrt((centred**2).mean(2, keepdims=True) + 1e-5) * w.norm_scale + w.norm_shift
    logits = np.maximum(normed @ w.hidden.T + w.hidden_bias, 0) @ w.output.T + w.output_bias
    right = np.take_along_axis(logits, sequences.counts[..., None], 2)[..., 0]
    loss = (np.log(np.exp(logits).sum(2)) - right).mean()
    monkeypatch.setattr(tf, "PART", 70)  # makes the last part smaller
    assert tf.evaluate(flat, sequences) == pytest.approx((loss, (right == logits.max(2)).mean()), rel=1e-12)


def test_the_gradient_is_that_of_all_sequences_at_once(flat, sequences, monkeypatch):
    weights = tf.Weights(*(part.requires_grad_() for part in tf.tensors_of(flat, torch.float64)))
    parts = torch.autograd.grad(tf.loss(weights, *map(torch.from_numpy, sequences)), weights)
    monkeypatch.setattr(tf, "PART", 80)  # makes the last part smaller
    length = sum(part.square().sum().item() for part in parts) ** 0.5
    assert tf.gradient_norm(flat, sequences) == pytest.approx(length, rel=1e-5)


@pytest.mark.fast
@pytest.mark.parametrize("variant", ["semantic", "positional"])
def test_a_variant_reads_only_its_half(variant):
    rng = np.random.default_rng(0)
    weights = tf.tensors_of(tf.start(rng) * tf.trained_mask(variant))
    tokens = torch.from_numpy(rng.integers(15, size=(50, 10)))
    matrices = tf.attention(weights, tokens)
    if variant == "positional":
        assert torch.allclose(matrices, matrices[:1])  # the attention does not depend on the tokens
    else:
        turned = torch.from_numpy(rng.permutation(10))
        assert torch.allclose(tf.attention(weights, tokens[:, turned]), matrices[:, turned][:, :, turned], atol=1e-6)
