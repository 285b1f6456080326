"""Experiments on questions that the paper leaves open."""
