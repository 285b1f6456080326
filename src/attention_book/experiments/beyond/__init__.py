"""Experiments that the paper leaves open, by question."""
