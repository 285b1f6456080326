"""The convergence of message passing, and the final distance between two runs, as measured and as predicted.

Experiments:
    stability: Whether and how message passing converges, on several data sets at several alpha and omega.
    copies: How close two copies of message passing come, over alpha and omega.
    variants_copies: How close two copies of message passing come, for other architectures.
"""

from dataclasses import dataclass

import numpy as np

from attention_phases.model.architectures import STANDARD
from attention_phases.task import Task

from ..grids import ALPHAS, OMEGAS, register, tasks, with_tasks
from ..kinds import Kind
from ..lines import ArchitectureLineCell, LineCell
from ..paper.fig10 import MAP_FORMS
from ..students import INFORMED, OnData

SETTLING = 300  # largest number of iterations to the fixed point
COPY_NOISE = {"semantic": 0.7, "positional": 0.3}  # size of the noise that displaces the start of the second copy
RESPONSE_WIDTH = 0.3  # width of the finite difference that replaces the derivative, see `message_passing.step`
CONTRACTING = 30  # number of iterations over which the contraction is measured


def measure(cell):
    """Run message passing on one data set, and return rows with measurements of its convergence.

    There are rows "contraction" if the damped iteration settles. Rows "copies" have means over late iterations, for
    each `damping` and `width`. They are left out if the overlaps diverge.

    cell: a `MessagePassingCell`.
    """
    from attention_phases.amp.message_passing import iterate, limiting_data, start_state

    from .convergence import SCHEDULES, contraction, copies

    task, (sentences, rng) = cell.task, cell.draw()
    data = limiting_data(task, sentences)
    first = {"semantic": data.teacher.numpy(), "positional": np.ones(cell.d)}[cell.start]
    second = first + COPY_NOISE[cell.start] * rng.standard_normal(cell.d)
    starts = [start_state(task, data, weights) for weights in (first, second)]

    run = iterate(task, data, starts[0], steps=SETTLING, damping=SCHEDULES[cell.start][-1][0])
    rows = [{"what": "settled", "settled": run.converged, "change": run.history["change"].iloc[-1]}]
    if run.converged:
        noise = rng.standard_normal(cell.d)
        distances = contraction(task, data, run.state, noise, CONTRACTING)
        rows += [{"what": "contraction", "iteration": k, "distance": distance} for k, distance in enumerate(distances)]
    for damping, before, over in SCHEDULES[cell.start]:
        for width in (0.0, RESPONSE_WIDTH):
            with np.errstate(all="ignore"):
                values = copies(task, data, starts, damping, width, before, over)
            if all(map(np.isfinite, values.values())) and values["q"] < task.sigma**2:
                rows.append({"what": "copies", "damping": damping, "width": width, **values})
    return rows


GAIN_POINTS = 4  # number of points for the gains, divided by the number of points of the line


def copies_line(cell) -> list[dict]:
    """Predict the final distance between two runs (copies) of message passing, for each alpha.

    A row has `what` (the branch), alpha, `apart` and `apart_error` from `settling_distance`, and `resolved` (the
    smallest distance that was tried). For the standard student it also has the replicon between jumps, with its error.

    cell: a `CopiesCell` or an `ArchitectureCopiesCell`.
    """
    from attention_phases.amp.stability import gains, gains_of_columns, settling_distance
    from attention_phases.theory import follow

    task, form, points, quadrature, rows = cell.task, cell.architecture, cell.points, cell.quadrature, []
    for branch in cell.branches:
        for alpha, solution in follow(task, branch, cell.alphas, points, **quadrature, architecture=form).items():
            row = {"what": branch, "alpha": alpha}
            if form == STANDARD:
                distances, factors = gains(task, alpha, solution.overlaps, GAIN_POINTS * points, **quadrature)
                row |= {"replicon": solution.replicon, "replicon_error": solution.stderr["replicon"]}
            else:
                distances, factors = gains_of_columns(task, form, alpha, solution.overlaps, points, cell.scrambles)
            apart = settling_distance(distances, factors)
            rows.append(row | {"apart": apart.value, "apart_error": apart.error, "resolved": distances[-1]})
    return rows


