"""Copies of web applications. Begin with `world.py`, then `engines/interface.py`, `engines/native.py`, `router.py`.

This package never imports `webserv.browser`. `_linux/` and `start_modes/preloader.py` use the standard library only,
because they also run inside a site's own Python environment.
"""
