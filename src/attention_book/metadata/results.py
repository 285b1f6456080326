"""The three results of the README, their numbers from the stored tables."""

import re

import numpy as np

from attention_phases.measured import with_error
from attention_phases.task import Task

from ..analysis import instances
from ..analysis.lines import mark
from ..paths import DATA
from ..store.database import load
from ..tables import breaking

SMALL = 0.1  # an omega at which replica-symmetric theory and students differ
TEXT = """\
- **A first-order transition.** At $\\omega = {omega:g}$ the semantic minimum of the training loss is the lower one
  beyond $\\alpha_c = {alpha_c}$ sentences per dimension, says replica-symmetric theory (students: {students_c};
  the lowest minima found: {lowest_c}). The overlap with the teacher jumps there from 0 to
  {theta}, that with the positions from {m} to 0.
- **A lower loss, but not yet better predictions.** Only past $\\alpha_l = {alpha_l}$ (students at $d = {d}$:
  {students_l}) does the semantic student predict better than the best linear model.
- **What theory leaves out.** At $\\omega = {small:g}$ students cross at {small_students}, and replica-symmetric theory
  says {small_symmetric}. One step of replica symmetry breaking gives {small_broken}. That descent stops above the
  lowest minimum explains the rest within the errors: the lowest minima that a search finds cross at
  {small_lowest}.

A number in brackets is the standard error of the last digits: for theory that of the quadrature, not that of assuming
replica symmetry. Where the losses of students cross is extrapolated to infinite dimension."""
PLACE = re.compile(r"(?<=<!-- results: written by `make metadata` -->\n).*?(?=\n<!-- end of results -->)", re.DOTALL)


def with_results(text):
    """The README's text with the results of the stored tables in their place.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Raises
    ------
    ValueError
        The text has no such place.
    """
    if not PLACE.search(text):
        raise ValueError("no place for the results: the comments around them are gone")
    return PLACE.sub(lambda _: TEXT.format(**_numbers()), text, count=1)


def _numbers():
    omega = Task().omega
    tables = {name: load(DATA / f"{name}.parquet") for name in ("crossing", "searched", "one_step", "fig02")}
    line = load(DATA / "fig02_theory.parquet")
    compared = breaking.three_ways(
        breaking.moved(tables["one_step"]), breaking.students(tables["crossing"], tables["searched"])
    )
    said = {
        where: {
            name: with_error(row[name], row[f"{name}_error"]) for name in ("informed", "searched", "symmetric", "alpha")
        }
        for where, row in compared.iterrows()
    }
    trained = tables["fig02"].query("optimizer == 'lbfgs'")
    return {
        "omega": omega,
        "alpha_c": with_error(*mark(line, "critical")),
        "students_c": said[omega]["informed"],
        "lowest_c": said[omega]["searched"],
        "theta": f"{_at(line, 'semantic', 'theta'):.2f}",
        "m": f"{_at(line, 'positional', 'm'):.2f}",
        "alpha_l": with_error(*mark(line, "linear")),
        "d": int(trained["d"].iloc[0]),
        "students_l": with_error(*instances.crossing(instances.test_gap(trained), np.random.default_rng(0))),
        "small": SMALL,
        "small_students": said[SMALL]["informed"],
        "small_symmetric": said[SMALL]["symmetric"],
        "small_broken": said[SMALL]["alpha"],
        "small_lowest": said[SMALL]["searched"],
    }


def _at(line, branch, overlap):
    """An overlap of a branch at alpha_c, over sigma^2."""
    return line.loc[line["what"] == f"{branch} at critical", overlap].iloc[0] / Task().sigma ** 2
