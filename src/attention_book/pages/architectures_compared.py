"""Theory of the other architectures beside students of the semantic minimum, in the limit of infinite dimension."""

import numpy as np
import pandas as pd

from attention_phases.measured import Measured

from ..analysis.means import in_errors
from ..experiments.cells import ArchitectureCell
from ..experiments.simulation import teacher_length
from ..experiments.variant_grids import COMPARED, MAPPED
from ..store.identity import restore
from .variants import TITLES, select, theory_thresholds

ONE = ("q", "m", "theta", "train_loss", "test_mse")
TWO = ("q_11", "q_12", "q_22", "m_2", "theta_1", "theta_2", "train_loss", "test_mse")


def compared(table, lines):
    """Theory beside students, for every architecture that theory covers.

    `architecture`, `alpha`, `quantity`; `theory`, `limit` (students at infinite d) and `at_size` (at the largest d)
    with their errors; `sigma_off`: students minus theory at infinite d, over both errors in quadrature.

    table, lines: the experiments "variants_size" and "variants_theory".
    """
    cells = table["cell"].astype(str)
    lengths = {text: teacher_length(restore(ArchitectureCell, text)) for text in cells.unique()}
    table = table.assign(length=cells.map(lengths))
    rows = []
    for name, architecture in COMPARED.items():
        students, theory = select(table, architecture), select(lines, architecture)
        theory = theory[theory["what"] == "semantic"].iloc[0]
        for quantity in TWO if architecture.rank == 2 else ONE:
            if theory[f"{quantity}_error"] > 0:  # the branch holds the others at zero
                where = {"architecture": TITLES[name], "alpha": theory["alpha"], "quantity": quantity}
                rows.append(where | _beside_theory(students, theory, quantity))
    return pd.DataFrame(rows)


def _beside_theory(students, theory, quantity):
    exact, error = theory[quantity], theory[f"{quantity}_error"]
    if quantity.startswith("m"):
        exact = abs(exact)  # a student and its mirror image are one
    limit = extrapolate(students, quantity)
    largest = students.loc[students["d"] == students["d"].max(), quantity]
    return {
        "theory": exact,
        "theory_error": error,
        "limit": limit.value,
        "limit_error": limit.error,
        "sigma_off": in_errors(limit.value - exact, limit.error, error),
        "at_size": largest.mean(),
        "at_size_error": largest.sem(),
    }


def extrapolate(table, quantity):
    """`Measured` value at infinite d of a quantity that falls or grows as 1/d, for a teacher of length 1.

    Most of the spread between data sets comes from the teacher's length. It is known, and 1 in the limit. Fitted to
    all data sets is ``value + slope/d + response (length - 1)``, with variances in proportion to 1/d.

    table: students in several dimensions d, with the teacher's `length`.
    """
    weight = np.sqrt(table["d"].to_numpy())
    design = np.stack([np.ones(len(table)), 1 / table["d"], table["length"] - 1], axis=1) * weight[:, None]
    target = table[quantity].to_numpy() * weight
    covariance = np.linalg.inv(design.T @ design)
    coefficients = covariance @ design.T @ target
    variance = ((target - design @ coefficients) ** 2).sum() / (len(table) - 3)
    return Measured(coefficients[0], (covariance[0, 0] * variance) ** 0.5)


def thresholds_by_title(lines):
    """`variants.theory_thresholds` of each architecture on the experiment "fig10_theory", by its title."""
    return {TITLES[name]: theory_thresholds(select(lines, architecture)) for name, architecture in MAPPED.items()}
