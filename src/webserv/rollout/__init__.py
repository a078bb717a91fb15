"""Rollouts: episodes run by policies, their records and reports. Begin with `episode.py`, then `runner.py`, `store.py`."""
