"""One step of replica symmetry breaking (1RSB) for the student with one column of weights."""
