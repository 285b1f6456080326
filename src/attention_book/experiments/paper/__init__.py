"""The experiments of the paper by figure, each with its sizes, cells, workers, tolerances and columns."""
