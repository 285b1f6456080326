"""The state evolution of any number of tokens and columns (paper, Result C.2)."""
