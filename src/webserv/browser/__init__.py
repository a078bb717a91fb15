"""A policy's view and hands: real Chromium pages, compact observations, typed actions, waits that end on time.

Begin with `session.py` (what a policy does), then `fleet.py` (where sessions come from), `settle.py` (when a page
is at rest), `observation/` (page → element model → text) and `actions/` (text → typed action → input events).
`inject/` holds the JavaScript that runs beside the page in a world of its own. Nothing here knows of servers.
"""
