"""HTML tables for the pages, and the rounding and formatting of all numbers on the pages.

Beside a column `x` there may be `x_error` (its standard error), `x_std` (the standard deviation of the values whose
mean is x), or `x_low` and `x_high` (the ends of a range). They are shown in the same cell.
"""

import re
from dataclasses import dataclass, field
from html import escape
from math import floor, isfinite, isnan, log10
from numbers import Number

import numpy as np
import pandas as pd

from attention_phases.measured import Measured, with_error

from ..published import LIMIT
from .headings import HEADINGS, SCALES, SYMBOLS, Heading

COMPARISON = "comparison"  # key of a table's numbers in the metadata of an output
PARTS = ("_error", "_std", "_low", "_high")
SAMPLES = {"theory": "quadratures", "students": "data sets", "transformers": "runs"}  # samples behind our means
COMPARISON_COLUMNS = ["label", "verdict", "published", "value", "value_error", "percent", "sigma_off"]
PHONE = 50  # number of characters in a line of a table that fit on a phone
NO_SPREAD = 1e-6  # relative standard deviation up to which only the mean is shown


@dataclass(frozen=True, repr=False)
class Table:
    """A data frame that a page shows as an HTML table.

    A frame from `published.compare` also puts its numbers into the output, where the scorecard finds them.
    """

    frame: pd.DataFrame  #: has columns that are named as in `headings`, or comes from `published.compare`
    caption: str  #: HTML that says what the numbers are and in which units
    headings: dict[str, Heading] = field(default_factory=dict)  #: headings of columns of this table only, by name
    folded: bool = True  #: whether it is hidden until a reader clicks its caption

    def __repr__(self):
        return self.caption

    def html(self):
        """Return this table as HTML for the page."""
        if "published_value" not in self.frame:
            return html_table(self.frame, self.caption, self.folded, headings=self.headings)
        if self.frame.empty:
            return "<p>The paper gives no numbers for these parameters.</p>"
        sources = "; ".join(self.frame["source"].unique())
        in_errors = "In standard errors: the difference divided by the standard error of both sides"
        note = f"{shared_text(self.frame)}. {in_errors}; numbers agree if it is at most {LIMIT:g}"
        table = html_table(readable_comparison(self.frame), self.caption, self.folded, note)
        return f'{table}<p class="source">Published numbers: {sources}.</p>'

    def _repr_mimebundle_(self, include=None, exclude=None):
        if "published_value" not in self.frame:
            return {"text/html": self.html()}, {}
        rows = self.frame.astype(object).where(self.frame.notna(), None).to_dict("records")
        return {"text/html": self.html()}, {COMPARISON: {"anchor": anchor(self.caption), "rows": rows}}


def choose_columns(frame, *names):
    """Select columns of a data frame, together with their errors, standard deviations or ranges."""
    parts = ("", *PARTS)
    return frame[[f"{name}{part}" for name in names for part in parts if f"{name}{part}" in frame]]


def quote(*several, **numbers):
    """Make named numbers available to the text of a page.

    A `Measured` is passed as text. In a script, which has no page, the numbers are printed.

    several: dictionaries of such numbers.
    """
    from IPython import get_ipython  # imported only here, because tables do not need IPython
    from myst_nb import glue

    for name, value in dict(*several, **numbers).items():
        value = value.item() if isinstance(value, np.generic) else value
        shown = value.text if isinstance(value, Measured) else value
        if get_ipython():
            glue(name, shown, display=False)
        else:
            print(f"{name} = {shown}")


def html_table(frame, caption, folded=False, note="", headings=()):
    """Convert a data frame to an HTML table with a caption.

    A narrow screen scrolls the table. On a phone, a row that is too wide takes several lines. The first line has the
    first cell if it is in words, and each other value follows the name of its column.

    note: text after the caption about all rows. The other arguments are as for `Table`.
    """
    parts = {f"{name}{part}" for name in frame for part in PARTS}
    names = [name for name in frame if name not in parts]
    known = HEADINGS | dict(headings)  # other names have the default heading
    columns = {name: known.get(name, Heading()) for name in names}
    kinds = {name: _align(frame[name]) for name in names}
    head = [f'<th scope="col"{kinds[name]}>{_title(name, column)}</th>' for name, column in columns.items()]
    rows = [
        [_cell(name, row, column, kinds[name], first=name == names[0]) for name, column in columns.items()]
        for row in frame.to_dict("records")
    ]
    title = re.sub("<[^>]*>", "", caption)
    above = note if folded else f"{caption}{note and '. '}{note}"
    shown = f"<caption>{above}</caption>" if above else ""
    titled = not kinds[names[0]]
    classes = "comparison"
    if _width(head, rows) > PHONE:
        classes += " several-lines" + " titled" * titled
    table = (
        f'<div class="scrolled" id="{anchor(caption)}" role="region" tabindex="0" aria-label="{escape(title)}">'
        f'<table class="{classes}">{shown}<thead>{_row(head)}</thead>'
        f"<tbody>{''.join(map(_row, rows))}</tbody></table></div>"
    )
    return f"<details><summary>{caption}</summary>{table}</details>" if folded else table


def anchor(caption):
    """Return the HTML id of a table, derived from its caption."""
    return "table-" + re.sub(r"[^a-z0-9]+", "-", re.sub("<[^>]*>", "", caption).lower()).strip("-")[:60].strip("-")


