"""The default text: one line per block, in reading order, elements as ``[id] role "name"``. See docs/observation.md."""

from __future__ import annotations

import re
from collections.abc import Iterable

from webserv.browser.observation.element import Node, Page, PageElement
from webserv.browser.options import ObservationOptions

REGION_WORDS = {"navigation": "nav", "banner": "header", "contentinfo": "footer", "complementary": "aside"}
JOIN = " · "
JOINED_LINE = 400
"""A list item or cell whose lines come to no more than this is written on one line."""
INDENT = " "

_FAKE_ID = re.compile(r"\[(?=\w{1,24}\] )")
_EMPTY_CELL = re.compile(r"\|  (?=\|)")
_SPACE = re.compile(r"\s+")


def render_outline(page: Page, options: ObservationOptions) -> list[str]:
    """Renders the page as an outline."""
    writer = _Writer(options)
    if page.overlay:
        lines = writer.block(page.overlay)
        behind = writer.block(page.body)
        return [*lines, "Behind it, covered:", *indented(behind)] if behind else lines
    return writer.block(page.body)


def indented(lines: Iterable[str], indent: str = INDENT) -> list[str]:
    """The lines, moved in by one step."""
    return [indent + line for line in lines]


def quoted(text: str) -> str:
    """The text in double quotes, on one line; quotes and backslashes inside are escaped."""
    flat = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r\n", "\n").replace("\n", "\\n")
    return f'"{flat}"'


def plain(text: str) -> str:
    """Page text as it is shown: what could be read as an element's id is marked with a backslash."""
    return _FAKE_ID.sub(r"\\[", text) if "[" in text else text


class _Writer:
    """Turns nodes into lines. Inline content gathers on the current line until a block ends it."""

    def __init__(self, options: ObservationOptions) -> None:
        self._options = options

    def block(self, nodes: Iterable[Node]) -> list[str]:
        lines: list[str] = []
        current: list[str] = []

        def flush() -> None:
            line = _SPACE.sub(" ", "".join(current)).strip()
            if line:
                lines.append(line)
            current.clear()

        for node in nodes:
            if node.kind == "text":
                current.append(plain(node.text))
            elif node.kind == "e" and not node.children and node.element:
                if node.level:
                    flush()
                current.append(f" {self.element(node.element)} ")
                if node.level:
                    flush()
            elif node.kind == "im":
                current.append(f" {node.role} {quoted(node.text)} " if node.text else f" {node.role} ")
            else:
                flush()
                lines.extend(self.structure(node))
        flush()
        return lines

    def structure(self, node: Node) -> list[str]:
        match node.kind:
            case "h":
                return [f"{'#' * node.level} {self.joined(node.children)}"]
            case "li":
                return self.item(node)
            case "dt":
                return [f"{self.joined(node.children)}:"]
            case "dd":
                return indented(self.block(node.children))
            case "tb":
                rows = self.block(node.children)
                return [f"table {quoted(node.text)}:", *rows] if node.text else rows
            case "tr":
                return [self.row(node)]
            case "rg" if node.role == "region" and _is_named_by_heading(node):
                return self.block(node.children)
            case "rg":
                name = f" {quoted(node.text)}" if node.text else ""
                return self.headed(f"{REGION_WORDS.get(node.role, node.role)}{name}:", node)
            case "fr":
                name = f" {quoted(node.text)}" if node.text else ""
                return self.headed(f"frame{name}:", node)
            case "e" if node.element:
                return self.headed(f"{self.element(node.element)}:", node)
        return self.block(node.children)

    def headed(self, head: str, node: Node) -> list[str]:
        """A head line with the content below it, or behind it when it is a single line."""
        lines = self.block(node.children)
        if len(lines) == 1:
            return [f"{head} {lines[0]}"]
        return [head, *indented(lines)] if lines else [head]

    def item(self, node: Node) -> list[str]:
        lines = self.block(node.children)
        if not lines:
            return []
        nested = any(child.kind in ("l", "tb") for top in node.children for child in top.walk())
        if not nested and sum(len(line) for line in lines) <= JOINED_LINE:
            return [f"{node.marker} {JOIN.join(_inline(line) for line in lines)}"]
        return [f"{node.marker} {lines[0]}", *indented(lines[1:], INDENT * 2)]

    def row(self, node: Node) -> str:
        cells: list[str] = []
        for cell in node.children:
            if cell.kind == "td":
                cells.append(self.joined(cell.children))
                cells.extend("" for _ in range(cell.span - 1))
            elif text := self.joined([cell]):
                cells.append(text)
        return _EMPTY_CELL.sub("| ", f"| {' | '.join(cells)} |")

    def joined(self, nodes: Iterable[Node]) -> str:
        return JOIN.join(_inline(line) for line in self.block(nodes))

    def element(self, element: PageElement) -> str:
        parts = [f"[{element.id}] {element.role}"]
        if element.name:
            parts.append(quoted(element.name))
        if element.value is not None and (element.value or element.role != "file"):
            parts.append(f"= {quoted(element.value)}")
        parts.extend(element.states)
        if element.options:
            parts.append(self.options(element))
        return " ".join(parts)

    def options(self, element: PageElement) -> str:
        limit = self._options.max_options
        shown = " | ".join(quoted(option) for option in element.options[:limit])
        more = len(element.options) - limit
        kind = "options, several can be selected" if element.multiple else "options"
        return f"{kind}: {shown}" + (f" … {more} more" if more > 0 else "")


def _is_named_by_heading(node: Node) -> bool:
    """Whether a region's name is the heading that it begins with, which is shown anyway."""
    first = node.children[0]
    while first.kind == "b" and first.children:
        first = first.children[0]
    return (
        first.kind == "h" and " ".join(t.text for t in first.walk() if t.kind == "text").strip() == node.text
    )


def _inline(line: str) -> str:
    """A line that joins others loses its heading or bullet mark and indentation."""
    return re.sub(r"^(#{1,6} |- )", "", line.strip())
