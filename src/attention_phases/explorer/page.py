"""What the landing page takes from the library: the explorer's script, the picture, and every number in its text."""

import json
from hashlib import sha256
from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np

from ..analysis.instances import crossing, instance_means, training_gap
from ..analysis.prices import prices, students_at, usual_sentence
from ..experiments.results import experiment
from ..figures.prices import prices as draw
from ..paths import DATA, ROOT
from ..published import CRITICAL_ALPHA, with_error
from ..sweep.provenance import code_digest
from ..task import Task
from .interpolation import left_out
from .minima import BRANCHES, borders
from .nodes import branch_nodes
from .script import EXPERIMENTS, data_script

KEPT = ROOT / "_build" / "explorer"
READ = ("fig02", *EXPERIMENTS.values())
POINTS = 2**11  # quadrature points a scramble, in each of four quadratures
SCRIPT, WORDS, PICTURE = "explorer-data.js", "landing.json", "why-{theme}.svg"


def pieces():
    """Folder with the pieces of the landing page, made unless code and data are those that made it.

    Returns
    -------
    Path
        Has `SCRIPT`, `WORDS` (a JSON object of texts by name) and `PICTURE` for the themes "light" and "dark".
    """
    digest = sha256(code_digest(__name__).encode())
    for name in READ:
        digest.update((DATA / f"{name}.parquet").read_bytes())
    folder = KEPT / digest.hexdigest()[:12]
    if not (folder / WORDS).exists():  # the last one to be written
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SCRIPT).write_text(data_script())
        words = _why(folder) | _interpolation()
        (folder / WORDS).write_text(json.dumps(words, indent=1))
    return folder


def _why(folder):
    """Draw both pictures; texts of the three results, of the prices and of the sentence."""
    task = Task()
    lines = experiment("fig03_theory", "paper", quiet=True)
    here = lines[np.isclose(lines["omega"], task.omega)]
    at = {kind: tuple(here.loc[here["what"] == kind, ["alpha", "alpha_error"]].iloc[0]) for kind in ("critical", "linear")}
    begins = borders(lines)["semantic"].loc[task.omega]
    alpha_c, alpha_l = at["critical"][0], at["linear"][0]
    students = students_at(task, alpha_c, POINTS)
    paid = prices(students, alpha_c)
    for theme in ("light", "dark"):
        figure, text = draw(_curves(here, begins["alpha"]), paid, alpha_c, alpha_l, theme), BytesIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
        plt.close(figure)
        (folder / PICTURE.format(theme=theme)).write_bytes(text.getvalue())
    return {
        "omega": f"{task.omega:g}",
        "alpha_c": with_error(*at["critical"]),
        "alpha_l": with_error(*at["linear"]),
        "published_alpha_c": CRITICAL_ALPHA[task.omega].text,
        "begins": with_error(begins["alpha"], begins["alpha_error"]),
        **_price_words(paid, alpha_c),
        **_overlap_words({branch: some[0].overlaps for branch, some in students.items()}, task.sigma**2),
        **_sentence_words(usual_sentence(task, {b: some[0] for b, some in students.items()}, np.random.default_rng(0))),
        **_student_words(here),
    }


def _curves(lines, begins):
    found = {}
    for branch in BRANCHES:
        rows = lines[lines["what"] == branch].sort_values("alpha")
        rows = rows[rows["alpha"] >= begins] if branch == "semantic" else rows
        found[branch] = rows["alpha"].to_numpy(), rows["train_loss"].to_numpy()
    return found


def _price_words(paid, alpha_c):
    """Prices in units of 1e-3."""
    semantic, positional = (paid[branch] for branch in BRANCHES)
    saves = positional.slope[0] - semantic.slope[0]
    return {
        **{f"slope_{branch}": with_error(*(1e3 * np.array(paid[branch].slope))) for branch in BRANCHES},
        **{f"entry_{branch}": with_error(*(1e3 * np.array(paid[branch].entry))).replace("-", "−") for branch in BRANCHES},
        "entry_difference": f"{1e3 * (semantic.entry[0] - positional.entry[0]):.2f}",
        "saves": f"{1e3 * saves:.2f}",
        "quotient": f"{(semantic.entry[0] - positional.entry[0]) / saves:.2f}",
    }


