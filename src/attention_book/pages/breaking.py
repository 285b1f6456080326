"""Beyond replica symmetry: one step of its breaking, the lowest minima found, and whether one step is enough."""

from functools import cache

import matplotlib as mpl
import numpy as np
import pandas as pd

from attention_phases import Task
from attention_phases.measured import UNKNOWN, Measured
from attention_phases.theory import solve
from attention_phases.theory.branches import MINIMA
from attention_phases.theory.one_step.equations import Valley, average, inner_points
from attention_phases.theory.one_step.solution import inner_gains
from attention_phases.theory.quadrature import gaussian_points

from .. import published
from ..analysis import instances
from ..analysis.instances import as_columns, as_frame, off, test_gap
from ..analysis.thresholds import crossing, curve
from ..paths import DATA
from ..render.style import BASELINE, COLOURS, NEUTRAL, OMEGA, draw_means, draw_points, panels, styled
from ..store.parquet import load

SHIFTED = [f"{name}{error}" for name in ("symmetric", "shift", "alpha") for error in ("", "_error")]
ASIDE = 0.003  # in omega, so that marks of one omega can be told apart
SHARES = (0.1, 0.03, 0.01, 0.003, 0.001)  # squared distances D/q1 of two copies
DASHES = ("-", "--", "-.", ":")
FINER = (6, 12)  # radii and angles of an inner rule with four times as many points


def moved(table, what="critical"):
    """A threshold with one step of breaking by omega, from the experiment "one_step".

    `symmetric`, `shift` and `alpha`, each with its error by quadrature; `resolved`, whether the maximum of Phi was seen
    on both branches. Where it was not, Phi hardly changes: the shift is the one at the last y tried.
    Without the omega where a branch has no solution.
    """
    rows = table[table["what"] == what].set_index("omega").sort_index()
    resolved = rows["reason"].astype(str) == ""
    return rows.reindex(columns=SHIFTED).astype(float).assign(resolved=resolved).dropna()


def breaking_shift(kind, omega):
    """What one step of breaking adds to a threshold of the standard task, as `Measured`; NaN where it is not known."""
    known = _breaking_shifts(kind)
    return Measured(*known.loc[omega]) if omega in known.index else UNKNOWN


@cache
def _breaking_shifts(kind):
    """The stored shifts by omega, where the maxima of Phi were seen: they are computed at the published size alone."""
    stored = DATA / "one_step.parquet"
    if not stored.exists():
        return pd.DataFrame(columns=["shift", "shift_error"])
    rows = moved(load(stored), kind)
    return rows.loc[rows["resolved"], ["shift", "shift_error"]]


def ground_states(table):
    """The lowest minima of both branches at the replica-symmetric alpha_c, from the experiment "one_step".

    Rows by omega and branch; `gained`, with its error, is the shift over phi.
    """
    rows = table[table["what"].isin(MINIMA)].rename(columns={"what": "branch"}).astype({"branch": str})
    rows = rows.assign(gained=rows["shift"] / rows["phi"], gained_error=rows["shift_error"] / rows["phi"])
    return rows.set_index(["omega", "branch"]).sort_index()


def broken_states(table):
    """Of `ground_states` those found in which two minima differ."""
    states = ground_states(table)
    return states[(states["reason"].astype(str) == "") & (states["q1"] > states["q0"])]


def _valley(state):
    return Valley(state["q0"], state["q1"] - state["q0"], state["m"], state["theta"], state["V"], state["y"])


def student_crossings(table, searches, power=1.0):
    """Where the losses of trained students cross: by informed descent, and with the lowest minima that are found.

    By omega, at infinite d by straight lines in d^-power, each with its error: `informed`; `later`, by how much the
    lowest minima cross later; `searched`, the sum of the two.

    table, searches: the experiments "crossing" and "searched".
    """
    crossings, limits = instances.by_dimension(table, power)
    informed = limits.set_axis(["informed", "informed_error"], axis=1)
    later = instances.crossing_shifts(instances.searched(searches)["hop"], crossings, power)
    rows = informed.join(as_columns(later, "omega", "later"))
    error = np.hypot(rows["informed_error"], rows["later_error"])
    return rows.assign(searched=rows["informed"] + rows["later"], searched_error=error)


def three_ways(theory, trained):
    """alpha_c published, replica symmetric, with one step of breaking, and of students, by omega.

    By omega, where students were trained, each with its error: `explained`, the share that one step has in the
    difference of theory and informed students, and `descended`, that of the search in what one step leaves. In errors
    of both, students minus one step: `informed_off`, and `searched_off` of the lowest minima found.

    theory, trained: from `moved` and `student_crossings`.
    """
    rows = trained.join(theory, how="inner")
    known = pd.Series({omega: f"{number.value:.3f}" for omega, number in published.CRITICAL_ALPHA.items()})
    rows["published"] = known.reindex(rows.index, fill_value="")
    for name, part, start, end in (
        ("explained", "shift", "symmetric", "informed"),
        ("descended", "later", "informed", "alpha"),
    ):
        whole = rows[end] - rows[start]
        share = rows[part] / whole
        error = np.hypot(rows[f"{start}_error"], rows[f"{end}_error"])
        rows[name], rows[f"{name}_error"] = share, np.hypot(rows[f"{part}_error"], share * error) / whole.abs()
    for name in ("informed", "searched"):
        rows[f"{name}_off"] = off(rows, name, "alpha")
    return rows


