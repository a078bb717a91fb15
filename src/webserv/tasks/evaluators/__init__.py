"""TODO evaluators."""
