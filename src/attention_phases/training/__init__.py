"""Training: minimisation of the empirical risk (paper, Section 5)."""

from .optimizers import Fit, fit, start_weights
from .own import data_set, measure
from .trials import train

__all__ = ["Fit", "data_set", "fit", "measure", "start_weights", "train"]
