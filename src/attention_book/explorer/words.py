"""Every number in the text of the landing page, as the page writes it."""

import numpy as np

from attention_phases.measured import with_error
from attention_phases.theory.branches import MINIMA

from ..analysis.controlled import by_dimension
from ..analysis.instances import instance_means, training_gap
from ..analysis.thresholds import crossing
from ..published import CRITICAL_ALPHA
from .interpolation import left_out
from .nodes import QUANTITIES


def threshold_words(task, thresholds, begins):
    """Of both thresholds, (alpha, stderr) by kind, and of where the semantic minimum begins."""
    return {
        "omega": f"{task.omega:g}",
        "alpha_c": with_error(*thresholds["critical"]),
        "alpha_l": with_error(*thresholds["linear"]),
        "published_alpha_c": CRITICAL_ALPHA[task.omega].text,
        "begins": with_error(*begins),
    }


def price_words(prices):
    """Of `analysis.prices.Price` by branch, in units of 1e-3."""
    semantic, positional = (prices[branch] for branch in MINIMA)
    entry, saves = semantic.entry[0] - positional.entry[0], positional.slope[0] - semantic.slope[0]
    words = {
        "entry_difference": f"{1e3 * entry:.3f}",
        "saves": f"{1e3 * saves:.3f}",
        "quotient": f"{entry / saves:.2f}",
    }
    for branch in MINIMA:
        for part in ("slope", "entry"):
            value, error = getattr(prices[branch], part)
            words[f"{part}_{branch}"] = _signed(with_error(1e3 * value, 1e3 * error))
    return words


def overlap_words(overlaps, variance):
    """Of the overlaps of both students at the transition."""
    return {
        "theta_at_c": f"{overlaps['semantic'].theta / variance:.2f}",
        "m_at_c": f"{overlaps['positional'].m / variance:.2f}",
    }


def sentence_words(sentence):
    """Of an `analysis.prices.Sentence`: shares in per cent, prices in units of 1e-3."""
    words = {f"y{a + 1}": _signed(f"{sentence.y[a]:.2f}") for a in range(2)}
    shares = {"Y": sentence.target}
    for branch in MINIMA:
        shares |= {f"{branch}_before": sentence.before[branch], f"{branch}_after": sentence.after[branch]}
        misfit, bending = sentence.misfit[branch], sentence.bending[branch]
        for name, value in (("misfit", misfit), ("bending", bending), ("pays", misfit + bending)):
            words[f"{branch}_{name}"] = f"{1e3 * value:.2f}"
    return words | {f"{name}{a + 1}": f"{100 * each[a]:.1f}" for name, each in shares.items() for a in range(2)}


def student_words(line, trained):
    """Of students trained at one omega, and of theory at its largest alpha.

    Parameters
    ----------
    line : pandas.DataFrame
        Rows of `theory_lines.standard_line`.
    trained : pandas.DataFrame
        Results of both starts, of one optimiser.
    """
    means, last = instance_means(trained), line["alpha"][line["what"] == "semantic"].max()
    words = {
        "students_alpha_c": with_error(*crossing(training_gap(trained), np.random.default_rng(0))),
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
    """Of students trained in several dimensions at one omega, close to where their losses cross.

    Parameters
    ----------
    close : pandas.DataFrame
        Rows of the experiment "crossing".
    """
    crossings, limits = by_dimension(close)
    limit = limits.iloc[0]
    dimensions = crossings.index.get_level_values("d")
    return {
        "close_pairs": f"{crossings['data_sets'].sum():,}",
        "close_dimensions": f"{dimensions.min()} to {dimensions.max()}",
        "limit_alpha_c": with_error(limit["alpha"], limit["alpha_error"]),
    }


def interpolation_words(branches, variance):
    """By how much the nodes are missed that the interpolation is not given: half of them by less, 95 % of them by less.

    Parameters
    ----------
    branches : list of (list of Nodes, callable)
        With a function that says of an omega and its alphas which of these are minima.
    variance : float
        sigma^2.
    """
    missed = {"train_loss": [], "test_mse": [], "own2": []}
    for nodes, minima in branches:
        for line, misses in zip(nodes, left_out(nodes)):
            tried = (misses[:, 0] > 0) & minima(line.omega, line.alpha)
            for name, found in missed.items():
                column = QUANTITIES.index(name)
                # An overlap over sigma^2 is missed by the miss of its square over twice itself.
                scale = 2 * np.sqrt(line.values[tried, column]) * variance if name == "own2" else 1
                found += (misses[tried, column] / scale).tolist()
    return {
        f"missed_{name}_{word}": _power(np.quantile(each, share))
        for name, each in missed.items()
        for word, share in (("median", 0.5), ("most", 0.95))
    }


def _signed(text):
    return text.replace("-", "−")


def _power(value):
    """Such as 2·10⁻⁵."""
    digits, power = f"{value:.0e}".split("e")
    return f"{digits}·10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
