"""Keeps an observation's text within its budget and says what was cut."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ID = re.compile(r"(?<!\\)\[\w{1,24}\] ")


def fit(head: Sequence[str], body: Sequence[str], max_chars: int) -> str:
    """Joins the lines; when they are too many, drops body lines from the end and counts what went.

    The first body line is shortened rather than dropped, so that something of the page is always seen.
    """
    text = "\n".join((*head, *body))
    if len(text) <= max_chars:
        return text
    left = max_chars - sum(len(line) + 1 for line in head) - 90
    kept: list[str] = []
    for line in body:
        if len(line) + 1 > left:
            break
        kept.append(line)
        left -= len(line) + 1
    if not kept and body:
        kept.append(body[0][: max(left, 0)] + "…")
    rest = body[len(kept) :]
    elements = sum(len(_ID.findall(line)) for line in rest)
    chars = sum(len(line) + 1 for line in rest)
    lines = f"{len(rest):,} more line{'s' if len(rest) != 1 else ''}"
    kept.append(f"… cut here: {lines} with {elements:,} elements, {chars:,} characters, are not shown")
    return "\n".join((*head, *kept))
