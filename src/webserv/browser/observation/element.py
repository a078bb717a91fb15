"""The page model: a small tree of structure, text and elements that can be acted on, in reading order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from webserv.types import Box

BLOCK_KINDS = frozenset({"b", "h", "l", "li", "tb", "tr", "td", "dt", "dd", "rg", "e", "fr", "im", "br"})
"""``b`` block, ``h`` heading, ``l``/``li`` list and item, ``tb``/``tr``/``td`` table, row, cell, ``dt``/``dd`` term and
definition, ``rg`` landmark, dialog or named group, ``e`` element, ``fr`` frame, ``im`` image or canvas, ``br`` line
break; ``text`` is text."""


@dataclass(frozen=True, slots=True)
class ElementKey:
    """Where an element lives. Equal keys are the same element."""

    document: str
    """Unique id of the document's isolated world."""
    number: int
    """The element's number in that document, never given twice."""


@dataclass(slots=True)
class PageElement:
    """An element that can be acted on, before and after it has got its id."""

    key: ElementKey
    role: str
    name: str
    target: str
    """What it stands for beyond role and name, see `targetOf` in inject/elements.js."""
    fallback: str = ""
    """Field name or HTML id, for the semantic id of a nameless element."""
    value: str | None = None
    states: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    multiple: bool = False
    href: str | None = None
    box: Box | None = None
    image_only: bool = False
    """A link that shows a picture and no text."""
    id: str = ""


@dataclass(slots=True)
class Node:
    """One node of the page model."""

    kind: str
    """``text`` or one of `BLOCK_KINDS`."""
    text: str = ""
    """The text; the name of a landmark, table, frame or image."""
    role: str = ""
    """Of a landmark (``navigation``, ``dialog`` …) or an image (``img``, ``canvas``)."""
    marker: str = ""
    """Of a list item: ``-`` or ``3.``."""
    level: int = 0
    """Of a heading: 1 to 6. Of a cell: 1 when it is a header. Of an element: 1 when it stands on a line of its own.
    Of a frame: its element's number."""
    span: int = 1
    """Of a cell: columns that it spans."""
    element: PageElement | None = None
    children: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """Yields this node and all below it in reading order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            if node.children:
                stack.extend(reversed(node.children))


@dataclass(slots=True)
class Page:
    """One tab's content."""

    url: str
    title: str
    body: list[Node] = field(default_factory=list)
    overlay: list[Node] = field(default_factory=list)
    """What covers the viewport; the body is behind it. Empty when nothing does."""
    left_out: int = 0
    """Elements beyond `ObservationOptions.max_nodes` that were not visited, and texts that were shortened."""
    gone: list[ElementKey] = field(default_factory=list)
    """Elements that have left their document since it was last read."""

    def elements(self) -> list[PageElement]:
        """All elements that can be acted on, in reading order, the overlay's first."""
        nodes = (node for top in (*self.overlay, *self.body) for node in top.walk())
        return [node.element for node in nodes if node.element is not None]
