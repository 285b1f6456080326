"""Numbers and pictures as pages show them."""
