"""Students of other architectures: their rows, their thresholds, and at infinite d beside theory."""

import numpy as np
import pandas as pd

from attention_phases.task import Task
from attention_phases.theory.branches import MINIMA

from ..store.provenance import restore
from .instances import GAPS, difference_in_errors, frame_of, intercept
from .thresholds import alpha_of, crossing, rows_of, side_by_side, theory_lines

TITLES = {
    "correlated": "correlated tokens",
    "untied": "untied queries and keys",
    "rank2": "rank 2",
    "three tokens": "three tokens",
    "four tokens": "four tokens",
}
ONE = ("q", "m", "theta", "train_loss", "test_mse")
TWO = ("q_11", "q_12", "q_22", "m_2", "theta_1", "theta_2", "train_loss", "test_mse")


def select(table, architecture):
    """The rows of one architecture."""
    own = [table[name] == value for name, value in vars(architecture).items()]
    return table[np.logical_and.reduce(own)].dropna(axis=1, how="all")


def standard_student_theory(profile):
    """Theory of the standard student over alpha: `by_branch`, and both thresholds by kind."""
    lines = theory_lines(profile, [Task().omega])
    return by_branch(lines), {kind: alpha_of(lines, kind) for kind in GAPS}


def by_branch(lines):
    """The rows of both branches and of the gap of their losses over alpha, by name; none where there are none."""
    return {what: rows_of(lines, what).set_index("alpha") for what in (*MINIMA, "gap")}


def threshold_moves(students):
    """By how much an architecture moves both thresholds.

    `student`; `critical` and `linear` with errors; `critical_moves` and `linear_moves`, from the first student's on.

    students: `Measured` alpha by kind of threshold, by the student's name.
    """
    parts = []
    for kind in GAPS:
        alphas = frame_of({name: thresholds[kind] for name, thresholds in students.items()}, "student", kind)
        moved = alphas[kind].iloc[1:] - alphas[kind].iloc[0]
        parts.append(alphas.assign(**{f"{kind}_moves": moved}))
    return pd.concat(parts, axis=1).reset_index()


def beside_students(usual, thresholds, table):
    """Thresholds of theory beside those of the standard student and those of trained students.

    `threshold`; `usual`, `theory` and `trained` with errors; `sigma_off`, trained minus theory over both errors.

    usual, thresholds: of theory, by kind, for the standard student and for this one, which `table` has trained.
    """
    columns = {
        "usual": frame_of(usual, "threshold"),
        "theory": frame_of(thresholds, "threshold"),
        "trained": frame_of({kind: crossing(gap(table)) for kind, gap in GAPS.items()}, "threshold"),
    }
    rows = side_by_side(columns, columns["theory"].dropna().index)
    return rows.assign(sigma_off=difference_in_errors(rows, "trained", "theory")).rename_axis("threshold").reset_index()


def beside_theory(pairs, power=1.0):
    """Students at infinite d beside theory, in the quantities that the branch does not hold at zero.

    `case`, `alpha`, `quantity`; `theory` and `limit` (students at infinite d) with their errors; `chi2` of the
    extrapolation; `sigma_off`: students minus theory, over both errors. Of overlaps with the positions the size.

    pairs: of each case its name, the students of `extrapolate`, the row of theory (a frame), and the quantities.
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
    """`Measured` value at infinite d of a quantity that changes as 1/d^power, for a teacher of length 1; chi^2.

    Most of the spread between data sets comes from the teacher's length. It is known, and 1 in the limit. Fitted to
    all data sets is ``value + slope/d^power + response (|Q*|^2/d - 1)``, with variances in proportion to 1/d. chi^2 is
    against a value of its own for each d.

    table: students in several dimensions d, with the teacher's `length` over that in the limit, minus 1.
    """
    d, length = table["d"].to_numpy(float), table["length"].to_numpy()
    values, weight = table[quantity].to_numpy() * d**0.5, d[:, None] ** 0.5
    designs = [[np.ones(len(d)), d**-power, length], [*(d == each for each in np.unique(d)), length]]
    line, free = (weight * np.stack(columns, axis=1) for columns in designs)
    left, least = (np.linalg.lstsq(design, values, rcond=None)[1].sum() for design in (line, free))
    return intercept(line, values), (left / least - 1) * (len(d) - free.shape[1])


def teacher_lengths(table, cell_type):
    """``|Q*|^2/d - 1``, 0 at infinite d, of the teacher of each row: what a cell of this type draws first."""
    lengths = {}
    for text in table["cell"].astype(str).unique():
        cell = restore(cell_type, text)
        teacher = cell.rng().standard_normal(cell.d, dtype=np.float32).astype(float)
        lengths[text] = teacher @ teacher / cell.d - 1
    return table["cell"].astype(str).map(lengths).astype(float)
