"""What makes worlds: `interface.py` has the contract, `load.py` the table; `native.py` and `process.py` are engines."""
