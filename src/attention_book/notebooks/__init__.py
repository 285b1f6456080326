"""The text notebooks: their parameters, their execution for the book or for one figure, their .ipynb sides."""
