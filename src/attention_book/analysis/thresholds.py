"""Theoretical curves for the standard task against alpha, and thresholds from theory and from trained students."""

import numpy as np
import pandas as pd

from attention_phases.errors import ResultError, check_choice
from attention_phases.measured import NO_VALUE, Measured
from attention_phases.task import Task
from attention_phases.theory.branches import MINIMA
from attention_phases.theory.thresholds import last_fall

from ..experiments.lines import LINE, ROWS, LineCell
from ..experiments.results import read_cells
from .instances import GAPS, difference_in_errors, frame_of

NEAREST_ALPHAS = 6  # number of alphas around a crossing in a linear fit; on the published grid they span 0.4
LEAST_STEEPNESS = 2  # smallest ratio of a slope to its standard error at which a result is divided by the slope
SHIFT_COLUMNS = [f"{name}{error}" for name in ("symmetric", "shift", "alpha") for error in ("", "_error")]


def line_cells(profile, omegas):
    """Return the cells whose results `theory_lines` reads, one for each omega."""
    return [LineCell("fig03_theory", Task(omega=omega), **LINE[profile]) for omega in omegas]


def theory_lines(profile, omegas):
    """Return theoretical results for the standard task at the given values of omega.

    The rows are as from `lines.standard_line`. Raises ResultError if the training losses do not cross at one of the
    omega.
    """
    lines = read_cells("fig03_theory", profile, line_cells(profile, omegas))
    crossed = lines.loc[lines["what"] == "critical", "omega"]
    for omega in omegas:
        if not np.isclose(omega, crossed).any():
            raise ResultError(f"no critical threshold found at omega = {omega:g}")
    return lines


def rows_of(lines, what):
    """Return the rows of theoretical results that have a given label.

    what: the label, one of `lines.ROWS`. Any other label raises an error.
    """
    return lines[lines["what"] == check_choice("row of theory", what, ROWS)]


def losses_of(lines, branch, name):
    """Return a table of the loss `name` at the minimum of a branch (rows: alphas, columns: omegas).

    If the minimum does not exist, the loss of the solution with m = theta = 0 takes its place.

    name: column of the loss, such as "train_loss".
    """
    minimum, symmetric = (
        rows_of(lines, what).pivot(index="alpha", columns="omega", values=name) for what in (branch, "symmetric")
    )
    return minimum.combine_first(symmetric)


def alpha_of(line, what):
    """Return the alpha of a threshold with its error, or NaN if the threshold does not exist.

    The result is a `Measured` value.

    what: label of the threshold, such as "critical", or of an end or a border of a branch.
    """
    rows = rows_of(line, what)  # without thresholds, ends and borders the column alpha_error is missing
    return Measured(*rows[["alpha", "alpha_error"]].to_numpy()[0].tolist()) if len(rows) else NO_VALUE


def curve(lines, what, along="omega"):
    """Return the alpha of a threshold as a function of omega, with its error.

    what: label of the threshold, such as "critical", or of a border of a branch, such as "semantic border".
    along: another column instead of omega, or a list of columns.
    """
    rows = rows_of(lines, what).set_index(along)
    return rows.reindex(columns=["alpha", "alpha_error"]).sort_index()  # adds the columns if they are missing


def borders_of(lines):
    """Return the alphas at which the semantic minimum appears and the positional minimum disappears.

    The result has, for each branch, a frame of alpha and alpha_error by omega.
    """
    return {branch: curve(lines, f"{branch} border") for branch in MINIMA}


def is_minimum(borders, branch, omega, alpha):
    """Return whether the solutions of a branch are minima at the given alphas, for one omega.

    The result holds only at alphas where the branch exists.

    borders: a dictionary from `borders_of`.
    """
    border = borders[branch]["alpha"].get(omega)
    if border is None:
        return np.isfinite(alpha)
    return alpha >= border if branch == "semantic" else alpha <= border


def branches(line):
    """Return a dictionary of data frames indexed by alpha: one per branch, and one per difference of two losses.

    The frames of both minima also have a row at alpha_c.
    """
    names = {what: (what,) for what in ("symmetric", "gap", "symmetric gap")}
    names |= {branch: (branch, f"{branch} at critical") for branch in MINIMA}
    return {name: line[line["what"].isin(some)].set_index("alpha").sort_index() for name, some in names.items()}


def crossing(gaps, resamples=2000):
    """Return the last alpha at which a mean over data sets crosses zero, with its bootstrap error.

    A zero crossing is a change from positive to negative values. The result is NaN if there is none.

    gaps: alpha by seed. The bootstrap draws data sets independently at each alpha, from a fixed seed, so that the same
    means have the same error on all pages.
    """
    alphas, values = gaps.index.to_numpy(), gaps.to_numpy()  # shapes (alphas,) and (alphas, seeds)
    drawn = np.random.default_rng(0).integers(values.shape[1], size=(resamples, *values.shape))
    means = np.take_along_axis(values[None], drawn, axis=2).mean(2)  # shape (resamples, alphas)
    roots = last_fall(alphas, means)
    roots = roots[np.isfinite(roots)]
    error = float(np.std(roots, ddof=1)) if len(roots) > 1 else np.nan
    return Measured(float(last_fall(alphas, values.mean(1))), error)


def crossings(table, gap, along="omega"):
    """Return the alpha at which a loss gap crosses zero, for each value in a column of the table.

    The result has alpha and alpha_error, see `crossing`.

    along: the column, or a list of columns.
    """
    return frame_of({value: crossing(gap(rows)) for value, rows in table.groupby(along)}, along)


