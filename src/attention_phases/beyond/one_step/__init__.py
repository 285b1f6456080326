"""One step of replica symmetry breaking (1RSB) of the rank-one student."""
