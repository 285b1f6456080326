"""The text notebooks: their parameters, their execution, what they must say, what is behind their figures."""
