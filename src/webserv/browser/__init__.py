"""A policy's view and hands. Begin with `session.py`, then `settle.py`, `observation/collect.py`, `actions/grammar.py`.

This package never imports `webserv.server`.
"""
