"""Beyond replica symmetry: what one step of its breaking explains of trained students, in numbers and drawings."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from attention_phases.measured import Measured
from attention_phases.theory.branches import MINIMA

from .. import published
from ..analysis import controlled, lowest
from ..analysis.means import in_errors, with_errors
from ..render.style import BASELINE, COLOURS, NEUTRAL, draw_line, draw_means, draw_points, panels, styled

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

    rows: of the experiment "one_step_valleys": one branch at one omega and alpha.
    """
    nothing = pd.DataFrame(columns=["y", "above", "complexity", "complexity_error"], dtype=float)
    minima = rows[_is_broken(rows)].astype({"shift": float, "shift_error": float})
    if len(minima) < DEGREE + 1:
        return nothing
    x = np.log(minima["y"].to_numpy(float))
    coefficients, covariance = np.polyfit(x, minima["shift"], DEGREE, w=1 / minima["shift_error"], cov="unscaled")
    phi = np.poly1d(coefficients)
    slope = phi.deriv()
    maxima = [root.real for root in slope.roots if abs(root.imag) < 1e-9 and slope.deriv()(root.real) < 0]
    maxima = [root for root in maxima if x.min() < root < x.max()]
    if not maxima:
        return nothing
    log_y = np.linspace(maxima[0], x.min(), points)
    powers = np.stack([k * log_y ** max(k - 1, 0) for k in range(DEGREE, -1, -1)], axis=1)
    errors = np.sqrt(np.einsum("ai,ij,aj->a", powers, covariance, powers))
    above = phi(log_y) + slope(log_y) - phi(maxima[0])
    y = np.exp(log_y)
    curve = pd.DataFrame({"y": y, "above": above, "complexity": y * slope(log_y), "complexity_error": y * errors})
    return curve.iloc[: int(above.argmax()) + 1]


def _is_broken(rows):
    """Whether a solution has converged, and its minima differ."""
    return (rows["q1"] > rows["q0"]) & (rows["reason"].astype(str) == "")


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
    by_size = lowest.later(lowest.searched(searches)[["hop"]], slopes).reset_index("d")
    later = {}
    for omega, rows in by_size.groupby("omega"):
        shifts = {row.d: Measured(row.later, row.later_error) for row in rows.itertuples()}
        later[omega] = controlled.limit(shifts).row("later")
    later = pd.DataFrame.from_dict(later, orient="index")[["later", "later_error"]]
    informed = limits[["alpha", "alpha_error", "chance"]].set_axis(["informed", "informed_error", "chance"], axis=1)
    both = informed.join(later)
    error = np.hypot(both["informed_error"], both["later_error"])
    return both.assign(searched=both["informed"] + both["later"], searched_error=error)


def three_ways(theory, trained):
    """alpha_c published, replica symmetric, with one step of breaking, and of students, by omega.

    By omega, where students were trained; `informed_off` and `searched_off`: students less one step of breaking,
    over both errors.

    theory: from `moved`.
    trained: from `students`.
    """
    rows = trained.join(theory, how="inner")
    known = {omega: value.text for omega, value in published.CRITICAL_ALPHA.items()}
    rows["published"] = [known.get(omega, "") for omega in rows.index]
    for name in ("informed", "searched"):
        difference = rows[name] - rows["alpha"]
        rows[f"{name}_off"] = in_errors(difference, rows[f"{name}_error"], rows["alpha_error"])
    return rows


def against_theory(losses, theory):
    """Training loss of informed students at infinite d less that of theory.

    By omega, alpha and branch: both losses with their errors, and `above`, their difference over the loss.

    losses: from `controlled.losses`.
    theory: (omega, alpha, start) to (loss, error) of the replica-symmetric solution.
    """
    where = pd.MultiIndex.from_tuples(theory, names=["omega", "alpha", "branch"])
    predicted = pd.DataFrame(list(theory.values()), where, ["theory", "theory_error"])
    trained = losses[["loss", "loss_error"]].set_axis(["trained", "trained_error"], axis=1)
    rows = predicted.join(trained.rename_axis(where.names))
    above = rows["trained"] / rows["theory"] - 1
    error = np.hypot(rows["trained_error"], rows["theory_error"]) / rows["theory"]
    return rows.assign(above=above, above_error=error).reset_index()


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
    annealed = {name: f"annealed_{name:g}" for name in gained if not isinstance(name, str)}
    groups = gained.rename(columns=annealed).groupby(where, observed=True)
    informed = table[(table["search"] == "descent") & (table["number"] == 0)].groupby(where, observed=True)
    many = lowest.excess(starts, (int(starts["count"].max()) - 1,)).iloc[:, 0]
    ahead = (gained["hop"] - many).dropna().rename("ahead").groupby(where, observed=True)
    means = with_errors(groups[["hop", *annealed.values()]]).join(with_errors(ahead))
    share = means["hop"] / informed["train_loss"].mean()
    means = means.assign(data_sets=groups.size(), hop_share=share, same=groups["same"].mean())
    return means.rename_axis(["omega", "branch", "d"]).reset_index()


