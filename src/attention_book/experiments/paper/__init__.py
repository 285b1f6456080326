"""Experiments of the paper, by figure: sizes, cells, workers, tolerances and columns of each."""
