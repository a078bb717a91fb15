"""TODO sites."""
