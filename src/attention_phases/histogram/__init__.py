"""The counting task of the paper's Appendix A, and a small transformer with two frozen variants that learns it."""
