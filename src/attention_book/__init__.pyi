"""The names that notebooks use, by module. Each module is imported when one of its names is first used."""

from .analysis.architectures import (
    RANK1_NAMES as RANK1_NAMES,
    RANK2_NAMES as RANK2_NAMES,
    TITLES as TITLES,
    branch_tables as branch_tables,
    compare_thresholds as compare_thresholds,
    compare_with_theory as compare_with_theory,
    extrapolate as extrapolate,
    select as select,
    standard_student_theory as standard_student_theory,
    teacher_lengths as teacher_lengths,
    threshold_moves as threshold_moves,
)
from .analysis.arrivals import (
    BASINS as BASINS,
    CLOSE_COSINE as CLOSE_COSINE,
    SMALL_GRADIENT as SMALL_GRADIENT,
    classify as classify,
    cosines as cosines,
    shares_of_basins as shares_of_basins,
)
from .analysis.comparisons import (
    cause as cause,
    size_comparison as size_comparison,
    threshold_by_rule as threshold_by_rule,
    threshold_comparison as threshold_comparison,
)
from .analysis.instances import (
    GAPS as GAPS,
    POWERS as POWERS,
    absolute_means as absolute_means,
    advantage as advantage,
    crossing_limits as crossing_limits,
    difference_in_errors as difference_in_errors,
    frame_of as frame_of,
    gap_map as gap_map,
    gaps as gaps,
    instance_means as instance_means,
    intercept as intercept,
    limit as limit,
    memory as memory,
    minimum_responses as minimum_responses,
    power_limit as power_limit,
    root as root,
    root_mean_squares as root_mean_squares,
    size_of as size_of,
    test_gap as test_gap,
    training_gap as training_gap,
    wilson as wilson,
    with_errors as with_errors,
)
from .analysis.thresholds import (
    alpha_of as alpha_of,
    borders_of as borders_of,
    branches as branches,
    compare_crossings as compare_crossings,
    crossing as crossing,
    crossings as crossings,
    curve as curve,
    ground_states as ground_states,
    is_minimum as is_minimum,
    last_fall as last_fall,
    losses_of as losses_of,
    mean_of as mean_of,
    rows_of as rows_of,
    side_by_side as side_by_side,
    theory_lines as theory_lines,
    threshold_shifts as threshold_shifts,
    with_one_step as with_one_step,
)
from .experiments import grid as grid
from .experiments.results import read as read, sweep as sweep
from .published import Comparison as Comparison, compare as compare
from .render import style as style
from .render.attention import (
    answers as answers,
    draw_matrices as draw_matrices,
    sgd_answers as sgd_answers,
    shown_sequences as shown_sequences,
    trained_weights as trained_weights,
)
from .render.headings import Heading as Heading
from .render.markup import (
    Table as Table,
    choose_columns as choose_columns,
    mathtext as mathtext,
    number as number,
    quote as quote,
    symbol as symbol,
)
from .render.slices_and_maps import (
    ADVANTAGE as ADVANTAGE,
    CURVES as CURVES,
    draw_divergences as draw_divergences,
    draw_losses as draw_losses,
    draw_maps as draw_maps,
    draw_theory as draw_theory,
    draw_variant as draw_variant,
    finish_slice as finish_slice,
    theory_curves as theory_curves,
)
from .store.parquet import encode as encode
