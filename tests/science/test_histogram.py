"""The counting task and its transformer: the network compared with its formulas, training, freezing, and seeds."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attention_book.experiments import grid
from attention_book.experiments.paper import histogram as runs
from attention_phases import BadInput, histogram
from attention_phases.histogram import transformer as tf

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sequences():
    return histogram.draw(300, np.random.default_rng(0))[0]


@pytest.fixture(params=["semantic", "positional", "free"])
def model(request):
    """Return parameters and the mask of trained parameters, some steps after the start so that no value is special."""
    rng = np.random.default_rng(1)
    mask = np.ones(tf.SIZE, np.float32) if request.param == "free" else tf.trained_mask(request.param)
    return (tf.start(rng) + 0.1 * rng.standard_normal(tf.SIZE, dtype=np.float32)) * mask, mask


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


@pytest.mark.fast
@pytest.mark.parametrize("text", ["", "ABC", "ABCDEFGHIJK", "ABCDEFGHIP", "ABCDEFGH J", None])
def test_what_is_no_sequence_is_refused(text):
    with pytest.raises(BadInput, match=r"^sequence = .*: must be 10 letters from A to O$"):
        histogram.parse_letters(text)


def test_loss_and_accuracy_are_those_of_the_formulas(model, sequences, monkeypatch):
    """The network of Appendix A, written with NumPy."""
    flat, _ = model
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


def test_steps_go_along_the_gradient_and_leave_frozen_parameters_at_zero(model, sequences, monkeypatch):
    """Two steps of SGD move twice along the gradient, and the first step of Adam is the rate times the sign of it."""
    flat, mask = model
    monkeypatch.setattr(tf, "PART", 70)
    moved = []
    for batches, optimizer in ((2, lambda *each: torch.optim.SGD(tf.trainable(*each), tf.RATE)), (1, tf.adam)):
        monkeypatch.setattr(tf, "BATCH", len(sequences.tokens) // batches)
        ours = flat.copy()
        loss = tf.train_once(optimizer(ours, mask), sequences, np.random.default_rng(2))
        assert loss == pytest.approx(tf.evaluate(flat, sequences)[0], rel=1e-2)
        assert (ours[mask == 0] == 0).all()
        moved.append((flat - ours) / np.float32(tf.RATE) / batches)
    by_sgd, by_adam = moved
    length, whole = np.linalg.norm(by_sgd), tf.gradient_norm(flat, sequences)
    assert length == pytest.approx(whole, rel=2e-2) if mask.all() else length < whole
    steep = abs(by_sgd) > 1e-2
    assert steep.mean() > 0.01
    assert abs(by_adam - np.sign(by_sgd))[steep].max() < 1e-2


def test_training_goes_through_its_stages_and_both_variants_learn(sequences):
    streams = np.random.SeedSequence(3).spawn(6)
    for variant in histogram.VARIANTS:
        kept, curve = tf.train(variant, sequences, sequences, streams, adam_epochs=3, sgd_epochs=1)
        mask = tf.trained_mask(variant)
        assert [*kept] == ["start", "trained", "displaced", "final"]
        assert [row["epoch"] for row in curve] == [0, 1, 2, 3, 4]
        assert curve[4]["test_loss"] < 0.8 * curve[0]["train_loss"]
        assert not (kept["trained"] * (1 - mask)).any()
        noise = (kept["displaced"] - kept["trained"])[mask == 0]
        assert abs(noise.std() / 1e-3 - 1) < 0.05
        assert (kept["final"] != kept["displaced"])[mask == 0].mean() > 0.5


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


def test_exchanged_runs_are_runs_of_the_experiment():
    known = grid("histogram", "paper", runs=40)
    for run in grid("lost_letters", "paper"):
        assert runs.run_of(run, run.data_seed) in known and runs.run_of(run, run.start_seed) in known


@pytest.mark.fast
def test_a_control_is_the_same_run_that_adam_leaves_early():
    """Each cell has its own random streams. A control has the streams of the full run, for any number of epochs."""
    control, whole = (grid(name, "paper")[3] for name in ("counting_control", "histogram"))
    assert (control.variant, control.seed, control.adam_epochs) == (whole.variant, whole.seed, 3)
    states = [[stream.generate_state(1) for stream in runs.seeds(cell)] for cell in (control, whole)]
    assert states[0] == states[1] and len(states[0]) == 303
    assert runs.seeds(replace(whole, adam_epochs=3))[0].generate_state(1) != states[1][0]
