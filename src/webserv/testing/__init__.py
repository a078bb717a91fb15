"""TODO testing."""