def sizes(trained, searches, lines):
    """How much smaller than in theory students are, and how much larger the lowest minimum found is.

    By omega and branch: `smaller`, q of informed students at infinite d over that of theory, less 1 (mean over
    alpha), with the error of the students; `grows`, q of the lowest minimum found over that of the informed one on
    the same data, less 1, in the largest d searched.

    trained, searches, lines: the experiments "crossing", "searched" and "fig03_theory".
    """
    where = ["omega", "branch"]
    limits = {}
    for (omega, branch), rows in trained.astype({"start": str}).groupby(["omega", "start"]):
        line = lines[(lines["omega"] == omega) & (lines["what"] == branch)].sort_values("alpha")
        theory = np.interp(rows["alpha"], line["alpha"], line["q"]) if len(line) else np.nan
        ratios = (rows["q"] / theory).groupby(rows["d"])
        limits[omega, branch] = controlled.limit({d: Measured.mean(values) for d, values in ratios}).value
    index = pd.MultiIndex.from_tuples(limits, names=where)
    smaller = pd.DataFrame(list(limits.values()), index, ["smaller", "smaller_error"])
    smaller["smaller"] -= 1
    return smaller.join(_growth(searches).rename_axis(where)).reset_index()


def _growth(searches):
    """`grows` of `sizes`, by omega and valley."""
    rows = searches[(searches["d"] == searches["d"].max()) & (searches["search"] != "anneal")]
    rows = rows.astype({"search": str, "valley": str}).sort_values(["search", "number"], ignore_index=True)
    data_set = ["omega", "valley", "seed"]
    ends = rows.groupby(data_set)  # the first end of a data set is that of informed descent
    deepest = rows.loc[ends["train_loss"].idxmin()].set_index(data_set)["q"]
    growth = (deepest / ends["q"].first() - 1).rename("grows")
    return with_errors(growth.groupby(["omega", "valley"]))


def loops(table, sigma):
    """Students followed up and down in alpha: means over data sets with their errors.

    By omega, way and `at` (alpha): `semantic` and `positional`, ``|cosine|`` of the weights with the teacher and
    with 1_d, as root mean squares over data sets, their errors, and the mean `excess`.

    table: the experiment "hysteresis".
    sigma: of its task.
    """
    semantic = table["theta"] ** 2 / (sigma**2 * table["q"])
    positional = sigma**2 * table["m"] ** 2 / table["q"]
    rows = table.astype({"way": str}).assign(semantic=semantic, positional=positional)
    means = with_errors(rows.groupby(["omega", "way", "at"])[["excess", "semantic", "positional"]])
    for name in COLOURS:  # from means of squares to their roots
        means[name] = np.sqrt(means[name])
        means[f"{name}_error"] /= 2 * means[name]
    return means


def turned(table, sigma):
    """Where followed students turn over: the first alpha on their way at which the other mechanism's cosine is larger.

    By omega and way: `data_sets`, how many of them `turned`, the `first` and the `last` alpha of these.

    table, sigma: as for `loops`.
    """
    where = ["omega", "way"]
    rows = table.astype({"way": str})
    is_semantic = rows["theta"].abs() / sigma**2 > rows["m"].abs()
    is_up = rows["way"] == "up"
    alphas = rows[is_semantic == is_up].groupby([*where, "seed"])["at"].agg(["min", "max"]).reset_index()
    alphas["first"] = alphas["min"].where(alphas["way"] == "up", alphas["max"])  # on its way
    ends = alphas.groupby(where)["first"].agg(turned="size", first="min", last="max")
    return rows.groupby(where).agg(data_sets=("seed", "nunique")).join(ends).fillna({"turned": 0})


