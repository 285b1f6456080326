"""The differences between the authors' published means and our means of the same cells, in standard errors.

The authors' tables are in the repository SPOC-group/positional-and-semantic-attention, commit 0b867fa. They have no
licence, so only the differences are kept here. The table also has their curves of theory, which are compared with the
results of the published rules (`published_rule`) and with our theory on many points.

Columns:
    start: initial weights, or branch of theory
        - semantic: the semantic branch or valley
        - positional: the positional branch or valley
        - near_semantic: the teacher's weights plus N(0, 1)
        - near_positional: the positional encoding plus 0.1 N(0, 1)
        - random: 0.1 N(0, 1)
        - mixed: the first column semantic, the second positional
        - second: the second column of the teacher
        - encoding: 0.3 times 1_d
        - symmetric: the branch without overlaps
    d [1]: embedding dimension; empty for curves of theory
    optimizer: optimiser of our students, or theory
        - lbfgs: L-BFGS to |grad R| <= 1e-4
        - gd: full-batch gradient descent as published
        - adam: Adam
        - theory: replica-symmetric theory
    figure: figure of the paper that shows the cell or a similar cell
    ours [1]: our value: a mean over data sets, a threshold from such means, or theory
    instances [1]: number of our data sets behind the mean
    z [1]: ours minus published, a standard normal variable if both estimate the same quantity
    away [1]: ours minus published theory, divided by the largest value along both curves
    rule_away [1]: for curves of theory, result of the published rules minus published value, divided by the published
        value
    step_away [1]: the same for one step of the rules from the published overlaps, and for the losses at these overlaps
"""

import json
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from columns import entries_in

from attention_book.analysis.comparisons import CELL, LOSSES, OVERLAPS, SQUARES, encodings, ours, standard_scores
from attention_book.analysis.instances import GAPS
from attention_book.analysis.thresholds import crossing, curve, last_fall
from attention_book.experiments.audit.authors_rule import rule_step
from attention_book.experiments.students import StudentCell
from attention_book.paths import DATA, stored_table
from attention_book.store import parquet
from attention_book.store.provenance import environment, restore
from attention_phases.errors import BadInput
from attention_phases.measured import NO_VALUE, Measured
from attention_phases.records import canonical
from attention_phases.task import Task
from attention_phases.theory.branches import OWN_OVERLAP
from attention_phases.theory.equations import Scalars

TABLE_FILES = {  # SHA-256 of each file
    "results_mean_standardA.csv": "0f33d867a71cbb6f74ecc86e1c1d1e5a778d9ade7812cdf14902e4e4f7a8dd6c",
    "results_std_standardA.csv": "5ae85be9a4bb4712b8201c015d0e117b8e3b230344b581c12dacc9a915bc73fa",
    "results_mean_otherA.csv": "2dfd7b35f028c340383f38bd39202eacfcbd672e475a06258fbb498a67ed33b8",
    "results_std_otherA.csv": "300af78d2ac8c9c2b1ba73eff18142ec55e9094811c5df23c764f39f7602a395",
    "results_scaling.csv": "c8de9e24c6a035d53c6a5eb0347df5360e63e6300532faffce46f049969627ad",
    "results_std_scaling.csv": "d3a08aed47b7c98371df8d211defeeb110a3657572b2e54177a8c0ac76f80555",
    "results_mean_r=2.csv": "6fb3b2aeb426fbcc42d62ba5ea14c2a6d5847452abc7659d69492b65af370613",
    "results_std_r=2.csv": "e98d0b33375ff67d232bb1acf370ca1a1f6d0beb491201aec61c18b5c00cc625",
}


class PublishedTable(NamedTuple):
    """A table of the authors: its two files, the matrix of the task, the student's form, and the number of runs."""

    means: str
    spreads: str
    matrix: str
    form: str
    runs: int


TABLES = (
    PublishedTable("results_mean_standardA.csv", "results_std_standardA.csv", "standard", "tied", 24),
    PublishedTable("results_mean_otherA.csv", "results_std_otherA.csv", "alternative", "tied", 24),
    PublishedTable("results_scaling.csv", "results_std_scaling.csv", "standard", "tied", 70),
    PublishedTable("results_mean_r=2.csv", "results_std_r=2.csv", "standard", "rank2", 10),
)
NAME = "published_tables"  # name of the table of differences
EXPERIMENTS = ("fig02", "fig03", "fig07", "fig08", "fig09", "published_cells", "fig11", "fig14_random")
CROSSING = {  # for each threshold, the quantity that falls below a second quantity, each with its start
    "critical": (("train_loss", "semantic"), ("train_loss", "positional")),
    "linear": (("test_mse", "semantic"), ("linear_mse", "semantic")),
}
DRAWS = 2000  # number of resamples of the means, whose crossings give the error of a crossing
COLUMNS = entries_in(__doc__)


