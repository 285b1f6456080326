"""What `fig15_random` says of the stored results."""

import numpy as np
import torch
from scipy.optimize import minimize

from attention_book.analysis.arrivals import SMALL_GRADIENT
from attention_book.experiments.beyond.descents import DescentCell
from attention_book.experiments.beyond.ways_down import WAYS, lbfgs
from attention_phases import Task
from attention_phases.model import two_tokens
from attention_phases.training.optimizers import GD_RATE, GD_STEPS
from claims import each_holds, line, per_cent, stored

page = stored("fig15_random")


def semantic_by(optimizer, alpha=4):
    """Per cent of the runs in dimension 500 and 1,000 that end in the semantic valley; error over data sets."""
    runs = page.many.query("alpha == @alpha and optimizer == @optimizer and d >= 500")
    single = (runs["basin"] == "semantic").groupby([runs["d"], runs["seed"]]).mean()
    return per_cent(single.mean(), single.sem())


def beats_descent(optimizer):
    """Whether more of its runs end in the semantic valley than of gradient descent, from alpha = 2 on."""
    shares = page.shares.query("basin == 'semantic' and alpha >= 2")
    shares = shares.pivot(index=["d", "alpha"], columns="optimizer", values="fraction")
    return shares[optimizer] > shares["gd"]


def steps_of(way):
    return [settings.get("steps", GD_STEPS) for method, settings in WAYS[way] if method is not lbfgs]


def rates_of(way):
    return [settings.get("rate", GD_RATE) for _, settings in WAYS[way]]


def lbfgs_with_least_hint():
    """Share of the students of L-BFGS at alpha = 2 and d = 500 that end closer to the teacher with the least hint."""
    rows = page.hints.query("way == 'lbfgs' and alpha == 2 and d == 500 and noise == 0.1")
    return (rows[rows["hint"] == rows["hint"].min()]["side"] == "semantic").mean()


def widest_change_of_hints():
    """Largest ratio of two hints, of gradient descent or of Adam, that differ in the random part alone."""
    half = page.half.loc[["gd", "adam"], "hint"].groupby(["way", "d", "alpha"])
    return (half.max() / half.min()).max()


def lead_by_dimension():
    shares = page.shares.query("basin == 'semantic' and alpha == 4")
    shares = shares.pivot(index="d", columns="optimizer", values="fraction")
    return shares["lbfgs"] - shares["gd"]


def lead(way):
    """How many more students of L-BFGS come to rest in the semantic valley, by dimension and alpha."""
    return page.rests["lbfgs 1 0.0"] - page.rests[way]


def ratio_of_larger():
    """How many times as many students end closer to the teacher from larger weights, by dimension and alpha."""
    return page.sides["rate 1.5, larger 3 0.0"] / page.sides["rate 1.5 3 0.0"]


def growth_in_first_step(d, alpha, seed):
    """By how much SciPy's first step lengthens the weights of the usual start."""
    cell = DescentCell("descents", Task(), alpha, d, seed, way="lbfgs")
    rng = cell.rng()
    data = two_tokens.sample(cell.task, alpha, d, rng)
    start = cell.noise * torch.from_numpy(rng.standard_normal(d))

    def risk(weights):
        value, gradient = two_tokens.risk(data.double(), torch.from_numpy(weights)[None], cell.task.lam)
        return value.item(), gradient[0].numpy()

    options = {"maxiter": 1, "maxcor": 20}
    return np.linalg.norm(minimize(risk, start.numpy(), jac=True, method="L-BFGS-B", options=options).x) / start.norm()


