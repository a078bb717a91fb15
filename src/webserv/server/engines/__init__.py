"""TODO engines."""