class Curve(NamedTuple):
    """A file with a theoretical curve at sigma = 0.5 and lambda = 0.01: its SHA-256, and the branch that it follows.

    `losses` says whether its free energies are training losses. The free energies at omega = 0.5 are not, because they
    leave out `label_loss`.
    """

    digest: str
    omega: float
    branch: str
    matrix: str = "standard"
    losses: bool = True


# The name of a file with a curve begins with this prefix. The rest of the name says what is in the file.
CURVE_PREFIX = "repl_softmax_Mixed_sig0.5_lamb0.01_omega"
CURVES = {
    "0.3": Curve("e0f034433116dbb72f55ba735c3debfc01295279e052ed84e0c8b07f9b31d9fd", 0.3, "semantic"),
    "0.3_para": Curve("f671a62b954578da70bd278c4b48dcc72a259dbd0138d6700672b1e51a52709f", 0.3, "positional"),
    "0.3_agno": Curve("707fbe3fb6b014e033a46c7bd618bd51350f8561885a2437c16bedb29e0a7e51", 0.3, "symmetric"),
    "0.5": Curve("05b2003e845ed6df6eb74077cf76ba2ec9e5230c48e1f6b995df3b20be5195ac", 0.5, "semantic", losses=False),
    "0.5_para": Curve(
        "eb7b12eb0c6c7f538a1b5ef1da9d1f0886c4836bf6b9406126644171c8e6ce5f", 0.5, "positional", losses=False
    ),
    "0.14_Aalt": Curve(
        "563095d66ed4396aad3e7b92c58cf0d56c76f400dfff1707aba39b39397090ec", 0.14, "semantic", "alternative"
    ),
    "0.14_para_Aalt": Curve(
        "1e9fea701fb917fcfd4680c5cd00f5dd6dbc6391ae2b1a052d4a023b48f7fed0", 0.14, "positional", "alternative"
    ),
    # The names of these files say that A is the alternative matrix. But the curves are far from its solutions and close
    # to the solutions of the standard matrix.
    "0.15_Aalt": Curve("a3e18fe8d973150d114c3173416f6cd881d09e764769f5951aa0efb4605d84da", 0.15, "semantic"),
    "0.15_para_Aalt": Curve("bbb1e78d60d10acc7cc640bc55e94180896664041486bf3864cef61a874ee84c", 0.15, "positional"),
}
CURVE_FILES = {f"{CURVE_PREFIX}{name}.csv": curve.digest for name, curve in CURVES.items()}


def find(folder, files):
    """Return the paths of known files in a folder or its subfolders, by name.

    Raises `BadInput` if a file is missing or has another content.

    files: SHA-256 by name
    """
    paths = {}
    for name, digest in files.items():
        paths[name] = next(iter(sorted(Path(folder).rglob(name))), None)
        if paths[name] is None:
            raise BadInput("folder", str(folder), f"a checkout of the authors' repository; it has no {name}")
        if sha256(paths[name].read_bytes()).hexdigest() != digest:
            raise BadInput(f"{paths[name]} is not the file of commit 0b867fa: its SHA-256 differs")
    return paths


def theirs(folder):
    """Return the authors' means and standard deviations over runs, in our units: a row for each cell and quantity."""
    paths = find(folder, TABLE_FILES)
    read = {name: pd.read_csv(path) for name, path in paths.items()}
    return pd.concat(_long_frame(table, read[table.means], read[table.spreads]) for table in TABLES)


def _long_frame(table, means, spreads):
    """Return a table as a long frame with `CELL`, quantity, published, spread (missing for squares) and runs.

    For two columns of weights, the authors give the larger and the smaller overlap of each run. The mean of the sum of
    their squares follows from both means and standard deviations, but the standard deviation of this sum does not.
    """
    d, variance = means["d"], means["sigma"] ** 2
    cells = means[["sigma", "omega", "alpha", "d"]].assign(
        matrix=json.dumps(Task(matrix=table.matrix).matrix, separators=(",", ":")),
        form=table.form,
        lam=means["attention_lmbda"],
        start="random" if table.form == "rank2" else np.where(means["informed"], "semantic", "positional"),
    )
    frames = []
    for name, column in LOSSES.items() if table.form == "rank2" else (LOSSES | OVERLAPS).items():
        unit = {"train_loss": 1 / d, "theta": variance}.get(name, 1.0)
        values = {"published": means[f"{column}_mean"] * unit, "spread": spreads[f"{column}_mean"] * unit}
        frames.append(cells.assign(quantity=name, **values))
    for name, column in SQUARES.items() if table.form == "rank2" else ():
        both = [f"{column}_max", f"{column}_min"]
        squares = (means[both] ** 2 + (1 - 1 / table.runs) * spreads[both] ** 2).sum(axis=1)
        frames.append(cells.assign(quantity=name, published=squares * (variance**2 if name == "theta^2" else 1)))
    return pd.concat(frames).assign(runs=table.runs, alpha=lambda rows: rows["alpha"].round(6))


