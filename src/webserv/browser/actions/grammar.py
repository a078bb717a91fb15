"""Reads actions from text or JSON, and writes them as text. One action per step; nothing is ever evaluated."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from webserv.browser.actions.fields import BY_NAME, Value, build, check_name, parameters_of
from webserv.browser.actions.outcome import malformed
from webserv.browser.actions.types import Action

ACTION_GRAMMAR = """\
Answer with exactly one action per step. Elements are named by the id in square brackets before them.
click("id") presses an element. type("id", "text", enter=true) replaces a field's content (enter=true submits, \
enter=false or nothing does not). clear("id") empties a field. select("id", "option") chooses from a select by label; \
give several labels where several can be selected. hover("id") moves the mouse there. key_press("Control+a", "id") \
presses a key, the id may be left out. scroll("down") or scroll("up", "id") scrolls; the whole page is shown to you \
already, so scroll only where a page loads more. drag("id", "to_id") drags. upload("id", "file") gives a file. \
goto("url"), back(), forward(), refresh() move in the tab. new_tab("url"), switch_tab(2), close_tab(2) handle tabs. \
dialog_accept("text") and dialog_dismiss() answer an open dialog. wait(2) waits some seconds. terminate("answer") ends \
the task, with the answer if it asks for one, else terminate(). \
Strings take single or double quotes; write \\" or \\n for a quote or a new line inside."""
"""One paragraph that tells a language model how to act."""

MAX_TEXT = 100_000
"""Longest action text."""

_CALL = re.compile(r"\s*([A-Za-z_]\w*)\s*\(")
_WORD = re.compile(r"[^\s,()\"'=]+")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*")
_FENCE = re.compile(r"\A```[\w-]*[ \t]*\n?(.*?)\n?```\Z", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}


def parse_action(action: str | Mapping[str, Any]) -> Action:
    """Reads one action.

    Args:
        action: ``click("id")`` and the like, JSON text such as ``{"action": "click", "target": "id"}``, or such a
            mapping. A code fence or backticks around the text are taken off.

    Raises:
        ActionRefused: It is no action; the message says how to write one. Nothing else is raised for what a policy
            can write.
    """
    try:
        return _parse(action)
    except (ValueError, ArithmeticError, RecursionError) as exc:
        # Numbers of thousands of digits and nesting without end: no action has a use for either.
        raise malformed('The action cannot be read. Write for instance click("id").') from exc


def _parse(action: str | Mapping[str, Any]) -> Action:
    if isinstance(action, Mapping):
        return _from_mapping(action)
    if not isinstance(action, str):
        raise malformed(f"An action is text or a mapping, not {type(action).__name__}.")
    if len(action) > MAX_TEXT:
        raise malformed(f"The action has {len(action):,} characters; at most {MAX_TEXT:,} are taken.")
    text = _unwrap(action)
    if not text:
        raise malformed('The action is empty. Write for instance click("id").')
    if text.startswith("{"):
        return _from_json(text)
    return _Reader(text).call()


def format_action(action: Action) -> str:
    """Writes an action as text that `parse_action` reads back as the same action."""
    parts: list[str] = []
    by_position = True
    for parameter in parameters_of(type(action)):
        value = getattr(action, parameter.name)
        if value is None:
            by_position = False
            continue
        if parameter.kind == "strings":
            parts.extend(_quote(item) for item in value)
        elif parameter.kind == "flag":
            if value:
                parts.append(f"{parameter.name}=true")
        else:
            text = _quote(value) if isinstance(value, str) else repr(value)
            parts.append(text if by_position else f"{parameter.name}={text}")
    return f"{action.name}({', '.join(parts)})"


def action_to_json(action: Action) -> dict[str, Any]:
    """The action in its JSON form, with flat arguments."""
    record: dict[str, Any] = {"action": action.name}
    for parameter in parameters_of(type(action)):
        value = getattr(action, parameter.name)
        if value is not None:
            record[parameter.name] = list(value) if isinstance(value, tuple) else value
    return record


def _unwrap(text: str) -> str:
    text = text.strip()
    fence = _FENCE.match(text)
    if fence:
        return fence.group(1).strip()
    if len(text) > 1 and text[0] == text[-1] == "`":
        return text.strip("`").strip()
    return text


def _quote(text: str) -> str:
    """JSON's escapes are a subset of ours."""
    return json.dumps(text, ensure_ascii=False)


def _from_json(text: str) -> Action:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise malformed(
            f'This is no JSON object ({exc}). Write {{"action": "click", "target": "id"}}.'
        ) from exc
    if not isinstance(data, dict):
        raise malformed('The JSON is no object. Write {"action": "click", "target": "id"}.')
    return _from_mapping(data)


def _from_mapping(data: Mapping[str, Any]) -> Action:
    """Flat arguments, or those of a tool call: ``{"name": "click", "arguments": {…}}``."""
    name = data.get("action", data.get("name"))
    if isinstance(name, Mapping) and "action" not in name:
        raise malformed(
            '"action" must be the name of an action, for instance {"action": "click", "target": "id"}.'
        )
    if not isinstance(name, str):
        raise malformed('"action" is missing. Write {"action": "click", "target": "id"}.')
    arguments = data.get("arguments", data.get("args"))
    if "action" not in data and isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError) as exc:
            raise malformed(f'"arguments" is no JSON ({exc}).') from exc
    if isinstance(arguments, Mapping):
        if "action" in arguments and name not in BY_NAME:
            return _from_mapping(arguments)
        return build(name, (), {str(key): value for key, value in arguments.items()})
    named = {
        str(key): value for key, value in data.items() if key not in ("action", "name") and value is not None
    }
    return build(name, (), named)


