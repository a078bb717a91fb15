"""Renderers turn a page model into the lines of an observation. The table names the built-in ones."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webserv.browser.observation.renderers.interface import Renderer
from webserv.browser.observation.renderers.outline import render_outline
from webserv.errors import UnknownName

RENDERERS: Mapping[str, Renderer] = MappingProxyType({"outline": render_outline})


def load_renderer(name: str) -> Renderer:
    """Returns a renderer by name.

    Raises:
        UnknownName: There is none of that name.
    """
    if name not in RENDERERS:
        raise UnknownName("renderer", name, RENDERERS)
    return RENDERERS[name]
