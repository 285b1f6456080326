"""Arrays of float32 as text, for a table or a page: base64, low byte first."""

import base64

import numpy as np


def encode(array):
    """Numbers as text."""
    return base64.b64encode(np.asarray(array, "<f4").tobytes()).decode()


def decode(text):
    """Numbers (n,) from the text of `encode`."""
    return np.frombuffer(base64.b64decode(text), "<f4").astype(np.float32)
