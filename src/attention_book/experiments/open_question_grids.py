"""The cells of what the paper leaves open: many starts in one valley, and message passing on data."""

from attention_phases.task import Task

from .cells import MessagePassingCell, ValleyCell

# omega, alpha, valley, and noise of the starts, which around the teacher is of the size of Q*.
VALLEYS = (
    (0.3, 1.5, "positional", 0.01),
    (0.3, 1.5, "positional", 0.03),
    (0.3, 1.5, "positional", 0.1),
    (0.3, 1.5, "positional", 0.3),
    (0.3, 1.5, "semantic", 1.0),
    (0.1, 0.75, "positional", 0.1),
    (0.1, 0.75, "semantic", 1.0),
)


# omega, alpha, start: the semantic branch far above the transition and close to it, and the positional one.
PASSED = (
    (0.3, 2.0, "semantic"),
    (0.3, 1.5, "semantic"),
    (0.3, 1.25, "semantic"),
    (0.2, 1.5, "semantic"),
    (0.2, 0.95, "semantic"),
    (0.1, 1.5, "semantic"),
    (0.1, 0.75, "semantic"),
    (0.02, 1.5, "semantic"),
    (0.02, 0.64, "semantic"),
    (0.4, 2.0, "semantic"),
    (0.5, 2.0, "semantic"),
    (0.3, 1.5, "positional"),
    (0.1, 0.75, "positional"),
)


def landscape(profile):
    """Many starts in one valley, on one data set; the noise of the starts is varied at omega = 0.3."""
    seeds, d, count = {"paper": (4, 1000, 100), "laptop": (2, 500, 30), "smoke": (2, 60, 6)}[profile]
    return [
        ValleyCell("landscape", alpha=alpha, d=d, seed=seed, valley=valley, noise=noise, count=count, task=task)
        for seed in range(seeds)
        for omega, alpha, valley, noise in VALLEYS
        for task in [Task(omega=omega)]
    ]


def stability(profile):
    """Message passing on several data sets at several alpha and omega: how it converges, and whether."""
    seeds, d, where = {"paper": (4, 1000, PASSED), "laptop": (2, 250, PASSED), "smoke": (2, 60, PASSED[::6])}[profile]
    return [
        MessagePassingCell("stability", alpha=alpha, d=d, seed=seed, start=start, task=Task(omega=omega))
        for seed in range(seeds)
        for omega, alpha, start in where
    ]


ALL = (landscape, stability)
