"""Positional and semantic learning in a solvable model of dot-product attention.

`solve`, `follow` and `threshold` solve the model in high dimension; `train` and `message_passing` learn from sampled
sentences. What takes long to load is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import BadInput
from .measured import Measured
from .model.architectures import Architecture
from .task import Cluster, Direction, Task

if TYPE_CHECKING:
    from .theory import follow, linear_baseline, phase_diagram, solve, spinodal, test_error, threshold
    from .training import data_set, fit, measure, train
    from .training.message_passing import message_passing

__all__ = ["Architecture", "BadInput", "Cluster", "Direction", "Measured", "Task"]
__all__ += ["follow", "linear_baseline", "phase_diagram", "solve", "spinodal", "test_error", "threshold"]
__all__ += ["data_set", "fit", "measure", "message_passing", "train"]
__version__ = "0.1.0"

_PLACES = {
    "theory": "follow linear_baseline phase_diagram solve spinodal test_error threshold",
    "training": "data_set fit measure train",
    "training.message_passing": "message_passing",
}


def __getattr__(name: str) -> Any:
    for place, names in _PLACES.items():
        if name in names.split():
            return getattr(import_module(f".{place}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
