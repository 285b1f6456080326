"""Positional and semantic learning in a solvable model of dot-product attention.

`theory.solve` solves the model in high dimension, `training.fit` trains students on sampled sentences.
"""

from .errors import BadInput
from .measured import Measured
from .model.architectures import Architecture
from .task import Cluster, Direction, Task

__all__ = ["Architecture", "BadInput", "Cluster", "Direction", "Measured", "Task"]
__version__ = "0.1.0"
