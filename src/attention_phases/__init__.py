"""Positional and semantic learning in a solvable model of dot-product attention."""

from .errors import BadInput
from .task import Task

__all__ = ["BadInput", "Task"]
__version__ = "0.1.0"
