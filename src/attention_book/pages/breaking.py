"""Beyond replica symmetry: one step of its breaking, the lowest minima found, and whether one step is enough."""

import matplotlib as mpl
import numpy as np

from attention_phases import Task
from attention_phases.measured import Measured
from attention_phases.theory import solve
from attention_phases.theory.one_step.equations import Valley, average, inner_points
from attention_phases.theory.one_step.solution import inner_gains
from attention_phases.theory.quadrature import gaussian_points

from ..analysis import instances
from ..analysis.instances import as_columns, as_frame, test_gap
from ..analysis.one_step import ground_states, with_one_step
from ..analysis.thresholds import crossing, curve
from ..render.style import BASELINE, COLOURS, NEUTRAL, OMEGA, draw_means, draw_points, panels, styled

ASIDE = 0.003  # in omega, so that marks of one omega can be told apart
SHARES = (0.1, 0.03, 0.01, 0.003, 0.001)  # squared distances D/q1 of two copies
DASHES = ("-", "--", "-.", ":")
FINER = (6, 12)  # radii and angles of an inner rule with four times as many points


def broken_states(table):
    """Of `ground_states` those found in which two minima differ."""
    states = ground_states(table)
    return states[(states["reason"].astype(str) == "") & (states["q1"] > states["q0"])]


def _valley(state):
    return Valley(state["q0"], state["q1"] - state["q0"], state["m"], state["theta"], state["V"], state["y"])


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
    rows = with_one_step(table, "linear").query("shift_error > 0")
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
    """alpha_c minus the replica-symmetric one over omega: `with_one_step`, `student_crossings`, published."""
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
