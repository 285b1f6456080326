"""The alpha at which the training losses reached from semantic and positional starts cross, for several d.

Experiments:
    crossing: Both starts around the crossing of the training losses, with control variates, in growing dimension.
"""

from ..grids import data_sets, with_tasks
from ..kinds import Kind
from ..students import NOISE_COLUMNS, STUDENTS, StudentCell, students, train_students


def train_controlled(cell):
    """Train the students of a cell, and return one row per student, which includes the control variates of its data."""
    from .control_variates import controls

    known = controls(cell.task, cell.draw()[0])
    return [{**row, **known} for row in train_students(cell)]


class ControlledCell(StudentCell):
    """A cell (one unit of an experiment) that trains students and computes the control variates of their data.

    Columns:
        blind [1]: control variate: misfit of a student with zero weights, minus its mean
        aligned [1]: control variate: misfit of a student along the teacher, minus its mean
        encoded [1]: control variate: misfit of a student along the encoding, minus its mean
    """

    kind = Kind(train_controlled, STUDENTS, NOISE_COLUMNS)


# For each omega, these alphas are around the crossing of the students' losses, and close enough for a linear fit.
NEAR_ALPHAS = {0.1: (0.65, 0.71, 0.77), 0.2: (0.86, 0.92, 0.98), 0.3: (1.18, 1.24, 1.3)}
CROSSING = {"task alpha": with_tasks(*((omega, alpha) for omega, alphas in NEAR_ALPHAS.items() for alpha in alphas))}

students("crossing", cell_type=ControlledCell)(
    paper={"d seed": data_sets({250: 300, 500: 200, 1000: 120, 2000: 50}), **CROSSING},
    laptop={"d seed": data_sets({250: 60, 500: 30}), **CROSSING},
    smoke={"d seed": data_sets({50: 12, 100: 8}), **CROSSING},
)
