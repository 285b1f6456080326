"""Claims of the page `fig08_parameters` about the stored results."""

import numpy as np

from attention_phases import Task, solve
from attention_phases.theory.baseline import divergence_omega
from attention_phases.theory.branches import MINIMA
from claims import each_holds, line, load, per_cent


def rises(**where):
    """Return whether the positional test error has its minimum near alpha = 0.2 and is almost flat from 1.1 on."""
    means = load("fig08", optimizer="lbfgs", start="positional", **where).groupby("alpha")["test_mse"].mean()
    after = means.loc[1.05:] / means.loc[1.05:].mean() - 1
    return means.idxmin() < 0.3 and means.loc[1.05:].min() > 1.2 * means.min() and after.abs().max() < 0.05


def per_cent_above_theory(alpha, **where):
    """Return the excess of students' test error over theory in per cent, for starts at the teacher, with error."""
    theory = load("fig08_theory", what="semantic", **where).set_index("alpha")["test_mse"]
    students = load("fig08", optimizer="lbfgs", start="semantic", **where).groupby("alpha")["test_mse"]
    return per_cent(students.mean()[alpha] / theory[alpha] - 1, students.sem()[alpha] / theory[alpha])


def remembered_over_theory():
    """Return the ratio of students' and theory's overlap with the positions at lambda = 0.001."""
    students = load("memory", lam=0.001, start="positional", d=2000)
    theory = load("fig08_theory", lam=0.001, what="positional").set_index("alpha")["m"]
    return np.sqrt((students["m"] ** 2).mean()) / theory[students["alpha"].iloc[0]]


def penalised():
    """Return alpha_c and alpha_l by lambda."""
    return [line("ridge", what, "lam") for what in ("critical", "linear")]


def later_linear():
    """Return alpha_l minus alpha_c by lambda, where both exist."""
    critical, linear = penalised()
    return (linear - critical).dropna()


def near_teacher():
    """Return the share of students started at the teacher at omega = 0.7 whose cosine with it is larger, by alpha."""
    rows = load("fig08", omega=0.7, start="semantic", optimizer="lbfgs")
    return (rows["theta"].abs() / Task().sigma ** 2 > rows["m"].abs()).groupby(rows["alpha"]).mean()


STANDARD = {"sigma": 0.5, "lam": 0.01}


CLAIMS = {
    r"the penalty moves both thresholds": lambda: all(alphas.max() > 5 * alphas.min() for alphas in penalised()),
    r"The excess is 7(1) % at $\sigma = 0.7$ and 3(1) % at the standard parameters": lambda: (
        [per_cent_above_theory(2.0, **task) for task in ({"sigma": 0.7}, {"omega": 0.3, **STANDARD})]
        == [(7, 1), (3, 1)]
    ),
    r"its training loss never falls below the training loss of the positional": lambda: (
        solve(Task(omega=0.7), 4.0, "semantic", 2**10, 8).gain < 1  # a minimum
        and divergence_omega(Task(), "critical").value < 0.7
    ),
    r"Most students end in the positional minimum, even if they start": lambda: near_teacher().max() < 0.5,
    r"grows by a factor of 8.4. Over the same range, $\alpha_l$ grows by a factor of 5.7": lambda: (
        [round(alphas[0.1] / alphas[0.01], 1) for alphas in penalised()] == [8.4, 5.7]
    ),
    r"depends as much on the penalty $\lambda$ as on the task": lambda: (
        9 < line("ridge", "critical", "lam").max() < line("fig03_theory", "critical").max() < 12
        and load("ridge").query("what == 'critical'")["lam"].max() == 0.1
    ),
    r"Near its left end, the semantic line shows a saddle and not a minimum": lambda: all(
        load("fig08_theory", what="semantic", omega=omega, **STANDARD)["alpha"].min()
        < load("fig08_theory", what="semantic border", omega=omega, **STANDARD)["alpha"].item()
        for omega in (0.2, 0.3)
    ),
    r"the smaller threshold. At $\lambda = 0.03$ and 0.1, $\alpha_c$ is the larger threshold": lambda: (
        dict(np.sign(later_linear())) == {0.005: 1, 0.01: 1, 0.03: -1, 0.1: -1}
    ),
    r"because the positional minimum ends before the semantic minimum begins": lambda: (
        not any(solve(Task(lam=0.002), 0.65, branch, 2**13).converged for branch in MINIMA)
    ),
    r"studied here. At $\lambda = 0.001$, it has a positional minimum only up to $\alpha \approx 0.4$": lambda: (
        line("fig08_theory", "positional", sigma=0.7).empty
        and round(line("fig08_theory", "positional stop", lam=0.001).item(), 1) == 0.4
    ),
    r"started at the encoding overlap twice as much with the positions": lambda: 1.9 < remembered_over_theory() < 2.2,
    r"up to $\alpha = 12.8$. For $\lambda \ge 0.3$, we find no threshold": lambda: (
        load("ridge").query("what in ('critical', 'linear')")["lam"].max() == 0.1
    ),
    r"between $\alpha \approx 0.2$ and 1.1, and it is nearly constant for larger $\alpha$. The same happens": lambda: (
        rises(lam=0.001) and rises(sigma=0.7)
    ),
    r"Up to $\alpha \approx 0.5$ the weights of this minimum are zero, and for larger $\alpha$": lambda: (
        round(line("fig08_theory", "positional start", sigma=0.3).item(), 1) == 0.5
        and line("fig08_theory", "semantic", sigma=0.3).empty
    ),
}
test_claims = each_holds("fig08_parameters", CLAIMS)
