"""The names of the package, by module. Each module is imported when one of its names is first used."""

from .amp.message_passing import message_passing as message_passing
from .errors import BadInput as BadInput
from .measured import Measured as Measured
from .model.architectures import Architecture as Architecture
from .model.prediction_error import test_error as test_error
from .task import Cluster as Cluster, Direction as Direction, Task as Task
from .theory import (
    follow as follow,
    linear_baseline as linear_baseline,
    phase_diagram as phase_diagram,
    solve as solve,
    spinodal as spinodal,
    threshold as threshold,
)
from .training import data_set as data_set, fit as fit, measure as measure, train as train

__version__: str
