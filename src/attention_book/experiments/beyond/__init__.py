"""The experiments on questions that the paper leaves open, by question."""
