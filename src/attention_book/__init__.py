"""The package that computes, stores and shows the results of the book.

Notebooks import this package as `book` and use the names listed in `NAMES`.

`experiments` defines the cells of every experiment and computes them. `store` keeps the results. `analysis` derives
from the results the numbers that several pages need. `render` turns numbers into tables and figures. `command_line` is
the program.
"""

from importlib import import_module
from typing import Any

from .paths import missing_package

# Names that notebooks use, by module. A module is imported when one of its names is first used, because importing all
# modules takes a second.
NAMES = {
    "experiments": "grid",
    "experiments.results": "read sweep",
    "published": "Comparison compare",
    "render.headings": "Heading",
    "render.markup": "Table choose_columns mathtext number quote symbol",
    "analysis.architectures": "RANK1_NAMES RANK2_NAMES TITLES branch_tables compare_thresholds compare_with_theory"
    " extrapolate select standard_student_theory teacher_lengths threshold_moves",
    "analysis.arrivals": "BASINS CLOSE_COSINE SMALL_GRADIENT classify cosines shares_of_basins",
    "analysis.comparisons": "cause size_comparison threshold_by_rule threshold_comparison",
    "analysis.instances": "GAPS POWERS absolute_means advantage crossing_limits difference_in_errors frame_of"
    " gap_map gaps instance_means intercept limit memory minimum_responses power_limit root root_mean_squares"
    " size_of test_gap training_gap wilson with_errors",
    "analysis.thresholds": "alpha_of borders_of branches compare_crossings crossing crossings curve ground_states"
    " is_minimum last_fall losses_of mean_of rows_of side_by_side theory_lines threshold_shifts with_one_step",
    "render.attention": "answers draw_matrices sgd_answers shown_sequences trained_weights",
    "render.slices_and_maps": "ADVANTAGE CURVES draw_divergences draw_losses draw_maps draw_theory draw_variant"
    " finish_slice theory_curves",
    "store.parquet": "encode",
}
MODULES = {name: module for module, names in NAMES.items() for name in names.split()} | {"style": "render.style"}


def __dir__():
    return [*MODULES]


def __getattr__(name) -> Any:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f".{MODULES[name]}", __name__)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(missing_package(f"{__name__}.{name}", error), name=error.name) from None
    return module if name == "style" else getattr(module, name)
