"""The landing page: what one more sentence costs each student at the transition, the numbers in its text, a picture."""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from attention_phases.measured import Measured
from attention_phases.theory import solve
from attention_phases.theory.branches import MINIMA
from attention_phases.theory.kernels.two_tokens import logistic, prox, teacher_targets

from ..analysis.controlled import by_dimension
from ..analysis.instances import instance_means, training_gap
from ..analysis.lines import borders_of, is_minimum
from ..analysis.thresholds import crossing
from ..published import CRITICAL_ALPHA
from ..render.style import COLOURS, styled

SEEDS = 4  # independent quadratures: their spread gives the errors
SENTENCES = 2**12  # drawn to find one whose costs are usual
SIGNS = np.array([1.0, -1.0])  # of the positional encoding
LABEL_AT, LIFT = {"semantic": 0.3, "positional": 0.62}, {"semantic": 0.16, "positional": -0.42}  # of a tangent


class Price(NamedTuple):
    """A student at one alpha, all per dimension."""

    loss: Measured  # training loss epsilon_t
    slope: Measured  # its derivative in alpha, the mean Moreau envelope: the price of one more sentence
    entry: Measured  # loss - alpha slope, where the tangent starts: what is paid beyond the slope


class Sentence(NamedTuple):
    """One sentence before and after a student is trained on it too; all but the teacher's by student."""

    y: np.ndarray  # teacher fields (2,)
    target: np.ndarray  # Y_11 and Y_22
    before: dict  # S_11 and S_22 without the sentence
    after: dict  # and with it
    misfit: dict  # the loss that is left on the sentence
    bending: dict  # what the change of the weights costs elsewhere


def students_at(task, alpha, points, seeds=SEEDS):
    """Solutions of both branches by `seeds` independent quadratures, a list of `theory.Solution` for each branch."""
    return {branch: [solve(task, alpha, branch, points, seed=seed) for seed in range(seeds)] for branch in MINIMA}


def prices(solutions, alpha):
    """`Price` of each branch from independent solutions, as `students_at` gives them."""
    return {branch: _price(students, alpha) for branch, students in solutions.items()}


def _price(students, alpha):
    losses = np.array([student.train_loss for student in students])
    slopes = np.array([student.train_slope for student in students])
    return Price(Measured.mean(losses), Measured.mean(slopes), Measured.mean(losses - alpha * slopes))


def usual_sentence(task, students, rng, sentences=SENTENCES):
    """Of many `Sentence` the one whose costs are closest to the mean costs of both students, relative to these.

    task: with an A whose rows sum to one.
    students: `theory.Solution` by branch.
    """
    y = task.sigma * rng.standard_normal((sentences, 2))
    fields = {branch: cavity_fields(task, student.overlaps, y, rng) for branch, student in students.items()}
    drawn = [one_sentence(task, y[i], {branch: w[i] for branch, w in fields.items()}, students) for i in range(len(y))]
    away = np.zeros(sentences)
    for branch, student in students.items():
        costs = np.array([sentence.misfit[branch] + sentence.bending[branch] for sentence in drawn])
        away += (costs / student.train_slope - 1) ** 2
    return drawn[int(np.argmin(away))]


def cavity_fields(task, overlaps, y, rng):
    """Fields w (n, 2) of a student that has not seen the sentences, given the teacher's y (n, 2)."""
    rho = task.sigma**2
    noise = np.sqrt(max(overlaps.q - overlaps.theta**2 / rho, 0.0)) * rng.standard_normal(y.shape)
    return overlaps.theta / rho * y + overlaps.m * SIGNS + noise


def one_sentence(task, y, fields, students):
    """`Sentence` of teacher fields y (2,) and fields (2,) of each student that has not seen it."""
    (a11, a12), (a21, a22) = task.matrix
    target = np.array(teacher_targets(*y, task.omega, a11 - a12, a22 - a21))
    variance = task.sigma**2
    before, after, misfit, bending = {}, {}, {}, {}
    for branch, w in fields.items():
        V = students[branch].overlaps.V
        h1, h2, _ = prox(*w, *target, V, variance)
        before[branch], after[branch] = _attention(*w), _attention(h1, h2)
        misfit[branch] = float(variance * ((after[branch] - target) ** 2).sum())
        bending[branch] = float(((h1 - w[0]) ** 2 + (h2 - w[1]) ** 2) / (2 * V))
    return Sentence(np.asarray(y), target, before, after, misfit, bending)


def _attention(h1, h2):
    return np.array([logistic(h1 * (h1 - h2)), logistic(h2 * (h2 - h1))])


# Words ---------------------------------------------------------------------------------------------------------------


def threshold_words(task, thresholds, begins):
    """Of both thresholds, `Measured` by kind, and of where the semantic minimum begins."""
    return {
        "omega": f"{task.omega:g}",
        "alpha_c": thresholds["critical"].text,
        "alpha_l": thresholds["linear"].text,
        "published_alpha_c": CRITICAL_ALPHA[task.omega].text,
        "begins": begins.text,
    }


def price_words(prices):
    """Of `Price` by branch, in units of 1e-3."""
    semantic, positional = (prices[branch] for branch in MINIMA)
    entry, saves = semantic.entry.value - positional.entry.value, positional.slope.value - semantic.slope.value
    words = {
        "entry_difference": f"{1e3 * entry:.3f}",
        "saves": f"{1e3 * saves:.3f}",
        "quotient": f"{entry / saves:.2f}",
    }
    for branch in MINIMA:
        for part in ("slope", "entry"):
            value, error = getattr(prices[branch], part)
            words[f"{part}_{branch}"] = Measured(1e3 * value, 1e3 * error).text
    return words


