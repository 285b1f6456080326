"""The code of a figure: a script that has what it needs, and nothing else."""

import subprocess
import sys

import jupytext
import pytest

from attention_book.notebooks.behind import script
from attention_book.paths import NOTEBOOKS

CELLS = [
    "import numpy as np\nfrom attention_book import style\nfrom math import pi, sqrt\n"
    "style.use_book_output()\nglue('x', 1)",
    "rng = np.random.default_rng(0)\nsize = 2\nsize = 3",
    "spent = rng.normal()\nrows = {k: rng.normal(size=size) for k in 'ab'}\nfor k in rows: glue(k, 0)",
    "figure = draw(spent)",
    "rows['c'] = pi\nprint(rows)\nmore = []\nmore.append(1)\nlog = []\nlog.append(2)",
    "figure = draw(rows.query('a < @size'), more)\nfigure.axes[0].legend()\nstyle.show(figure)",
]


def test_a_script_has_what_the_figure_needs_and_what_moves_a_random_number_before_it():
    assert script(CELLS, "fig").splitlines() == [
        "import numpy as np",
        "from attention_book import style",
        "from math import pi",
        "style.use_book_output()",
        "rng = np.random.default_rng(0)",
        "size = 3",
        "spent = rng.normal()",
        "rows = {k: rng.normal(size=size) for k in 'ab'}",
        "rows['c'] = pi",
        "more = []",
        "more.append(1)",
        "figure = draw(rows.query('a < @size'), more)",
        "figure.axes[0].legend()",
        "style.show(figure)",
        'figure.savefig("fig.svg")',
    ]


@pytest.mark.parametrize("text", sorted(NOTEBOOKS.glob("*.md")), ids=lambda path: path.stem)
def test_scripts_of_all_figures_define_what_they_use(text):
    cells = [cell for cell in jupytext.read(text).cells if cell.cell_type == "code"]
    sources = [cell.source for cell in cells]
    for number, cell in enumerate(cells):
        if name := cell.metadata.get("mystnb", {}).get("figure", {}).get("name"):
            code = script(sources[: number + 1], name)
            command = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "--select", "F", "-"]
            checked = subprocess.run(command, input=code, capture_output=True, encoding="utf-8")
            assert checked.returncode == 0, checked.stdout
