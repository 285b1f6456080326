"""Theory beyond the paper's: one step of breaking, the optimal learner, small weights, the curvature at a student."""
