"""The experiments that ask where published values differ from ours, and why."""
