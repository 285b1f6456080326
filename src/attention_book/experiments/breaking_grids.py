"""The cells of what theory may lack: one step of replica symmetry breaking, and the published quadrature."""

from attention_phases.task import Task

from ..published import CRITICAL_ALPHA, LINEAR_ALPHA
from .cells import OneStepCell, OneStepThresholdsCell, RuleCell

# From omega = 0.2 Phi gains so little that its maximum is not seen with the usual number of points.
MANY = 2**14
OMEGAS = {
    "paper": {2**12: (0.02, 0.04, 0.06, 0.1, 0.14), MANY: (0.2, 0.3, 0.4, 0.45)},
    "laptop": {2**9: (0.1, 0.3)},
    "smoke": {2**9: (0.1,)},
}
ALTERNATIVE = {
    "paper": ((0.02, 0.04, 0.06, 0.1, 0.14, 0.2), 2**12),
    "laptop": ((0.06,), 2**9),
    "smoke": ((0.06,), 2**9),
}
SHOWN = ((0.1, 0.75), (0.02, 0.64))  # omega, alpha
# y, conjugate to the risk: around the inverse of the training loss, that is some hundreds.
YS = {"paper": (100.0, 200.0, 400.0, 800.0, 1600.0), "laptop": (100.0, 300.0, 900.0), "smoke": (300.0,)}


def one_step(profile):
    """Both thresholds with one step of breaking over omega."""
    return [
        _ground_states("one_step", Task(omega=omega), points, profile)
        for points, omegas in OMEGAS[profile].items()
        for omega in omegas
    ]


def one_step_alternative(profile):
    """Both thresholds with one step of breaking at small omega, alternative A."""
    omegas, points = ALTERNATIVE[profile]
    tasks = [Task(omega=omega, matrix="alternative") for omega in omegas]
    return [_ground_states("one_step_alternative", task, points, profile) for task in tasks]


def one_step_valleys(profile):
    """Phi, e and Sigma along y, and the ground state, of both branches at two points close to the transition."""
    shown, points = {
        "paper": (SHOWN, 2**12),
        "laptop": (SHOWN[:1], 2**8),
        "smoke": (SHOWN[:1], 2**8),
    }[profile]
    return [
        OneStepCell(
            "one_step_valleys", alpha=alpha, branch=branch, ys=YS[profile], points=points,
            scrambles=SCRAMBLES[profile], seed=0, task=Task(omega=omega),
        )
        for omega, alpha in shown
        for branch in ("semantic", "positional")
    ]  # fmt: skip


SCRAMBLES = {"paper": 16, "laptop": 8, "smoke": 4}


def _ground_states(experiment, task, points, profile):
    return OneStepThresholdsCell(experiment, points=points, scrambles=SCRAMBLES[profile], seed=0, task=task)


def published_rule(profile):
    """Both thresholds on the 144 points, at the published omega."""
    omegas, points = {
        "paper": (sorted({*CRITICAL_ALPHA, *LINEAR_ALPHA}), 2**11),
        "laptop": ((0.1, 0.3), 2**10),
        "smoke": ((0.3,), 2**8),
    }[profile]
    size = {"points": points, "scrambles": SCRAMBLES[profile], "seed": 0}
    return [RuleCell("published_rule", **size, task=Task(omega=omega)) for omega in omegas]


ALL = (published_rule, one_step, one_step_alternative, one_step_valleys)
