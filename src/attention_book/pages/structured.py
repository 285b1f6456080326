"""Tokens with structure: power-law spectra, a teacher of rank 2, sparse teachers, clusters."""

import numpy as np
import pandas as pd
from matplotlib.container import ErrorbarContainer
from matplotlib.legend_handler import HandlerErrorbar

from attention_phases.measured import UNKNOWN, Measured
from attention_phases.model.architectures import STANDARD
from attention_phases.task import Task
from attention_phases.theory.baseline import floors

from ..analysis.architectures import ONE, beside_theory, extrapolate, select
from ..analysis.instances import as_columns, as_frame, difference_in_errors, limit, root, with_errors
from ..analysis.thresholds import alpha_of
from ..experiments.variant_grids import CLUSTERS, GROWN_ALPHA, LAWS, RANK2, SPARSE, TWO_TEACHERS, VALUE, power_law
from ..render.style import ALPHA, BASELINE, COLOURS, NEUTRAL, draw_means, panels, styled
from ..store.parquet import flat
from ..store.provenance import flattened

SOURCES = {-1.0: "trailing", 0.0: "evenly", 1.0: "leading"}
KINDS = {"critical": (NEUTRAL, "o", r"$\alpha_c$"), "linear": (BASELINE, "s", r"$\alpha_l$")}
# Of the lowest student: overlaps over sigma^2, each in the colour of its mechanism, with a marker of its own.
LEARNT = {
    "m": ("positional", "s", "with the positions"),
    "teacher_1": ("semantic", "o", "with the strong column"),
    "teacher_2": ("semantic", "^", "with the weak column"),
}


def of_task(table, task):
    """The rows of one task, of students or of theory."""
    wanted = {name: flat(value) for name, value in flattened(task).items()}
    own = [table[name] == value for name, value in wanted.items() if name in table]
    own += [table[name].isna() for name in vars(task).keys() & set(table) - wanted.keys()]
    return table[np.logical_and.reduce(own) & (wanted.keys() <= set(table))]


def trained_thresholds(table):
    """`Measured` alpha of "critical" and "linear" of students, in the largest d that has both starts.

    The mean gaps are straight lines between the two alphas where they fall through zero. Most of their scatter comes
    from the teacher's length, a control variate.
    """
    encoded = table["start"].isin(["positional", "encoding"])
    large = table["d"] == table.loc[encoded, "d"].max()
    semantic, positional = (table[large & own].set_index("cell") for own in (table["start"] == "semantic", encoded))
    critical = semantic["train_loss"] - positional["train_loss"]
    return {"trained_critical": _root(semantic, critical), "trained_linear": _linear_root(semantic)}


def linear_by_dimension(table):
    """`Measured` alpha of "linear" by d, as of `trained_thresholds`, where the test errors of students cross."""
    semantic = table[table["start"] == "semantic"]
    roots = {d: _linear_root(own) for d, own in semantic.groupby("d")}
    return {d: alpha for d, alpha in roots.items() if alpha.error > 0}


def _linear_root(semantic):
    return _root(semantic, semantic["test_mse"] - semantic["linear_mse"])


def _root(rows, gap):
    rows = rows.assign(gap=gap).dropna(subset="gap")
    means = rows.groupby("alpha")["gap"].mean()
    before = means.index[(means > 0) & (means.shift(-1) < 0)]
    if len(before) == 0:
        return UNKNOWN
    around = means.index[means.index >= before[-1]][:2]
    return root(rows[rows["alpha"].isin(around)], ["length"]).alpha


def spectra(table, lines):
    """Thresholds for each power law, NaN where there are none or no students.

    `exponent`, `source`; `filled`, the share of the directions that tokens fill, <s>^2/<s^2>; `critical`, `linear` and
    `begins`, where the semantic branch does, in theory; `trained_critical` and `trained_linear` of students.

    table, lines: the experiments "spectra" and "spectra_theory".
    """
    measured, filled = {}, []
    for law in LAWS:
        task = power_law(*law)
        students, line = of_task(table, task), of_task(lines, task)
        places = {"critical": "critical", "linear": "linear", "begins": "semantic start"}
        places = {name: alpha_of(line, what) for name, what in places.items()}
        missing = {f"trained_{kind}": UNKNOWN for kind in KINDS}
        trained = trained_thresholds(students) if len(students) else missing
        measured[law] = places | trained
        s = np.array([direction.variance for direction in task.directions])
        filled.append(s.mean() ** 2 / (s**2).mean())
    rows = as_frame(measured, ["exponent", "source"]).reset_index()
    rows.insert(2, "filled", filled)
    return rows