def overlap_words(students, variance):
    """Of both students' own overlaps at the transition."""
    return {
        "theta_at_c": f"{students['semantic'].overlaps.theta / variance:.2f}",
        "m_at_c": f"{students['positional'].overlaps.m / variance:.2f}",
    }


def sentence_words(sentence):
    """Of a `Sentence`: shares in per cent, prices in units of 1e-3."""
    words = {f"y{a + 1}": f"{sentence.y[a]:.2f}".replace("-", "−") for a in range(2)}
    shares = {"Y": sentence.target}
    for branch in MINIMA:
        shares |= {f"{branch}_before": sentence.before[branch], f"{branch}_after": sentence.after[branch]}
        misfit, bending = sentence.misfit[branch], sentence.bending[branch]
        for name, value in (("misfit", misfit), ("bending", bending), ("pays", misfit + bending)):
            words[f"{branch}_{name}"] = f"{1e3 * value:.2f}"
    return words | {f"{name}{a + 1}": f"{100 * share[a]:.1f}" for name, share in shares.items() for a in range(2)}


def student_words(line, trained):
    """Of students trained at one omega from both starts by one optimiser, and of theory at its largest alpha."""
    means, last = instance_means(trained), line["alpha"][line["what"] == "semantic"].max()
    words = {
        "students_alpha_c": crossing(training_gap(trained), np.random.default_rng(0)).text,
        "data_sets": str(trained["seed"].nunique()),
        "dimension": str(trained["d"].iloc[0]),
        "last_alpha": f"{last:g}",
        "test_baseline": f"{1e3 * line.loc[line['what'] == 'baseline', 'test_mse'].iloc[0]:.2f}",
    }
    for branch in MINIMA:
        theory = line.loc[(line["what"] == branch) & (line["alpha"] == last), "test_mse"].iloc[0]
        words[f"test_{branch}"] = f"{1e3 * theory:.2f}"
        words[f"trained_test_{branch}"] = f"{1e3 * means.loc[(branch, last), 'test_mse']:.2f}"
    return words


def crossing_words(close):
    """Of the experiment "crossing" at one omega: students in several dimensions, close to where their losses cross."""
    crossings, limits = by_dimension(close)
    dimensions = crossings.index.get_level_values("d")
    return {
        "close_pairs": f"{crossings['data_sets'].sum():,}",
        "close_dimensions": f"{dimensions.min()} to {dimensions.max()}",
        "limit_alpha_c": Measured(*limits.iloc[0][["alpha", "alpha_error"]]).text,
    }


# Picture -------------------------------------------------------------------------------------------------------------


@styled
def draw_prices(line, omega, prices, alpha_c, alpha_l):
    """Training losses of both minima over alpha, and their tangents at the transition, which start at the entry prices.

    line: rows of theory at this omega.
    prices: `Price` by branch at `alpha_c`.
    """
    borders = borders_of(line)
    figure, axes = plt.subplots(figsize=(7.2, 4.6))
    for branch in MINIMA:
        rows = line[line["what"] == branch].sort_values("alpha")
        rows = rows[is_minimum(borders, branch, omega, rows["alpha"])]
        axes.plot(rows["alpha"], 1e3 * rows["train_loss"], color=COLOURS[branch], linewidth=2.4)
        _draw_tangent(axes, branch, prices[branch])
    _explain(axes, prices, alpha_c, alpha_l)
    axes.set(xlim=(0, 2.02), ylim=(-0.25, 4.9), xlabel=r"sentences per dimension $\alpha$")
    axes.set_ylabel(r"training loss $\epsilon_t$, in $10^{-3}$")
    return figure


def _draw_tangent(axes, branch, price):
    colour = COLOURS[branch]
    slope, entry = 1e3 * price.slope.value, 1e3 * price.entry.value
    axes.plot((0, 2), (entry, entry + 2 * slope), "--", color=colour, linewidth=1.1)
    axes.plot(0, entry, "o", color=colour, clip_on=False, markersize=7)
    at = LABEL_AT[branch]
    place = (at, entry + at * slope + LIFT[branch])
    turned = {"rotation": np.degrees(np.arctan(slope)), "transform_rotates_text": True, "rotation_mode": "anchor"}
    axes.annotate(f"{branch}: {slope:.2f} a sentence", place, color=colour, **turned)


def _explain(axes, prices, alpha_c, alpha_l):
    connector = {"arrowstyle": "-", "color": "black"}
    low, high = (1e3 * prices[branch].entry.value for branch in ("positional", "semantic"))
    axes.annotate("", (0.03, high), (0.03, low), arrowprops=connector | {"arrowstyle": "<->"})
    axes.annotate(f"entry price {high - low:.2f}", (0.04, 0.3), (0.3, -0.05), arrowprops=connector)
    loss = 1e3 * np.mean([price.loss.value for price in prices.values()])
    axes.plot(alpha_c, loss, "o", color="black", markersize=8)
    text = rf"$\alpha_c$ = {alpha_c:.2f}: the valleys" "\nare equally deep"
    axes.annotate(text, (alpha_c, loss), (alpha_c - 0.05, loss + 1.05), ha="right", arrowprops=connector)
    axes.axvline(alpha_l, color="black", linewidth=1, linestyle=":")
    text = rf"$\alpha_l$ = {alpha_l:.2f}: semantic" "\npredicts as well as\nthe linear model"
    axes.text(alpha_l + 0.02, 0.05, text, fontsize=11)
