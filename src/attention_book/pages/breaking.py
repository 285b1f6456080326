"""Beyond replica symmetry: what one step of its breaking explains of trained students, in numbers and drawings."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from attention_phases.measured import Measured
from attention_phases.theory.branches import MINIMA

from .. import published
from ..analysis import controlled, lowest
from ..render.style import BASELINE, COLOURS, NEUTRAL, draw_line, styled

DEGREE = 3  # of the polynomial in log y through Phi
SHIFTED = [f"{name}{error}" for name in ("symmetric", "shift", "alpha") for error in ("", "_error")]
ASIDE = 0.003  # in omega, so that marks of one omega can be told apart
WAYS = {"up": ("v", "up: sentences added"), "down": ("^", "down: sentences removed")}


def moved(table, what="critical"):
    """A threshold with one step of breaking, by omega.

    By omega: `symmetric`, `shift` and `alpha`, each with its error by quadrature; `model_error`, what further
    steps of breaking are allowed to add: as much as the first one; `resolved`, whether the maximum of Phi was seen
    on both branches. Where it was not, Phi hardly changes: the shift is the one at the last y tried.
    Without the omega where a branch has no solution.

    table: the experiment "one_step".
    """
    rows = table[table["what"] == what].set_index("omega").sort_index()
    resolved = rows["reason"].astype(str) == ""
    rows = rows.reindex(columns=SHIFTED).astype(float).assign(resolved=resolved).dropna()
    return rows.assign(model_error=rows["shift"].abs())


def complexity(rows, points=60):
    """Complexity of the minima of one branch by their loss, from the slope of a cubic in log y through Phi.

    Sigma = dPhi/dlog y times y, much better known so than from its own formula. Shown is the part from the lowest
    minima, at the maximum of Phi, up to where the loss stops rising as y falls: beyond, the solutions are no minima.

    y, `above` (loss less that of the lowest), `complexity` with its error; empty where Phi has no maximum.

    rows: of the experiment "one_step_valleys": one branch at one omega and alpha, with at least five solutions that
        converged.
    """
    nothing = pd.DataFrame(columns=["y", "above", "complexity", "complexity_error"], dtype=float)
    known = rows[(rows["q1"] > rows["q0"]) & (rows["reason"].astype(str) == "")].astype({"shift": float})
    if len(known) < DEGREE + 1:
        return nothing
    x = np.log(known["y"].to_numpy(float))
    weights = 1 / known["shift_error"].to_numpy(float)
    fit = np.vander(x, DEGREE + 1)
    covariance = np.linalg.inv((fit * weights[:, None] ** 2).T @ fit)
    phi = np.poly1d(covariance @ (fit * weights[:, None] ** 2).T @ known["shift"].to_numpy())
    slope = phi.deriv()
    tops = [root.real for root in slope.roots if abs(root.imag) < 1e-9 and slope.deriv()(root.real) < 0]
    tops = [root for root in tops if x.min() < root < x.max()]
    if not tops:
        return nothing
    grid = np.linspace(tops[0], x.min(), points)
    powers = np.stack([k * grid ** max(k - 1, 0) for k in range(DEGREE, -1, -1)], axis=1)
    errors = np.sqrt(np.einsum("ai,ij,aj->a", powers, covariance, powers))
    found = pd.DataFrame({
        "y": np.exp(grid), "above": phi(grid) + slope(grid) - phi(tops[0]),
        "complexity": np.exp(grid) * slope(grid), "complexity_error": np.exp(grid) * errors,
    })  # fmt: skip
    return found.iloc[: int(found["above"].argmax()) + 1]


def ground_states(table):
    """The lowest minima of both branches, at the replica-symmetric alpha_c of each omega.

    By omega and branch: alpha, `apart` (the share (q1 - q0)/q1 by which two of them differ), y, phi and shift with
    their errors, and `gained`, the shift over phi.
    """
    rows = table[table["what"].isin(MINIMA)].rename(columns={"what": "branch"})
    rows = rows.astype({"branch": str}).set_index(["omega", "branch"]).sort_index()
    rows = rows.assign(apart=1 - rows["q0"] / rows["q1"], gained=rows["shift"] / rows["phi"])
    rows["gained_error"] = rows["shift_error"] / rows["phi"]
    return rows[["alpha", "apart", "y", "phi", "phi_error", "shift", "shift_error", "gained", "gained_error", "reason"]]


def students(table, searches):
    """Where the losses of trained students cross: by informed descent, and with the lowest minima that are found.

    By omega, at infinite d: `informed` with its error and `chance` (see `Limit`); `later`, by how much the
    lowest minima cross later, with its error; `searched`, the sum of the two.

    table, searches: the experiments "crossing" and "searched".
    """
    crossings, limits = controlled.by_dimension(table)
    slopes = crossings["slope"].groupby("omega").last().to_dict()  # in the largest d
    moved = lowest.later(lowest.searched(searches)[["hop"]], slopes)
    later = {
        omega: controlled.limit({row.d: Measured(row.later, row.later_error) for row in rows.itertuples()}).row("later")
        for omega, rows in moved.reset_index("d").groupby("omega")
    }
    moved = pd.DataFrame.from_dict(later, orient="index")[["later", "later_error"]]
    informed = limits[["alpha", "alpha_error", "chance"]].set_axis(["informed", "informed_error", "chance"], axis=1)
    found = informed.join(moved)
    return found.assign(
        searched=found["informed"] + found["later"],
        searched_error=np.hypot(found["informed_error"], found["later_error"]),
    )


def three_ways(theory, trained):
    """alpha_c published, replica symmetric, with one step of breaking, and of students, by omega.

    By omega, where students were trained; `informed_off` and `searched_off`: students less one step of breaking,
    over both errors.

    theory: from `moved`.
    trained: from `students`.
    """
    both = trained.join(theory, how="inner")
    known = [published.CRITICAL_ALPHA[omega].text if omega in published.CRITICAL_ALPHA else "" for omega in both.index]
    away = {name: both[name] - both["alpha"] for name in ("informed", "searched")}
    errors = {name: np.hypot(both[f"{name}_error"], both["alpha_error"]) for name in away}
    return both.assign(published=known, **{f"{name}_off": away[name] / errors[name] for name in away})


def against_theory(losses, theory):
    """Training loss of informed students at infinite d less that of theory.

    By omega, alpha and branch: both losses with their errors, and `above`, their difference over the loss.

    losses: from `controlled.losses`.
    theory: (omega, alpha, start) to (loss, error) of the replica-symmetric solution.
    """
    rows = []
    for (omega, alpha, start), (loss, error) in theory.items():
        ours = losses.loc[(omega, alpha, start)]
        rows.append({
            "omega": omega, "alpha": alpha, "branch": start,
            "trained": ours["loss"], "trained_error": ours["loss_error"], "theory": loss, "theory_error": error,
            "above": ours["loss"] / loss - 1, "above_error": np.hypot(ours["loss_error"], error) / loss,
        })  # fmt: skip
    return pd.DataFrame(rows)


def searches(table, starts):
    """What each search gains on the informed minimum, and how often.

    By omega, branch and d: `hop`, training loss gained by way of single sentences, mean with its error;
    `hop_share`, that over the informed loss; `same`, share of the starts that lead to the lowest; `ahead`, by
    how much that is more than all starts of "lowest" gain, on the data sets that both have, with its error; and
    `annealed_T`, what Langevin descent gains, for each T.

    table, starts: the experiments "searched" and "lowest".
    """
    where = ["omega", "valley", "d"]
    gained = lowest.searched(table)
    informed = table[(table["search"] == "descent") & (table["number"] == 0)].groupby(where, observed=True)
    groups = gained.groupby(where, observed=True)
    many = lowest.excess(starts, (int(starts["count"].max()) - 1,)).iloc[:, 0]
    ahead = (gained["hop"] - many).dropna().groupby(where, observed=True)
    found = pd.DataFrame({
        "data_sets": groups.size(),
        "hop": groups["hop"].mean(), "hop_error": groups["hop"].sem(),
        "hop_share": groups["hop"].mean() / informed["train_loss"].mean(),
        "same": groups["same"].mean(),
    })  # fmt: skip
    found = found.join(pd.DataFrame({"ahead": ahead.mean(), "ahead_error": ahead.sem()}))
    for temperature in [name for name in gained if not isinstance(name, str)]:
        found[f"annealed_{temperature:g}"] = groups[temperature].mean()
        found[f"annealed_{temperature:g}_error"] = groups[temperature].sem()
    return found.rename_axis(["omega", "branch", "d"]).reset_index()


def sizes(trained, searches, lines):
    """How much smaller than in theory students are, and how much larger the lowest minimum found is.

    By omega and branch: `smaller`, q of informed students at infinite d over that of theory, less 1 (mean over
    alpha), with the error of the students; `grows`, q of the lowest minimum found over that of the informed one on
    the same data, less 1, in the largest d searched.

    trained, searches, lines: the experiments "crossing", "searched" and "fig03_theory".
    """
    rows = []
    largest = searches[(searches["d"] == searches["d"].max()) & (searches["search"] != "anneal")]
    largest = largest.astype({"search": str})
    for (omega, branch), each in trained.astype({"start": str}).groupby(["omega", "start"]):
        line = lines[(lines["omega"] == omega) & (lines["what"] == branch)].sort_values("alpha")
        ratios = each["q"] / np.interp(each["alpha"], line["alpha"], line["q"]) if len(line) else np.nan * each["q"]
        groups = ratios.groupby(each["d"])
        far = controlled.limit({d: Measured.mean(some) for d, some in groups}).value
        here = largest[(largest["omega"] == omega) & (largest["valley"] == branch)].sort_values(["search", "number"])
        grown = here.groupby("seed").apply(_grown, include_groups=False)
        rows.append({
            "omega": omega, "branch": branch, "smaller": far.value - 1, "smaller_error": far.error,
            "grows": grown.mean(), "grows_error": grown.sem(),
        })  # fmt: skip
    return pd.DataFrame(rows)


def _grown(ends):
    """q of the lowest of some ends over that of the first, less 1."""
    return ends["q"].to_numpy()[ends["train_loss"].to_numpy().argmin()] / ends["q"].iloc[0] - 1


def loops(table, sigma):
    """Students followed up and down in alpha: means over data sets with their errors.

    By omega, way and `at` (alpha): `semantic` and `positional`, ``|cosine|`` of the weights with the teacher and
    with 1_d, as root mean squares over data sets, their errors, and the mean `excess`.

    table: the experiment "hysteresis".
    sigma: of its task.
    """
    squares = pd.DataFrame({
        "semantic": table["theta"] ** 2 / (sigma**2 * table["q"]),
        "positional": sigma**2 * table["m"] ** 2 / table["q"],
    })  # fmt: skip
    rows = table[["omega", "way", "at", "excess"]].astype({"way": str}).join(squares)
    groups = rows.groupby(["omega", "way", "at"])
    means, errors = groups.mean(), groups.sem()
    found = means[["excess"]].copy()
    for name in squares:
        found[name] = np.sqrt(means[name])
        found[f"{name}_error"] = errors[name] / (2 * found[name])
    return found


def turned(table, sigma):
    """Where followed students turn over: the first alpha on their way at which the other mechanism's cosine is larger.

    By omega and way: `data_sets`, how many of them `turned`, the `first` and the `last` alpha of these.

    table, sigma: as for `loops`.
    """
    rows = table.astype({"way": str})
    semantic = rows["theta"].abs() / sigma**2 > rows["m"].abs()
    rows = rows.assign(over=np.where(rows["way"] == "up", semantic, ~semantic))
    found = {}
    for (omega, way), each in rows.groupby(["omega", "way"]):
        over = each[each["over"]].groupby("seed")["at"]
        ends = over.min() if way == "up" else over.max()
        found[omega, way] = {
            "data_sets": each["seed"].nunique(), "turned": len(ends), "first": ends.min(), "last": ends.max(),
        }  # fmt: skip
    return pd.DataFrame.from_dict(found, orient="index").rename_axis(["omega", "way"])


@styled
def draw_minima_by_loss(tables, curves):
    """Phi(y) of several points, and the complexity of the minima by their loss.

    tables: title to the rows of the experiment "one_step_valleys" at one omega and alpha.
    curves: title and branch to the complexity, from `complexity`.
    """
    figure, rows = plt.subplots(len(tables), 2, figsize=(9.5, 3.6 * len(tables)), squeeze=False)
    for (title, table), (left, right) in zip(tables.items(), rows):
        for branch, colour in COLOURS.items():
            here = table[(table["branch"] == branch) & (table["q1"] > table["q0"]) & (table["reason"] == "")]
            if here.empty:
                continue
            line = here[here["what"] == "solution"].sort_values("y")
            ground = here[here["what"] == "ground state"]
            left.errorbar(
                line["y"], 1e6 * line["shift"], 1e6 * line["shift_error"], fmt="o-", color=colour, label=branch
            )
            left.plot(ground["y"], 1e6 * ground["shift"], "*", color=colour, markersize=13)
            curve = curves[title, branch]
            draw_line(right, 1e6 * curve["above"], 1e3 * curve["complexity"], 1e3 * curve["complexity_error"], colour)
        left.set(xscale="log", xlabel="$y$", ylabel=r"$10^6\,(\Phi(y) - \epsilon_t^{\rm RS})$", title=title)
        right.axhline(0, color=NEUTRAL, linewidth=0.8)
        right.set(xlabel=r"$10^6\,(e - e_0)$, above the lowest", ylabel=r"$10^3\,\Sigma(e)$", title=title)
        right.locator_params(axis="x", nbins=5)
        left.legend()
    return figure


@styled
def draw_thresholds(theory, trained, published):
    """alpha_c less the replica-symmetric one, over omega.

    theory: from `moved`.
    trained: from `students`.
    published: omega to the published value.
    """
    figure, axes = plt.subplots(figsize=(7.4, 4.8))
    axes.fill_between(
        theory.index, -theory["symmetric_error"], theory["symmetric_error"], color=NEUTRAL, alpha=0.25, linewidth=0
    )
    axes.axhline(0, color=NEUTRAL, linewidth=1, label="replica symmetric, with its quadrature error")
    axes.errorbar(
        theory.index, theory["shift"], theory["shift_error"], fmt="s-", color=BASELINE, label="one step of breaking"
    )
    reference = theory["symmetric"]
    shown = [omega for omega in trained.index if omega in reference.index]
    for name, marker, colour, label, aside in (
        ("informed", "o", "black", "students, informed descent, $d\\to\\infty$", -ASIDE),
        ("searched", "D", "#8a6fb0", "students, lowest minima found, $d\\to\\infty$", ASIDE),
    ):
        away = trained.loc[shown, name] - reference[shown]
        at = [omega + aside for omega in shown]
        axes.errorbar(
            at, away, trained.loc[shown, f"{name}_error"], fmt=marker, color=colour, label=label, markersize=7
        )
    known = {omega: float(each.text) - reference[omega] for omega, each in published.items() if omega in reference}
    axes.plot(list(known), list(known.values()), "x", color=NEUTRAL, markersize=8, label="published theory")
    axes.set(xlabel=r"$\omega$", ylabel=r"$\alpha_c$ less the replica-symmetric one")
    figure.legend(loc="outside upper center", ncols=2, fontsize=11)
    return figure


@styled
def draw_loops(found, lines, borders):
    """``|Cosine|`` of followed students with the teacher and with the positions, for each omega.

    found: from `loops`.
    lines: omega and branch to a table of theory with alpha and `own`, the branch's own cosine.
    borders: omega to a dict of branch to the `Measured` alpha at which theory has the minimum begin or stop.
    """
    omegas = list(found.index.unique("omega"))
    figure, rows = plt.subplots(len(omegas), 1, figsize=(7.4, 3.3 * len(omegas)), sharex=True, squeeze=False)
    for omega, axes in zip(omegas, rows[:, 0]):
        for branch, colour in COLOURS.items():
            line = lines.get((omega, branch))
            if line is not None:
                axes.plot(line["alpha"], line["own"], color=colour, linewidth=1.2)
            if branch in borders.get(omega, {}):
                axes.axvline(borders[omega][branch].value, color=colour, linestyle="--", linewidth=1)
            for way, (marker, _) in WAYS.items():
                each = found.loc[(omega, way)]
                own = (way == "up") == (branch == "positional")
                axes.errorbar(
                    each.index, each[branch], each[f"{branch}_error"], fmt=marker, color=colour, markersize=5,
                    markerfacecolor=colour if own else "white", elinewidth=0.8,
                )  # fmt: skip
        axes.set(ylabel="|cosine|", title=rf"$\omega = {omega:g}$", ylim=(0, None))
    rows[-1, 0].set_xlabel(r"$\alpha$")
    marks = [
        plt.Line2D([], [], color=NEUTRAL, marker=marker, linestyle="", label=label) for marker, label in WAYS.values()
    ]
    marks += [
        plt.Line2D([], [], color=colour, label=f"{name}: with the {of}")
        for (name, colour), of in zip(COLOURS.items(), ("teacher", "positions"))
    ]
    figure.legend(handles=marks, loc="outside upper center", ncols=2, fontsize=11)
    return figure


@styled
def draw_gained(many, hopped):
    """Training loss gained on the informed minimum: by the lowest of several starts, and by way of single sentences.

    many, hopped: from `analysis.lowest.later`, by omega, d and search: of `excess`, and the column "hop" of `searched`.
    """
    omegas = list(hopped.index.unique("omega"))
    styles = dict(zip(sorted(hopped.index.unique("d")), ("v:", "o-.", "s-", "D--")))
    counts = sorted(many.index.unique("search"))
    beyond = dict(zip(styles, counts[-1] * 1.5 ** np.arange(1.5, 1.5 + len(styles))))
    figure, panels = plt.subplots(1, len(omegas), figsize=(3.4 * len(omegas) + 0.6, 4.4), sharey=True, squeeze=False)
    for omega, axes in zip(omegas, panels[0]):
        for d, style in styles.items():
            for branch, colour in COLOURS.items():
                bars = {"fmt": style, "color": colour, "markersize": 5}
                label = rf"{branch}, $d={d}$"
                if (omega, d) in many.index:
                    each = many.loc[omega, d]
                    axes.errorbar(each.index.astype(float), 1e6 * each[branch], 1e6 * each[f"{branch}_error"], **bars)
                found = hopped.loc[omega, d].iloc[0]
                axes.errorbar(beyond[d], 1e6 * found[branch], 1e6 * found[f"{branch}_error"], **bars, label=label)
        axes.axvline(counts[-1] * 1.35, color=NEUTRAL, linewidth=1)
        axes.set(xscale="log", xlabel="displaced starts | hops", title=rf"$\omega = {omega:g}$")
        axes.xaxis.set_major_locator(mpl.ticker.FixedLocator(counts))
        axes.xaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())
    panels[0][0].set_ylabel(r"$10^6\times$ loss gained")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=11)
    return figure
