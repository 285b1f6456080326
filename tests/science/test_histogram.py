"""The counting task and its transformer: the compiled step against torch, freezing, measuring."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attention_book.experiments import grid
from attention_book.experiments.paper import histogram as runs
from attention_phases import BadInput, histogram
from attention_phases.histogram import step
from attention_phases.histogram import transformer as tf

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sequences():
    return histogram.draw(300, np.random.default_rng(0))[0]


@pytest.fixture(params=["semantic", "positional", "free"])
def model(request):
    """Parameters and what is free of them, some steps away from the start so that nothing is special."""
    rng = np.random.default_rng(1)
    mask = np.ones(tf.SIZE, np.float32) if request.param == "free" else tf.free(request.param)
    return (tf.start(rng) + 0.1 * rng.standard_normal(tf.SIZE, dtype=np.float32)) * mask, mask


@pytest.mark.fast
def test_counts_are_what_a_person_counts():
    tokens = histogram.from_letters("AABOCCcCad")[None]
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
        histogram.from_letters(text)


def test_gradient_and_its_norm_are_those_of_torch(model, sequences, monkeypatch):
    flat, _ = model
    gradient = np.full_like(flat, np.nan)
    chosen = np.random.default_rng(2).permutation(len(sequences.tokens))
    weights = tf.views(flat)
    loss, right, passed = step.forward(weights, sequences, chosen)
    step.backward(weights, sequences, chosen, passed, tf.views(gradient))
    tensors = tf.Weights(*(part.requires_grad_() for part in tf.tensors_of(flat, torch.float64)))
    tokens, counts = (torch.from_numpy(part) for part in sequences)
    reference = tf.loss(tensors, tokens, counts)
    reference.backward()
    assert loss / tokens.numel() == pytest.approx(reference.item(), rel=1e-6)
    assert right == (tf.logits(tensors, tokens).argmax(-1) == counts).sum()
    for name, ours, theirs in zip(tf.SHAPES, tf.views(gradient), tensors):
        size = theirs.grad.abs().max().item()
        assert abs(ours - theirs.grad.numpy()).max() <= 1e-5 * size, name  # float32 has 1.2e-7
    monkeypatch.setattr(tf, "PART", 70)  # the last batch is smaller
    assert tf.gradient_norm(flat, sequences) == pytest.approx(np.linalg.norm(gradient), rel=1e-4)


@pytest.mark.parametrize("rule", [tf.ADAM, tf.SGD], ids=["adam", "sgd"])
def test_an_epoch_is_that_of_torch(model, sequences, rule):
    flat, mask = model
    tensors = tf.Weights(*(tensor.requires_grad_() for tensor in tf.tensors_of(flat, torch.float64)))
    if rule is tf.ADAM:
        optimizer = torch.optim.Adam(tensors, lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    else:
        optimizer = torch.optim.SGD(tensors, lr=1e-3)
    order = np.random.default_rng(2).permutation(len(sequences.tokens))
    losses = []
    for chosen in (order[begin : begin + 32] for begin in range(0, len(order), 32)):
        value = tf.loss(tensors, *(torch.from_numpy(tensor[chosen]) for tensor in sequences))
        optimizer.zero_grad()
        value.backward()
        for tensor, free in zip(tensors, tf.views(mask)):
            tensor.grad *= torch.from_numpy(free)
        optimizer.step()
        losses.append(value.item() * len(chosen))
    ours = flat.copy()
    loss = step.train_epoch(tf.trainable(ours, mask), sequences, order, 32, rule, 0)
    assert loss == pytest.approx(sum(losses) / len(order), rel=1e-5)
    theirs = np.concatenate([tensor.detach().numpy().ravel() for tensor in tensors])
    # Where Adam's average of a gradient is close to zero its sign, and with it a step of 1e-3, is rounding.
    assert np.quantile(abs(ours - theirs), 0.999) < 1e-2 * abs(theirs - flat).max()
    assert np.linalg.norm(ours - theirs) < 1e-2 * np.linalg.norm(theirs - flat)
    assert (ours[mask == 0] == 0).all()


@pytest.mark.fast
@pytest.mark.parametrize("variant", ["semantic", "positional"])
def test_a_variant_reads_only_its_half(variant):
    rng = np.random.default_rng(0)
    weights = tf.tensors_of(tf.start(rng) * tf.free(variant))
    tokens = torch.from_numpy(rng.integers(15, size=(50, 10)))
    matrices = tf.attention(weights, tokens)
    if variant == "positional":
        assert torch.allclose(matrices, matrices[:1])  # whatever the tokens
    else:
        turned = torch.from_numpy(rng.permutation(10))
        assert torch.allclose(tf.attention(weights, tokens[:, turned]), matrices[:, turned][:, :, turned], atol=1e-6)


def test_exchanged_runs_are_runs_of_the_experiment():
    known = grid("histogram", "paper", runs=40)
    for run in grid("lost_letters", "paper"):
        assert runs.run_of(run, run.data_seed) in known and runs.run_of(run, run.start_seed) in known


@pytest.mark.fast
def test_a_control_is_the_same_run_that_adam_leaves_early():
    """Other cells have streams of their own; those of a control are those of the whole run, whatever its epochs."""
    control, whole = (grid(name, "paper")[3] for name in ("counting_control", "histogram"))
    assert (control.variant, control.seed, control.adam_epochs) == (whole.variant, whole.seed, 3)
    states = [[stream.generate_state(1) for stream in runs.seeds(cell)] for cell in (control, whole)]
    assert states[0] == states[1] and len(states[0]) == 303
    assert runs.seeds(replace(whole, adam_epochs=3))[0].generate_state(1) != states[1][0]