def readable_comparison(comparison):
    """Convert a comparison with published numbers to the columns of the table in the book.

    Parameters that all rows share are left out.

    comparison: from `published.compare`.
    """
    same = _shared_values(comparison["parameters"])
    shown = comparison.assign(
        label=[
            comparison_label(quantity, {name: value for name, value in given.items() if name not in same})
            for quantity, given in zip(comparison["quantity"], comparison["parameters"])
        ],
        verdict=[
            verdict if verdict == "agrees" else f"{verdict}: {reason}"
            for verdict, reason in zip(comparison["verdict"], comparison["reason"])
        ],
        published=[
            text if isnan(error) else with_error(value, error)
            for text, value, error in comparison[["published", "published_value", "published_error"]].to_numpy()
        ],
    ).rename(columns={"error": "value_error", "sigma": "sigma_off"})
    return shown[COMPARISON_COLUMNS if comparison["evidence"].nunique() == 1 else [*COMPARISON_COLUMNS, "evidence"]]


def comparison_label(quantity, parameters):
    """Return the HTML label of a row in a comparison, such as "α<sub>c</sub>, ω = 0.3"."""
    return ", ".join([symbol(quantity), *_texts(parameters)])


def shared_text(comparison):
    """Return HTML text that says what all rows of a comparison have in common.

    An example is "In all rows α = 2. Ours: theory, 16 quadratures".
    """
    kinds = comparison.groupby("evidence", sort=False)["n"]
    ranges = {kind: str(n.min()) if n.nunique() == 1 else f"{n.min()} to {n.max()}" for kind, n in kinds}
    ours = "Ours: " + "; ".join(f"{kind}, {size} {SAMPLES[kind]}" for kind, size in ranges.items())
    texts = ", ".join(_texts(_shared_values(comparison["parameters"])))
    return f"In all rows {texts}. {ours}" if texts else ours


def _shared_values(parameters):
    """Return the parameters that several rows have in common.

    The result is empty for a single row.
    """
    first, *others = parameters
    return {name: value for name, value in first.items() if others and all(o.get(name) == value for o in others)}


def _texts(parameters):
    return [f"{symbol(key)} = {v:g}" if isinstance(v, Number) else symbol(v) for key, v in parameters.items()]


def symbol(name):
    """Return the HTML text for a name in tables, such as "θ" for "theta"."""
    return SYMBOLS.get(name, str(name))


def mathtext(name):
    """Return the label of a quantity in figures as Matplotlib mathematics, such as θ for "theta"."""
    text = symbol(name).replace("ε", "ϵ")
    return f"${text}$" if re.fullmatch(r"\w(/σ²)?", text) else re.sub(r"(\w)<sub>(\w+)</sub>", r"$\1_{\2}$", text)


def number(value, form="g"):
    """Format a number as text, with a true minus sign, and with no sign before zero."""
    if isnan(value):
        return "none"
    text = format(int(value) if form.endswith("d") else value, form)
    if not re.search("[1-9]", text.partition("e")[0]):
        text = text.lstrip("+-")
    return re.sub(r"e([+-])0*(\d+)$", r"·10<sup>\1\2</sup>", text).replace("<sup>+", "<sup>").replace("-", "−")


def with_spread(value, std):
    """Return a mean and a standard deviation as text, such as "0.9988 ± 0.0012".

    The standard deviation has two digits.
    """
    decimals = max(1 - floor(log10(float(f"{std:.1e}"))), 0)
    return f"{value:.{decimals}f} ± {std:.{decimals}f}"


def _align(values):
    """Return the HTML attribute that aligns a column to the right if it has numbers, or else an empty string."""
    texts = (str(value) for value in values.dropna())
    return ' class="number"' if any(re.fullmatch(r"-?\d[\d.]*(e-?\d+)?(\([\d.]+\))?", text) for text in texts) else ""


def _title(name, column):
    text = column.text or SYMBOLS.get(name) or name.replace("_", " ")
    return f"{text}, {column.scale}" if column.scale else text


def _cell(name, row, column, kind, first):
    text = _cell_text(name, row, column)
    return f'<th scope="row"{kind}>{text}</th>' if first else f"<td{kind}>{text}</td>"


def _row(cells):
    return f"<tr>{''.join(cells)}</tr>"


def _width(head, rows):
    """Return the number of characters in the widest line of a table.

    Words of the head may be on several lines, but cells are not broken.
    """
    texts = [[re.sub("<[^>]*>", "", cell) for cell in row] for row in (head, *rows)]
    words = [[max(map(len, text.split()), default=0) for text in texts[0]]]
    lengths = words + [[len(text) for text in row] for row in texts[1:]]
    return sum(max(column) + 1 for column in zip(*lengths))


def _cell_text(name, row, column):
    if row[name] is None:
        return column.missing
    if isinstance(row[name], bool):
        return "yes" if row[name] else "no"
    if isinstance(row[name], str):
        return symbol(row[name])
    scale = SCALES[column.scale]
    value, error, std, low, high = (row.get(f"{name}{part}", float("nan")) / scale for part in ("", *PARTS))
    if not isfinite(value):
        return column.missing
    if error > 0:
        return Measured(value, error).text
    if std > NO_SPREAD * abs(value):
        return with_spread(value, std).replace("-", "−")
    text = number(value, column.form)
    return text if isnan(low) else f"{text} ({number(low, column.form)} to {number(high, column.form)})"
