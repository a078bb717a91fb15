"""TODO shop."""
