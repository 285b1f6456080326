"""Theory of the standard task along alpha, and thresholds: read off it, and where means over data sets cross."""

import numpy as np
import pandas as pd

from attention_phases.errors import ResultError, check_choice
from attention_phases.measured import NO_VALUE, Measured
from attention_phases.task import Task
from attention_phases.theory.branches import MINIMA

from ..experiments.lines import LINE, ROWS, LineCell
from ..experiments.results import read_cells
from .instances import GAPS, difference_in_errors, frame_of

NEAREST_ALPHAS = 6  # together 0.4 of alpha on the published grid
CLEARLY = 2  # standard errors by which a slope must be below zero: one divides by it
SHIFTED = [f"{name}{error}" for name in ("symmetric", "shift", "alpha") for error in ("", "_error")]


def line_cells(profile, omegas):
    """The cells of `theory_lines`."""
    return [LineCell("fig03_theory", Task(omega=omega), **LINE[profile]) for omega in omegas]


def theory_lines(profile, omegas):
    """Rows of `lines.standard_line` at some omega, of the standard task: those of Figure 3, or further ones.

    ResultError where the losses do not cross.
    """
    lines = read_cells("fig03_theory", profile, line_cells(profile, omegas))
    crossed = lines.loc[lines["what"] == "critical", "omega"]
    for omega in omegas:
        if not np.isclose(omega, crossed).any():
            raise ResultError(f"no critical threshold found at omega = {omega:g}")
    return lines


def rows_of(lines, what):
    """The rows of theory about `what`, one of `lines.ROWS`: a name that none can have is an error."""
    return lines[lines["what"] == check_choice("row of theory", what, ROWS)]


def losses_of(lines, branch, name):
    """A loss of a minimum; where it is missing, that of the student with m = theta = 0 that takes its place."""
    minimum, symmetric = (
        rows_of(lines, what).pivot(index="alpha", columns="omega", values=name) for what in (branch, "symmetric")
    )
    return minimum.combine_first(symmetric)


def alpha_of(line, what):
    """A threshold, an end or a border in alpha by its name, as `Measured`; NaN if there is none."""
    rows = rows_of(line, what)  # where there is no place at all, there is no alpha_error
    return Measured(*rows[["alpha", "alpha_error"]].to_numpy()[0].tolist()) if len(rows) else NO_VALUE


def curve(lines, what, along="omega"):
    """Where "critical", "linear", "semantic border" and so on is: alpha and alpha_error by omega, or other columns."""
    rows = rows_of(lines, what).set_index(along)
    return rows.reindex(columns=["alpha", "alpha_error"]).sort_index()  # where there is no place at all, no alpha_error


def borders_of(lines):
    """Where the semantic minimum begins and the positional one ends: for each branch alpha and alpha_error by omega."""
    return {branch: curve(lines, f"{branch} border") for branch in MINIMA}


def is_minimum(borders, branch, omega, alpha):
    """Whether a branch, where it exists, is a minimum at some alphas of an omega, given `borders_of` its lines."""
    border = borders[branch]["alpha"].get(omega)
    if border is None:
        return np.isfinite(alpha)
    return alpha >= border if branch == "semantic" else alpha <= border


def branches(line):
    """Rows of each branch and each gap over alpha, by name; the two minima also at alpha_c."""
    names = {what: (what,) for what in ("symmetric", "gap", "symmetric gap")}
    names |= {branch: (branch, f"{branch} at critical") for branch in MINIMA}
    return {name: line[line["what"].isin(some)].set_index("alpha").sort_index() for name, some in names.items()}


def crossing(gaps, resamples=2000):
    """Where the mean over data sets falls through zero for good, with its bootstrap error; NaN if it does not.

    gaps: alpha by seed. Each alpha draws data sets anew, always alike: the same means have one error on all pages.
    """
    alphas, values = gaps.index.to_numpy(), gaps.to_numpy()  # (A,), (A, S)
    drawn = np.random.default_rng(0).integers(values.shape[1], size=(resamples, *values.shape))
    means = np.take_along_axis(values[None], drawn, axis=2).mean(2)  # (resamples, A)
    roots = last_fall(alphas, means)
    roots = roots[np.isfinite(roots)]
    error = float(np.std(roots, ddof=1)) if len(roots) > 1 else np.nan
    return Measured(float(last_fall(alphas, values.mean(1))), error)


def last_fall(alphas, means):
    """Where values fall through zero for the last time, by linear interpolation; NaN where they do not fall.

    The last, as below a threshold the two students that are compared may be the same one: their difference is then
    noise, and falls through zero by chance. Beyond it, it comes back only where some students are unfinished.

    alphas, means: growing alphas, (A,), and values at each, (..., A).
    """
    here, there = means[..., :-1], means[..., 1:]
    fell = (here > 0) & (there <= 0)
    with np.errstate(divide="ignore", invalid="ignore"):  # where they do not fall
        places = np.where(fell, alphas[:-1] + here / (here - there) * np.diff(alphas), np.nan)
    return np.fmax.reduce(places, axis=-1, initial=np.nan)


