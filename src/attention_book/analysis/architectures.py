"""The analysis of students of non-standard architectures: tables, thresholds, and a comparison with theory."""

import numpy as np
import pandas as pd

from attention_phases.task import Task
from attention_phases.theory.branches import MINIMA

from ..store.provenance import restore
from .instances import GAPS, difference_in_errors, frame_of, intercept
from .thresholds import alpha_of, crossing, rows_of, side_by_side, theory_lines

# Titles of cases whose names are not titles
TITLES = {"correlated": "correlated tokens", "untied": "untied queries and keys", "rank2": "rank 2"}
RANK1_NAMES = ("q", "m", "theta", "train_loss", "test_mse")
RANK2_NAMES = ("q_11", "q_12", "q_22", "m_2", "theta_1", "theta_2", "train_loss", "test_mse")


def select(table, architecture):
    """Return the rows of a table that belong to one architecture, without empty columns."""
    own = [table[name] == value for name, value in vars(architecture).items()]
    return table[np.logical_and.reduce(own)].dropna(axis=1, how="all")


def standard_student_theory(profile):
    """Return theoretical results for the standard student: data frames of its branches, and its two thresholds.

    The data frames are from `branch_tables`. The thresholds are in a dictionary, with their kinds as keys.
    """
    lines = theory_lines(profile, [Task().omega])
    return branch_tables(lines), {kind: alpha_of(lines, kind) for kind in GAPS}


def branch_tables(lines):
    """Return data frames of the two branches of solutions and of the gap between their losses, with alpha as the index.

    The three frames are in a dictionary by name. A frame is empty if the lines have no such rows.
    """
    return {what: rows_of(lines, what).set_index("alpha") for what in (*MINIMA, "gap")}


def threshold_moves(students):
    """Return the thresholds of several students, and their differences from the thresholds of the first student.

    The columns are `student`; `critical` and `linear` with their errors; and the differences `critical_moves` and
    `linear_moves`.

    students: `Measured` alpha by kind of threshold, by the student's name.
    """
    parts = []
    for kind in GAPS:
        alphas = frame_of({name: thresholds[kind] for name, thresholds in students.items()}, "student", kind)
        moved = alphas[kind].iloc[1:] - alphas[kind].iloc[0]
        parts.append(alphas.assign(**{f"{kind}_moves": moved}))
    return pd.concat(parts, axis=1).reset_index()


def compare_thresholds(usual, thresholds, table):
    """Return a table that compares the thresholds of trained students with theory and with the standard student.

    The columns are `threshold`; `usual`, `theory` and `trained` with their errors; and `sigma_off`, trained minus
    theory in units of the combined standard error.

    usual: thresholds of the standard student by theory, by kind.
    thresholds: thresholds of this student by theory, by kind.
    table: trained students of this architecture.
    """
    columns = {
        "usual": frame_of(usual, "threshold"),
        "theory": frame_of(thresholds, "threshold"),
        "trained": frame_of({kind: crossing(gap(table)) for kind, gap in GAPS.items()}, "threshold"),
    }
    rows = side_by_side(columns, columns["theory"].dropna().index)
    return rows.assign(sigma_off=difference_in_errors(rows, "trained", "theory")).rename_axis("threshold").reset_index()


def compare_with_theory(pairs, power=1.0):
    """Return a table that compares theory with the results of students extrapolated to infinite d.

    The columns are `case`, `alpha` and `quantity`; `theory` and `limit` (students at infinite d) with their errors;
    `chi2` of the extrapolation; and `sigma_off`, students minus theory in units of the combined standard error.
    Overlaps with the positions enter as absolute values. Quantities that vanish on the branch by symmetry are left out.

    pairs: for each case its name, the students for `extrapolate`, the row of theory (a frame), and the quantities.
    """
    rows = []
    for case, students, lines, quantities in pairs:
        for quantity in quantities:
            value, error = lines.iloc[0][[quantity, f"{quantity}_error"]]
            trained = students
            if quantity.startswith("m"):
                value, trained = abs(value), students.assign(**{quantity: students[quantity].abs()})
            if error > 0:
                at_infinite_d, chi2 = extrapolate(trained, quantity, power)
                rows.append((case, lines.iloc[0]["alpha"], quantity, value, error, *at_infinite_d, chi2))
    columns = ["case", "alpha", "quantity", "theory", "theory_error", "limit", "limit_error", "chi2"]
    rows = pd.DataFrame(rows, columns=columns)
    return rows.assign(sigma_off=difference_in_errors(rows, "limit", "theory"))


def extrapolate(table, quantity, power=1.0):
    """Extrapolate a quantity to infinite d, and return the limit with its error and the chi^2 of the fit.

    The limit is a `Measured` value for a teacher with ``|Q*|^2 = d``. The quantity is assumed to approach its limit as
    1/d^power. Most of the variance between data sets comes from the length of the teacher. This length is known, and it
    is 1 (in units of sqrt(d)) in the limit. The function ``value + slope/d^power + response (|Q*|^2/d - 1)`` is fitted
    to all data sets, with variances in proportion to 1/d. chi^2 compares this fit with a fit that has a free value for
    each d.

    table: students in several dimensions d, with the column `length` for ``|Q*|^2/d - 1``.
    """
    d, length = table["d"].to_numpy(float), table["length"].to_numpy()
    values, weight = table[quantity].to_numpy() * d**0.5, d[:, None] ** 0.5
    designs = [[np.ones(len(d)), d**-power, length], [*(d == each for each in np.unique(d)), length]]
    line, free = (weight * np.stack(columns, axis=1) for columns in designs)
    left, least = (np.linalg.lstsq(design, values, rcond=None)[1].sum() for design in (line, free))
    return intercept(line, values), (left / least - 1) * (len(d) - free.shape[1])


def teacher_lengths(table, cell_type):
    """Return the relative difference between the teacher's squared length and d, for each row of a table.

    The result is ``|Q*|^2/d - 1``, which tends to 0 for large d. The teacher is drawn again from the cell's generator,
    because it is the first thing that a cell of this type draws.
    """
    lengths = {}
    for text in table["cell"].astype(str).unique():
        cell = restore(cell_type, text)
        teacher = cell.rng().standard_normal(cell.d, dtype=np.float32).astype(float)
        lengths[text] = teacher @ teacher / cell.d - 1
    return table["cell"].astype(str).map(lengths).astype(float)
