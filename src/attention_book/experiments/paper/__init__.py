"""The experiments of the paper's figures.

Each experiment has its sizes, cells, workers, tolerances and columns in the file of its figure.
"""
