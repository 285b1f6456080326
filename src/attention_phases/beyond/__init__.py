"""Theory beyond the paper: replica symmetry breaking, the optimal learner, small weights, curvature of the risk."""
