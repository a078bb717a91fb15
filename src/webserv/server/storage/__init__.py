"""Where clones' files live: `interface.py` has the record, `load.py` chooses, `loop.py` makes a pool in a file."""