def symmetric_solutions(trained, states, points):
    """`Measured` q and train_loss of the replica-symmetric solutions by omega, alpha and branch."""
    crossed = trained.astype({"start": str})[["omega", "alpha", "start"]].drop_duplicates()
    places = [*crossed.itertuples(index=False, name=None), *_places(states).values()]
    solutions = {place: solve(Task(omega=place[0]), *place[1:], points) for place in places}
    return {
        place: {
            "q": Measured(solution.overlaps.q, solution.stderr["q"]),
            "train_loss": Measured(solution.train_loss, solution.stderr["train_loss"]),
        }
        for place, solution in solutions.items()
        if solution.converged
    }


def _places(states):
    return {where: (where[0], state["alpha"], where[1]) for where, state in states.iterrows()}


def shares_above_theory(trained, searches, states, solutions, power=1.0):
    """By which share q and the training loss exceed those of replica-symmetric theory at infinite d.

    By quantity ("q" or "train_loss"), omega and branch, each with its error: of `informed` students, of the lowest
    minima `searched`, and of `one_step` of breaking, zero where that changes nothing.

    trained, searches: the experiments "crossing" and "searched".
    states, solutions: from `broken_states` and `symmetric_solutions`.
    """
    places = _places(states)
    hops = instances.searched(searches)
    rows = {}
    for name, gained, sign in (("q", "grows", 1), ("train_loss", "hop_share", -1)):
        theory = {place: measured[name] for place, measured in solutions.items()}
        more = instances.at_infinite_d(hops[gained], power)
        for where, informed in instances.above_theory(trained, theory, name, power).items():
            lowest = (1 + informed.value) * (1 + sign * more[where].value) - 1
            error = np.hypot(informed.error, more[where].error)
            step = _one_step(states.loc[where], name, theory[places[where]]) if where in places else Measured(0.0, 0.0)
            rows[name, *where] = {"informed": informed, "searched": Measured(lowest, error), "one_step": step}
    return as_frame(rows, ["quantity", "omega", "branch"])


def _one_step(state, name, symmetric):
    if name == "train_loss":
        return Measured(state["gained"], state["gained_error"])
    error = np.hypot(state["q1_error"], symmetric.error)
    return Measured(state["q1"] / symmetric.value - 1, error / symmetric.value)


def inner_stability(states, points):
    """Gain of the distance of two copies inside one of `broken_states`, with its error, by omega, branch and D/q1."""
    measured = {}
    for (omega, branch), state in states.iterrows():
        valley = _valley(state)
        within = [share for share in SHARES if share <= 2 * valley.share]
        gains = inner_gains(Task(omega=omega), state["alpha"], valley, within, points)
        measured |= {(omega, branch, share): Measured.mean(gain) for share, gain in zip(within, gains.T)}
    return as_columns(measured, ["omega", "branch", "share"], "gain")


def inner_rule(states, points):
    """By which share the loss that breaking adds to positional `broken_states` changes with more inner points.

    Phi is stationary: at the order parameters of the solution its change is that of the average M alone.
    """
    net, finer, shares = gaussian_points(points, dimensions=6), inner_points(*FINER), {}
    for omega, state in states.xs("positional", level="branch").iterrows():
        task, valley = Task(omega=omega), _valley(state)
        broken, symmetric = (
            average(task, at_y, net, finer).free - average(task, at_y, net).free
            for at_y in (valley, valley._replace(y=0.0))
        )
        shares[omega] = Measured.mean(state["alpha"] * (broken - symmetric) / state["shift"])
    return as_columns(shares, "omega", "inner_rule")


def linear_words(table, trained, lines):
    """The largest shift of alpha_l as texts: `shift`, its `omega`, the `bound` of all within two errors, and `part`.

    `part` is that over what students are below theory at this omega, in per cent.

    table, trained, lines: experiments: "one_step", students over alpha, and theory, of the same task.
    """
    words = dict.fromkeys(("shift", "omega", "bound", "part"), "(not at this size)")
    rows = moved(table, "linear").query("shift_error > 0")
    if rows.empty:
        return words
    omega = rows["shift"].abs().idxmax()
    shift = Measured(*rows.loc[omega, ["shift", "shift_error"]])
    bound = (rows["shift"].abs() + 2 * rows["shift_error"]).max()
    words |= {"shift": shift.text, "omega": f"{omega:g}", "bound": f"{bound:.3f}"}
    same = trained[(trained["omega"] == omega) & (trained["optimizer"] == "lbfgs")]
    theory = curve(lines, "linear")["alpha"]
    if len(same) and omega in theory:
        below = crossing(test_gap(same), np.random.default_rng(0)).value - theory[omega]
        words["part"] = f"{100 * shift.value / below:.0f}"
    return words