def stored_students():
    """Return the students of all `EXPERIMENTS` that have a stored table, each student once.

    `linear_mse` is the test error of a linear model that reads only the tokens, but our linear model reads the
    positions too. In large dimension the difference is `encodings`. In small dimension the model is fitted again.
    """
    from attention_book.experiments.paper.fig07 import linear_baselines  # here because it loads torch, which is slow

    paths = [path for name in EXPERIMENTS if (path := DATA / f"{name}.parquet").exists()]
    paths = paths or [stored_table(EXPERIMENTS[0])]  # raises an error that names the missing file
    wanted = [*CELL, "optimizer", "seed", "cell", *LOSSES, *OVERLAPS]
    rows = pd.concat([parquet.load(path).reindex(columns=wanted) for path in paths])
    words = ["matrix", "form", "start", "optimizer", "cell"]
    rows[words] = rows[words].astype(object)
    rows = rows.fillna({"form": "tied"}).assign(alpha=rows["alpha"].round(6))
    rows = rows.drop_duplicates([*CELL, "optimizer", "seed"], ignore_index=True)
    small = rows["d"] < 1000
    texts = rows.loc[small & (rows["optimizer"] == "gd"), "cell"].unique()
    fitted = {text: linear_baselines(restore(StudentCell, text))["tokens"] for text in texts}
    return rows.assign(linear_mse=rows["cell"].map(fitted).where(small, rows["linear_mse"] - encodings(rows)))


def figure_of(cells):
    """Return, for each cell, the figure of the paper that shows it or would show it."""
    tied, standard = cells["form"] == "tied", cells["matrix"].str.startswith("[[0.6")
    usual = (cells["sigma"] == 0.5) & (cells["lam"] == 0.01) & (cells["omega"] <= 0.5)
    kinds = [~tied, cells["d"] < 1000, ~standard, ~usual, cells["omega"] == 0.3]
    return np.select(kinds, ["14", "7", "9", "8", "2"], "3")


def compare_tables(folder):
    """Return a comparison of the published means, thresholds and theoretical curves with ours.

    The first result is a frame with z of the cells that both sides have, by optimiser. The second result is the number
    of published means that we do not have, by form of the student. Curves are compared if the folder has any.
    """
    published, rows = theirs(folder), stored_students()
    compared = published.merge(ours(rows), on=[*CELL, "quantity"])
    known = compared[compared["optimizer"] == "gd"].groupby("form").size()
    lacking = published.groupby("form").size().sub(known, fill_value=0).astype(int)
    compared = compared[(compared["optimizer"] == "gd") | (compared["quantity"] != "linear_mse")]
    compared = compared.assign(figure=figure_of(compared), z=standard_scores(compared))
    kept = [*CELL, "figure", "quantity", "optimizer", "ours", "ours_error", "instances", "z"]
    parts = [compared[kept], thresholds(published, rows)]
    if any(Path(folder).rglob(f"{CURVE_PREFIX}*")):
        curves = compare_curves(find(folder, CURVE_FILES))
        parts.append(curves.assign(figure=figure_of(curves.assign(d=np.inf))))
    return pd.concat(parts, ignore_index=True), lacking[lacking > 0].to_dict()


def thresholds(published, rows):
    """Return z for alpha_c and alpha_l from the authors' means, compared with ours from means and from theory.

    The data of the two starts are taken to be independent, because the correlation of their errors is not known. The
    errors of a crossing come from resampling. If theory has no threshold, the crossing of the means is noise and is
    left out.
    """
    rng = np.random.default_rng(0)
    usual = "form == 'tied' and sigma == 0.5 and lam == 0.01 and d == 1000"
    rows = rows.query(usual)
    lines = {
        json.dumps(Task(matrix=matrix).matrix, separators=(",", ":")): parquet.load(stored_table(f"{name}_theory"))
        for matrix, name in (("standard", "fig03"), ("alternative", "fig09"))
    }
    scores = []
    for (matrix, omega), cells in published.query(usual).groupby(["matrix", "omega"]):
        table = cells.assign(error=cells["spread"] / cells["runs"] ** 0.5)
        table = table.pivot(index="alpha", columns=["quantity", "start"], values=["published", "error"])
        same = rows[(rows["matrix"] == matrix) & (rows["omega"] == omega)]
        for kind, (upper, lower) in CROSSING.items():
            theory = curve(lines[matrix], kind)
            theirs = _their_crossing(table, upper, lower, rng) if omega in theory.index else NO_VALUE
            if np.isnan(theirs.value):
                continue
            ours = {name: crossing(GAPS[kind](some)) for name, some in same.groupby("optimizer")}
            for name, own in (ours | {"theory": Measured(*theory.loc[omega])}).items():
                z = (own.value - theirs.value) / np.hypot(own.error, theirs.error)
                scores.append((matrix, omega, kind, name, *own, round(z, 2)))
    columns = ["matrix", "omega", "quantity", "optimizer", "ours", "ours_error", "z"]
    frame = pd.DataFrame(scores, columns=columns).assign(form="tied", sigma=0.5, lam=0.01, d=1000)
    return frame[np.isfinite(frame["z"])].assign(figure=figure_of).reset_index(drop=True)


