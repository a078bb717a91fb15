"""Policies: `interface.py` has the protocol, `load.py` the table of built-in names."""
