"""Minimise the empirical risk (paper, Section 5), or iterate its message passing (Algorithm 1)."""

from .optimizers import Fit, fit, start_weights
from .trials import train

__all__ = ["Fit", "fit", "start_weights", "train"]
