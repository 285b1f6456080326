"""The transformer: its parameters, where they start, which of them a variant freezes, and the network in torch.

`step` has the same network with its gradient by hand, for speed. This one is the reference, and it is what draws the
attention of given sequences.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ..errors import check_choice
from .counting import LENGTH, TOKENS, VARIANTS

DIMENSION, HIDDEN, CLASSES = 64, 128, LENGTH + 1
HALF = DIMENSION // 2
ATTENTION = ("token", "position", "query", "key")  # what a variant freezes in part, and what noise displaces
SHAPES = {
    "token": (TOKENS, DIMENSION),
    "position": (LENGTH, DIMENSION),
    "query": (DIMENSION, DIMENSION),
    "key": (DIMENSION, DIMENSION),
    "value": (DIMENSION, DIMENSION),
    "norm_scale": (DIMENSION,),
    "norm_shift": (DIMENSION,),
    "hidden": (HIDDEN, DIMENSION),
    "hidden_bias": (HIDDEN,),
    "output": (CLASSES, HIDDEN),
    "output_bias": (CLASSES,),
}
SIZE = sum(int(np.prod(shape)) for shape in SHAPES.values())


class Weights(NamedTuple):
    """The parameters by name: embeddings, attention, layer norm, and two linear layers, as (outputs, inputs).

    They are arrays, or tensors for the functions below.
    """

    token: Any
    position: Any
    query: Any
    key: Any
    value: Any
    norm_scale: Any
    norm_shift: Any
    hidden: Any
    hidden_bias: Any
    output: Any
    output_bias: Any


def views(flat: np.ndarray) -> Weights:
    """The parameters by name, as views into the vector (SIZE,) that holds them all."""
    ends = np.cumsum([np.prod(shape) for shape in SHAPES.values()])
    parts = np.split(flat, ends[:-1])
    return Weights(*(part.reshape(shape) for part, shape in zip(parts, SHAPES.values())))


def start(rng: np.random.Generator) -> np.ndarray:
    """Initial parameters (SIZE,) float32, by PyTorch's defaults.

    Embeddings are N(0, 1); a linear layer's weights and biases are uniform within 1/sqrt(inputs).
    """
    flat = np.zeros(SIZE, np.float32)
    weights = views(flat)
    for name, part in weights._asdict().items():
        if name in ("token", "position"):
            part[...] = rng.standard_normal(part.shape, dtype=np.float32)
        elif name.startswith("norm"):
            part[...] = name == "norm_scale"
        else:
            inputs = SHAPES[name.removesuffix("_bias")][1]
            part[...] = (2 * rng.random(part.shape, dtype=np.float32) - 1) / np.float32(inputs**0.5)
    return flat


def free(variant: str) -> np.ndarray:
    """Which parameters a variant trains, (SIZE,) float32 of ones and zeros; the others are zero.

    In both, the tokens fill the first half of an embedding and the positions the second. Queries and keys read
    only the first half in the semantic variant, only the second in the positional one.
    """
    mask = np.ones(SIZE, np.float32)
    weights = views(mask)
    unread = {"semantic": np.s_[HALF:], "positional": np.s_[:HALF]}[check_choice("variant", variant, VARIANTS)]
    weights.token[:, HALF:] = 0
    weights.position[:, :HALF] = 0
    weights.query[:, unread] = 0
    weights.key[:, unread] = 0
    return mask


def attention(weights: Weights, tokens: Tensor) -> Tensor:
    """Attention matrices (n, 10, 10) of sequences (n, 10): row i is what position i looks at."""
    x = weights.token[tokens] + weights.position  # (n, 10, 64)
    scores = (x @ weights.query.mT) @ (x @ weights.key.mT).mT / DIMENSION**0.5
    return torch.softmax(scores, dim=-1)


def logits(weights: Weights, tokens: Tensor) -> Tensor:
    """Scores of the counts 0 to 10 at each position, (n, 10, 11)."""
    x = weights.token[tokens] + weights.position
    mixed = attention(weights, tokens) @ (x @ weights.value.mT)
    normed = functional.layer_norm(mixed, (DIMENSION,), weights.norm_scale, weights.norm_shift)
    hidden = torch.relu(functional.linear(normed, weights.hidden, weights.hidden_bias))
    return functional.linear(hidden, weights.output, weights.output_bias)


def loss(weights: Weights, tokens: Tensor, counts: Tensor) -> Tensor:
    """Mean cross-entropy over all positions."""
    return functional.cross_entropy(logits(weights, tokens).flatten(0, 1), counts.flatten())


def as_tensors(flat: np.ndarray, dtype: torch.dtype = torch.float32) -> Weights:
    """The parameters by name, as tensors for the functions above."""
    return Weights(*(torch.tensor(part, dtype=dtype) for part in views(flat)))
