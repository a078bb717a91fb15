"""TODO start_modes."""
