"""type, clear and key_press: real key events."""

from __future__ import annotations

import re

from playwright.async_api import Error as PlaywrightError

from webserv.browser.actions.execute import Hands, Target, aim, ask, find_target, input_event
from webserv.browser.actions.outcome import ActionRefused, malformed
from webserv.browser.actions.types import Clear, KeyPress, Type
from webserv.browser.page_channel import first_line
from webserv.types import ActionErrorKind

TYPED_LENGTH = 120
"""Longer texts go in as a block, as pasting does, except for this many last characters, which are typed."""


async def type_text(hands: Hands, action: Type) -> None:
    """Replaces the field's content key by key, so that pages see keydown, input and keyup of each."""
    target = find_target(hands, action.target)
    how = await ask(hands, target, "editable")
    if how["how"] == "set":
        await aim(hands, target)
        await ask(hands, target, "setValue", action.text)
    else:
        await _focus_content(hands, target)
        await _enter_text(hands, action.text, multiline=how["multiline"])
    if action.enter:
        await input_event(hands, hands.active.page.keyboard.press("Enter"))
    elif how["searches"]:
        await ask(hands, target, "afterTyping", hands.options.settle.typing_ms)


async def clear(hands: Hands, action: Clear) -> None:
    """Empties the field as a person does: select all, delete."""
    target = find_target(hands, action.target)
    how = await ask(hands, target, "editable")
    if how["how"] == "set":
        await ask(hands, target, "setValue", "")
        return
    if not await _focus_content(hands, target):
        await input_event(hands, hands.active.page.keyboard.press("Delete"))


async def key_press(hands: Hands, action: KeyPress) -> None:
    """Presses a key or chord, on the element or where the focus is."""
    chord = normal_chord(action.key)
    if action.target is not None:
        target = find_target(hands, action.target)
        await aim(hands, target)
        await ask(hands, target, "focusOn")
    try:
        await hands.until_dialog(hands.active.page.keyboard.press(chord))
    except PlaywrightError as exc:
        message = first_line(exc)
        if "Unknown key" in message:
            raise malformed(
                f"There is no key '{action.key[:40]}'. Write for instance Enter, Escape, Tab, ArrowDown, Control+a."
            ) from exc
        if not hands.active.channel.closed:
            raise ActionRefused(
                ActionErrorKind.NOT_SUPPORTED, f"The key could not be pressed: {message}"
            ) from exc


_KEY_WORDS = {
    "ctrl": "Control", "control": "Control", "cmd": "Meta", "command": "Meta", "meta": "Meta", "alt": "Alt",
    "option": "Alt", "shift": "Shift", "esc": "Escape", "escape": "Escape", "return": "Enter", "enter": "Enter",
    "del": "Delete", "delete": "Delete", "backspace": "Backspace", "tab": "Tab", "space": "Space", "up": "ArrowUp",
    "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight", "arrowup": "ArrowUp", "arrowdown": "ArrowDown",
    "arrowleft": "ArrowLeft", "arrowright": "ArrowRight", "pageup": "PageUp", "pagedown": "PageDown", "home": "Home",
    "end": "End", "insert": "Insert",
}  # fmt: skip


def normal_chord(text: str) -> str:
    """The chord in Playwright's words, whatever the case and short forms: ``ctrl+a`` → ``Control+a``.

    Raises:
        ActionRefused: It is empty or too long to be a chord.
    """
    if not text or len(text) > 40:
        raise malformed("key_press needs a key such as Enter or Control+a.")
    if text == "+" or text == " ":
        return "Space" if text == " " else text
    parts = [part.strip() for part in re.split(r"(?<=[^+])\+", text)]
    chord = "+".join(_KEY_WORDS.get(part.lower(), part) for part in parts if part)
    if not chord:
        raise malformed("key_press needs a key such as Enter or Control+a.")
    return chord


async def _focus_content(hands: Hands, target: Target) -> bool:
    """Clicks into the field and selects what it holds; returns whether it is empty."""
    x, y = await aim(hands, target)
    await input_event(hands, hands.active.page.mouse.click(x, y))
    answer = await ask(hands, target, "selectContent")
    return bool(answer["empty"])


async def _enter_text(hands: Hands, text: str, *, multiline: bool) -> None:
    keyboard = hands.active.page.keyboard
    if not multiline:
        text = " ".join(text.splitlines())
    if not text:
        await input_event(hands, keyboard.press("Delete"))
        return
    block, typed = text[:-TYPED_LENGTH] if len(text) > TYPED_LENGTH else "", text[-TYPED_LENGTH:]
    if block:
        await input_event(hands, keyboard.insert_text(block))
    await input_event(hands, keyboard.type(typed))