def _overlap_words(overlaps, variance):
    return {
        "theta_at_c": f"{overlaps['semantic'].theta / variance:.2f}",
        "m_at_c": f"{overlaps['positional'].m / variance:.2f}",
    }


def _sentence_words(sentence):
    """Of the worked sentence; shares in per cent, prices in 1e-3."""
    signed = lambda value: f"{value:.2f}".replace("-", "−")  # noqa: E731
    words = {f"y{a + 1}": signed(sentence.y[a]) for a in range(2)}
    words |= {f"Y{a + 1}": f"{100 * sentence.target[a]:.0f}" for a in range(2)}
    for branch in BRANCHES:
        words |= {f"{branch}_before{a + 1}": f"{100 * sentence.before[branch][a]:.0f}" for a in range(2)}
        words |= {f"{branch}_after{a + 1}": f"{100 * sentence.after[branch][a]:.0f}" for a in range(2)}
        misfit, bending = (1e3 * getattr(sentence, part)[branch] for part in ("misfit", "bending"))
        words |= {
            f"{branch}_misfit": f"{misfit:.2f}",
            f"{branch}_bending": f"{bending:.2f}",
            f"{branch}_pays": f"{misfit + bending:.2f}",
        }
    return words


def _student_words(lines):
    """Of the trained students of Figure 2, and of theory at its largest alpha."""
    trained = experiment("fig02", "paper", quiet=True)
    trained = trained[trained["optimizer"] == "lbfgs"]
    means = instance_means(trained)
    last = lines["alpha"][lines["what"] == "semantic"].max()
    at_last = {branch: lines[(lines["what"] == branch) & (lines["alpha"] == last)].iloc[0] for branch in BRANCHES}
    return {
        "students_alpha_c": with_error(*crossing(training_gap(trained), np.random.default_rng(0))),
        "data_sets": str(trained["seed"].nunique()),
        "dimension": str(trained["d"].iloc[0]),
        "last_alpha": f"{last:g}",
        **{f"test_{branch}": f"{1e3 * row['test_mse']:.2f}" for branch, row in at_last.items()},
        **{f"trained_test_{branch}": f"{1e3 * means.loc[(branch, last), 'test_mse']:.2f}" for branch in BRANCHES},
        "test_baseline": f"{1e3 * lines.loc[lines['what'] == 'baseline', 'test_mse'].iloc[0]:.2f}",
    }


def _interpolation():
    """By how much nodes are missed that the interpolation is not given: the median, and 95 per cent of them."""
    missed = {"train_loss": [], "test_mse": [], "overlap": []}
    for name in EXPERIMENTS.values():
        lines = experiment(name, "paper", quiet=True)
        limits, variance = borders(lines), Task().sigma ** 2
        for branch in BRANCHES:
            nodes = branch_nodes(lines, branch)
            for line, each in zip(nodes, left_out(nodes)):
                edge = limits[branch]["alpha"].get(line.omega)
                inside = slice(None) if edge is None else line.alpha > edge if branch == "semantic" else line.alpha < edge
                values, each = line.values[inside], each[inside]
                keep = (each[:, 0] > 0) & (values[:, 3] > 0)
                missed["train_loss"] += each[keep, 0].tolist()
                missed["test_mse"] += each[keep, 1].tolist()
                missed["overlap"] += (each[keep, 3] / (2 * np.sqrt(values[keep, 3])) / variance).tolist()
    return {f"missed_{name}_{word}": _power(np.quantile(each, share))
            for name, each in missed.items() for word, share in (("median", 0.5), ("most", 0.95))}  # fmt: skip


def _power(value):
    """Such as 2·10⁻⁵."""
    digits, power = f"{value:.0e}".split("e")
    return f"{digits}·10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
