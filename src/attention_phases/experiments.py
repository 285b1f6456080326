"""Every experiment by its name."""

from . import grids, open_questions, variant_grids
from .errors import check_choice
from .grids import PROFILES
from .histogram.cells import histogram

GRIDS = {
    each.__name__: each for each in (*grids.ALL, *variant_grids.ALL, histogram, *open_questions.ALL)
}


def grid(name, profile, **changes):
    """Cells of the experiment `name` at the size of `profile`, other than published where `changes` says so."""
    return GRIDS[check_choice("name", name, tuple(GRIDS))](check_choice("profile", profile, PROFILES), **changes)
