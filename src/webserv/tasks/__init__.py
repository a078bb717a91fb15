"""Tasks: an intent, where it starts and how it is judged. Begin with `task.py`, then `evaluator.py` and `registry.py`."""
