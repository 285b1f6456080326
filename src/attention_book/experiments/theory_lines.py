"""What theory says of one cell: along a line of alpha, at the thresholds of a task, or with replica symmetry broken."""

from math import isfinite

import numpy as np

from attention_phases.amp.stability import gains, gains_of_columns, settling_distance
from attention_phases.beyond.one_step.solution import OneStep, one_step
from attention_phases.beyond.one_step.threshold import broken_critical, broken_linear
from attention_phases.quadrature import usual_points
from attention_phases.theory.baseline import linear_baseline
from attention_phases.theory.branches import MINIMA, OWN_OVERLAP, follow, row_of, solve_from
from attention_phases.theory.ends import BORDERS, border, branch_ends, gain_crossing
from attention_phases.theory.solver import solve
from attention_phases.theory.thresholds import COMPARED_BRANCHES, loss_gap, seen_between, threshold

from .published_rule import coarse_threshold, rule_baseline, solve_coarsely

# Points in units of those of the line: a crossing, a border and an end are single numbers, on which more can be spent.
OF_NUMBER, OF_END, OF_VARIANT, OF_GAINS = 16, 2, 4, 4
_IN_ALPHA = ("at critical", "at linear", "start", "stop", "border", "limit")
# What a row may be about, in its column `what`.
ROWS = ("baseline", "gap", "symmetric gap", "critical", "linear", "second", "symmetric", "both", *MINIMA)
ROWS += tuple(f"{branch} {place}" for branch in (*MINIMA, "both") for place in _IN_ALPHA)
OF_STANDARD = ("critical", "linear")  # thresholds of the standard student
_OF_RULE = ("q", "V", "train_loss", "test_mse")
RULED = {"symmetric": _OF_RULE} | {branch: (*_OF_RULE, own) for branch, own in OWN_OVERLAP.items()}


def standard_line(cell) -> list[dict]:
    """Return the rows of a `cells.LineCell`, each with `what` and, but for "baseline", `alpha`.

    - "baseline": the `test_mse` of the linear model;
    - "gap" and "symmetric gap": see `thresholds.loss_gap`;
    - "semantic", "positional", and "symmetric" where one of the others is missing: a branch, one row for each alpha,
      as from `branches.row_of`;
    - "critical" and "linear", with `alpha_error`: the thresholds, where there are any;
    - "semantic at critical" and "positional at critical": rows as of a branch;
    - "semantic start", "positional stop" and so on, with `alpha_error`: each end of a branch within the alphas, and the
      `reason` of the solution beyond it, or `UNSETTLED` where the end is known to a step alone;
    - "semantic border" and "positional border", with `alpha_error`: see `ends.border`.
    """
    task, alphas, quadrature = cell.task, sorted(cell.alphas), _quadrature(cell)
    branches = {branch: follow(task, branch, alphas, cell.points, **quadrature) for branch in MINIMA}
    missing = [alpha for alpha in alphas if not all(alpha in solutions for solutions in branches.values())]
    if missing:
        branches["symmetric"] = follow(task, "symmetric", missing, cell.points, **quadrature)
    baseline = linear_baseline(task)
    rows = [{"what": "baseline", "test_mse": baseline}, *_gap_rows(branches), *_branch_rows(task, branches)]
    for_numbers = min(OF_NUMBER * cell.points, usual_points("threshold"))
    for kind in OF_STANDARD:
        if all(branches[branch] for branch in COMPARED_BRANCHES[kind]) or not alphas:
            near = seen_between(kind, branches, baseline)
            crossing = threshold(task, kind, for_numbers, **quadrature, near=near)
            if crossing.exists:
                rows.append(_mark(kind, crossing.alpha))
            if kind == "critical" and crossing.exists:
                rows += [
                    {"what": f"{branch} at critical", "alpha": crossing.alpha.value, **row_of(task, solution)}
                    for branch, solution in crossing.solutions.items()
                ]
    for branch in MINIMA:
        ends = branch_ends(task, branch, alphas, branches[branch], points=OF_END * cell.points, **quadrature)
        rows += [{**_mark(f"{branch} {side}", end), "reason": reason} for side, (end, reason) in ends.items()]
        if BORDERS[branch] in ends:
            end, _ = ends[BORDERS[branch]]
            limit = border(task, branch, branches[branch].table, end, points=for_numbers, **quadrature)
            rows.append(_mark(f"{branch} border", limit))
    return rows


