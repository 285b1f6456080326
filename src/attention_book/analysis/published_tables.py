"""How far the means that the authors published lie from ours of the same cells, in standard errors.

Their tables are in the repository SPOC-group/positional-and-semantic-attention, commit 0b867fa, which has no licence:
nothing of them is kept here but these differences.
"""

import json
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import kstest, norm, t

from attention_phases.errors import BadInput
from attention_phases.measured import UNKNOWN, Measured
from attention_phases.task import Task
from attention_phases.theory import encoding_error, mean_attention

from ..experiments.cells import StudentCell
from ..paths import DATA, stored_table
from ..store import parquet
from ..store.provenance import canonical, environment, restore
from . import published_curves
from .instances import GAPS, in_errors
from .thresholds import crossing, curve, last_fall

NAME = "published_tables"
FILES = {  # SHA-256 of each
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
    """A table of theirs: its two files, the task's matrix, the student's form, and over how many runs are the means."""

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
EXPERIMENTS = ("fig02", "fig03", "fig07", "fig08", "fig09", "published_cells", "fig11", "fig14_random")
CELL = ["matrix", "form", "sigma", "omega", "lam", "alpha", "d", "start"]
LOSSES = {"linear_mse": "linear_gen_error", "test_mse": "attention_gen_error", "train_loss": "attention_train_error"}
OVERLAPS = {"m": "attention_mag", "theta": "attention_theta"}
CROSSING = {  # quantity and start of what falls below what at a threshold
    "critical": (("train_loss", "semantic"), ("train_loss", "positional")),
    "linear": (("test_mse", "semantic"), ("linear_mse", "semantic")),
}
DRAWS = 200  # of means, for the error of a crossing
SQUARES = {"m^2": "attention_mag", "theta^2": "attention_thet"}  # summed over two columns: no rotation changes them


def find(folder, files):
    """Known files in a folder or below, by name; `BadInput` where one is missing or another one.

    files: SHA-256 by name
    """
    paths = {}
    for name, digest in files.items():
        paths[name] = next(iter(sorted(Path(folder).rglob(name))), None)
        if paths[name] is None:
            raise BadInput("folder", str(folder), f"a checkout of the authors' repository; it has no {name}")
        if sha256(paths[name].read_bytes()).hexdigest() != digest:
            raise BadInput("file", str(paths[name]), "as at commit 0b867fa, which its SHA-256 denies")
    return paths


def theirs(folder):
    """Their means and standard deviations over runs, in our units: a row for each cell and quantity."""
    paths = find(folder, FILES)
    read = {name: pd.read_csv(path) for name, path in paths.items()}
    return pd.concat(_in_our_units(table, read[table.means], read[table.spreads]) for table in TABLES)


def _in_our_units(table, means, spreads):
    """Long frame of a table: `CELL`, quantity, published, spread (missing for squares) and runs.

    Of two columns of weights they have the larger and the smaller overlap of each run. The mean of the sum of the
    squares follows from the means and standard deviations of both, not the scatter of that sum.
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
    """Our stored students of all `EXPERIMENTS` that exist, each once; `linear_mse` of a model that reads tokens alone.

    Ours reads the positions too. In large dimension that adds `encodings`; in small ones the model is fitted again.
    """
    from ..experiments.simulation import linear_baselines  # with torch, slow to load

    paths = [path for name in EXPERIMENTS if (path := DATA / f"{name}.parquet").exists()]
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


def encodings(cells):
    """By how much a linear model's test error grows when it reads the positions too, of each cell."""
    where = ["matrix", "sigma", "omega", "d"]

    def added(row):
        task = Task(omega=row.omega, sigma=row.sigma, matrix=json.loads(row.matrix))
        return encoding_error(mean_attention(task), row.d)

    points = cells[where].drop_duplicates()
    by_point = points.assign(encoding=[added(row) for row in points.itertuples()])
    return cells[where].merge(by_point, how="left")["encoding"].set_axis(cells.index)


def ours(rows):
    """Means of `stored_students` over data sets: `CELL`, optimizer, quantity, ours, ours_error and instances."""
    columns = {
        "m": rows["m"].abs(),
        "theta": rows["theta"].abs(),
        "m^2": rows["m"] ** 2,
        "theta^2": rows["theta"] ** 2,
    }
    long = rows.assign(**columns).melt([*CELL, "optimizer"], [*LOSSES, *OVERLAPS, *SQUARES], "quantity")
    grouped = long.groupby([*CELL, "optimizer", "quantity"])["value"]
    return grouped.agg(ours="mean", ours_error="sem", instances="size").reset_index()


def halves(rows):
    """Scores of the first half of our own runs of two columns against the second, and of that against the first.

    In the sums of squared overlaps, whose scatter is taken to be that of the scored runs, as in `compare_tables`.
    """
    parts = [some for _, some in rows.groupby(rows["seed"] < rows["seed"].max() / 2)]
    one, other = (ours(part).query("quantity in @SQUARES").reset_index(drop=True) for part in parts)
    pairs = [(one, other), (other, one)]
    frames = [a.assign(published=b["ours"], spread=np.nan, runs=b["instances"]) for a, b in pairs]
    return standard_scores(pd.concat(frames, ignore_index=True))


def standard_scores(compared):
    """The differences of means as standard normal numbers, to two decimals.

    The difference over its estimated error follows Student's t with Welch's degrees of freedom, or, where we take
    their scatter to be ours, with one fewer than our data sets. The score has the same probability under a Gaussian.
    """
    own, instances, runs = compared["ours_error"] ** 2, compared["instances"], compared["runs"]
    alike = compared["spread"].isna()
    other = (compared["spread"] ** 2 / runs).where(~alike, own * instances / runs)
    freedom = (own + other) ** 2 / (own**2 / (instances - 1) + other**2 / (runs - 1))
    ratio = (compared["ours"] - compared["published"]) / np.sqrt(own + other)
    tail = t.sf(ratio.abs(), freedom.where(~alike, instances - 1))
    return (np.sign(ratio) * norm.isf(tail)).round(2)


def figure_of(cells):
    """In which figure each cell is shown, or would be."""
    tied, standard = cells["form"] == "tied", cells["matrix"].str.startswith("[[0.6")
    usual = (cells["sigma"] == 0.5) & (cells["lam"] == 0.01) & (cells["omega"] <= 0.5)
    kinds = [~tied, cells["d"] < 1000, ~standard, ~usual, cells["omega"] == 0.3]
    return np.select(kinds, ["14", "7", "9", "8", "2"], "3")


def compare_tables(folder):
    """Every mean that they publish beside ours, by optimiser, the thresholds read off both, and curves of theory.

    Gives a frame of the cells that both have, with z, and the number of means that we lack by form of the student. The
    curves are compared where the folder has any of them.
    """
    published, rows = theirs(folder), stored_students()
    compared = published.merge(ours(rows), on=[*CELL, "quantity"])
    known = compared[compared["optimizer"] == "gd"].groupby("form").size()
    lacking = published.groupby("form").size().sub(known, fill_value=0).astype(int)
    compared = compared[(compared["optimizer"] == "gd") | (compared["quantity"] != "linear_mse")]
    compared = compared.assign(figure=figure_of(compared), z=standard_scores(compared))
    kept = [*CELL, "figure", "quantity", "optimizer", "ours", "ours_error", "instances", "z"]
    parts = [compared[kept], thresholds(published, rows)]
    if any(Path(folder).rglob(f"{published_curves.PREFIX}*")):
        curves = published_curves.beside_ours(find(folder, published_curves.FILES))
        parts.append(curves.assign(figure=figure_of(curves.assign(d=np.inf))))
    return pd.concat(parts, ignore_index=True), lacking[lacking > 0].to_dict()


def thresholds(published, rows):
    """alpha_c and alpha_l where our means and those of theory cross, and how far from these theirs do, as z.

    Their two starts have independent data, and how errors on the same data go together is not known: they count as
    independent. Errors of a crossing come from resampling. Where theory has no threshold, what crosses is noise.
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
            theirs = _their_crossing(table, upper, lower, rng) if omega in theory.index else UNKNOWN
            if np.isnan(theirs.value):
                continue
            ours = {name: crossing(GAPS[kind](some), rng, DRAWS) for name, some in same.groupby("optimizer")}
            for name, own in (ours | {"theory": Measured(*theory.loc[omega])}).items():
                z = in_errors(own.value - theirs.value, own.error, theirs.error)
                scores.append((matrix, omega, kind, name, *own, round(z, 2)))
    columns = ["matrix", "omega", "quantity", "optimizer", "ours", "ours_error", "z"]
    frame = pd.DataFrame(scores, columns=columns).assign(form="tied", sigma=0.5, lam=0.01, d=1000)
    return frame[np.isfinite(frame["z"])].assign(figure=figure_of).reset_index(drop=True)


def _their_crossing(table, upper, lower, rng):
    """Where the mean of one quantity and start falls through that of another, with its error; NaN if it does not."""
    alphas, gap = table.index.to_numpy(), (table["published"][upper] - table["published"][lower]).to_numpy()
    noise = np.hypot(table["error"][upper], table["error"][lower]).to_numpy()
    place = last_fall(alphas, gap)
    if np.isnan(place):
        return UNKNOWN
    drawn = [last_fall(alphas, gap + noise * rng.standard_normal(len(gap))) for _ in range(DRAWS)]
    return Measured(place, np.nanstd(drawn))


def summary(compared):
    """Count, median and 95th percentile of |z|, share beyond 3 and mean z by figure and quantity, of one optimiser.

    `p` is the smallest of the Kolmogorov-Smirnov probabilities of the starts against a standard normal number, times
    the number of starts: cells of one start are independent of each other.
    """
    scores = compared["z"].abs()
    where = [compared["figure"].astype(str), compared["quantity"].astype(str)]
    columns = {"numbers": scores.groupby(where).size(), "median": scores.groupby(where).median()}
    columns |= {"percentile_95": scores.groupby(where).quantile(0.95), "beyond_3": (scores > 3).groupby(where).mean()}
    by_start = compared["z"].groupby([*where, compared["start"].astype(str)]).agg(_p).groupby(level=[0, 1])
    p = (by_start.min() * by_start.size()).clip(upper=1)
    table = pd.DataFrame(columns | {"mean_z": compared["z"].groupby(where).mean(), "p": p}).reset_index()
    return table.sort_values("figure", key=lambda names: names.str.extract(r"(\d+)")[0].astype(int), kind="stable")


def _p(scores):
    return kstest(scores, "norm").pvalue


def write_comparison(compared, path):
    """Keep a comparison as a table of results, with the code that made it."""
    origin = {**environment(), "cell_seconds": 0.0, "finished": datetime.now(UTC).isoformat(timespec="seconds")}
    fields = [*CELL, "figure"]
    by_text = {}
    for row in compared.astype(object).where(compared.notna(), None).to_dict("records"):
        cell = {name: row[name] for name in fields if row.get(name) is not None}
        cell["matrix"] = json.loads(cell["matrix"])
        result = {name: value for name, value in row.items() if name not in fields and value is not None}
        by_text.setdefault(canonical({"experiment": NAME, **cell}), ([], origin))[0].append(result)
    parquet.write(Path(path), by_text)


def slipped():
    """By how much slips in gradient descent move students: `slip`, omega, alpha, start, quantity and `moved`.

    On the data sets that the map of Figure 3 has without them.
    """
    where = ["omega", "alpha", "start"]
    slips, usual = (parquet.load(stored_table(name)) for name in ("slips", "fig03"))
    usual = usual.query("optimizer == 'gd' and seed == 0")
    columns = [*where, "test_mse", "train_loss", *OVERLAPS]
    with_slip = slips[["slip", *columns]].astype({"start": str}).set_index([*where, "slip"]).abs()
    without = usual[columns].astype({"start": str}).set_index(where).abs()
    moved = (with_slip - without).dropna().rename_axis("quantity", axis=1).stack().rename("moved").reset_index()
    return moved.assign(alpha=moved["alpha"].round(6))


def stored():
    """The comparison that is kept."""
    return parquet.load(DATA / f"{NAME}.parquet")
