"""TODO viewer."""
