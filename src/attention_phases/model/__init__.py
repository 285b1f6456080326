"""Sentences and students: what they are, their risk and its gradient (paper, Sections 3 and 5)."""
