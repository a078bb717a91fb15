"""Where clones' files live: `interface.py` has the record, `load.py` chooses, `loop.py` makes a reflink pool in a file."""
