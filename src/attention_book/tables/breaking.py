"""What one step of replica symmetry breaking explains of the students, as frames of numbers."""

import numpy as np
import pandas as pd

from attention_phases.measured import Measured

from .. import published
from ..analysis import controlled, lowest

BRANCHES = ("semantic", "positional")
SHIFTED = [f"{name}{error}" for name in ("symmetric", "shift", "alpha") for error in ("", "_error")]


def moved(table, what="critical"):
    """A threshold with one step of breaking, by omega.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "one_step".
    what : {"critical", "linear"}

    Returns
    -------
    pandas.DataFrame
        By omega: `symmetric`, `shift` and `alpha`, each with its error by quadrature; `model_error`, what further
        steps of breaking are allowed to add: as much as the first one; `resolved`, whether the maximum of Phi was seen
        on both branches. Where it was not, Phi hardly changes: the shift is the one at the last y tried.
        Without the omega where a branch has no solution.
    """
    rows = table[table["what"] == what].set_index("omega").sort_index()
    resolved = rows["reason"].astype(str) == ""
    rows = rows.reindex(columns=SHIFTED).astype(float).assign(resolved=resolved).dropna()
    return rows.assign(model_error=rows["shift"].abs())


def complexity(rows, points=60):
    """Complexity of the minima of one branch by their loss, from the slope of a cubic in log y through Phi.

    Sigma = dPhi/dlog y times y, much better known so than from its own formula. Shown is the part from the lowest
    minima, at the maximum of Phi, up to where the loss stops rising as y falls: beyond, the solutions are no minima.

    Parameters
    ----------
    rows : pandas.DataFrame
        Of the experiment "one_step_valleys": one branch at one omega and alpha, with at least five solutions that
        converged.
    points : int

    Returns
    -------
    pandas.DataFrame
        y, `above` (loss less that of the lowest), `complexity` with its error; empty where Phi has no maximum.
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


DEGREE = 3


def ground_states(table):
    """The lowest minima of both branches, at the replica-symmetric alpha_c of each omega.

    Returns
    -------
    pandas.DataFrame
        By omega and branch: alpha, `apart` (the share (q1 - q0)/q1 by which two of them differ), y, phi and shift with
        their errors, and `gained`, the shift over phi.
    """
    rows = table[table["what"].isin(BRANCHES)].rename(columns={"what": "branch"})
    rows = rows.astype({"branch": str}).set_index(["omega", "branch"]).sort_index()
    rows = rows.assign(apart=1 - rows["q0"] / rows["q1"], gained=rows["shift"] / rows["phi"])
    rows["gained_error"] = rows["shift_error"] / rows["phi"]
    return rows[["alpha", "apart", "y", "phi", "phi_error", "shift", "shift_error", "gained", "gained_error", "reason"]]


def students(table, searches):
    """Where the losses of trained students cross: by informed descent, and with the lowest minima that are found.

    Parameters
    ----------
    table, searches : pandas.DataFrame
        The experiments "crossing" and "searched".

    Returns
    -------
    pandas.DataFrame
        By omega, at infinite d: `informed` with its error and `chance` (see `Limit`); `later`, by how much the
        lowest minima cross later, with its error; `searched`, the sum of the two.
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

    Parameters
    ----------
    theory : pandas.DataFrame
        From `moved`.
    trained : pandas.DataFrame
        From `students`.

    Returns
    -------
    pandas.DataFrame
        By omega, where students were trained; `informed_off` and `searched_off`: students less one step of breaking,
        over both errors.
    """
    both = trained.join(theory, how="inner")
    known = [published.CRITICAL_ALPHA[omega].text if omega in published.CRITICAL_ALPHA else "" for omega in both.index]
    away = {name: both[name] - both["alpha"] for name in ("informed", "searched")}
    errors = {name: np.hypot(both[f"{name}_error"], both["alpha_error"]) for name in away}
    return both.assign(published=known, **{f"{name}_off": away[name] / errors[name] for name in away})


def against_theory(losses, theory):
    """Training loss of informed students at infinite d less that of theory.

    Parameters
    ----------
    losses : pandas.DataFrame
        From `controlled.losses`.
    theory : dict
        (omega, alpha, start) to (loss, error) of the replica-symmetric solution.

    Returns
    -------
    pandas.DataFrame
        By omega, alpha and branch: both losses with their errors, and `above`, their difference over the loss.
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

    Parameters
    ----------
    table, starts : pandas.DataFrame
        The experiments "searched" and "lowest".

    Returns
    -------
    pandas.DataFrame
        By omega, branch and d: `hop`, training loss gained by way of single sentences, mean with its error;
        `hop_share`, that over the informed loss; `same`, share of the starts that lead to the lowest; `ahead`, by
        how much that is more than all starts of "lowest" gain, on the data sets that both have, with its error; and
        `annealed_T`, what Langevin descent gains, for each T.
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

    Parameters
    ----------
    trained, searches, lines : pandas.DataFrame
        The experiments "crossing", "searched" and "fig03_theory".

    Returns
    -------
    pandas.DataFrame
        By omega and branch: `smaller`, q of informed students at infinite d over that of theory, less 1 (mean over
        alpha), with the error of the students; `grows`, q of the lowest minimum found over that of the informed one on
        the same data, less 1, in the largest d searched.
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

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "hysteresis".
    sigma : float
        Of its task.

    Returns
    -------
    pandas.DataFrame
        By omega, way and `at` (alpha): `semantic` and `positional`, ``|cosine|`` of the weights with the teacher and
        with 1_d, as root mean squares over data sets, their errors, and the mean `excess`.
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

    Parameters
    ----------
    table, sigma
        As for `loops`.

    Returns
    -------
    pandas.DataFrame
        By omega and way: `data_sets`, how many of them `turned`, the `first` and the `last` alpha of these.
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
