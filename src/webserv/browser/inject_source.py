"""Puts the files of `inject/` together into the one script that runs beside every page."""

from __future__ import annotations

from functools import cache
from importlib import resources

FILES = (
    "registry.js",
    "dom.js",
    "names.js",
    "quiet.js",
    "elements.js",
    "tree.js",
    "collect.js",
    "act.js",
    "exports.js",
)
"""In the order in which they build on each other."""

WORLD = "webserv"
"""Name of the isolated world: its globals and prototypes are its own, pages neither see nor change them."""


@cache
def inject_source() -> str:
    """The script, wrapped so that it defines one global name and survives a second run in the same document."""
    folder = resources.files("webserv.browser") / "inject"
    body = "\n".join((folder / name).read_text(encoding="utf-8") for name in FILES)
    return f'(() => {{\n"use strict";\nif (globalThis.__webserv) return;\n{body}\n}})();'
