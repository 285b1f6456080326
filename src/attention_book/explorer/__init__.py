"""What the explorer on the landing page shows: nodes of the theory, their interpolation, one script for the page."""