class _Reader:
    """A hand-written reader of ``name(argument, …, key=argument)``."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def call(self) -> Action:
        head = _CALL.match(self._text)
        if not head:
            raise malformed(
                f'"{_start(self._text)}" is no action. Write for instance click("id") or type("id", "text").'
            )
        name = head.group(1)
        check_name(name)
        self._at = head.end()
        positional: list[Value | list[Value]] = []
        named: dict[str, Any] = {}
        self._space()
        while not self._eat(")"):
            keyed = _NAME.match(self._text, self._at)
            if keyed:
                self._at = keyed.end()
                if keyed.group(1) in named:
                    raise malformed(f"'{keyed.group(1)}' is given twice.")
                named[keyed.group(1)] = self._value()
            elif named:
                raise malformed(f"After {next(iter(named))}=… only arguments with a name may follow.")
            else:
                positional.append(self._value())
            self._space()
            if not self._eat(","):
                self._space()
                if not self._eat(")"):
                    raise malformed(f'A comma or ")" is missing after "{_end(self._text[: self._at])}".')
                break
            self._space()
        rest = self._text[self._at :].strip().rstrip(";").strip()
        if rest:
            raise malformed(f'After the action comes "{_start(rest)}"; give one action and nothing else.')
        flat: list[Any] = positional[:1] + positional[1] if _is_list_call(positional) else positional  # type: ignore[operator]
        if any(isinstance(item, list) for item in flat):
            raise malformed(f"{name} takes no list here.")
        return build(name, flat, named)

    def _value(self) -> Value | list[Value]:
        self._space()
        if self._at >= len(self._text):
            raise malformed('The action ends too early; ")" is missing.')
        first = self._text[self._at]
        if first in "\"'":
            return self._string(first)
        if first == "[" and self._looks_like_list():
            return self._list()
        word = _WORD.match(self._text, self._at)
        if not word:
            raise malformed(f'A value is missing before "{_start(self._text[self._at :])}".')
        self._at = word.end()
        return _plain(word.group())

    def _looks_like_list(self) -> bool:
        """``["a", "b"]`` is a list, ``[add_to_basket]`` an id as the observation shows it."""
        return re.match(r"\[\s*[\"'\[\]]", self._text[self._at :]) is not None

    def _list(self) -> list[Value]:
        self._at += 1
        items: list[Value] = []
        self._space()
        while not self._eat("]"):
            item = self._value()
            if isinstance(item, list):
                raise malformed("A list cannot hold a list.")
            items.append(item)
            self._space()
            if not self._eat(","):
                self._space()
                if not self._eat("]"):
                    raise malformed(f'A comma or "]" is missing after "{_end(self._text[: self._at])}".')
                break
            self._space()
        return items

    def _string(self, quote: str) -> str:
        out: list[str] = []
        at = self._at + 1
        text = self._text
        while at < len(text):
            char = text[at]
            if char == quote:
                self._at = at + 1
                return "".join(out)
            if char == "\\" and at + 1 < len(text):
                escaped, at = _escape(text, at + 1)
                out.append(escaped)
                continue
            out.append(char)
            at += 1
        raise malformed(f"The string that begins with {_start(text[self._at :])} has no closing {quote}.")

    def _space(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1

    def _eat(self, char: str) -> bool:
        if self._text.startswith(char, self._at):
            self._at += 1
            return True
        return False


def _escape(text: str, at: int) -> tuple[str, int]:
    """The character that the escape at `at` (behind the backslash) stands for, and where reading goes on."""
    char = text[at]
    if char == "u":
        code = _hex(text, at + 1)
        if code is not None:
            if 0xD800 <= code < 0xDC00 and text.startswith("\\u", at + 5):
                low = _hex(text, at + 7)
                if low is not None and 0xDC00 <= low < 0xE000:
                    return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), at + 11
            return chr(code), at + 5
    if char in _ESCAPES:
        return _ESCAPES[char], at + 1
    if char in "\"'\\/`":
        return char, at + 1
    return "\\" + char, at + 1  # a backslash that escapes nothing is meant as itself: C:\dir, \d+


def _hex(text: str, at: int) -> int | None:
    digits = text[at : at + 4]
    return int(digits, 16) if re.fullmatch(r"[0-9a-fA-F]{4}", digits) else None


def _plain(word: str) -> Value:
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    if word in ("None", "null"):
        return None
    if re.fullmatch(r"-?(0|[1-9]\d{0,14})", word):
        return int(word)
    if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", word):
        return float(word)
    return word


def _is_list_call(positional: list[Value | list[Value]]) -> bool:
    """``select("id", ["a", "b"])`` means ``select("id", "a", "b")``."""
    return len(positional) == 2 and isinstance(positional[1], list)


def _start(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 40 else f"{flat[:39]}…"


def _end(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 40 else f"…{flat[-39:]}"