def turned(table, sigma):
    """How many students of the experiment "hysteresis" come to overlap more with the other mechanism: "3 of 12".

    `turned` by omega and way.
    """
    is_semantic = table["theta"].abs() / sigma**2 > table["m"].abs()
    rows = table.astype({"way": str}).assign(over=is_semantic == (table["way"] == "up"))
    students = rows.groupby(["omega", "way", "seed"])["over"].any().groupby(["omega", "way"])
    return students.agg(["sum", "size"]).apply(lambda row: f"{row['sum']} of {row['size']}", axis=1).to_frame("turned")


@styled
def draw_thresholds(theory, trained, known):
    """alpha_c minus the replica-symmetric one over omega: from `moved`, from `student_crossings`, and as published."""
    figure, (axes,) = panels(1, 4.8, 7.4)
    symmetric, error = theory["symmetric"], theory["symmetric_error"]
    axes.fill_between(theory.index, -error, error, color=NEUTRAL, alpha=0.25, linewidth=0)
    axes.axhline(0, color=NEUTRAL, linewidth=1, label="replica symmetric")
    draw_means(axes, theory, "shift", BASELINE, "s-", label="one step of breaking")
    compared = trained[trained.index.isin(theory.index)]
    for name, marker, colour, label in (
        ("informed", "o", "black", "students, informed descent"),
        ("searched", "D", "#8a6fb0", "students, lowest minima found"),
    ):
        shift = compared[name] - symmetric[compared.index]
        x = compared.index + (ASIDE if name == "searched" else -ASIDE)
        draw_points(axes, x, shift, compared[f"{name}_error"], colour, marker, label=label, markersize=7)
    omegas = [omega for omega in known if omega in theory.index]
    away = [known[omega].value - symmetric[omega] for omega in omegas]
    steps = [known[omega].rounding for omega in omegas]
    draw_points(axes, omegas, away, steps, NEUTRAL, "x", markersize=8, label="published theory")
    axes.set(xlabel=OMEGA, ylabel=r"$\alpha_c$ minus the replica-symmetric one")
    figure.legend(loc="outside upper center", ncols=2, fontsize=11)
    return figure


@styled
def draw_against_theory(shares):
    """Size and training loss of students and of one step of breaking, from `shares_above_theory`, over omega."""
    figure, axes = panels(2, 3.6, 7.4, sharex=True)
    marks = (
        ("informed", "o", "informed descent"),
        ("searched", "D", "lowest minima found"),
        ("one_step", "s", "one step"),
    )
    for panel, (quantity, label) in zip(axes, (("q", "size $q$"), ("train_loss", r"training loss $\epsilon_t$"))):
        panel.axhline(0, color=NEUTRAL, linewidth=1)
        panel.set_ylabel(f"{label}, % above theory")
        for branch, colour in COLOURS.items():
            rows = shares.loc[quantity].xs(branch, level="branch")
            aside = ASIDE * (1 if branch == "semantic" else -1)
            for step, (name, marker, _) in enumerate(marks):
                style = {"markersize": 7, "markerfacecolor": "white" if name == "one_step" else colour}
                x = rows.index + aside + 3 * ASIDE * (step - 1)
                draw_points(panel, x, 100 * rows[name], 100 * rows[f"{name}_error"], colour, marker, **style)
    axes[-1].set_xlabel(OMEGA)
    axes[-1].set_xticks(sorted(shares.index.unique("omega")))
    for name, marker, label in marks:
        face = "white" if name == "one_step" else NEUTRAL
        axes[0].plot([], [], marker, color=NEUTRAL, markerfacecolor=face, markersize=7, label=label)
    for branch, colour in COLOURS.items():
        axes[0].plot([], [], color=colour, label=branch)
    figure.legend(loc="outside upper center", ncols=3, fontsize=11)
    return figure


@styled
def draw_inner_stability(gains):
    """Gain of the distance of two copies inside a minimum over that distance, from `inner_stability`."""
    figure, (axes,) = panels(1, 4.8, 7.4)
    axes.axhline(1, color=NEUTRAL, linewidth=1)
    styles = dict(zip(gains.index.unique("omega"), DASHES))
    for branch, colour in COLOURS.items():
        for omega, style in styles.items():
            if (omega, branch) in gains.index:
                label = rf"{branch}, $\omega = {omega:g}$"
                draw_means(axes, gains.loc[omega, branch], "gain", colour, f"o{style}", label=label)
    axes.set(xscale="log", yscale="log", xlabel=r"squared distance $D/q_1$", ylabel=r"gain $D'/D$ of one iteration")
    axes.set_yticks((1, 2, 5), ("1", "2", "5"))
    axes.yaxis.set_minor_locator(mpl.ticker.NullLocator())
    figure.legend(loc="outside upper center", ncols=2, fontsize=11)
    return figure
