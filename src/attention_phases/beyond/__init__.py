"""Theory beyond the paper: replica symmetry breaking, optimal learner, early training, and curvature of the risk."""
