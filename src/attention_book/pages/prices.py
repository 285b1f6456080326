"""The landing page: what each student's training loss is made of, the numbers in the text, a picture."""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from attention_phases.measured import Measured
from attention_phases.theory import solve
from attention_phases.theory.baseline import STUDENTS, end, floors, lasting_end
from attention_phases.theory.branches import MINIMA
from attention_phases.theory.optimal import thresholds_of_learning

from ..analysis.instances import by_dimension, training_gap
from ..analysis.thresholds import alpha_of, crossing
from ..published import CRITICAL_ALPHA
from ..render.style import COLOURS, styled

SEEDS = 4  # independent quadratures: their spread gives the errors
BARS = {"semantic": -0.2, "positional": 0.2}  # where beside an alpha


class Account(NamedTuple):
    """What a student pays at one alpha, per dimension: its training loss is the ridge penalty and alpha misfits."""

    loss: Measured
    ridge: Measured  # penalty on the weights, lambda q/(2 sigma^2)
    misfit: Measured  # of one training sentence
    bending: Measured  # what moving the weights towards one sentence costs on the others and in the penalty
    unseen: Measured  # misfit of one new sentence, the test error


def students_at(task, alpha, points):
    """Solutions of both branches by `SEEDS` independent quadratures, a list of `theory.Solution` for each branch."""
    students = {}
    for branch in MINIMA:
        first = solve(task, alpha, branch, points)
        others = [solve(task, alpha, branch, points, seed=seed, start=first.overlaps) for seed in range(1, SEEDS)]
        students[branch] = [first, *others]
    return students


def account(task, solutions):
    """`Account` of a student from independent solutions at one alpha; A has rows that sum to one."""
    rows = []
    for solution in solutions:
        ridge = task.lam * solution.overlaps.q / (2 * task.sigma**2)
        misfit = (solution.train_loss - ridge) / solution.alpha
        # The derivative of the loss in alpha is the mean Moreau envelope, misfit and bending.
        rows.append((solution.train_loss, ridge, misfit, solution.train_slope - misfit, solution.test_mse))
    return Account(*map(Measured.mean, zip(*rows)))


def words(task, line, trained, close, accounts, solutions):
    """The numbers of the landing page's text, by name; losses in units of 1e-3.

    line, trained: theory, and students by one optimiser from both starts, at the task's omega.
    close: students close to the crossing, at this omega.
    accounts, solutions: at alpha_c, by branch: `Account`, and a `theory.Solution`.
    """
    weak, exact = thresholds_of_learning()
    _, limits = by_dimension(close)
    thresholds = {kind: alpha_of(line, kind) for kind in ("critical", "linear")}
    prices = {
        f"{part}_{branch}": Measured(1e3 * value, 1e3 * error).text
        for branch, paid in accounts.items()
        for part, (value, error) in paid._asdict().items()
        if part != "loss"
    }
    return prices | {
        "omega": f"{task.omega:g}",
        "alpha_c": thresholds["critical"].text,
        "alpha_l": thresholds["linear"].text,
        "published_alpha_c": f"{CRITICAL_ALPHA[task.omega].value:.3f}",
        "begins": alpha_of(line, "semantic border").text,
        "theta_at_c": f"{solutions['semantic'].overlaps.theta / task.sigma**2:.2f}",
        "m_at_c": f"{solutions['positional'].overlaps.m / task.sigma**2:.2f}",
        "students_alpha_c": crossing(training_gap(trained), np.random.default_rng(0)).text,
        "data_sets": str(trained["seed"].nunique()),
        "dimension": str(trained["d"].iloc[0]),
        "last_alpha": f"{line['alpha'][line['what'] == 'positional'].max():g}",
        "limit_alpha_c": Measured(*limits.iloc[0]).text,
        **{f"end_{kind}": f"{end(task, kind).value:.3f}" for kind in thresholds},
        **{f"lasts_{name}": f"{lasting_end(task, name).value:.3f}" for name in STUDENTS},
        **{f"floor_{name}": f"{1e3 * floor:.2f}" for name, floor in floors(task).items()},
        "learns_from": f"1/{1 / weak:g}",
        "knows_from": f"1/{1 / exact:g}",
    }


def claim_words(standard, alternative, variants):
    """Of theory with either A: up to which omega losses cross; with correlated tokens: where alpha_l is first."""
    critical, linear = (
        variants[(variants["what"] == what) & (variants["correlation"] > 0)].set_index("omega")["alpha"]
        for what in ("critical", "linear")
    )
    first = linear.index[linear < critical.reindex(linear.index)]
    lines = {"crosses_to": standard, "alternative_crosses_to": alternative}
    last = {name: line.loc[line["what"] == "critical", "omega"].max() for name, line in lines.items()}
    return {name: f"{omega:g}" for name, omega in {"linear_first_to": first.max(), **last}.items()}


@styled
def draw_accounts(accounts, names):
    """Training losses of both students as bars: the ridge penalty, and on top of it the misfit of all sentences.

    accounts: for each alpha `Account` by branch; `names` are those of the alphas.
    """
    figure, axes = plt.subplots(figsize=(7.2, 4.4))
    for place, students in enumerate(accounts):
        for branch, beside in BARS.items():
            _draw_bar(axes, place + beside, students[branch], COLOURS[branch])
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(r"training loss $\epsilon_t$, in $10^{-3}$")
    axes.set_ylim(0, 1.15e3 * max(paid.loss.value for students in accounts for paid in students.values()))
    handles = [plt.Rectangle((0, 0), 1, 1, color=COLOURS[branch], label=f"{branch} student") for branch in BARS]
    axes.legend(handles=handles, loc="upper left")
    return figure


def _draw_bar(axes, place, paid, colour):
    ridge, loss = 1e3 * paid.ridge.value, 1e3 * paid.loss.value
    axes.bar(place, ridge, 0.38, color=colour)
    axes.bar(place, loss - ridge, 0.38, bottom=ridge, color=colour, alpha=0.4)
    middle = {"ha": "center", "va": "center", "fontsize": 10}
    axes.text(place, ridge / 2, f"ridge\n{ridge:.2f}", color="white", **middle)
    axes.text(place, (ridge + loss) / 2, f"misfit\n{loss - ridge:.2f}", **middle)
    axes.text(place, loss, f"{loss:.2f}", ha="center", va="bottom")