@dataclass(frozen=True)
class MessagePassingCell(OnData):
    """A cell (one unit of an experiment) that runs message passing from one start.

    Columns:
        what: what the row is about
            - settled: whether the damped iteration settles
            - contraction: how a small perturbation of its fixed point shrinks
            - copies: distance that remains between two copies from different starts
        settled: whether the iteration reached relative changes of 1e-12
        change [1]: relative change of the weights in the last iteration
        iteration: number of iterations after the perturbation
        distance [1]: distance of the perturbed weights from the fixed point, divided by the distance at the start
        damping [1]: share of the old state that is kept
        width [1]: width of the average of the response, in units of the fields' root mean square; 0 is the derivative
        apart [1]: distance between two copies, divided by the size of Q
    """

    kind = Kind(
        measure,
        # Perturbations begin at a size of 1e-5, far above rounding errors of 1e-12. Damped copies that do not settle
        # amplify rounding errors slowly. Therefore the distance between such copies differs from run to run, but their
        # overlaps agree up to the fluctuations at d = 1000. Copies without damping forget their starts and may diverge.
        {"distance": (1e-3, 1e-6), "q": (0.1, 0), "m": (0, 0.02), "theta": (0, 0.01), "V": (0.1, 0)},
        dict.fromkeys(("change", "apart"), "belongs to one run, because the iteration does not settle"),
        unsettled=("damping", 0.0),
    )

    start: str


class CopiesCell(LineCell):
    """A cell (one unit of an experiment) that predicts the final distance between two runs of message passing.

    The prediction is from theory, at several alphas.

    Columns:
        apart [1]: distance between two copies, divided by the size of Q
        resolved [1]: smallest distance that was tested
    """

    architecture, branches = STANDARD, INFORMED
    kind = LineCell.kind._replace(
        worker=copies_line, tolerances=LineCell.kind.tolerances | {"apart": (1e-2, 0), "apart_error": (0.1, 0)}
    )


class ArchitectureCopiesCell(ArchitectureLineCell):
    """A cell (one unit of an experiment) that predicts the final distance between two runs of message passing.

    The prediction is from theory, at several alphas for a given architecture.

    Columns:
        apart [1]: distance between two copies, divided by the size of Q
        resolved [1]: smallest distance that was tested
    """

    kind = CopiesCell.kind


# For each omega, these alphas on the semantic branch are far above the transition or close to it. Two points on the
# positional branch are added.
RUN_ALPHAS = {0.3: (2.0, 1.5, 1.25), 0.2: (1.5, 0.95), 0.1: (1.5, 0.75), 0.02: (1.5, 0.64), 0.4: (2.0,), 0.5: (2.0,)}
RUN_POINTS = [(omega, alpha, "semantic") for omega, alphas in RUN_ALPHAS.items() for alpha in alphas]
RUN_POINTS += [(0.3, 1.5, "positional"), (0.1, 0.75, "positional")]
register(MessagePassingCell, "stability")(
    paper={"seed": range(4), "task alpha start": with_tasks(*RUN_POINTS), "d": 1000},
    laptop={"seed": range(2), "task alpha start": with_tasks(*RUN_POINTS), "d": 250},
    smoke={"seed": range(2), "task alpha start": with_tasks(*RUN_POINTS[::6]), "d": 60},
)

COPY_ALPHAS = tuple(ALPHAS[6::2])
register(CopiesCell, "copies")(
    paper={"task": tasks([0.02, 0.06, *OMEGAS[4::4]]), "alphas": COPY_ALPHAS, "points": 2**9, "scrambles": 16},
    laptop={"task": tasks(OMEGAS[4::10]), "alphas": tuple(ALPHAS[6::3]), "points": 2**8, "scrambles": 16},
    smoke={"task": tasks(OMEGAS[14:15]), "alphas": tuple(ALPHAS[12::12]), "points": 2**6, "scrambles": 16},
)
# These alphas are near alpha_c. Rank 2 has no alpha_c, so its alphas are around the onset of the semantic branch.
COPIES_OF_VARIANTS = [
    (MAP_FORMS["correlated"], (2.7,), INFORMED),
    (MAP_FORMS["untied"], (2.3,), INFORMED),
    (MAP_FORMS["rank2"], (0.75, 2.0), ("semantic",)),
    (MAP_FORMS["rank2"], (0.5,), ("positional",)),
]
VARIANT_COPIES = {"task": Task(), "architecture alphas branches": COPIES_OF_VARIANTS, "scrambles": 8}
register(ArchitectureCopiesCell, "variants_copies", VARIANT_COPIES)(
    paper={"points": 2**10}, laptop={"points": 2**8}, smoke={"points": 2**5}
)
