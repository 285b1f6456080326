"""What all figures share: colours, type, labels of axes."""

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib_inline.backend_inline import set_matplotlib_formats

from . import drawn, readout, wide

SEMANTIC, POSITIONAL, BASELINE, NEUTRAL = "#c8553d", "#2667a8", "#4f7942", "#444444"
COLOURS = {"semantic": SEMANTIC, "positional": POSITIONAL}
ATTENTION, LINEAR = "#e08a00", "#5e3c99"  # which predicts better, on maps
HIGHER, LOWER = "#333333", "#008080"  # a loss by one optimiser than by the other
NAMED = {SEMANTIC: "semantic", POSITIONAL: "positional", BASELINE: "baseline"}  # in a figure's data

# The book makes the figures of its dark theme from white ones; a fixed salt gives the same SVG for the same picture.
STYLE = {
    "svg.hashsalt": "attention-phases",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "font.size": 14,
    "axes.titlesize": 14,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 12,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "figure.constrained_layout.use": True,
}


OPAQUE = {"frameon": True, "framealpha": 1, "edgecolor": "none"}  # of a legend that no line crosses; see also `dark`

# labels of axes
ALPHA, OMEGA = r"sample complexity $\alpha = n/d$", r"positional share of the teacher $\omega$"
LOSS_GAP = r"$\epsilon_t^{\rm semantic}-\epsilon_t^{\rm positional}$"
TEST_ERROR = r"test error $\epsilon_g$"
# labels of the overlap that a branch is named after
OVERLAP_LABELS = {"semantic": r"$\theta/\sigma^2$, with the teacher", "positional": r"$m/\sigma^2$, with the positions"}


def use_svg():
    """Show figures in notebooks as vector graphics, the same bytes for the same picture, with all that goes with them.

    These are their data as CSV, what a reader is told who points at them, and their shape for wide screens.
    """
    from IPython.core.formatters import BaseFormatter
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("matplotlib", "inline")  # MPLBACKEND may name another backend, which would show nothing
    set_matplotlib_formats("svg", metadata={"Date": None})  # which takes every other format away
    formatters = shell.display_formatter.formatters
    kinds = {
        "text/csv": lambda figure: drawn.as_csv(figure, NAMED) or None,
        readout.MIME: lambda figure: readout.as_json(figure, NAMED),
        wide.MIME: mpl.rc_context(STYLE)(wide.wide_svg),
    }
    for kind, write in kinds.items():
        new = BaseFormatter(format_type=kind, print_method="_repr_of_book_")  # which no object has
        formatters.setdefault(kind, new).for_type(Figure, write)
    plt.rcParams["svg.hashsalt"] = STYLE["svg.hashsalt"]  # a notebook draws after the style's context has ended
