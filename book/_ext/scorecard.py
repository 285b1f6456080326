"""The scorecard of all comparisons with the paper: its data, its picture, and the texts and tables of its page.

The comparisons are gathered from the executed notebooks before Sphinx reads the pages.
"""

import hashlib
import json
import re
from pathlib import Path

import matplotlib as mpl
import nbformat
import pandas as pd
from behind import FIGURES, parameters

from attention_book import paths
from attention_book.published import COLUMNS, LIMIT, REASONS, THRESHOLDS, VERDICTS
from attention_book.render.figure_data import readout_of
from attention_book.render.markup import COMPARISON, Table, comparison_label, mathtext
from attention_book.render.style import COLOURS, NEUTRAL, apply_style, list_panel
from attention_book.store.provenance import environment
from attention_phases.measured import Measured

NUMBERS = {name: i for i, name in enumerate(REASONS, 1)}
EXPLANATIONS = {  # an explanation of each of `REASONS`
    "quadrature": """**Quadrature.** The published theory integrates on 144 points, its training losses on 784 and
its test errors on 336, and gives no error estimate. We ran these public quadrature rules. They explain 80 to 120 % of
the difference, within its error ({ref}`tables <published_tables>`). A difference of many standard errors can still be
a small difference in the value.""",
    "instances": """**Data sets.** Published experiments are means over data sets whose scatter is not given. Our
experiments use other data sets.""",
    "many minima": """**Many minima.** At small $\\omega$ both valleys hold many minima near the transition.
Replica-symmetric theory, published or ours, does not describe where training ends there ({ref}`Figure 3 <fig03>`).""",
    "lost letters": """**Lost letters.** Some runs of the semantic transformer lose a letter and then count it badly. No
published run lost a letter, which may be chance ({ref}`Table 1 <table1>`).""",
    "definition": """**Another definition.** The published linear model reads only the tokens, and our linear model
reads tokens and positions. At finite $d$ their errors are two quantities ({ref}`Figure 7 <fig07>` computes both).""",
    "cause unknown": """**Cause unknown.** The public quadrature rules explain a smaller or a larger part of the
difference, or they play no part in it.""",
}
FIELDS = {  # fields of a row in the document, and the matching columns of `published.compare`
    "published": {
        "text": "published",
        "value": "published_value",
        "rounding": "rounding",
        "uncertainty": "published_error",
        "n": "published_n",
        "source": "source",
    },
    "ours": {"value": "value", "uncertainty": "error", "kind": "evidence", "n": "n"},
    "difference": {"absolute": "difference", "percent": "percent", "sigma": "sigma"},
}
OPTIONAL_COLUMNS = ("published_error", "published_n")  # None in a notebook if they are not known
MARKS = {"theory": "D", "students": "o", "transformers": "s"}


def setup(app):
    app.connect("config-inited", lambda app, config: write(Path(app.srcdir, "book/_executed")))
    return {"parallel_read_safe": True}


def write(shown):
    """Write the scorecard beside the executed notebooks of a folder: data, picture, tables and texts."""
    notebooks = {path.stem: nbformat.read(path, 4) for path in sorted(shown.glob("*.ipynb"))}
    frame = gather([_page(name, notebook) for name, notebook in notebooks.items()])
    profiles = {
        parameters(notebook, paths.NOTEBOOKS / f"{name}.md")[0]["profile"] for name, notebook in notebooks.items()
    }
    data = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(paths.DATA.glob("*.parquet")))).hexdigest()
    provenance = {"commit": environment()["commit"], "profile": " and ".join(sorted(profiles)), "data": data}
    rows = json.dumps(document(frame, provenance), indent=1, ensure_ascii=False, allow_nan=False)
    picture = draw_scorecard(frame)
    (shown / FIGURES).mkdir(parents=True, exist_ok=True)
    (shown / "scorecard.json").write_text(rows + "\n", encoding="utf-8")
    apply_style(picture.savefig)(shown / "scorecard.svg", metadata={"Date": None})
    (shown / FIGURES / "scorecard-forest-readout.json").write_text(readout_of(picture) or "[]", encoding="utf-8")
    for name, text in texts(frame).items():
        (shown / f"scorecard_{name}.txt").write_text(text + "\n", encoding="utf-8")


