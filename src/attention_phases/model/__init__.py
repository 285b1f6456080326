"""Definitions of sentences and students, and the risk with its gradient (paper, Sections 3 and 5)."""
