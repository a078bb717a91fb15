"""Rollouts: episodes run by policies, and their records.

Begin with `episode.py`, then `runner.py` and `store.py`.
"""
