"""TODO _linux."""
