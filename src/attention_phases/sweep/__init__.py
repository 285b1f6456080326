"""Compute the cells of an experiment anywhere, store each result as it comes, check stored ones."""

from .running import Mismatch, Summary, run, verify

__all__ = ["Mismatch", "Summary", "run", "verify"]
