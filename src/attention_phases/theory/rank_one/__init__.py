"""The state evolution of the rank-one student (paper, Result 4.2)."""
