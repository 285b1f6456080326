"""The time of a compiled training step of the counting transformer, compared with a plain PyTorch loop.

    python benchmarks/counting_step.py

Both use one thread, float32, batches of 32 and Adam, at the published size. The script prints milliseconds and their
ratio.
"""

import time

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from attention_phases import histogram
from attention_phases.histogram import step
from attention_phases.histogram import transformer as tf

BATCHES, REPEATS = 100, 5


def plain(flat, mask, sequences):
    """Train in the usual way, with a DataLoader, autograd and PyTorch's Adam; the mask keeps the frozen zeros."""
    tensors = tf.Weights(*(each.requires_grad_() for each in tf.tensors_of(flat)))
    masks = tf.tensors_of(mask)
    optimizer = torch.optim.Adam(tensors, lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    loader = DataLoader(TensorDataset(*map(torch.from_numpy, sequences)), batch_size=tf.BATCH, shuffle=True)
    for tokens, counts in loader:
        optimizer.zero_grad()
        tf.loss(tensors, tokens, counts).backward()
        for each, free in zip(tensors, masks):
            each.grad *= free
        optimizer.step()


def compiled(flat, mask, sequences):
    """Train for the same pass with `step.train_epoch`."""
    order = np.random.default_rng(0).permutation(len(sequences.tokens))
    step.train_epoch(tf.trainable(flat.copy(), mask), sequences, order, tf.BATCH, tf.ADAM, 0)


def milliseconds(work, *arguments):
    """Return the time of one step, from the fastest of several passes."""
    work(*arguments)
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work(*arguments)
        times.append(time.perf_counter() - began)
    return 1e3 * min(times) / BATCHES


def main():
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    mask = tf.trained_mask("semantic")
    flat = tf.start(rng) * mask
    tokens = histogram.draw(10_000, rng)[0].tokens[: BATCHES * tf.BATCH]
    sequences = histogram.Sequences(tokens, histogram.counts(tokens))
    times = {work.__name__: milliseconds(work, flat, mask, sequences) for work in (plain, compiled)}
    print(
        f"DataLoader loop {times['plain']:.3f} ms, compiled {times['compiled']:.3f} ms a step, "
        f"ratio {times['plain'] / times['compiled']:.1f}"
    )


if __name__ == "__main__":
    main()
