"""What describes the repository to people and programs that do not know it: written by `make metadata`."""
