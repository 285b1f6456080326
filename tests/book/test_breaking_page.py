"""What the page on one step of breaking says, on frames computed by hand; and the shift of alpha_l."""

from types import SimpleNamespace

import frames
import numpy as np
import pandas as pd
import pytest
from cells import cell

from attention_book.analysis.thresholds import with_one_step
from attention_book.experiments.cells import OneStepThresholdsCell
from attention_book.experiments.theory_lines import broken_thresholds
from attention_book.render.style import COLOURS
from attention_phases import Task
from attention_phases.measured import Measured
from attention_phases.theory.one_step import threshold
from attention_phases.theory.one_step.equations import Valley
from attention_phases.theory.one_step.solution import NO_MAXIMUM
from attention_phases.theory.prediction_error import test_error as prediction_error
from attention_phases.theory.thresholds import Threshold


def solution(q0, gap, theta, q1_error=0.0, theta_error=0.0):
    return SimpleNamespace(
        valley=Valley(q0, gap, 0.0, theta, 20.0, 100.0), stderr={"q1": q1_error, "theta": theta_error}
    )


def at(task, q, theta):
    overlaps = {"q": q, "m": 0.0, "theta": theta, "rho": task.sigma**2, "m_teacher": 0.0}
    return prediction_error(task, overlaps)[0]


def test_alpha_l_moves_with_the_test_error_of_a_minimum():
    """A minimum predicts with its size q1, whatever the overlap of two of them."""
    task, slope = Task(omega=0.1), -2e-3
    ground, typical = solution(0.06, 0.003, 0.09, 1e-4, 2e-4), solution(0.058, 0.004, 0.088, 2e-4, 1e-4)
    shift, error = threshold.linear_shift(task, slope, ground, typical)
    change = at(task, 0.063, 0.09) - at(task, 0.062, 0.088)
    assert shift == pytest.approx(change / 2e-3) and change < 0  # predicts better: needs fewer data
    steps = [
        [at(task, q + up, theta) - at(task, q, theta), at(task, q, theta + over) - at(task, q, theta)]
        for q, theta, up, over in ((0.063, 0.09, 1e-4, 2e-4), (0.062, 0.088, 2e-4, 1e-4))
    ]
    assert error == pytest.approx(np.hypot(*np.abs(steps).sum(1)) / 2e-3)
    assert threshold.linear_shift(task, slope, solution(0.06, 0.0, 0.09), typical) == (0.0, 0.0)


def test_a_moved_threshold_is_where_the_moved_losses_cross(monkeypatch):
    """By hand: lines of loss that cross at 0.8, each moved by breaking, with errors that the scrambles share."""
    shifts, slopes = {"semantic": -3e-6, "positional": -8e-6}, {"semantic": 1e-3, "positional": 2e-3}
    noise = {"semantic": 1e-6 * np.array([1.0, 3.0, -1.0, 5.0]), "positional": 1e-6 * np.array([2.0, 3.0, 1.0, 6.0])}

    def one_step(task, alpha, branch, y, *quadrature):
        assert (alpha, quadrature) == (0.8, (64, 4, 7))
        state = SimpleNamespace(shift=shifts[branch], slope=slopes[branch], spread={"shift": noise[branch]})
        state.reason, state.solved, state.valley, state.stderr = "", True, Valley(0.1, 0.01, 0.2, 0.0, 9.0, y), {}
        state.quantities = {"q0": 0.1}
        return state

    semantic = SimpleNamespace(test_slope=-2e-3)
    symmetric = Threshold(Measured(0.8, 3e-3), {"semantic": semantic})
    monkeypatch.setattr(threshold, "threshold", lambda *given: symmetric)
    monkeypatch.setattr(threshold, "one_step", one_step)
    errors = {None: Measured(2.0e-3, 6e-6), 0.0: Measured(1.99e-3, 8e-6)}  # of the ground state, and without weights
    monkeypatch.setattr(threshold, "_test_error", lambda task, state: errors[state.valley.y])
    rows = pd.DataFrame(broken_thresholds(OneStepThresholdsCell("any", Task(), 64, 4, 7))).set_index("what")
    critical, linear = rows.loc["critical"], rows.loc["linear"]
    alpha = critical["alpha"]
    losses = {branch: shifts[branch] + slopes[branch] * (alpha - 0.8) for branch in shifts}
    assert losses["semantic"] == pytest.approx(losses["positional"], rel=1e-9) and alpha == pytest.approx(0.805)
    apart = noise["positional"] - noise["semantic"]
    assert critical["shift_error"] == pytest.approx(apart.std(ddof=1) / 2 / 1e-3)
    # The ground state predicts worse by 1e-5: at alpha_l + 0.005 it is as good again.
    assert linear["shift"] == pytest.approx(0.005) and linear["shift_error"] == pytest.approx(5e-3)
    for row in (critical, linear):
        assert row["alpha"] == pytest.approx(0.8 + row["shift"]) and row["symmetric_error"] == 3e-3
        assert row["alpha_error"] == pytest.approx((3e-3**2 + row["shift_error"] ** 2) ** 0.5)
    assert (rows.loc[["semantic", "positional", "semantic at linear"], "alpha"] == 0.8).all()


