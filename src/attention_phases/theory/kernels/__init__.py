"""Compiled kernels for the inner problem of state evolution: one for the standard student and one for all others."""
