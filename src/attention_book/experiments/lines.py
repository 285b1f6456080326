"""Cells (units of experiments) that compute theoretical results at several alphas, for given architectures."""

from dataclasses import dataclass, field
from functools import partial
from math import isfinite, nan
from typing import ClassVar

from attention_phases.model.architectures import Architecture
from attention_phases.task import Task

from .grids import ALPHAS, register
from .kinds import Kind, with_errors
from .students import INFORMED, PAIR_OVERLAPS, TEACHER_OVERLAPS

# These factors multiply the number of points of a line. A crossing, a border and an end are single numbers, for which
# more points are affordable.
NUMBER_POINTS, END_POINTS, VARIANT_POINTS = 16, 2, 4
THRESHOLD_KINDS = ("critical", "linear")  # thresholds of the standard student

# Where the proximal point jumps, the solver stops within a fifth of an error bar of the fixed point, and rounding
# decides at which value.
_THEORY_COLUMNS = ("alpha", "resolved", "q", "m", "theta", "V", "train_loss", "test_mse", "replicon", "gain")
THEORY = with_errors((*_THEORY_COLUMNS, *PAIR_OVERLAPS, *TEACHER_OVERLAPS), (1e-3, 1e-9), (5e-2, 1e-9))

# Labels of the rows of a line.
ROWS = ("baseline", "symmetric", "both", "gap", "symmetric gap", "critical", "linear", "second", "semantic at linear")
ROWS += INFORMED
ROWS += tuple(
    f"{branch} {place}" for branch in INFORMED for place in ("at critical", "start", "stop", "border", "limit")
)

# The size of a line in each profile: its alphas, the number of quadrature points per scramble, and the number of
# scrambles.
LINE = {
    "paper": {"alphas": tuple(ALPHAS), "points": 2**10, "scrambles": 16},
    "laptop": {"alphas": tuple(ALPHAS[::2]), "points": 2**7, "scrambles": 16},
    "smoke": {"alphas": tuple(ALPHAS[::8]), "points": 2**5, "scrambles": 8},
}


def standard_line(cell) -> list[dict]:
    """Compute theoretical results for the standard student at several alphas, and return them as rows.

    Each row has a label `what` and, except for "baseline", an `alpha`.

    - "baseline": the `test_mse` of the linear model;
    - "gap" and "symmetric gap": see `_gap_rows`;
    - "semantic", "positional", and "symmetric" at alphas where one of the other branches is missing: a branch, one row
      for each alpha, as from `branches.row_of`;
    - "critical" and "linear", with `alpha_error`: the thresholds that exist;
    - "semantic at critical" and "positional at critical": rows like the rows of a branch;
    - "semantic start", "positional stop" and so on, with `alpha_error`: each end of a branch inside the range of
      alphas. The `reason` is the reason of the solution beyond the end, or `NO_CONVERGENCE` if the end is known
      only to one step of alpha;
    - "semantic border" and "positional border", with `alpha_error`: see `ends.border`.

    cell: a `LineCell`.
    """
    from attention_phases.quadrature import usual_points
    from attention_phases.theory import follow, linear_baseline, threshold
    from attention_phases.theory.ends import BORDERS, border, branch_ends
    from attention_phases.theory.thresholds import COMPARED_BRANCHES, guess_from_known

    task, alphas, quadrature = cell.task, sorted(cell.alphas), cell.quadrature
    branches = {branch: follow(task, branch, alphas, cell.points, **quadrature) for branch in INFORMED}
    missing = [alpha for alpha in alphas if not all(alpha in solutions for solutions in branches.values())]
    if missing:
        branches["symmetric"] = follow(task, "symmetric", missing, cell.points, **quadrature)
    baseline = linear_baseline(task)
    rows = [{"what": "baseline", "test_mse": baseline}, *_gap_rows(branches), *_branch_rows(task, branches)]
    for_numbers = min(NUMBER_POINTS * cell.points, usual_points("threshold"))
    for kind in THRESHOLD_KINDS:
        if all(branches[branch] for branch in COMPARED_BRANCHES[kind]) or not alphas:
            near = guess_from_known(kind, branches, baseline)
            crossing = threshold(task, kind, for_numbers, **quadrature, near=near)
            if crossing.exists:
                rows.append(mark(kind, crossing.alpha))
            if kind == "critical" and crossing.exists:
                alpha = crossing.alpha.value
                crossed = {f"{branch} at critical": {alpha: end} for branch, end in crossing.solutions.items()}
                rows += _branch_rows(task, crossed)
    for branch in INFORMED:
        ends = branch_ends(task, branch, alphas, branches[branch], points=END_POINTS * cell.points, **quadrature)
        rows += [{**mark(f"{branch} {side}", end), "reason": reason} for side, (end, reason) in ends.items()]
        if BORDERS[branch] in ends:
            end, _ = ends[BORDERS[branch]]
            limit = border(task, branch, branches[branch], end, points=for_numbers, **quadrature)
            rows.append(mark(f"{branch} border", limit))
    return rows


