"""Sentences and students: their definitions, the risk, and its gradient (paper, Sections 3 and 5)."""
