"""Everything that theory says along one line of alpha: branches, where they end, and the two thresholds."""

import numpy as np

from attention_phases.theory.baseline import linear_baseline
from attention_phases.theory.branches import MINIMA, as_row, as_table, follow, solve_from
from attention_phases.theory.ends import border, branch_end, gain_crossing
from attention_phases.theory.quadrature import usual_points
from attention_phases.theory.thresholds import THRESHOLDS, loss_gap, seen_between, threshold

# Points in units of those of the line: a crossing, a border and an end are single numbers, on which more can be spent.
OF_NUMBER, OF_END, OF_VARIANT = 16, 2, 4
AT = ("alpha", "alpha_error")
# Where the minima of the standard student begin and end, as far as they do so at an alpha of their own.
BORDERS = {"semantic": "semantic start", "positional": "positional stop"}


def theory_line(line) -> list[dict]:
    """Return the rows of a `cells.LineCell`, or of a `cells.ArchitectureLineCell`, which is of another architecture.

    Parameters
    ----------
    line : cells.LineCell or cells.ArchitectureLineCell

    Returns
    -------
    list of dict
        Each with `what` and, but for "baseline", `alpha`:

        - "baseline": the `test_mse` of the linear model;
        - "semantic", "positional", "symmetric": a branch, one row for each alpha, as from `branches.as_row`. The
          standard student has the symmetric one where one of the others is missing, a variant as its cell says;
        - "critical" and "linear", with `alpha_error`: the thresholds, where there are any. A variant has them only
          between its alphas, if it has alphas;
        - "gap" and "symmetric gap": see `thresholds.loss_gap`. A variant has the first only;
        - of the standard student, "semantic at critical" and "positional at critical": rows as of a branch;
        - of the standard student, "semantic start", "positional stop" and so on, with `alpha_error`: each end of a
          branch within the alphas, and the `reason` of the solution beyond it. Where `branch_end` fails, the end is
          known to a step of the alphas;
        - of the standard student, "semantic border" and "positional border", with `alpha_error`: see `ends.border`;
        - of a variant, "semantic limit" and so on, with `alpha_error`: see `ends.gain_crossing`.
    """
    task, alphas, branches = line.task, sorted(line.alphas), getattr(line, "branches", MINIMA)
    architecture = getattr(line, "architecture", None)
    quadrature = {"scrambles": line.scrambles, "seed": line.seed}
    for_numbers = min(OF_NUMBER * line.points, usual_points("threshold"))
    options = {"points": line.points, **quadrature, "architecture": architecture}
    found = {branch: follow(task, branch, alphas, **options) if alphas else {} for branch in branches}
    rows = [{"what": "baseline", "test_mse": linear_baseline(task, architecture)}]
    if architecture is None:
        missing = [alpha for alpha in alphas if not all(alpha in each for each in found.values())]
        if missing:
            found["symmetric"] = follow(task, "symmetric", missing, **options)
    else:
        rows += _limits(task, found, options)
    rows += _gaps(found)
    for branch, solutions in found.items():
        rows += [{"what": branch, "alpha": alpha, **as_row(task, each)} for alpha, each in solutions.items()]
    for kind, compared in THRESHOLDS.items():
        if not set(compared) <= set(found) or (alphas and not all(found[branch] for branch in compared)):
            continue
        start = seen_between(kind, found, rows[0]["test_mse"])
        if start is None and alphas and architecture is not None:
            continue  # a search over all alpha takes longer than the line
        points = for_numbers if architecture is None else OF_VARIANT * line.points
        each = threshold(task, kind, points, **quadrature, near=start, architecture=architecture)
        if each.converged:
            rows.append({"what": kind, "alpha": each.alpha, "alpha_error": each.stderr})
        if each.converged and kind == "critical" and architecture is None:
            there = each.solutions.items()
            rows += [
                {"what": f"{branch} at critical", "alpha": each.alpha, **as_row(task, one)} for branch, one in there
            ]
    if architecture is None:
        for branch in branches:
            ends = _ends(task, branch, alphas, found[branch], points=OF_END * line.points, **quadrature)
            rows += ends
            for end in (tuple(each[name] for name in AT) for each in ends if each["what"] == BORDERS[branch]):
                at = border(task, branch, as_table(task, found[branch]), end, points=for_numbers, **quadrature)
                rows.append({"what": f"{branch} border", **dict(zip(AT, at))})
    return rows


def _gaps(found):
    """Rows of the training losses less that of the positional branch."""
    rows = []
    for name, branch in (("gap", "semantic"), ("symmetric gap", "symmetric")):
        if branch in found and "positional" in found:
            table = loss_gap(found[branch], found["positional"]).dropna(axis=1)  # some branches have no gain
            rows += [{"what": name, **row} for row in table.to_dict("records")]
    return rows


def _ends(task, branch, alphas, solutions, **quadrature):
    """Rows of the ends of a minimum within the alphas."""
    rows, reached = [], [alphas.index(alpha) for alpha in solutions]
    for end, within, beyond in (("start", min(reached), -1), ("stop", max(reached), 1)) if reached else ():
        if 0 <= within + beyond < len(alphas):
            bracket = alphas[within], alphas[within + beyond]
            value, error = branch_end(task, branch, bracket[0], solutions[bracket[0]].overlaps, **quadrature)
            step = abs(bracket[0] - bracket[1])
            if not abs(value - sum(bracket) / 2) <= 2 * step + 3 * error:  # NaN, or the other end
                value, error = sum(bracket) / 2, step / 2
            reason = solutions.stopped[bracket[1]]
            rows.append({"what": f"{branch} {end}", "alpha": value, "alpha_error": error, "reason": reason})
    return rows


def _limits(task, found, options):
    """Rows of the limits of stability of the branches of a variant.

    With rank 2 the semantic branch leaves the positional one continuously where that becomes a saddle. Semantic
    solutions before this limit are removed from `found`: the asymmetry of the points would show as theta.
    """
    rows = []
    for branch, solutions in found.items():

        def at(alpha, branch=branch, solutions=solutions):
            nearest = min(solutions, key=lambda other: abs(other - alpha))
            return solutions.get(alpha) or solve_from(solutions[nearest], task, alpha, branch, **options)

        limit, error = gain_crossing(branch, solutions, lambda alpha, known=solutions: known[alpha].gain, at)
        if np.isfinite(limit):
            rows.append({"what": f"{branch} limit", "alpha": limit, "alpha_error": error})
            if options["architecture"].form == "rank2" and "semantic" in found:
                found["semantic"] = {alpha: each for alpha, each in found["semantic"].items() if alpha > limit}
    return rows