def penalties(table, lines):
    """Students of a sparse teacher: by `l1`, `critical` and `test_mse` of theory and of students.

    The test errors are those at the alpha of comparison and infinite d. table, lines: "sparse" and "sparse_theory".
    """
    measured = {}
    for task in SPARSE:
        line, own = of_task(lines, task), of_task(table, task)
        compared = _semantic(line)
        error = Measured(*compared.iloc[0][["test_mse", "test_mse_error"]]) if len(compared) else UNKNOWN
        values = {
            "critical": alpha_of(line, "critical"),
            "trained_critical": trained_thresholds(own)["trained_critical"],
        }
        values |= {"test_mse": error, "trained_test_mse": extrapolate(_semantic(own), "test_mse")}
        measured[task.l1] = values
    return as_frame(measured, "l1").reset_index()


def clusters(table, lines):
    """Thresholds of theory and of students that read clustered tokens, by `clusters`.

    table, lines: the experiments "clusters" and "clusters_theory".
    """
    measured = {}
    for name, task in CLUSTERS.items():
        known = {kind: alpha_of(of_task(lines, task), kind) for kind in KINDS}
        measured[name] = known | trained_thresholds(of_task(table, task))
    return as_frame(measured, "clusters").reset_index()


def thresholds_off(rows):
    """Thresholds of students minus those of theory, in errors of both, by `critical` and `linear` where rows have them.

    rows: of `spectra`, `penalties` or `clusters`.
    """
    away = {kind: difference_in_errors(rows, f"trained_{kind}", kind) for kind in KINDS if kind in rows}
    return pd.DataFrame(away, index=rows.index)


def only_positions(table):
    """Students of a target of positions alone: `alpha`, `test_mse` at infinite d, and its `floor` with all data.

    table: the experiment "limits".
    """
    task, limits = Task(omega=1.0), {}
    for alpha, own in select(of_task(table, task), STANDARD).groupby("alpha"):
        limits[alpha] = limit({d: Measured.mean(some["test_mse"]) for d, some in own.groupby("d")})
    return as_columns(limits, "alpha", "test_mse").assign(floor=floors(task)["positional"]).reset_index()


def value_gains(table):
    """By which share a low-rank value matrix lowers the training loss, in the mean over the same data sets.

    `d`, `gain` and `gain_error` by start; and the `power` of d that it falls with, NaN where it is no gain at some d.

    table: the experiment "limits".
    """
    rows = of_task(table, Task()).set_index(["start", "d", "seed"])
    with_value, without = (select(rows, architecture)["train_loss"] for architecture in (VALUE, STANDARD))
    gains = with_errors((1 - with_value / without).rename("gain").groupby(["start", "d"])).reset_index()
    powers = {}
    for start, own in gains[gains["gain"] > 0].groupby("start"):
        weights = own["gain"] / own["gain_error"]
        if own["d"].nunique() == gains["d"].nunique():
            (power, _), errors = np.polyfit(np.log(own["d"]), np.log(own["gain"]), 1, w=weights, cov="unscaled")
            powers[start] = Measured(power, errors[0, 0] ** 0.5)
    return gains.set_index("start").join(as_columns(powers, "start", "power"))


def _semantic(rows):
    """Semantic rows where theory and students are compared."""
    column = "what" if "what" in rows else "start"
    return rows[(rows["alpha"] == GROWN_ALPHA) & (rows[column] == "semantic")]


