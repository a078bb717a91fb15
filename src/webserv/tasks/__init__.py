"""Tasks: an intent, where it starts and how it is judged.

Begin with `task.py`, then `evaluator.py` and `registry.py`. `template.py` makes tasks from a snapshot,
`scripting.py` helps to write reference solutions. `webserv.env` gives the score.
"""