def variant_line(cell) -> list[dict]:
    """Return the rows of a `cells.ArchitectureLineCell`: as of `standard_line` up to the thresholds.

    The branches are those of the cell, and if it has alphas the thresholds are those between them: a search over all
    alpha takes longer than the line. The "semantic limit" and so on, with `alpha_error`, are `ends.gain_crossing`. With
    rank 2 the semantic branch leaves the positional one continuously where that becomes a saddle. Semantic solutions
    before this limit are left out: the asymmetry of the points would show as theta.
    """
    task, alphas, architecture = cell.task, sorted(cell.alphas), cell.architecture
    options = {**_quadrature(cell), "architecture": architecture}
    branches = {branch: follow(task, branch, alphas, cell.points, **options) for branch in cell.branches}
    limits = _limits(task, branches, points=cell.points, **options)
    if architecture.form == "rank2" and "semantic" in branches and "positional" in limits:
        first, semantic = limits["positional"].value, branches["semantic"]
        branches["semantic"] = {alpha: solution for alpha, solution in semantic.items() if alpha > first}
    baseline = linear_baseline(task, architecture)
    rows = [{"what": "baseline", "test_mse": baseline}]
    rows += [_mark(f"{branch} limit", limit) for branch, limit in limits.items()]
    rows += [*_gap_rows(branches), *_branch_rows(task, branches)]
    for kind, compared in COMPARED_BRANCHES.items():
        if branches.keys() >= set(compared):
            near = seen_between(kind, branches, baseline)
            if near.exists or not alphas:
                crossing = threshold(task, kind, OF_VARIANT * cell.points, **options, near=near)
                if crossing.exists:
                    rows.append(_mark(kind, crossing.alpha))
    return rows


def _quadrature(cell):
    return {"scrambles": cell.scrambles, "seed": cell.seed}


def _mark(what, alpha):
    """A row of one place on the line."""
    return {"what": what, "alpha": alpha.value, "alpha_error": alpha.error}


def _branch_rows(task, branches):
    return [
        {"what": branch, "alpha": alpha, **row_of(task, solution)}
        for branch, solutions in branches.items()
        for alpha, solution in solutions.items()
    ]


def _gap_rows(branches):
    """Rows of the training losses minus that of the positional branch."""
    rows = []
    for name, branch in (("gap", "semantic"), ("symmetric gap", "symmetric")):
        if branch in branches and "positional" in branches:
            table = loss_gap(branches[branch], branches["positional"]).dropna(axis=1)  # some branches have no gain
            rows += [{"what": name, **row} for row in table.to_dict("records")]
    return rows


def _limits(task, branches, **options):
    """Branch to the alpha where it turns from a saddle into a minimum, of those that do."""
    limits = {}
    for branch, solutions in branches.items():

        def solution_at(alpha, branch=branch, solutions=solutions):
            nearest = min(solutions, key=lambda other: abs(other - alpha))
            return solutions.get(alpha) or solve_from(solutions[nearest], task, alpha, branch, **options)

        gain = {alpha: solution.gain for alpha, solution in solutions.items()}
        limit = gain_crossing(branch, gain, gain.get, solution_at)
        if isfinite(limit.value):
            limits[branch] = limit
    return limits


def copies_line(cell) -> list[dict]:
    """Return the rows of a `cells.CopiesCell`: along both branches, how close two copies of message passing come.

    `what` (the branch), alpha, `apart` and `apart_error` of `settling_distance`, `resolved` (the smallest distance that
    was tried), and the replicon between jumps with its error.
    """
    task, quadrature, rows = cell.task, _quadrature(cell), []
    for branch in MINIMA:
        for alpha, solution in follow(task, branch, cell.alphas, cell.points, **quadrature).items():
            tried = gains(task, alpha, solution.overlaps, OF_GAINS * cell.points, **quadrature)
            row = {"what": branch, "alpha": alpha, **_closeness(*tried), "replicon": solution.replicon}
            rows.append(row | {"replicon_error": solution.stderr["replicon"]})
    return rows


def variant_copies(cell) -> list[dict]:
    """Return the rows of a `cells.ArchitectureCopiesCell`: as of `copies_line`, of the branches of the cell."""
    task, architecture, rows = cell.task, cell.architecture, []
    options = {**_quadrature(cell), "architecture": architecture}
    for branch in cell.branches:
        for alpha, solution in follow(task, branch, cell.alphas, cell.points, **options).items():
            tried = gains_of_columns(task, architecture, alpha, solution.overlaps, cell.points, cell.scrambles)
            rows.append({"what": branch, "alpha": alpha, **_closeness(*tried)})
    return rows


