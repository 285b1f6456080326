"""State evolution of the rank-one model (paper, Section 4 and Appendices B to D)."""