def shift_against_control(gaps, control):
    """Estimate how far apart in alpha two quantities, averaged over the same data sets, cross zero.

    The result is, to first order, the difference of both means divided by the slope of the control. The difference and
    the slope are taken from a straight line through the `NEAREST_ALPHAS` closest to the crossing of the control. This
    estimate has a much smaller error than the difference of two values of `crossing`, whose slopes are noisy. The
    result is NaN if the control has no crossing, or if its slope is not below zero by `LEAST_STEEPNESS` standard
    errors.

    gaps, control: alpha by seed; the control has every alpha and every seed of the gaps.
    """
    usual = control.loc[gaps.index, gaps.columns].to_numpy()  # shape (alphas, seeds)
    alphas = gaps.index.to_numpy()
    root = last_fall(alphas, usual.mean(1))
    if np.isnan(root):
        return NO_VALUE
    near = np.argsort(np.abs(alphas - root))[:NEAREST_ALPHAS]
    away, usual = gaps.to_numpy()[near] - usual[near], usual[near]
    level, slope = np.linalg.pinv(np.stack([np.ones(len(near)), alphas[near] - root], axis=1))
    steepness = slope @ usual.mean(1)
    if steepness > -LEAST_STEEPNESS * _sum_error(slope[:, None] * usual):
        return NO_VALUE
    later = -level @ away.mean(1) / steepness
    to_first_order = level[:, None] * away + later * slope[:, None] * usual
    return Measured(later, _sum_error(to_first_order) / abs(steepness))


def _sum_error(values):
    """Return the standard error of a sum over alphas of means over independent data sets.

    values: one row for each alpha and one column for each data set, (A, S).
    """
    return (values.var(1, ddof=1).sum() / values.shape[1]) ** 0.5


def threshold_shifts(table, control, along="omega"):
    """Return the shifts of both thresholds between two sets of students trained on the same data.

    Each shift is from `shift_against_control`. The result has a frame for "critical" and one for "linear". The rows of
    a frame are the values of `along` (a column or a list of columns) at which the control has a threshold. Its columns
    are alpha, the shift of the threshold of `table` to larger alpha, and alpha_error.
    """
    usual = dict(list(control.groupby(along)))
    moved = {
        kind: {value: shift_against_control(gap(rows), gap(usual[value])) for value, rows in table.groupby(along)}
        for kind, gap in GAPS.items()
    }
    return {kind: frame_of(some, along).dropna() for kind, some in moved.items()}


def mean_of(values, errors):
    """Return the mean of several numbers and its standard error.

    The errors of the numbers must be independent, as for shifts on different data sets. The result is a `Measured`
    value, or NaN if there are no numbers.
    """
    return Measured(values.mean(), np.linalg.norm(errors) / len(values)) if len(values) else NO_VALUE


def side_by_side(thresholds, index):
    """Combine the data frames of several thresholds into one frame.

    The columns for each name are `name` and `name_error`. Values that a frame lacks are NaN.
    """
    known = ((name, frame.dropna().reindex(index)) for name, frame in thresholds.items())
    return pd.concat([frame.set_axis([name, f"{name}_error"], axis=1) for name, frame in known], axis=1)


def compare_crossings(trained, theory):
    """Return a table that compares the thresholds of trained students with theory.

    The index becomes columns. `trained` and `theory` have errors, and only rows that have both are kept. `sigma_off` is
    their difference in units of the combined standard error.

    trained, theory: alpha and alpha_error by omega or by other names.
    """
    both = trained.dropna().join(theory, how="inner", suffixes=("_trained", ""))
    both = both[both["alpha_error_trained"] > 0]
    both.columns = ["trained", "trained_error", "theory", "theory_error"]
    both = both.assign(sigma_off=difference_in_errors(both, "trained", "theory"))
    return both.reset_index(names=[name or "omega" for name in both.index.names])


# One step of replica symmetry breaking (1RSB)


def with_one_step(table, what="critical", lines=None):
    """Return a threshold with one step of replica symmetry breaking, as a function of omega.

    `symmetric`, `shift` and `alpha` have errors from the quadrature. `resolved` says whether the maximum of Phi was
    found on both branches. If it was not found, Phi hardly changes, and the shift is taken at the last y tried. An
    omega at which a branch has no solution is left out.

    table: the experiment "one_step".
    lines: theory whose thresholds replace `symmetric`, so that the shift is added to the thresholds that other pages
    quote.
    """
    rows = rows_of(table, what).set_index("omega").sort_index()
    resolved = rows["reason"].astype(str) == ""
    rows = rows.reindex(columns=SHIFT_COLUMNS).astype(float).assign(resolved=resolved).dropna()
    if lines is not None:
        shared = curve(lines, what).set_axis(["symmetric", "symmetric_error"], axis=1)
        rows.update(shared)
        rows["alpha"] = rows["symmetric"] + rows["shift"]
        rows["alpha_error"] = np.hypot(rows["symmetric_error"], rows["shift_error"])
    return rows


def ground_states(table):
    """Return the lowest minimum of each branch at the replica-symmetric alpha_c.

    The rows are by omega and branch. `gained`, with its error, is the shift divided by phi.

    table: the experiment "one_step".
    """
    rows = table[table["what"].isin(MINIMA)].rename(columns={"what": "branch"}).astype({"branch": str})
    rows = rows.assign(gained=rows["shift"] / rows["phi"], gained_error=rows["shift_error"] / rows["phi"])
    return rows.set_index(["omega", "branch"]).sort_index()
