"""Replica symmetry broken: the minima of a valley by their loss, alpha_c in several ways, loops along alpha."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from ..render.style import BASELINE, COLOURS, NEUTRAL, STYLE, draw_line

ASIDE = 0.003  # in omega, so that marks of one omega can be told apart
WAYS = {"up": ("v", "up: sentences added"), "down": ("^", "down: sentences removed")}


def minima_by_loss(tables, curves):
    """Phi(y) of several points, and the complexity of the minima by their loss.

    Parameters
    ----------
    tables : dict
        Title to the rows of the experiment "one_step_valleys" at one omega and alpha.
    curves : dict
        Title and branch to the complexity, as from `tables.breaking.complexity`.

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
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
                draw_line(
                    right, 1e6 * curve["above"], 1e3 * curve["complexity"], 1e3 * curve["complexity_error"], colour
                )
            left.set(xscale="log", xlabel="$y$", ylabel=r"$10^6\,(\Phi(y) - \epsilon_t^{\rm RS})$", title=title)
            right.axhline(0, color=NEUTRAL, linewidth=0.8)
            right.set(xlabel=r"$10^6\,(e - e_0)$, above the lowest", ylabel=r"$10^3\,\Sigma(e)$", title=title)
            right.locator_params(axis="x", nbins=5)
            left.legend()
    return figure


def thresholds(theory, trained, published):
    """alpha_c less the replica-symmetric one, over omega.

    Parameters
    ----------
    theory : pandas.DataFrame
        As from `tables.breaking.moved`.
    trained : pandas.DataFrame
        As from `tables.breaking.students`.
    published : dict
        omega to the published value.

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
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


def loops(found, lines, borders):
    """``|Cosine|`` of followed students with the teacher and with the positions, for each omega.

    Parameters
    ----------
    found : pandas.DataFrame
        As from `tables.breaking.loops`.
    lines : dict
        omega and branch to a table of theory with alpha and `own`, the branch's own cosine.
    borders : dict
        omega to a dict of branch to the `Measured` alpha at which theory has the minimum begin or stop.

    Returns
    -------
    matplotlib Figure
    """
    omegas = list(found.index.unique("omega"))
    with mpl.rc_context(STYLE):
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
            plt.Line2D([], [], color=NEUTRAL, marker=marker, linestyle="", label=label)
            for marker, label in WAYS.values()
        ]
        marks += [
            plt.Line2D([], [], color=colour, label=f"{name}: with the {of}")
            for (name, colour), of in zip(COLOURS.items(), ("teacher", "positions"))
        ]
        figure.legend(handles=marks, loc="outside upper center", ncols=2, fontsize=11)
    return figure


def gained(many, hopped):
    """Training loss gained on the informed minimum: by the lowest of several starts, and by way of single sentences.

    Parameters
    ----------
    many, hopped : pandas.DataFrame
        As from `analysis.lowest.later`, by omega, d and search: of `excess`, and the column "hop" of `searched`.

    Returns
    -------
    matplotlib Figure
    """
    omegas = list(hopped.index.unique("omega"))
    styles = dict(zip(sorted(hopped.index.unique("d")), ("v:", "o-.", "s-", "D--")))
    counts = sorted(many.index.unique("search"))
    beyond = dict(zip(styles, counts[-1] * 1.5 ** np.arange(1.5, 1.5 + len(styles))))
    with mpl.rc_context(STYLE):
        figure, panels = plt.subplots(
            1, len(omegas), figsize=(3.4 * len(omegas) + 0.6, 4.4), sharey=True, squeeze=False
        )
        for omega, axes in zip(omegas, panels[0]):
            for d, style in styles.items():
                for branch, colour in COLOURS.items():
                    bars = {"fmt": style, "color": colour, "markersize": 5}
                    label = rf"{branch}, $d={d}$"
                    if (omega, d) in many.index:
                        each = many.loc[omega, d]
                        axes.errorbar(
                            each.index.astype(float), 1e6 * each[branch], 1e6 * each[f"{branch}_error"], **bars
                        )
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
