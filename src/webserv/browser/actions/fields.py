"""Arguments of actions: which there are, of what type, and the check of what a policy gave."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webserv.browser.actions.outcome import malformed
from webserv.browser.actions.types import ACTION_TYPES, MAX_WAIT_S, Action

Value = str | float | int | bool | None

_MAX_DIGITS = 15
"""Of a whole number; Python itself refuses to read those of thousands."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of an action."""

    name: str
    kind: str
    """``id``, ``string``, ``strings``, ``flag``, ``integer``, ``number`` or ``direction``."""
    required: bool


_KINDS = {
    "target": "id", "to": "id", "text": "string", "enter": "flag", "values": "strings", "key": "string",
    "direction": "direction", "path": "string", "url": "string", "tab_id": "integer", "seconds": "number",
    "answer": "string",
}  # fmt: skip

ALIASES: Mapping[str, str] = {"value": "values", "id": "target", "goto_url": "goto"}
"""Other words for arguments and actions that policies use."""

BY_NAME: Mapping[str, type[Action]] = {kind.name: kind for kind in ACTION_TYPES}


def parameters_of(kind: type[Action]) -> tuple[Parameter, ...]:
    """The arguments of an action, in positional order."""
    return tuple(
        Parameter(field.name, _KINDS[field.name], field.default is dataclasses.MISSING)
        for field in dataclasses.fields(kind)
    )


def signature_of(kind: type[Action]) -> str:
    """How the action is written, for hints: ``type("id", "text", enter=true)``."""
    shown = {
        "id": '"{}"', "string": '"{}"', "strings": '"option", …', "flag": "{}=true", "integer": "{}", "number": "{}",
        "direction": '"down"',
    }  # fmt: skip
    parts = [
        shown[p.kind].format("id" if p.name == "target" else p.name) if p.required
        else f"[{shown[p.kind].format('id' if p.name == 'target' else p.name)}]"
        for p in parameters_of(kind)
    ]  # fmt: skip
    return f"{kind.name}({', '.join(parts)})"


def build(name: str, positional: Sequence[Value], named: Mapping[str, Any]) -> Action:
    """Makes the action from arguments as they were written.

    Raises:
        ActionRefused: No such action, or an argument is missing, unknown, given twice or of a wrong type.
    """
    kind = check_name(name)
    parameters = parameters_of(kind)
    given = _by_position(kind, parameters, positional)
    for key, value in named.items():
        key = ALIASES.get(key, key)
        if key not in (p.name for p in parameters):
            raise malformed(f"{kind.name} takes no argument '{key[:40]}'. Write {signature_of(kind)}.")
        if key in given:
            raise malformed(f"{kind.name} got '{key}' twice. Write {signature_of(kind)}.")
        given[key] = value
    checked: dict[str, Any] = {}
    for parameter in parameters:
        value = given.get(parameter.name)
        if value is None:
            if parameter.required:
                raise malformed(f"{kind.name} needs '{parameter.name}'. Write {signature_of(kind)}.")
            continue
        checked[parameter.name] = _checked(kind, parameter, value)
    return kind(**checked)


def check_name(name: str) -> type[Action]:
    """Returns the action of that name.

    Raises:
        ActionRefused: There is none; the message lists those there are.
    """
    kind = BY_NAME.get(ALIASES.get(name, name))
    if kind is None:
        raise malformed(f"There is no action '{name[:40]}'. Actions: {', '.join(BY_NAME)}.")
    return kind


def _by_position(
    kind: type[Action], parameters: Sequence[Parameter], positional: Sequence[Value]
) -> dict[str, Any]:
    given: dict[str, Any] = {}
    rest = list(positional)
    for parameter in parameters:
        if not rest:
            break
        given[parameter.name] = rest if parameter.kind == "strings" else rest.pop(0)
        if parameter.kind == "strings":
            rest = []
    if rest:
        raise malformed(
            f"{kind.name} got too many arguments ({len(positional)}). Write {signature_of(kind)}."
        )
    return given


def _checked(kind: type[Action], parameter: Parameter, value: Any) -> Any:
    wrong = malformed(
        f"{kind.name}: '{parameter.name}' cannot be {_shown(value)}. Write {signature_of(kind)}."
    )
    match parameter.kind:
        case "id":
            text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
            text = text.strip().removeprefix("[").removesuffix("]").strip()
            if not text:
                raise wrong
            return text
        case "string":
            if not isinstance(value, str | int | float):
                raise wrong
            if isinstance(value, bool):
                return str(value).lower()  # terminate(true) means the word
            return _encodable(
                value if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)
            )
        case "strings":
            items = value if isinstance(value, list | tuple) else [value]
            if not items or any(
                isinstance(item, bool) or not isinstance(item, str | int | float) for item in items
            ):
                raise wrong
            return tuple(_encodable(str(item)) for item in items)
        case "flag":
            if isinstance(value, bool):
                return value
            if isinstance(value, str) and value.lower() in ("true", "false"):
                return value.lower() == "true"
            if value in (0, 1):
                return bool(value)
            raise wrong
        case "integer":
            if isinstance(value, str) and len(value) <= _MAX_DIGITS and value.strip().isdecimal():
                return int(value)
            if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 10**_MAX_DIGITS:
                raise wrong
            return value
        case "number":
            number = _number(value)
            if number is None or number < 0:
                raise wrong
            return min(number, MAX_WAIT_S)
        case _:
            if value not in ("up", "down"):
                raise wrong
            return value


def _number(value: Any) -> float | None:
    try:
        number = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _encodable(text: str) -> str:
    """Lone surrogates can be written in JSON but belong to no text; the browser's protocol would choke on them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or of brackets
        text = f"that {type(value).__name__}"
    return text if len(text) <= 40 else f"{text[:39]}…"
