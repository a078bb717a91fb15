"""TODO observation."""