def _closeness(distances, factors):
    apart = settling_distance(distances, factors)
    return {"apart": apart.value, "apart_error": apart.error, "resolved": distances[-1]}


def by_published_rule(cell) -> list[dict]:
    """Return the rows of a `cells.RuleCell`: what the published rules give, and what many points do.

    Without alphas, both thresholds that exist, `what` being "critical" or "linear": `alpha` and `alpha_error` are those
    on many points, `rule` and `exact` as `coarse_threshold` gives them, where there is a crossing. Beside them the test
    error of the linear model, "baseline".

    With alphas, every `quantity` along the `branches`: `rule` as of `solve_coarsely`, `many` and `many_error` on many.
    """
    task, rows = cell.task, []
    for branch in cell.branches:
        for alpha in cell.alphas:
            many = solve(task, alpha, branch, cell.points, **_quadrature(cell))
            coarse = solve_coarsely(task, alpha, branch)
            values = coarse.overlaps._asdict() | {"train_loss": coarse.train_loss[0], "test_mse": coarse.test_mse[0]}
            converged = many.overlaps._asdict() | {"train_loss": many.train_loss, "test_mse": many.test_mse}
            for quantity in RULED[branch]:
                row = {"what": branch, "alpha": alpha, "quantity": quantity, "rule": abs(values[quantity])}
                row |= {"many": abs(converged[quantity]), "many_error": many.stderr[quantity]}
                rows.append(_finite(row))
    if cell.alphas:
        return rows
    by_rule, exact = rule_baseline(task), linear_baseline(task)
    rows.append({"what": "baseline", "quantity": "test_mse", "rule": by_rule, "many": exact})
    for kind in OF_STANDARD:
        converged = threshold(task, kind, cell.points, **_quadrature(cell))
        if converged.exists:
            coarse = dict(zip(("rule", "exact"), coarse_threshold(task, kind, converged.alpha.value)))
            rows.append(_finite({**_mark(kind, converged.alpha), **coarse}))
    return rows


@np.errstate(all="ignore")  # only the result has to be finite; a search that fails says why
def broken_thresholds(cell) -> list[dict]:
    """Return the rows of a `cells.OneStepThresholdsCell`: both thresholds with one step of breaking.

    "critical" and "linear" have the `alpha` of the threshold with `alpha_error`, `symmetric` and `symmetric_error` of
    the replica-symmetric one, `shift` and `shift_error` between the two (`one_step.threshold`). "semantic" and
    "positional", the ground states at the replica-symmetric alpha_c, and "semantic at linear" have alpha and all of
    `one_step_row`. Each has a `reason`, empty where the search for the ground state converged. Where there is no
    threshold the row has nothing but its reason, and no row has what is not a finite number.
    """
    quadrature = {"points": cell.points, **_quadrature(cell)}
    rows = _moved_rows("critical", "", broken_critical(cell.task, **quadrature))
    rows += _moved_rows("linear", " at linear", broken_linear(cell.task, **quadrature))
    return [_finite(row) for row in rows]


def _moved_rows(kind, place, moved):
    row = {"what": kind, "reason": moved.reason}
    if not moved.solutions:
        return [row]
    symmetric, shift = moved.symmetric, moved.shift
    for name, alpha in (("alpha", symmetric.alpha + shift), ("symmetric", symmetric.alpha), ("shift", shift)):
        row |= {name: alpha.value, f"{name}_error": alpha.error}
    states = [
        {"what": branch + place, "alpha": symmetric.alpha.value, **one_step_row(state)}
        for branch, state in moved.solutions.items()
    ]
    return [row, *states]


def broken_state(cell) -> list[dict]:
    """Return the row of a `cells.OneStepCell`: all of `one_step_row` that is a finite number."""
    return [_finite(one_step_row(one_step(cell.task, cell.alpha, cell.branch, None, cell.points, **_quadrature(cell))))]


def one_step_row(solution: OneStep) -> dict:
    """Return the `quantities` of a solution with their standard errors as "q0_error" and so on, slope and reason."""
    errors = {f"{name}_error": error for name, error in solution.stderr.items()}
    return {**solution.quantities, "slope": solution.slope, **errors, "reason": solution.reason}


def _finite(row):
    """A row without the numbers that are not finite."""
    return {name: value for name, value in row.items() if isinstance(value, str) or isfinite(value)}
