"""One step of replica symmetry breaking of the rank-one student."""