def _their_crossing(table, upper, lower, rng):
    """Return the alpha at which one published mean falls below another, with its error, or NaN if it never does."""
    alphas, gap = table.index.to_numpy(), (table["published"][upper] - table["published"][lower]).to_numpy()
    noise = np.hypot(table["error"][upper], table["error"][lower]).to_numpy()
    place = last_fall(alphas, gap)
    if np.isnan(place):
        return NO_VALUE
    drawn = last_fall(alphas, gap + noise * rng.standard_normal((DRAWS, len(gap))))
    return Measured(place, np.nanstd(drawn))


def compare_curves(paths):
    """Return a comparison of the authors' curves with ours, with a row for each alpha and quantity.

    `away` is ours minus theirs, divided by the largest value along both curves. `rule_away` is the result of the
    published rules minus the published value, divided by the published value. `step_away` is the same difference for
    one step of the rules from the published overlaps, and for the losses of these overlaps.

    paths: paths of `CURVE_FILES`, by name.
    """
    theirs = {curve: pd.read_csv(paths[f"{CURVE_PREFIX}{name}.csv"]) for name, curve in CURVES.items()}
    ours = parquet.load(stored_table("published_rule"))
    return pd.concat([_compare_curve(curve, rows, ours) for curve, rows in theirs.items()], ignore_index=True)


def _compare_curve(curve, theirs, ours):
    task = Task(omega=curve.omega, matrix=curve.matrix)
    # The authors sum test errors over both tokens, but our test errors are means.
    theirs = theirs.assign(test_mse=theirs["mse"] / 2, train_loss=-theirs["Phi"], alpha=theirs["alpha"].round(6))
    theirs[["m", "theta"]] = theirs[["m", "theta"]].abs()
    cell = {name: getattr(task, name) for name in ("sigma", "omega", "lam")} | {"form": "tied", "start": curve.branch}
    cell["matrix"] = json.dumps(task.matrix, separators=(",", ":"))
    same = (ours["what"] == curve.branch) & (ours["omega"] == task.omega) & (ours["matrix"] == cell["matrix"])
    held = [name for branch, name in OWN_OVERLAP.items() if branch != curve.branch]
    starts = [Scalars(*row) for row in theirs.assign(**dict.fromkeys(held, 0.0))[[*Scalars._fields]].to_numpy()]
    steps = [rule_step(task, alpha, start) for alpha, start in zip(theirs["alpha"], starts)]
    theirs = theirs.join(pd.DataFrame(steps, index=theirs.index).add_prefix("step_"))
    frames = []
    for name, rows in ours[same].assign(alpha=ours["alpha"].round(6)).groupby("quantity", observed=True, sort=False):
        if name == "train_loss" and not curve.losses:
            continue
        rows = theirs[["alpha", name, f"step_{name}"]].merge(rows, on="alpha", validate="one_to_one")
        values, known = rows["many"], rows[name]
        away = (values - known) / max(*values, *known)
        columns = {"alpha": rows["alpha"], "ours": values, "ours_error": rows["many_error"], "away": away.round(4)}
        columns["rule_away"] = (rows["rule"] / known - 1).round(5)
        columns["step_away"] = (rows[f"step_{name}"] / known - 1).round(5)
        frames.append(pd.DataFrame(cell | {"quantity": name, "optimizer": "theory"} | columns))
    return pd.concat(frames)


def write_comparison(compared, path):
    """Write a comparison as a table of results, together with the version of the code that made it."""
    origin = {**environment(), "cell_seconds": 0.0, "finished": datetime.now(UTC).isoformat(timespec="seconds")}
    fields = [*CELL, "figure"]
    if Path(path).exists():
        parquet.load(path)  # raises an error if the file is no table of results, before it is overwritten
    by_text = {}
    for row in compared.astype(object).where(compared.notna(), None).to_dict("records"):
        cell = {name: row[name] for name in fields if row.get(name) is not None}
        cell["matrix"] = json.loads(cell["matrix"])
        result = {name: value for name, value in row.items() if name not in fields and value is not None}
        by_text.setdefault(canonical({"experiment": NAME, **cell}), ([], origin))[0].append(result)
    parquet.write(Path(path), by_text, {})