def variant_line(cell) -> list[dict]:
    """Compute theoretical results for a given architecture at several alphas, and return them as rows.

    There are rows for the linear model, limits, gaps, branches and thresholds. The branches are the branches of the
    cell. If the cell has alphas, only thresholds between these alphas are found, because a search over all alpha takes
    longer than the line. The rows "semantic limit" and so on, with `alpha_error`, are `ends.gain_crossing`. For rank 2
    the semantic branch separates continuously from the positional branch where the positional branch becomes a saddle.
    Semantic solutions before this limit are left out, because the asymmetry of the points would appear as theta.

    cell: an `ArchitectureLineCell`.
    """
    from attention_phases.theory import follow, linear_baseline, threshold
    from attention_phases.theory.thresholds import COMPARED_BRANCHES, guess_from_known

    task, alphas, architecture = cell.task, sorted(cell.alphas), cell.architecture
    options = {**cell.quadrature, "architecture": architecture}
    branches = {branch: follow(task, branch, alphas, cell.points, **options) for branch in cell.branches}
    limits = {branch: _limit(task, branch, branches[branch], points=cell.points, **options) for branch in branches}
    limits = {branch: limit for branch, limit in limits.items() if isfinite(limit.value)}
    if architecture.form == "rank2" and "semantic" in branches and "positional" in limits:
        first, semantic = limits["positional"].value, branches["semantic"]
        branches["semantic"] = {alpha: solution for alpha, solution in semantic.items() if alpha > first}
    baseline = linear_baseline(task, architecture)
    rows = [{"what": "baseline", "test_mse": baseline}]
    rows += [mark(f"{branch} limit", limit) for branch, limit in limits.items()]
    rows += [*_gap_rows(branches), *_branch_rows(task, branches)]
    for kind, compared in COMPARED_BRANCHES.items():
        if branches.keys() >= set(compared):
            near = guess_from_known(kind, branches, baseline)
            if near.exists or not alphas:
                crossing = threshold(task, kind, VARIANT_POINTS * cell.points, **options, near=near)
                if crossing.exists:
                    rows.append(mark(kind, crossing.alpha))
    return rows


def mark(what, alpha):
    """Return a row with the label of a threshold, its alpha, and the error of alpha.

    An end, a border or a limit of a branch has the same kind of row.
    """
    return {"what": what, "alpha": alpha.value, "alpha_error": alpha.error}


def _branch_rows(task, branches):
    """Return a row for each solution, with its label, its alpha and its quantities.

    branches: solutions by label and alpha.
    """
    from attention_phases.theory.branches import row_of

    return [
        {"what": branch, "alpha": alpha, **row_of(task, solution)}
        for branch, solutions in branches.items()
        for alpha, solution in solutions.items()
    ]


