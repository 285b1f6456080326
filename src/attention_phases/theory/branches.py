"""A branch of solutions at many alphas, where each computation starts from the solution at a neighbouring alpha."""

from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from ..errors import check_positive, check_several
from ..model.architectures import STANDARD, Architecture
from ..quadrature import SCRAMBLES
from ..task import Task
from .equations import Overlaps
from .solver import BRANCH_END, Solution, solve

if TYPE_CHECKING:
    import pandas as pd

MINIMA = ("semantic", "positional")  # the branches that can be minima of the training loss
OWN_OVERLAP = {"semantic": "theta", "positional": "m"}  # the overlap that defines each branch
# A branch counts as ended if the solver finds its end at this many consecutive alphas. At a single alpha, the solver
# may have missed the branch.
SURE_ENDS = 2
# Positions in the ascending list of alphas at which the search for a branch starts, as fractions of the length of the
# list. They are tried one after another, because a branch need not exist at all alphas.
ENTRIES = {"semantic": (1.0,), "positional": (0.25, 1.0, 0.125), "symmetric": (1.0,)}


class Branch(dict[float, Solution]):
    """A dictionary of converged solutions, with the values of alpha as its keys in ascending order.

    `stopped` has the reason for each alpha without a solution.
    """

    def __init__(self, task: Task, solutions: Mapping, stopped: Mapping, columns: Sequence = (), origin: Any = ()):
        super().__init__(sorted(solutions.items()))
        self.task, self.stopped, self.origin = task, dict(stopped), dict(origin)
        self._columns = ("alpha", *columns)  # columns of the table if no solution was found

    @property
    def table(self) -> "pd.DataFrame":
        """A table with a row for each alpha, sorted by alpha.

        The columns are alpha, the entries of `row_of`, gain, saddle and reason. `saddle` is true if overlaps that are
        zero on the branch grow when they are small, so that a student close to the solution moves to another branch. It
        is NA if the solution has no `gain`. `reason` says why there is no solution at an alpha. It is empty if there is
        a solution.
        """
        import pandas as pd  # slow to import

        gains = pd.Series([solution.gain for solution in self.values()], dtype="Float64")
        rows = [{"alpha": alpha, **row_of(self.task, solution)} for alpha, solution in self.items()]
        table = pd.DataFrame(rows, columns=None if rows else self._columns, dtype=float)
        table = table.assign(gain=gains.astype(float), saddle=gains.replace(nan, pd.NA) > 1)
        table = table.set_index("alpha").reindex(sorted([*self, *self.stopped])).reset_index()
        table["reason"] = [self.stopped.get(alpha, "") for alpha in table["alpha"]]
        table.attrs |= self.origin
        return table


def solve_from(near: Solution | None, task: Task, alpha: float, branch: str, **options) -> Solution:
    """Find a fixed point from the solution `near`, or from the default start if this fails.

    The other arguments are as for `solve`.
    A start from a neighbour fails more often at a jump of the branch than at its end.
    """
    if near is not None and near.converged:
        solution = solve(task, alpha, branch, start=near.overlaps, **options)
        if solution.converged:
            return solution
    return solve(task, alpha, branch, **options)


def follow(
    task: Task,
    branch: str,
    alphas: Sequence[float],
    points: int | None = None,
    scrambles: int = SCRAMBLES,
    seed: int = 0,
    architecture: Architecture = STANDARD,
    report: Callable[[int], object] | None = None,
) -> Branch:
    """Return the solutions of one branch at several alphas, each computed from the solution at a neighbouring alpha.

    >>> from attention_phases import Task, follow
    >>> branch = follow(Task(omega=0.3), "positional", [0.5, 1.0], points=256)
    >>> branch.table[["alpha", "theta", "saddle"]]
       alpha  theta  saddle
    0    0.5    0.0   False
    1    1.0    0.0   False

    The search starts at the largest alpha and follows the branch from there to its ends, across gaps where the points
    are too few. For the positional branch it starts at the lower quartile of the alphas, then at the largest and at a
    small alpha. A branch is not found if it does not exist at any of these alphas. The other
    parameters are as for `solve`.
    """
    alphas = sorted(check_positive("alphas", alpha) for alpha in check_several("alphas", alphas, at_least=0))
    if not alphas:
        return Branch(task, {}, {}, [*Overlaps._fields, "train_loss", "test_mse"])
    options = {"points": points, "scrambles": scrambles, "seed": seed, "architecture": architecture, "report": report}
    solutions, stopped = {}, {}
    for share in ENTRIES.get(branch, (1.0,)):
        entry = round(share * (len(alphas) - 1))
        for onward in (alphas[entry::-1], alphas[entry + 1 :]):
            last, ended = solutions.get(alphas[entry]), 0
            for alpha in onward:
                solution = solve_from(last, task, alpha, branch, **options)
                if solution.converged:
                    solutions[alpha], last, ended = solution, solution, 0
                    continue
                stopped[alpha] = solution.reason
                ended = ended + 1 if solution.reason == BRANCH_END else 0
                if ended == SURE_ENDS:
                    break
            if not solutions and stopped[alphas[entry]] == BRANCH_END:
                break
        if solutions:
            break
    untried = f"{BRANCH_END}: not solved here, because the branch has ended at {SURE_ENDS} neighbouring alphas"
    holes = {alpha: stopped.get(alpha, untried) for alpha in alphas if alpha not in solutions}
    return Branch(task, solutions, holes, [*row_of(task, solution)], solution.origin | {"alpha": alphas})


def row_of(task: Task, solution: Solution) -> dict[str, float]:
    """Return a dictionary of the overlaps, losses and stability of a solution, with their standard errors.

    For the standard student these are q, m, theta, V, train_loss, test_mse and replicon. For other students they are
    the overlaps of `equations.named_overlaps`, train_loss, test_mse and, if the branch has one, gain. The key of a
    standard error is for example "q_error".
    """
    stability = "replicon" if "replicon" in solution.spread else "gain"
    measured = [name for name in ("train_loss", "test_mse", stability) if name in solution.spread]
    row = solution.named(task.sigma**2)
    row |= {name: (getattr(solution, name), solution.stderr[name]) for name in measured}
    errors = {f"{name}_error": float(error) for name, (_, error) in row.items()}
    return {name: float(value) for name, (value, _) in row.items()} | errors