def crossings(table, gap, along="omega"):
    """`crossing` of a gap at each value of a column, or of several (a list): alpha and alpha_error by value."""
    return frame_of({value: crossing(gap(rows)) for value, rows in table.groupby(along)}, along)


def shift_against_control(gaps, control):
    """By how much the mean falls through zero later than that of a control on the same data, to first order.

    Difference of the two over the slope of the control, both by a straight line through the `NEAREST_ALPHAS` next to
    where the control crosses. Much better known than the difference of two `crossing`, whose slopes are noisy. NaN if
    the control does not fall through zero, or over these alphas by less than `CLEARLY`.

    gaps, control: alpha by seed; the control has every one of both.
    """
    usual = control.loc[gaps.index, gaps.columns].to_numpy()  # (A, S)
    alphas = gaps.index.to_numpy()
    root = last_fall(alphas, usual.mean(1))
    if np.isnan(root):
        return NO_VALUE
    near = np.argsort(np.abs(alphas - root))[:NEAREST_ALPHAS]
    away, usual = gaps.to_numpy()[near] - usual[near], usual[near]
    level, slope = np.linalg.pinv(np.stack([np.ones(len(near)), alphas[near] - root], axis=1))
    steepness = slope @ usual.mean(1)
    if steepness > -CLEARLY * _sum_error(slope[:, None] * usual):
        return NO_VALUE
    later = -level @ away.mean(1) / steepness
    to_first_order = level[:, None] * away + later * slope[:, None] * usual
    return Measured(later, _sum_error(to_first_order) / abs(steepness))


def _sum_error(values):
    """Error of the sum over alphas of means over data sets (A, S), which are independent at each alpha."""
    return (values.var(1, ddof=1).sum() / values.shape[1]) ** 0.5


def shifts_by(table, control, along="omega"):
    """`shift_against_control` of both thresholds between two sets of students trained on the same data.

    Gives for "critical" and "linear" a frame of alpha, by how much the threshold of `table` comes later, and
    alpha_error, by value of `along`, a column or several, where the control has a threshold.
    """
    usual = dict(list(control.groupby(along)))
    moved = {
        kind: {value: shift_against_control(gap(rows), gap(usual[value])) for value, rows in table.groupby(along)}
        for kind, gap in GAPS.items()
    }
    return {kind: frame_of(some, along).dropna() for kind, some in moved.items()}


def mean_of(values, errors):
    """`Measured` mean of numbers with independent errors, such as shifts on different data sets; NaN of none."""
    return Measured(values.mean(), np.linalg.norm(errors) / len(values)) if len(values) else NO_VALUE


def side_by_side(thresholds, index):
    """Frames of alpha and alpha_error by name as columns `name` and `name_error`; NaN where one of both is missing."""
    known = ((name, frame.dropna().reindex(index)) for name, frame in thresholds.items())
    return pd.concat([frame.set_axis([name, f"{name}_error"], axis=1) for name, frame in known], axis=1)


def against_theory(trained, theory, only=None):
    """Thresholds of trained students beside those of theory; both are alpha and alpha_error by omega or other names.

    The index as columns; `trained` and `theory` with errors, where both are known; `sigma_off`, their difference in
    errors of both.

    only: some values of the index.
    """
    both = trained.dropna().join(theory, how="inner", suffixes=("_trained", ""))
    both = both[both["alpha_error_trained"] > 0]
    if only is not None:
        both = both[both.index.isin(only)]
    both.columns = ["trained", "trained_error", "theory", "theory_error"]
    both = both.assign(sigma_off=difference_in_errors(both, "trained", "theory"))
    return both.reset_index(names=[name or "omega" for name in both.index.names])


# One step of replica symmetry breaking


def with_one_step(table, what="critical", lines=None):
    """A threshold with one step of breaking by omega, from the experiment "one_step".

    `symmetric`, `shift` and `alpha`, each with its error by quadrature; `resolved`, whether the maximum of Phi was seen
    on both branches. Where it was not, Phi hardly changes: the shift is the one at the last y tried.
    Without the omega where a branch has no solution.

    lines: theory of a map, if the thresholds that other pages give are to be those that the shift is added to.
    """
    rows = rows_of(table, what).set_index("omega").sort_index()
    resolved = rows["reason"].astype(str) == ""
    rows = rows.reindex(columns=SHIFTED).astype(float).assign(resolved=resolved).dropna()
    if lines is not None:
        shared = curve(lines, what).set_axis(["symmetric", "symmetric_error"], axis=1)
        rows.update(shared)
        rows["alpha"] = rows["symmetric"] + rows["shift"]
        rows["alpha_error"] = np.hypot(rows["symmetric_error"], rows["shift_error"])
    return rows


def ground_states(table):
    """The lowest minima of both branches at the replica-symmetric alpha_c, from the experiment "one_step".

    Rows by omega and branch; `gained`, with its error, is the shift over phi.
    """
    rows = table[table["what"].isin(MINIMA)].rename(columns={"what": "branch"}).astype({"branch": str})
    rows = rows.assign(gained=rows["shift"] / rows["phi"], gained_error=rows["shift_error"] / rows["phi"])
    return rows.set_index(["omega", "branch"]).sort_index()
