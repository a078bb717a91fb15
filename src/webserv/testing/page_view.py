"""What tests of pages say again and again: open a page, see what a policy would see of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from webserv.browser.session import BrowserSession
from webserv.types import Observation

OpenPage = Callable[..., Awaitable[BrowserSession]]
"""Serves HTML (or a mapping of paths to HTML) and opens a session on it; options go by keyword."""

See = Callable[..., Awaitable[str]]
"""Does the same and returns what `body` gives of the first observation."""


def body(observation: Observation) -> str:
    """Returns the observation's text without the lines that begin with ``URL:`` or ``Title:``."""
    lines = observation.text.split("\n")
    return "\n".join(line for line in lines if not line.startswith(("URL: ", "Title: ")))
