"""What a renderer is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from webserv.browser.observation.element import Page
from webserv.browser.options import ObservationOptions


class Renderer(Protocol):
    """Turns a page whose elements have ids into lines of text, the same lines for the same page every time."""

    def __call__(self, page: Page, options: ObservationOptions) -> Sequence[str]:
        """Returns the lines, without header."""
        ...
