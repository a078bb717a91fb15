"""Thin, typed wrappers of what the Linux kernel offers. Standard library only."""
