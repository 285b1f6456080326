"""Numbers of the pages on free energies and on replica symmetry, by hand."""

import pandas as pd
import pytest

from attention_book.analysis import thresholds as lines_of_theory
from attention_book.analysis.thresholds import theory_lines
from attention_phases.errors import ResultError


@pytest.fixture
def stored(monkeypatch):
    """Stored lines: with both branches at omega = 0.1, with the thresholds alone at 0.05; others cross below 0.6."""

    def line(cell):
        rows = [{"what": what, "alpha": 1.0, "q": 2.0} for what in ("semantic", "positional")]
        return rows + [{"what": "critical", "alpha": cell.task.omega, "alpha_error": 0.1}] * (cell.task.omega < 0.6)

    rows = [(0.1, "semantic", 7.0), (0.1, "positional", 7.0), (0.1, "critical", 7.0), (0.05, "critical", 7.0)]
    known = pd.DataFrame(rows, columns=["omega", "what", "alpha"])
    monkeypatch.setattr(lines_of_theory, "read", lambda *_, **__: known)
    monkeypatch.setattr(lines_of_theory, "standard_line", line)


def test_lines_of_theory_that_are_not_stored_are_computed(stored):
    for omegas in ([0.1, 0.05, 0.3], [0.05, 0.3], [0.1]):
        lines = theory_lines("paper", omegas)
        assert lines.groupby("omega")["what"].apply(set).to_dict() == {
            omega: {"semantic", "positional", "critical"} for omega in omegas
        }
        critical = lines[lines["what"] == "critical"].set_index("omega")["alpha"]
        assert critical.to_dict() == {omega: 7.0 if omega == 0.1 else omega for omega in omegas}
    assert theory_lines("smoke", [0.1])["alpha"].max() == 1


@pytest.mark.parametrize("profile", ["paper", "smoke"])
def test_an_omega_at_which_no_losses_cross_is_named(stored, profile):
    with pytest.raises(ResultError, match=r"^no critical threshold found at omega = 0\.7$"):
        theory_lines(profile, [0.1, 0.7])