def test_thresholds_that_were_not_found_are_left_out():
    kept = [
        ("critical", 0.2, "", -0.004),
        ("critical", 0.1, "", -0.006),
        ("critical", 0.25, f"semantic: {NO_MAXIMUM}", -0.001),
        ("linear", 0.1, "", 0.5),
    ]
    table = pd.DataFrame(kept, columns=["what", "omega", "reason", "shift"])
    table = table.assign(alpha=0.69, alpha_error=1e-3, shift_error=1e-4)
    lost = pd.DataFrame([{"what": "critical", "omega": 0.3, "reason": "positional: did not settle"}])
    table = pd.concat([table, lost], ignore_index=True).assign(symmetric=0.7, symmetric_error=1e-3)
    shifts = with_one_step(table)
    assert shifts.index.tolist() == [0.1, 0.2, 0.25] and shifts["resolved"].tolist() == [True, True, False]
    assert with_one_step(table[["what", "omega", "reason", "symmetric", "symmetric_error"]]).empty  # of none at all

    # The shift added to a threshold that other pages give, where they do.
    lines = pd.DataFrame([{"what": "critical", "omega": 0.1, "alpha": 0.71, "alpha_error": 2e-4}])
    shared = with_one_step(table, lines=lines)
    assert shared.loc[0.1, ["symmetric", "alpha"]].tolist() == pytest.approx([0.71, 0.704])
    assert shared.loc[0.1, "alpha_error"] == pytest.approx(np.hypot(2e-4, 1e-4))
    assert shared.loc[0.2, ["symmetric", "alpha"]].tolist() == pytest.approx([0.7, 0.696])


def test_shares_and_differences_are_in_errors_of_both():
    """By hand: 0.007 and 0.03 of the 0.047 and 0.04 that students cross before theory."""
    theory = {"alpha": 0.745, "alpha_error": 0.003, "shift": -0.007, "shift_error": 2e-4, "symmetric": 0.752}
    theory = pd.DataFrame([theory | {"symmetric_error": 0.003}], index=[0.1])
    trained = {"informed": 0.705, "informed_error": 0.004, "searched": 0.735, "searched_error": 0.004}
    trained = pd.DataFrame([trained | {"later": 0.03, "later_error": 0.006}], index=[0.1])
    given = {"broken": theory, "students": trained, "students_at_infinite_d": lambda: trained}
    row = cell(PAGE, "compared", **given)["compared"].loc[0.1]
    assert row[["informed_off", "searched_off"]].tolist() == pytest.approx([-8.0, -2.0])
    assert row["explained"] == pytest.approx(7 / 47) and row["descended"] == pytest.approx(3 / 4)
    assert row["explained_error"] == pytest.approx(np.hypot(2e-4, 7 / 47 * 0.005) / 0.047)
    assert row["descended_error"] == pytest.approx(np.hypot(0.006, 3 / 4 * 0.005) / 0.04)


PAGE = "beyond_replica_symmetry"
STATE = {"alpha": 0.75, "q0": 0.0425, "q1": 0.0485, "m": 0.194, "theta": 0.0, "V": 18.57, "y": 470.0}
STATES = pd.DataFrame(
    [STATE | {"reason": "", "q1_error": 1e-4, "shift": 4e-6, "gained": 2e-3, "gained_error": 1e-4}],
    pd.MultiIndex.from_tuples([(0.1, "positional")], names=["omega", "branch"]),
)