def _page(name, notebook):
    """Return the entry of an executed notebook for `gather`: its comparisons and their place."""
    label = re.match(r"\(([\w-]+)\)=", notebook.cells[0].source)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return {
        "figure": label[1] if label else name,
        "title": paths.title(notebook.cells[0].source),
        "page": f"_executed/{name}.html",
        "inputs": notebook.metadata["inputs"],
        "tables": [output.metadata[COMPARISON] for output in outputs if COMPARISON in output.get("metadata", {})],
    }


def gather(pages):
    """Return one frame of the comparisons of all pages, in which each published number occurs once.

    Published theory is compared with theory, and published runs are compared with runs. The columns are the columns of
    `published.compare`, and `id`, `figure`, `title`, `page` (with the anchor of the table) and `inputs`. If two pages
    compare the same number, the row whose value of ours has the smaller error is kept. Standard deviations of runs are
    left out.

    pages: for each page a dict with `figure` (its label), `title`, `page` (address relative to the scorecard), `inputs`
    (digest of the inputs of the page) and `tables` (the outputs of `markup.Table` in an executed notebook).
    """
    rows = []
    for page in pages:
        where = {name: page[name] for name in ("figure", "title", "inputs")}
        for table in page["tables"]:
            address = f"{page['page']}#{table['anchor']}"
            rows += [where | {"page": address, "same": _name(row), **row} for row in table["rows"] if _counts(row)]
    frame = pd.DataFrame(rows, columns=["figure", "title", "inputs", "page", "same", *COLUMNS])
    frame.insert(0, "id", frame["figure"] + "-" + frame["same"])
    frame = frame.sort_values("error", kind="stable").drop_duplicates("same").sort_index()
    return frame.drop(columns="same").astype(dict.fromkeys(OPTIONAL_COLUMNS, float)).reset_index(drop=True)


def _counts(row):
    """Return whether a row compares the same kinds of evidence, and no standard deviation."""
    of_theory = row["published_n"] is None
    return of_theory == (row["evidence"] == "theory") and row["parameters"].get("statistic") != "standard deviation"


def _name(row):
    """Return the identifier of a row's quantity and parameters."""
    words = [row["quantity"]]
    for name, value in row["parameters"].items():
        words += [name, f"{value:g}" if isinstance(value, float) else str(value)]
    return re.sub(r"[^a-z0-9.]+", "-", " ".join([*words, row["evidence"]]).lower())


def document(frame, provenance):
    """Return `gather` as data in the schema `book/scorecard.schema.json`.

    provenance: `commit` (None outside a checkout), `profile` and `data` (digest of the stored results).
    """
    records = frame.astype({"published_n": "Int64"}).astype(object).where(frame.notna(), None).to_dict("records")
    return {
        "$schema": "scorecard.schema.json",  # relative to the page
        "limit": LIMIT,
        "reasons": [{"number": i, "name": name} for name, i in NUMBERS.items()],
        "verdicts": {verdict: int((frame["verdict"] == verdict).sum()) for verdict in VERDICTS},
        "rows": [_row(record, provenance) for record in records],
    }


def _row(record, provenance):
    row = {name: record[name] for name in ("id", "figure", "page", "quantity", "parameters")}
    row |= {part: {name: record[column] for name, column in fields.items()} for part, fields in FIELDS.items()}
    reason = record["reason"]
    return row | {
        "verdict": record["verdict"],
        "reason": reason and {"number": NUMBERS[reason], "name": reason},
        "provenance": provenance | {"inputs": record["inputs"]},
    }


def texts(frame):
    """Return parts of the page: the `summary` and the `reasons` that occur (both Markdown), and the `tables`."""
    times, of_theory = frame["reason"].value_counts(), frame["evidence"] == "theory"
    named = {name: " ".join(text.split()) for name, text in EXPLANATIONS.items() if name in times}
    reasons = [f"- {text} *Here: {times[name]}.*" for name, text in named.items()]
    summary = [_tally(frame[of_theory], "theory"), *_excess(frame[of_theory]), _tally(frame[~of_theory], "experiments")]
    summary.append(f"Numbers differ if they are more than {LIMIT:g} standard errors apart.")
    return {"summary": " ".join(summary), "reasons": "\n".join(reasons), "tables": _sections(frame)}


