"""Theory beyond the paper: replica symmetry breaking, the optimal learner, early training and curvature of the risk."""