CLAIMS = {
    r"L-BFGS finds the deeper valley more often than gradient descent": lambda: beats_descent("lbfgs").all(),
    r"From $\alpha=2$ on, L-BFGS ends there more often than gradient descent in every dimension": lambda: (
        len(beats_descent("lbfgs")) == 15 and beats_descent("lbfgs").all()
    ),
    "L-BFGS finds the semantic valley in 58(5) % of its runs, Adam in 21(7) %, and "
    "gradient descent in 1(1) %": lambda: (
        [semantic_by(optimizer) for optimizer in ("lbfgs", "adam", "gd")] == [(58, 5), (21, 7), (1, 1)]
    ),
    r"half of the runs by L-BFGS come to rest in neither valley": lambda: (
        (page.many.query("alpha == 1.5 and d == 1000 and optimizer == 'lbfgs'")["basin"] == "neither").mean() == 0.5
    ),
    r"At $\alpha=4$ the lead of L-BFGS over gradient descent is largest in large dimensions": lambda: (
        set(lead_by_dimension().nlargest(2).index) == {500, 1000}
    ),
    r"at $\alpha=1.5$ and $d=1000$, no run of any of the three ends there": lambda: (
        page.many.query("alpha == 1.5 and d == 1000 and basin == 'semantic'").empty
    ),
    r"random weights four times as large as the usual ones": lambda: (
        set(page.descents.query("way in ('rate 1.5, larger', 'gd, larger')")["noise"]) == {4 * DescentCell.noise}
    ),
    r"For gradient descent the size of the starting weights matters most": lambda: (
        page.rests["rate 1.5, larger 3 0.0"] > page.rests["rate 1.5 3 0.0"]
    ).all(),
    r"At the published rate, too, more students end closer to the teacher": lambda: (
        page.sides["gd, larger 1 0.0"] > page.sides["gd 1 0.0"]
    ).all(),
    r"those at $\alpha=2$ are mostly still moving": lambda: (
        (
            page.others.query("way == 'gd, larger' and alpha == 2 and side == 'semantic'")["grad_norm"] > SMALL_GRADIENT
        ).mean()
        > 0.5
    ),
    r"The effect is smallest at $d=200$ and $\alpha=4$": lambda: ratio_of_larger().idxmin() == (200, 4),
    r"gradient descent at ten times the rate ends there as often as L-BFGS if it starts": lambda: (
        lead("rate 1.5, larger 3 0.0").loc[500] == 0
    ).all(),
    r"Its first step takes the weights to about three to five times their size": lambda: all(
        2.9 < growth_in_first_step(d, alpha, seed) < 5 for d, alpha in page.rests.index for seed in range(3)
    ),
    r"This is more than if the line search only shortens the steps": lambda: all(
        page.semantic["capped 1 0.0", 200, alpha] > page.semantic["backtracking 1 0.0", 200, alpha] for alpha in (2, 4)
    ),
    r"makes the first 10 steps": lambda: steps_of("lbfgs after 10") == [10],
    r"After 100 steps of gradient descent it": lambda: steps_of("lbfgs after 100") == [100],
    r"and after 1,000 steps": lambda: steps_of("lbfgs after 1000") == [1000],
    r"There 5,000 steps bring": lambda: steps_of("gd longer")[0] == GD_STEPS == 5000,
    r"at $d=200$ in 80,000 steps": lambda: sum(steps_of("gd longer")) == 80_000,
    r"With ten times the published rate, gradient descent needs a tenth of the steps": lambda: (
        [rate for way in ("rate 1.5", "gd longer") for rate in rates_of(way)] == [10 * GD_RATE] * 3 + [GD_RATE] * 3
        and [10 * steps for steps in steps_of("rate 1.5")] == steps_of("gd longer")
    ),
    r"and 80,000 steps": lambda: sum(steps_of("gd longer")) == 80_000,
    r"to the side of the teacher after 500 steps and": lambda: steps_of("rate 1.5")[0] == 500,
    r"after 8,000.": lambda: sum(steps_of("rate 1.5")) == 8000,
    r"With 5,000 steps on minibatches and 15,000 on all": lambda: steps_of("minibatches") == [5000, 15_000],
    r"With $h=0.1$ and $\varepsilon=0.1$ it has a cosine of 0.7 with the teacher": lambda: (
        round(0.1 / np.hypot(0.1, 0.1), 1) == 0.7
    ),
    r"At $d=500$ every student that starts there ends on the side of the teacher": lambda: (
        set(page.hints.query("hint == 0.1 and noise == 0.1 and d == 500")["side"]) == {"semantic"}
    ),
    r"but L-BFGS needs less than 0.01": lambda: (
        page.half.loc["lbfgs", 500, 2.0, 0.1][["hint"]].isna().all() and lbfgs_with_least_hint() > 0.5
    ),
    r"by at most a factor of about two": lambda: 1.5 < widest_change_of_hints() < 2.5,
    r"beyond $\alpha_c=1.25$": lambda: round(line("fig03_theory", "critical")[0.3], 2) == 1.25,
}
test_claims = each_holds("fig15_random", CLAIMS)
