"""Reads the page model out of a tab: one pass per frame, the frames' passes put together in reading order."""

from __future__ import annotations

import json
from typing import Any

from webserv.browser.observation.element import ElementKey, Node, Page, PageElement
from webserv.types import Box

Raw = Any
"""What inject/collect.js made: text, or a record with `t` and more."""


def read_page(raw: str, document: str) -> Page:
    """Makes the model from the JSON text that one document's pass returned."""
    data = json.loads(raw)
    page = Page(url=data["url"], title=data["title"], left_out=data["cut"])
    page.gone = [ElementKey(document, number) for number in data["gone"]]
    page.body = [_node(item, document) for item in data["page"]]
    page.overlay = [_node(item, document) for item in data["over"] or ()]
    _drop_doubled_links(page)
    return page


def _drop_doubled_links(page: Page) -> None:
    """Leaves out links that only show a picture where a link with the same name and address stands as text."""
    elements = page.elements()
    texts: set[tuple[str, str | None]] = {
        (element.name, element.href) for element in elements if element.href and not element.image_only
    }
    if any(element.image_only and (element.name, element.href) in texts for element in elements):
        page.body = _without_doubled(page.body, texts)
        page.overlay = _without_doubled(page.overlay, texts)


def _without_doubled(nodes: list[Node], texts: set[tuple[str, str | None]]) -> list[Node]:
    kept: list[Node] = []
    for node in nodes:
        element = node.element
        if element and element.image_only and (element.name, element.href) in texts:
            continue
        node.children = _without_doubled(node.children, texts)
        kept.append(node)
    return kept


def frames_of(page: Page) -> list[Node]:
    """The nodes that stand for child frames."""
    return [node for top in (*page.overlay, *page.body) for node in top.walk() if node.kind == "fr"]


def put_in(page: Page, frame: Node, inner: Page) -> None:
    """Puts a child frame's content in the place of its frame node."""
    page.gone += inner.gone
    page.left_out += inner.left_out
    frame.children = [*inner.overlay, *inner.body]


def _node(raw: Raw, document: str) -> Node:
    if isinstance(raw, str):
        return Node("text", raw)
    kind = raw["t"]
    inner = raw.get("c")
    children = [_node(item, document) for item in inner] if inner else []
    if inner and len(raw) == 2:
        return Node(kind, children=children)  # the most of them
    if kind == "e":
        return Node(kind, level=raw.get("b", 0), element=_element(raw, document), children=children)
    if kind == "fr":
        return Node(kind, raw["n"], level=raw["k"])
    return Node(
        kind,
        raw.get("n", ""),
        role=raw.get("r", ""),
        marker=raw.get("m", ""),
        level=raw.get("l", 0) or raw.get("h", 0),
        span=raw.get("s", 1),
        children=children,
    )


def _element(raw: dict[str, Raw], document: str) -> PageElement:
    x, y, width, height = raw["x"]
    return PageElement(
        key=ElementKey(document, raw["k"]),
        role=raw["r"],
        name=raw["n"],
        target=raw.get("d") or raw["h"],
        fallback=raw.get("f", ""),
        value=raw.get("v"),
        states=tuple(raw.get("s", ())),
        options=tuple(raw.get("o", ())),
        multiple=bool(raw.get("m")),
        href=raw.get("h"),
        box=Box(x, y, width, height),
        image_only=bool(raw.get("i")),
    )
