"""Claims of the page `fig15_random` about the stored results."""

import numpy as np
import torch
from scipy.optimize import minimize

from attention_book import SMALL_GRADIENT, crossings, test_gap
from attention_book.experiments.beyond.descents import DescentCell
from attention_book.experiments.beyond.ways_down import WAYS, lbfgs
from attention_phases import Task
from attention_phases.model import two_tokens
from attention_phases.training.optimizers import GD_RATE, GD_STEPS
from claims import each_holds, line, per_cent, stored

page = stored("fig15_random")
test_gap.__test__ = False  # keeps pytest from collecting it as a test


def semantic_by(optimizer):
    """Return the percentage of runs at alpha = 4 and d = 500 and 1,000 that end in the semantic valley, with errors."""
    runs = page.all_runs.query("alpha == 4 and optimizer == @optimizer and d >= 500")
    single = (runs["basin"] == "semantic").groupby([runs["d"], runs["seed"]]).mean()
    return per_cent(single.mean(), single.sem())


def semantic_shares(where):
    """Return the share of runs that end in the semantic valley, by d and alpha, and by optimiser."""
    shares = page.shares.query("basin == 'semantic'").query(where)
    return shares.pivot(index=["d", "alpha"], columns="optimizer", values="fraction")


def lead(where):
    """Return the share of runs of L-BFGS minus that of gradient descent, by d and alpha."""
    shares = semantic_shares(where)
    return shares["lbfgs"] - shares["gd"]


def steps_of(way):
    return [settings.get("steps", GD_STEPS) for method, settings in WAYS[way] if method is not lbfgs]


def lbfgs_with_least_hint():
    """Return the share of L-BFGS students that end closer to the teacher at the smallest hint, for d = 500."""
    rows = page.hints.query("way == 'lbfgs' and alpha == 2 and d == 500 and noise == 0.1")
    return (rows[rows["hint"] == rows["hint"].min()]["side"] == "semantic").mean()


def widest_change_of_hints():
    """Return the largest ratio of two hints of gradient descent or Adam that only differ in the random part."""
    half = page.hint_thresholds.loc[["gd", "adam"], "hint"].groupby(["way", "d", "alpha"])
    return (half.max() / half.min()).max()


def lead_of_sides(way):
    """Return the lead of a method over gradient descent, as a share of the lead of L-BFGS."""
    counts = page.semantic.unstack("optimizer").loc[[200, 500]].dropna(subset="rate 1.5 3 0.0")
    descent = counts["rate 1.5 3 0.0"]
    return (counts[way] - descent) / (counts["lbfgs 1 0.0"] - descent)


def growth_in_first_step(d, alpha, seed):
    """Return the factor by which SciPy's first step lengthens the weights of the usual start."""
    cell = DescentCell("descents", Task(), alpha, d, seed, way="lbfgs")
    rng = cell.rng()
    data = two_tokens.sample(cell.task, alpha, d, rng)
    start = cell.noise * torch.from_numpy(rng.standard_normal(d))

    def risk(weights):
        value, gradient = two_tokens.risk(data.double(), torch.from_numpy(weights)[None], cell.task.lam)
        return value.item(), gradient[0].numpy()

    options = {"maxiter": 1, "maxcor": 20}
    return np.linalg.norm(minimize(risk, start.numpy(), jac=True, method="L-BFGS-B", options=options).x) / start.norm()


def places_of_largest_effect():
    """Return where larger weights bring more students to the side of the teacher than every other change."""
    others = ["gd longer 3 0.0", "momentum 3 0.0", "minibatches, rate 1.5 2 0.0", "rate 3 3 0.0"]
    larger, best = page.side_counts["gd, larger 1 0.0"], page.semantic[others].groupby(["d", "alpha"]).max()
    return [place for place in larger.index if larger[place] > best[place]]