def compared(tables, lines):
    """`variants.beside_theory` of every case.

    tables, lines: students and theory by experiment.
    """
    pairs = []
    for exponent, source in LAWS:
        task, name = power_law(exponent, source), f"exponent {exponent:g}, teacher {SOURCES[source]}"
        pairs.append((name, of_task(tables["spectra"], task), of_task(lines["spectra"], task)))
    for task in SPARSE:
        name = f"sparse teacher, l1 = {task.l1:g}"
        pairs.append((name, of_task(tables["sparse"], task), of_task(lines["sparse"], task)))
    for name, task in CLUSTERS.items():
        name = f"clusters {name}"
        pairs.append((name, of_task(tables["clusters"], task), of_task(lines["clusters"], task)))
    pairs = [(name, *map(_semantic, pair)) for name, *pair in pairs]
    for architecture, start in ((STANDARD, "semantic"), (RANK2, "mixed")):
        line, students = (select(some["two_teachers"], architecture) for some in (lines, tables))
        line = line[line["what"] == "semantic"]
        students = students[students["alpha"].isin(line["alpha"]) & (students["start"] == start)]
        students = students.drop_duplicates(["d", "seed"])  # the slice has some of them, too
        pairs.append((f"two teachers, student of rank {architecture.rank}", students, line))
    return beside_theory((*pair, ONE) for pair in pairs if len(pair[1]) and len(pair[2]))


def lowest(table, architecture):
    """Overlaps of the student of lowest training loss on each data set: means over alpha with errors.

    Those with a column of the teacher are in units of sigma^2 times its mean square, m in units of sigma^2.

    table: the experiment "two_teachers".
    """
    rows = select(table, architecture)
    rows = rows[rows["cell"].isin(rows.loc[rows["start"] == "positional", "cell"])]  # cells with all starts
    best = rows.loc[rows.groupby("cell")["train_loss"].idxmin()]
    sizes = dict(zip(("teacher_1", "teacher_2"), TWO_TEACHERS.teachers)) | {"m": 1.0}
    units = {name: best[name].abs() / (size * TWO_TEACHERS.sigma**2) for name, size in sizes.items()}
    return with_errors(pd.DataFrame(units).groupby(best["alpha"]))


@styled
def draw_spectra(rows):
    """Both thresholds of theory and students over the exponent, and over where the teacher lies; rows of `spectra`."""
    figure, axes = panels(2, 3.4)
    evenly, at_one = rows[rows["source"] == 0], rows[rows["exponent"] == 1]
    parts = evenly.set_index("exponent"), at_one.set_index("source").sort_index()
    for panel, part in zip(axes, parts):
        for kind, (colour, marker, label) in KINDS.items():
            known, trained = part[part[kind].notna()], part[part[f"trained_{kind}_error"].notna()]
            draw_means(panel, known, kind, colour, "_", markersize=22, label=f"{label}, theory")
            draw_means(panel, trained, f"trained_{kind}", colour, marker, label=f"{label}, students")
        jumpless = part[part["critical"].isna() & part["begins"].notna()]
        draw_means(panel, jumpless, "begins", COLOURS["semantic"], "_", markersize=22, label="semantic branch begins")
        panel.set(ylim=(0, None), ylabel=r"threshold in $\alpha$")
    axes[0].set(xlabel="exponent of the spectrum", xticks=(0, 0.5, 1, 1.5))
    axes[1].set(xlabel="where the teacher lies, at exponent 1", xlim=(-1.3, 1.3))
    axes[1].set_xticks([*SOURCES], [*SOURCES.values()])
    axes[0].set_ylim(0, 2.4)
    axes[0].legend(ncols=2, handler_map={ErrorbarContainer: HandlerErrorbar(yerr_size=0)})  # the marks are bars already
    return figure


@styled
def draw_two_teachers(table):
    """Overlaps of the lowest student over alpha, of rank 1 and of rank 2."""
    figure, axes = panels(2, 3.2, sharex=True, sharey=True)
    for panel, architecture, title in zip(axes, (STANDARD, RANK2), ("student of rank 1", "student of rank 2")):
        means = lowest(table, architecture)
        for name, (mechanism, marker, label) in LEARNT.items():
            draw_means(panel, means, name, COLOURS[mechanism], marker, label=label, linestyle=":")
        panel.set(title=title, ylabel="overlap", ylim=(0, None))
    axes[0].legend(loc=(0.5, 0.2))
    axes[1].set_xlabel(ALPHA)
    return figure
