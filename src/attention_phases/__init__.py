"""Positional and semantic learning in a solvable model of dot-product attention.

`solve`, `follow` and `threshold` solve the model in high dimension; `train` and `message_passing` learn from sampled
sentences. A module that takes long to load is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import BadInput
from .measured import Measured
from .model.architectures import Architecture
from .records import __version__ as __version__
from .task import Cluster, Direction, Task

if TYPE_CHECKING:
    from .amp.message_passing import message_passing
    from .model.prediction_error import test_error
    from .theory import follow, linear_baseline, phase_diagram, solve, spinodal, threshold
    from .training import data_set, fit, measure, train

__all__ = ["Architecture", "BadInput", "Cluster", "Direction", "Measured", "Task"]
__all__ += ["follow", "linear_baseline", "phase_diagram", "solve", "spinodal", "test_error", "threshold"]
__all__ += ["data_set", "fit", "measure", "message_passing", "train"]

_PLACES = {
    "amp.message_passing": "message_passing",
    "model.prediction_error": "test_error",
    "theory": "follow linear_baseline phase_diagram solve spinodal threshold",
    "training": "data_set fit measure train",
}


def __getattr__(name: str) -> Any:
    for place, names in _PLACES.items():
        if name in names.split():
            return getattr(import_module(f".{place}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
