"""Every experiment by its name."""

from attention_phases.errors import check_choice

from . import architecture_grids, breaking_grids, open_question_grids, rank_one_grids, transition_grids
from .counting_cells import histogram, lost_letters
from .rank_one_grids import PROFILES

GRIDS = {
    each.__name__: each
    for each in (
        *(*rank_one_grids.ALL, *architecture_grids.ALL, histogram, lost_letters),
        *(*open_question_grids.ALL, *breaking_grids.ALL, *transition_grids.ALL),
    )
}


def grid(name, profile, **changes):
    """Cells of the experiment `name` at the size of `profile`, other than published where `changes` says so."""
    return GRIDS[check_choice("name", name, tuple(GRIDS))](check_choice("profile", profile, PROFILES), **changes)
