"""All comparisons with the paper as one document, and as the pieces of its page."""

import re

import pandas as pd

from .markup import Table
from .verdicts import LIMIT, REASONS, VERDICTS, count

SCHEMA = "scorecard.schema.json"  # seen from the page
NUMBERS = {name: i for i, name in enumerate(REASONS, 1)}


def gathered(pages):
    """One frame of the comparisons of all pages, each published number once for each kind of evidence.

    Where two pages compare the same, the row with the smaller error of ours stays.

    Parameters
    ----------
    pages : iterable of dict
        `figure` (its label), `title`, `page` (address seen from the scorecard), `inputs` (digest of what the page was
        made of) and `tables`: what `markup.Table` leaves in an executed notebook.

    Returns
    -------
    pandas.DataFrame
        As from `verdicts.compare`, with `id`, `figure`, `title`, `page` (with the table's anchor) and `inputs`.
    """
    rows = [
        {
            "id": f"{page['figure']}-{_name(row)}", "same": _name(row), "page": f"{page['page']}#{table['anchor']}",
            **{name: page[name] for name in ("figure", "title", "inputs")}, **row,
        }
        for page in pages for table in page["tables"] for row in table["rows"]
    ]  # fmt: skip
    if not rows:
        return pd.DataFrame(columns=["figure", "title", "page", "evidence", "verdict", "reason"])
    frame = pd.DataFrame(rows).sort_values("error", kind="stable").drop_duplicates("same").sort_index()
    missing = ["published_error", "published_n", "broken", "broken_error"]
    return frame.drop(columns="same").astype(dict.fromkeys(missing, float)).reset_index(drop=True)


def _name(row):
    """What a row compares, as an identifier."""
    values = [f"{value:g}" if isinstance(value, float) else str(value) for value in row["parameters"].values()]
    words = [row["quantity"], *(word for pair in zip(row["parameters"], values) for word in pair), row["evidence"]]
    return re.sub(r"[^a-z0-9.]+", "-", " ".join(words).lower())


def document(frame, provenance):
    """The scorecard as data, by the schema `book/scorecard.schema.json`.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `gathered`.
    provenance : dict
        `commit` (None outside of a checkout), `profile` and `data` (digest of the stored results).

    Returns
    -------
    dict
    """
    frame = frame.astype(object).where(frame.notna(), None)
    return {
        "$schema": SCHEMA,
        "limit": LIMIT,
        "reasons": [{"number": i, "name": name} for name, i in NUMBERS.items()],
        "verdicts": {verdict: int((frame["verdict"] == verdict).sum()) for verdict in VERDICTS},
        "rows": [_row(each, provenance) for each in frame.to_dict("records")],
    }


def _row(each, provenance):
    reason = each["reason"]
    return {
        **{name: each[name] for name in ("id", "figure", "page", "quantity", "parameters")},
        "published": {
            "text": each["published"], "value": each["published_value"], "rounding": each["rounding"],
            "uncertainty": each["published_error"], "n": each["published_n"] and int(each["published_n"]),
            "source": each["source"],
        },
        "ours": {
            "value": each["value"], "uncertainty": each["error"], "kind": each["evidence"], "n": each["n"],
            "model": None if each["broken"] is None else {"shift": each["broken"], "uncertainty": each["broken_error"]},
        },
        "difference": {
            "absolute": each["difference"], "percent": each["percent"], "sigma": each["sigma"], "limit": each["limit"],
        },
        "verdict": each["verdict"],
        "reason": reason and {"number": NUMBERS[reason], "name": reason},
        "provenance": provenance | {"inputs": each["inputs"]},
    }  # fmt: skip


def sentence(frame):
    """How many numbers agree, in one sentence of Markdown, for the scorecard and the landing page."""
    counts = frame["verdict"].value_counts()
    agree, differ, other = (int(counts.get(verdict, 0)) for verdict in VERDICTS)
    reasons = frame.loc[frame["verdict"] == "differs", "reason"].value_counts()
    why = ", ".join(f"{name} {times}" for name, times in reasons.items())
    return (
        f"Of {len(frame)} comparisons with published numbers, {agree} agree within {LIMIT:g} errors of both sides, "
        f"{differ} differ by more{f' (reasons: {why})' if why else ''}, and {other} cannot be made like for like."
    )


def summary(frame):
    """Numbers by verdict, reason and evidence, as HTML."""
    counts = count(frame).assign(reason_place=lambda each: each["reason"].map(NUMBERS).astype(float))
    shown = counts[["verdict", "rows", "reason", "reason_place", "evidence"]]
    return Table(shown, "Numbers by verdict and reason").html()


def sections(frame):
    """HTML of the comparisons, a section for each figure, which the page's script can hide."""
    parts = []
    for (figure, title), each in frame.groupby(["figure", "title"], sort=False):
        page = each["page"].iloc[0]
        heading = f'<h3><a href="{page.partition("#")[0]}#{figure}">{title}</a></h3>'
        table = Table(each, f"{title}: the published numbers and ours").html()
        parts.append(
            f'<section class="comparisons" data-figure="{figure}" data-title="{title}">{heading}{table}</section>'
        )
    return "\n".join(parts)


def reasons():
    """The numbered reasons as Markdown."""
    return "\n".join(f"{NUMBERS[name]}. {' '.join(text.split())}" for name, text in REASONS.items())


def strips(frame):
    """Differences in errors, gathered by figure, quantity and evidence, as `figures.forest` draws them.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `gathered`.

    Returns
    -------
    list of dict
        `figure` (a short title), `quantity`, `statistic`, `evidence`; of each number `sigma`, `verdict` and `branch`
        ("semantic", "positional" or None).
    """
    found = {}
    for each in frame.to_dict("records"):
        given = each["parameters"]
        where = each["title"].partition(":")[0], each["quantity"], given.get("statistic", ""), each["evidence"]
        branch = given.get("branch", given.get("solution"))
        found.setdefault(where, []).append((each["sigma"], each["verdict"], branch))
    names, numbers = ("figure", "quantity", "statistic", "evidence"), ("sigma", "verdict", "branch")
    return [dict(zip(names, where)) | dict(zip(numbers, zip(*each))) for where, each in found.items()]
