"""One revision a file, each knowing the one before it."""
