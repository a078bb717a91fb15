"""The actions as a tool that a language model can call."""

from __future__ import annotations

from typing import Any

from webserv.browser.actions.fields import parameters_of
from webserv.browser.actions.types import ACTION_TYPES, MAX_WAIT_S

_DESCRIPTIONS = {
    "target": "Id of the element, as shown in square brackets.",
    "text": "What to type, or the answer to a prompt.",
    "enter": "Press Enter after typing.",
    "values": "Labels of the options to select.",
    "key": "Key or chord, for instance Enter, Escape, Control+a.",
    "direction": "Where to scroll.",
    "to": "Id of the element to drag onto.",
    "path": "File to upload.",
    "url": "Address to load.",
    "tab_id": "Number of the tab.",
    "seconds": f"How long to wait, at most {MAX_WAIT_S:g}.",
    "answer": "Answer to the task, if it asks for one.",
}

_TYPES: dict[str, dict[str, Any]] = {
    "id": {"type": "string"},
    "string": {"type": "string"},
    "strings": {"type": "array", "items": {"type": "string"}},
    "flag": {"type": "boolean"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "direction": {"type": "string", "enum": ["up", "down"]},
}


def action_tool(name: str = "step_browser") -> dict[str, Any]:
    """One tool with flat arguments, in the form that OpenAI-compatible endpoints take.

    Its arguments are what `parse_action` reads: ``{"action": "click", "target": "id"}``.
    """
    properties: dict[str, Any] = {
        "action": {"type": "string", "enum": [kind.name for kind in ACTION_TYPES], "description": _summary()}
    }
    for kind in ACTION_TYPES:
        for parameter in parameters_of(kind):
            properties.setdefault(
                parameter.name, {**_TYPES[parameter.kind], "description": _DESCRIPTIONS[parameter.name]}
            )
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": "Carry out one action in the browser and see the page that results.",
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": ["action"],
                "additionalProperties": False,
            },
        },
    }


def _summary() -> str:
    """Which arguments each action takes, since a flat schema cannot say it."""
    parts = []
    for kind in ACTION_TYPES:
        names = [p.name if p.required else f"{p.name}?" for p in parameters_of(kind)]
        parts.append(f"{kind.name}({', '.join(names)})")
    return "What to do; with its arguments, ? marks optional ones: " + ", ".join(parts) + "."
