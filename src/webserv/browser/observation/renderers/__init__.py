"""TODO renderers."""