@styled
def draw_minima_by_loss(tables, curves):
    """Phi(y) of several points, and the complexity of the minima by their loss.

    tables: title to the rows of the experiment "one_step_valleys" at one omega and alpha.
    curves: title and branch to the complexity, from `complexity`.
    """
    figure, rows = plt.subplots(len(tables), 2, figsize=(9.5, 3.6 * len(tables)), squeeze=False)
    for (title, table), (left, right) in zip(tables.items(), rows):
        for branch, colour in COLOURS.items():
            broken = table[(table["branch"] == branch) & _is_broken(table)]
            if broken.empty:
                continue
            line = broken[broken["what"] == "solution"].sort_values("y")
            ground = broken[broken["what"] == "ground state"]
            draw_points(left, line["y"], 1e6 * line["shift"], 1e6 * line["shift_error"], colour, "o-", label=branch)
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
    symmetric, error = theory["symmetric"], theory["symmetric_error"]
    axes.fill_between(theory.index, -error, error, color=NEUTRAL, alpha=0.25, linewidth=0)
    axes.axhline(0, color=NEUTRAL, linewidth=1, label="replica symmetric, with its quadrature error")
    breaking = {"label": "one step of breaking"}
    draw_points(axes, theory.index, theory["shift"], theory["shift_error"], BASELINE, "s-", **breaking)
    compared = trained[trained.index.isin(theory.index)]
    for name, marker, colour, label, aside in (
        ("informed", "o", "black", "students, informed descent, $d\\to\\infty$", -ASIDE),
        ("searched", "D", "#8a6fb0", "students, lowest minima found, $d\\to\\infty$", ASIDE),
    ):
        shift = compared[name] - symmetric[compared.index]
        style = {"label": label, "markersize": 7}
        draw_points(axes, compared.index + aside, shift, compared[f"{name}_error"], colour, marker, **style)
    known = {omega: value.value - symmetric[omega] for omega, value in published.items() if omega in theory.index}
    axes.plot(list(known), list(known.values()), "x", color=NEUTRAL, markersize=8, label="published theory")
    axes.set(xlabel=r"$\omega$", ylabel=r"$\alpha_c$ less the replica-symmetric one")
    figure.legend(loc="outside upper center", ncols=2, fontsize=11)
    return figure


@styled
def draw_loops(cosines, lines, borders):
    """``|Cosine|`` of followed students with the teacher and with the positions, for each omega.

    cosines: from `loops`.
    lines: omega and branch to a table of theory with alpha and `own`, the branch's own cosine.
    borders: omega to a dict of branch to the `Measured` alpha at which theory has the minimum begin or stop.
    """
    omegas = list(cosines.index.unique("omega"))
    figure, rows = panels(len(omegas), 3.3, 7.4, sharex=True)
    for omega, axes in zip(omegas, rows):
        for branch, colour in COLOURS.items():
            if (omega, branch) in lines:
                line = lines[omega, branch]
                axes.plot(line["alpha"], line["own"], color=colour, linewidth=1.2)
            if branch in borders.get(omega, {}):
                axes.axvline(borders[omega][branch].value, color=colour, linestyle="--", linewidth=1)
            for way, (marker, _) in WAYS.items():
                began_with = "positional" if way == "up" else "semantic"
                style = {"markersize": 5, "markerfacecolor": colour if branch == began_with else "white"}
                draw_means(axes, cosines.loc[(omega, way)], branch, colour, marker=marker, **style)
        axes.set(ylabel="|cosine|", title=rf"$\omega = {omega:g}$", ylim=(0, None))
    rows[-1].set_xlabel(r"$\alpha$")
    ways = [axes.plot([], [], marker, color=NEUTRAL, label=label)[0] for marker, label in WAYS.values()]
    cosine = {"semantic": "with the teacher", "positional": "with the positions"}
    branches = [axes.plot([], [], color=COLOURS[name], label=f"{name}: {text}")[0] for name, text in cosine.items()]
    figure.legend(handles=[*ways, *branches], loc="outside upper center", ncols=2, fontsize=11)
    return figure


@styled
def draw_gained(many, hopped):
    """Training loss gained on the informed minimum: by the lowest of several starts, and by way of single sentences.

    many, hopped: from `analysis.lowest.later`, by omega, d and search: of `excess`, and the column "hop" of `searched`.
    """
    omegas = list(hopped.index.unique("omega"))
    markers = dict(zip(sorted(hopped.index.unique("d")), ("v:", "o-.", "s-", "D--")))
    counts = sorted(many.index.unique("search"))
    beyond = dict(zip(markers, counts[-1] * 1.5 ** np.arange(1.5, 1.5 + len(markers))))
    width = 3.4 * len(omegas) + 0.6
    figure, ((*columns,),) = plt.subplots(1, len(omegas), figsize=(width, 4.4), sharey=True, squeeze=False)
    for omega, axes in zip(omegas, columns):
        for d, marker in markers.items():
            hops = hopped.loc[omega, d].set_axis([beyond[d]])
            for branch, colour in COLOURS.items():
                if (omega, d) in many.index:
                    starts = many.loc[omega, d].rename(index=float)
                    draw_means(axes, starts, branch, colour, 1e-6, marker, markersize=5)
                label = rf"{branch}, $d={d}$"
                draw_means(axes, hops, branch, colour, 1e-6, marker, markersize=5, label=label)
        axes.axvline(counts[-1] * 1.35, color=NEUTRAL, linewidth=1)
        axes.set(xscale="log", xlabel="displaced starts | hops", title=rf"$\omega = {omega:g}$")
        axes.xaxis.set_major_locator(mpl.ticker.FixedLocator(counts))
        axes.xaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())
    columns[0].set_ylabel(r"$10^6\times$ loss gained")
    figure.legend(*columns[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=11)
    return figure