def _tally(frame, what):
    agree, differ, other = ((frame["verdict"] == verdict).sum() for verdict in VERDICTS)
    differ = f"differ from {differ}; {other} cannot be compared like for like" if other else f"differ from {differ}"
    return f"Our numbers agree with {agree} of the {len(frame)} published ones of **{what}** and {differ}."


def _excess(theory):
    """Return a text that says how many thresholds are larger than published, and by how much."""
    percent = theory.loc[theory["quantity"].isin(THRESHOLDS), "percent"]
    larger = percent[percent > 0]
    if len(larger):
        which = f"All {len(percent)}" if len(larger) == len(percent) else f"{len(larger)} of its {len(percent)}"
        yield f"{which} thresholds are larger here, by {larger.min():.1f} to {larger.max():.1f} %."


def _sections(frame):
    """Return HTML of the comparisons, with a table for each figure that opens on a click."""
    parts = []
    for (figure, title), rows in frame.groupby(["figure", "title"], sort=False):
        page = rows["page"].iloc[0].partition("#")[0]
        table = Table(rows, f"{title.partition(':')[0]}: the published numbers and ours", folded=True).html()
        parts.append(f'<section class="comparisons"><h3><a href="{page}#{figure}">{title}</a></h3>{table}</section>')
    return "\n".join(parts)


@apply_style
def draw_scorecard(frame):
    """Draw the difference of every published number from ours, in units of the combined standard error.

    There is a line for each figure, quantity and kind of evidence. Marks are filled, and they are open if the two
    numbers are not the same quantity. The shaded range up to `LIMIT` means agreement.
    """
    figures = [title.partition(":")[0] for title in frame["title"]]
    lines = list(frame.groupby([figures, "quantity", "evidence"], sort=False))
    mpl.rcParams.update({"font.size": 12, "legend.fontsize": 11})  # small and narrow enough for a phone
    headings = [figure for (figure, _, _), _ in lines]
    canvas, axes, places = list_panel(headings, [mathtext(quantity) for (_, quantity, _), _ in lines], width=4.8)
    for place, ((figure, _, evidence), rows) in zip(places, lines):
        _draw_line(axes, place, rows, MARKS[evidence], figure)
    _scale(axes, frame["sigma"])
    used = [name for name in MARKS if (frame["evidence"] == name).any()]
    handles = [axes.plot([], [], MARKS[name], color=NEUTRAL, label=name)[0] for name in used]
    above = {"loc": "lower right", "bbox_to_anchor": (1, 1), "ncols": 3, "handletextpad": 0.2, "columnspacing": 1}
    axes.legend(handles=handles, **above)
    return canvas


def _draw_line(axes, place, rows, marker, figure):
    axes.axhline(place, color="#d0d0d0", linewidth=0.6, zorder=0.5)
    for row in rows.itertuples():
        colour = COLOURS.get(row.parameters.get("branch", row.parameters.get("solution")), NEUTRAL)
        face = "none" if row.verdict == "not comparable" else colour
        what = mathtext(comparison_label(row.quantity, row.parameters))
        name = f"_{figure}: {what}; published {row.published}, ours {Measured(row.value, row.error).text}"
        at = round(row.sigma, 2)  # the value in the text for readers
        axes.plot(at, place, marker, color=colour, markerfacecolor=face, alpha=0.8, label=name)


def _scale(axes, sigmas):
    """Make an axis of differences linear up to `LIMIT` and logarithmic beyond."""
    axes.axvspan(-LIMIT, LIMIT, color="#e4e4e4", linewidth=0)
    axes.axvline(0, color="#999999", linewidth=1)
    axes.set_xscale("symlog", linthresh=LIMIT, linscale=0.8)
    axes.set_xlabel("ours minus published, in standard errors", loc="right")
    shown = [-30, -3, 0, 3, 30]
    axes.set_xticks(shown, [f"{errors:+d}".replace("-", "−") if errors else "0" for errors in shown])
    axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())
    low, high = min([0.0, *sigmas]), max([0.0, *sigmas])
    axes.set_xlim(min(1.4 * low, -1.5 * LIMIT), max(1.4 * high, 1.5 * LIMIT))
