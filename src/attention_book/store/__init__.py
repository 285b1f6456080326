"""Compute the cells of an experiment anywhere, store each result as it comes, check stored ones."""
