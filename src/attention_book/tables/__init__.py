"""Tables of the pages: the paper's numbers, and ours beside them."""