CLAIMS = {
    r"gradient descent mostly misses the deeper valley": lambda: (
        semantic_shares("alpha >= 1.5 and d >= 200")["gd"].max() < 0.1
        and (semantic_shares("alpha >= 1.5")["gd"] > 0.5).sum() == 1
    ),
    r"From $\alpha=2$ on, L-BFGS finds the semantic valley more often than gradient descent does, in every": lambda: (
        len(lead("alpha >= 2")) == 15 and (lead("alpha >= 2") > 0).all()
    ),
    "L-BFGS finds the semantic valley in 58(5) % of its runs, Adam in 21(7) %, and "
    "gradient descent in 1(1) %": lambda: (
        [semantic_by(optimizer) for optimizer in ("lbfgs", "adam", "gd")] == [(58, 5), (21, 7), (1, 1)]
    ),
    r"With L-BFGS, half of these runs come to rest in neither valley": lambda: (
        (page.all_runs.query("alpha == 1.5 and d == 1000 and optimizer == 'lbfgs'")["basin"] == "neither").mean() == 0.5
    ),
    r"At $\alpha=4$ the lead of L-BFGS over gradient descent is largest in large dimensions": lambda: (
        set(lead("alpha == 4").nlargest(2).index) == {(500, 4), (1000, 4)}
    ),
    r"At $\alpha=1.5$ and $d=1000$, no run of the three optimisers ends in the semantic valley": lambda: (
        page.all_runs.query("alpha == 1.5 and d == 1000 and basin == 'semantic'").empty
    ),
    r"compares the usual small random weights with random weights four times as large": lambda: (
        set(page.descents.query("way in ('rate 1.5, larger', 'gd, larger')")["noise"]) == {4 * DescentCell.noise}
    ),
    r"For gradient descent the size of the starting weights matters most**, except at $d=200$ and $\alpha=4$": lambda: (
        places_of_largest_effect() == [(200, 2), (500, 2), (500, 4)]
    ),
    r"So the value for gradient descent only shows what is left of the start at the teacher": lambda: (
        crossings(page.penalties.query("lam == 0.001 and optimizer == 'gd'"), test_gap, "lam")["alpha"].item() < 1 / 6
    ),
    r"At the published rate, too, more students end closer to the teacher": lambda: (
        page.side_counts["gd, larger 1 0.0"] > page.side_counts["gd 1 0.0"]
    ).all(),
    r"at $\alpha=2$ most of these students are still moving after 5,000 steps": lambda: (
        page.further_runs.query("way == 'gd, larger' and alpha == 2 and side == 'semantic'")["grad_norm"].median()
        > SMALL_GRADIENT
    ),
    r"larger weights increase the number of students closer to the teacher in all four cases, and by the smallest "
    r"factor at $d=200$ and $\alpha=4$": lambda: (
        len(ratios := page.side_counts["rate 1.5, larger 3 0.0"] / page.side_counts["rate 1.5 3 0.0"]) == 4
        and ratios.min() > 1
        and ratios.idxmin() == (200, 4)
    ),
    r"At $d=500$ these runs reach the semantic valley as often as L-BFGS does from the small weights": lambda: (
        page.rest_counts["rate 1.5, larger 3 0.0"].loc[500] == page.rest_counts["lbfgs 1 0.0"].loc[500]
    ).all(),
    r"Its first step makes the weights about three to five times as large": lambda: all(
        2.9 < growth_in_first_step(d, alpha, seed) < 5 for d, alpha in page.rest_counts.index for seed in range(3)
    ),
    r"than with a line search that only shortens steps": lambda: all(
        page.semantic["capped 1 0.0", 200, alpha] > page.semantic["backtracking 1 0.0", 200, alpha] for alpha in (2, 4)
    ),
    r"after 10 steps of gradient descent": lambda: steps_of("lbfgs after 10") == [10],
    r"after 100 steps of gradient descent": lambda: steps_of("lbfgs after 100") == [100],
    r"after 1,000 steps of gradient descent": lambda: steps_of("lbfgs after 1000") == [1000],
    r"as published, 5,000 steps": lambda: steps_of("gd longer")[0] == GD_STEPS == 5000,
    r"With ten times the published rate, gradient descent needs a tenth of the steps": lambda: (
        [settings.get("rate", GD_RATE) for way in ("rate 1.5", "gd longer") for _, settings in WAYS[way]]
        == [10 * GD_RATE] * 3 + [GD_RATE] * 3
        and [10 * steps for steps in steps_of("rate 1.5")] == steps_of("gd longer")
    ),
    r"80,000 steps": lambda: sum(steps_of("gd longer")) == 80_000,
    r"10 times the rate, 500 steps": lambda: steps_of("rate 1.5")[0] == 500,
    r"10 times the rate, 8,000 steps": lambda: sum(steps_of("rate 1.5")) == 8000,
    r"5,000 steps, then 15,000 on all data": lambda: steps_of("minibatches") == [5000, 15_000],
    r"If a hundred steps of gradient descent come first, L-BFGS loses most of its lead": lambda: (
        lead_of_sides("lbfgs after 100 2 0.0") < 0.3
    ).all(),
    r"If only ten steps of gradient descent come first, L-BFGS keeps most of its lead": lambda: (
        lead_of_sides("lbfgs after 10 2 0.0") > 0.6
    ).all(),
    r"At ten times the rate and $\alpha=4$, minibatches bring more students to the side of the teacher": lambda: all(
        page.semantic["minibatches, rate 1.5 2 0.0", d, 4] > page.semantic["rate 1.5 3 0.0", d, 4] for d in (200, 500)
    ),
    r"bring more students to the side of the teacher at $d=200$ and $\alpha=4$. At $\alpha=2$ more steps do not "
    r"increase this number": lambda: (
        [page.semantic[f"gd longer {leg} 0.0", 200, 4] for leg in (1, 2, 3)] == [4, 12, 16]
        and page.semantic["gd longer 3 0.0", 200, 2] == page.semantic["gd longer 1 0.0", 200, 2]
        and page.semantic["rate 1.5 3 0.0", 500].equals(page.semantic["rate 1.5 1 0.0", 500])
    ),
    r"With $h=0.1$ and $\varepsilon=0.1$ the start has a cosine of 0.7 with the teacher": lambda: (
        round(0.1 / np.hypot(0.1, 0.1), 1) == 0.7
    ),
    r"At $d=500$ every student with this start ends on the side of the teacher": lambda: (
        set(page.hints.query("hint == 0.1 and noise == 0.1 and d == 500")["side"]) == {"semantic"}
    ),
    r"For L-BFGS a hint of less than 0.01 is sufficient": lambda: (
        page.hint_thresholds.loc["lbfgs", 500, 2.0, 0.1][["hint"]].isna().all() and lbfgs_with_least_hint() > 0.5
    ),
    r"by at most a factor of about two": lambda: 1.5 < widest_change_of_hints() < 2.5,
    r"beyond $\alpha_c=1.25$": lambda: round(line("fig03_theory", "critical")[0.3], 2) == 1.25,
}
test_claims = each_holds("fig15_random", CLAIMS)