def _gap_rows(branches):
    """Return rows with the training loss of other branches minus the training loss of the positional branch.

    There is a row for each alpha at which both branches exist. The gain is the gain of the first branch, which is a
    saddle if its gain is above 1.
    """
    from attention_phases.theory.thresholds import Gap

    rows, positional = [], branches.get("positional", {})
    for name, branch in (("gap", "semantic"), ("symmetric gap", "symmetric")):
        for alpha, solution in branches.get(branch, {}).items():
            if alpha in positional:
                gap = Gap.of({branch: solution, "positional": positional[alpha]}, nan)
                row = {"what": name, "alpha": alpha, "train_loss": gap.value, "train_loss_error": gap.stderr}
                rows.append(prune({**row, "gain": solution.gain}))  # some branches have no gain
    return rows


def _limit(task, branch, solutions, **options):
    """Return the alpha at which a branch turns from a saddle into a minimum, or NaN if it does not.

    solutions: solutions of the branch by alpha.
    """
    from attention_phases.theory.branches import solve_from
    from attention_phases.theory.ends import gain_crossing

    def solution_at(alpha):
        nearest = min(solutions, key=lambda other: abs(other - alpha))
        return solutions.get(alpha) or solve_from(solutions[nearest], task, alpha, branch, **options)

    gain = {alpha: solution.gain for alpha, solution in solutions.items()}
    return gain_crossing(branch, gain, gain.get, solution_at)


def prune(row):
    """Return a row without its infinite and NaN values."""
    return {name: value for name, value in row.items() if isinstance(value, str) or isfinite(value)}


@dataclass(frozen=True)
class OnNets:
    """A cell (one unit of an experiment) that computes theoretical results for one task.

    Its quadrature has `points` points in each of `scrambles` scrambles.

    Columns:
        seed: seed of the scrambles of the quadrature
    """

    experiment: str
    task: Task
    points: int
    scrambles: int
    seed: int = 0

    @property
    def quadrature(self) -> dict:
        """The options of the quadrature: the number of scrambled point sets and their seed."""
        return {"scrambles": self.scrambles, "seed": self.seed}


@dataclass(frozen=True)
class LineCell(OnNets):
    """A cell (one unit of an experiment) that computes theoretical results at several alphas, or just the thresholds.

    It computes thresholds alone if it has no alphas. The worker is `standard_line`.

    Columns:
        what: what the row is about
            - baseline: the linear model
            - semantic: a solution of the semantic branch
            - positional: a solution of the positional branch
            - symmetric: a solution of the symmetric branch
            - semantic at critical: the solution of the semantic branch at alpha_c
            - positional at critical: the solution of the positional branch at alpha_c
            - critical: alpha_c, where the training losses of both branches cross
            - linear: alpha_l, where the semantic test error crosses the test error of the linear model
            - gap: training loss of the semantic branch minus the training loss of the positional branch
            - symmetric gap: training loss of the symmetric branch minus the training loss of the positional branch
            - both: a solution of rank 2 that overlaps with both columns of the teacher but not with the positions
            - second: alpha where this solution gets a lower training loss than one column together with the positions
            - semantic start: alpha where the semantic branch begins
            - semantic stop: alpha where the semantic branch ends
            - semantic border: alpha where the semantic branch turns from a saddle into a minimum, or ends
            - semantic limit: alpha where the semantic branch turns from a saddle into a minimum
            - positional start: alpha where the positional branch begins
            - positional stop: alpha where the positional branch ends
            - positional border: alpha where the positional branch turns from a saddle into a minimum, or ends
            - positional limit: alpha where the positional branch turns from a saddle into a minimum
        alpha [1]: sample complexity n/d of the solution, or the threshold or end that the row is about
    """

    kind: ClassVar = Kind(standard_line, THEORY)

    alphas: tuple = field(kw_only=True)


@dataclass(frozen=True)
class ArchitectureLineCell(LineCell):
    """A cell (one unit of an experiment) that computes theoretical results at several alphas for a given architecture.

    The worker is `variant_line`.
    """

    kind: ClassVar = LineCell.kind._replace(worker=variant_line)

    architecture: Architecture = field(kw_only=True)
    branches: tuple = INFORMED


lines = partial(register, LineCell)