def test_students_and_one_step_above_theory():
    """By hand: informed 10 % below in q and 2 % above in the loss; hops make q 5 % larger and the loss 1 % lower."""
    solved = SimpleNamespace(
        overlaps=SimpleNamespace(q=0.05), train_loss=2e-3, stderr={"q": 1e-4, "train_loss": 1e-6}, converged=True
    )
    places, informed = [], {"q": Measured(-0.1, 0.003), "train_loss": Measured(0.02, 0.003)}

    def solve(task, *place):
        places.append((task.omega, *place))
        return solved

    def above_theory(name):
        return {(0.1, branch): informed[name] for branch in COLOURS}

    def at_infinite_d(some):
        return {(0.1, branch): Measured(*some.values(), 0.004) for branch in COLOURS}

    same = STATES.assign(q1=STATES["q0"]).rename(index={"positional": "semantic"})  # one minimum: no step
    names = cell(
        PAGE,
        "shares",
        after=["one_step_above"],
        one_step=None,
        ground_states=lambda table: pd.concat([STATES, same]),
        QUOTED=(0.1, 0.2),
        trained=pd.DataFrame({"omega": 0.1, "alpha": 0.75, "start": [*COLOURS] * 2}),
        hops={"grows": {"q": 0.05}, "hop_share": {"train_loss": 0.01}},
        points=64,
        solve=solve,
        above_theory=above_theory,
        at_infinite_d=at_infinite_d,
        quote=lambda *_, **__: None,
    )
    for name, known in names["theory"].items():
        assert known == {(0.1, 0.75, branch): (getattr(solved, name, 0.05), solved.stderr[name]) for branch in COLOURS}
    shares = names["shares"]
    assert sorted(places) == [(0.1, 0.75, branch, 64) for branch in sorted(COLOURS)]  # each once
    size, loss = shares.loc["q", 0.1, "positional"], shares.loc["train_loss", 0.1, "positional"]
    assert size["searched"] == pytest.approx(0.9 * 1.05 - 1) and size["searched_error"] == pytest.approx(0.005)
    assert loss["searched"] == pytest.approx(1.02 * 0.99 - 1)
    assert size["one_step"] == pytest.approx(0.0485 / 0.05 - 1) and loss["one_step"] == pytest.approx(2e-3)
    assert size["one_step_error"] == pytest.approx(2**0.5 * 1e-4 / 0.05)
    assert shares.loc["q", 0.1, "semantic"][["one_step", "one_step_error"]].tolist() == [0, 0]


def test_a_finer_inner_rule_changes_phi_where_the_weights_are_sharp():
    """At large y the usual rule is too coarse: a few per cent at a ground state, far more at y = 6400."""
    valley = Valley(STATE["q0"], STATE["q1"] - STATE["q0"], *(STATE[name] for name in ("m", "theta", "V", "y")))
    rules = []
    for y in (470.0, 6400.0):
        given = {"quoted": STATES, "valleys": {STATES.index[0]: valley._replace(y=y)}, "points": 512}
        rules.append(cell(PAGE, "inner_rule", quote=lambda *_, **__: None, **given)["inner_rule"])
    (usual,), (sharp,) = (rule.to_numpy() for rule in rules)
    assert abs(usual[0]) < 0.05 + 3 * usual[1] and sharp[0] < -0.2


def test_the_largest_shift_of_alpha_l_and_its_part():
    shifts = pd.DataFrame(
        {"omega": [0.1, 0.14, 0.2], "shift": [-0.012, -0.015, 0.0], "shift_error": [0.005, 0.002, 0.0]}
    )
    shifts = shifts.assign(what="linear", reason="", alpha=0.5, alpha_error=0.0, symmetric=0.5, symmetric_error=0.0)
    trained = frames.students(0.14, 0.3, 0.35)
    lines = pd.DataFrame({"omega": [0.14], "what": "linear", "alpha": [0.5], "alpha_error": [0.001]})
    tables = {"one_step": shifts, "one_step_alternative": shifts.assign(shift_error=0.0)}
    tables |= {"fig03": trained, "fig03_theory": lines, "hysteresis": followed()}
    given = {"read": lambda name, profile: tables[name], "profile": "", "quote": lambda *_, **__: None}
    words = cell(PAGE, "words", **given)["words"]
    assert words["standard"] == {"shift": "−0.0150(20)", "omega": "0.14", "bound": "0.022", "part": "10"}
    assert set(words["alternative"].values()) == {"(not at this size)"}


def followed():
    """Up: on one of two data sets, at 0.8. Down is not counted."""
    semantic = {(0, "up"): (0.1, 0.9, 0.8), (1, "up"): (0.1, 0.2, 0.3), (0, "down"): (0.2, 0.6, 0.9)}
    tables = []
    for (seed, way), shares in semantic.items():
        rows = pd.DataFrame({"at": (0.4, 0.8, 1.2), "theta": -0.25 * np.array(shares), "m": 0.125})
        tables.append(rows.assign(omega=0.2, seed=seed, way=way))
    return pd.concat(tables, ignore_index=True)


def test_a_student_has_turned_where_the_overlap_with_the_teacher_is_larger():
    none = SimpleNamespace(empty=True, query=lambda _: none)
    given = {"read": lambda *_: followed(), "with_one_step": lambda *_: none, "profile": ""}
    turned = cell(PAGE, "turned", quote=lambda *_, **__: None, **given)["turned"]["turned"]
    assert turned.to_dict() == {0.2: "1 of 2"}
