"""Carries out actions in a session's tab. What the page or the policy is to blame for ends as `ActionRefused`."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from playwright.async_api import Error as PlaywrightError

from webserv.browser.actions.outcome import ActionRefused
from webserv.browser.observation.element import ElementKey
from webserv.browser.observation.ids import IdBook
from webserv.browser.options import BrowserOptions
from webserv.browser.page_channel import DocumentGone, World, first_line
from webserv.browser.tab import Tab
from webserv.errors import BrowserFailed
from webserv.types import ActionErrorKind


class Hands(Protocol):
    """What actions need of a session."""

    options: BrowserOptions
    ids: IdBook

    @property
    def active(self) -> Tab:
        """The tab that the policy looks at."""
        ...

    async def until_dialog(self, work: Awaitable[Any]) -> None:
        """Awaits `work`, or a dialog that blocks it; then `work` goes on once the dialog is answered."""
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """An element that an action is about, with the document that it lives in."""

    id: str
    number: int
    world: World


def find_target(hands: Hands, element_id: str) -> Target:
    """Resolves an id of an observation.

    Raises:
        ActionRefused: No observation had it, or its document is gone or not in the active tab.
    """
    key = hands.ids.key_of(element_id)
    if key is None:
        near = _nearest(element_id, hands)
        raise ActionRefused(
            ActionErrorKind.UNKNOWN_ID,
            f"There is no element [{element_id[:40]}].{near} Use an id of this observation.",
        )
    world = hands.active.channel.world_of_document(key.document)
    if world is None:
        _raise_stale(element_id)
    return Target(element_id, key.number, world)


def _raise_stale(element_id: str) -> NoReturn:
    raise ActionRefused(
        ActionErrorKind.STALE, f"[{element_id}] is no longer on the page. Use an id of this observation."
    )


def _nearest(element_id: str, hands: Hands) -> str:
    last = hands.active.last
    known = [element.id for element in last.elements()] if last else []
    near = difflib.get_close_matches(element_id, known, n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(f'[{item}]' for item in near)}?" if near else ""


async def ask(hands: Hands, target: Target, function: str, *arguments: Any) -> Any:
    """Calls a function of inject/act.js for the target and turns a refusal into `ActionRefused`."""
    try:
        answer = await hands.active.channel.call(function, target.number, *arguments, world=target.world)
    except DocumentGone:
        _raise_stale(target.id)
    if isinstance(answer, Mapping) and "error" in answer:
        refuse(hands, target, answer)
    return answer


def refuse(hands: Hands, target: Target, answer: Mapping[str, Any]) -> NoReturn:
    """Raises the refusal that the page's answer stands for."""
    name = f"[{target.id}]"
    match answer["error"]:
        case "stale":
            _raise_stale(target.id)
        case "disabled":
            raise ActionRefused(
                ActionErrorKind.DISABLED, f"{name} is disabled; something else must be done first."
            )
        case "hidden":
            raise ActionRefused(
                ActionErrorKind.HIDDEN, f"{name} is not visible now; open what holds it first."
            )
        case "covered":
            cover = _cover(hands, target, answer["by"])
            raise ActionRefused(
                ActionErrorKind.COVERED, f"{name} is covered by {cover}; close or move that first."
            )
        case "not_editable":
            role = answer.get("role") or "no control"
            raise ActionRefused(ActionErrorKind.NOT_EDITABLE, f"{name} is {_a(role)}, which takes no text.")
        case "readonly":
            raise ActionRefused(ActionErrorKind.NOT_EDITABLE, f"{name} is read-only.")
        case "bad_value":
            example = _EXAMPLES.get(answer["type"], "another value")
            raise ActionRefused(
                ActionErrorKind.NOT_EDITABLE, f"{name} takes a {answer['type']} such as {example}."
            )
        case "not_select":
            raise ActionRefused(
                ActionErrorKind.NOT_SUPPORTED,
                f"{name} is {_a(answer.get('role') or 'no select')}, not a select: click it to open it, "
                "then click the option.",
            )
        case "no_option":
            raise ActionRefused(ActionErrorKind.NO_OPTION, _no_option(name, answer))
        case "option_disabled":
            raise ActionRefused(
                ActionErrorKind.DISABLED, f"Option '{answer['wanted'][:60]}' of {name} is disabled."
            )
        case "single":
            raise ActionRefused(ActionErrorKind.NO_OPTION, f"{name} takes one option only.")
        case "not_file":
            raise ActionRefused(ActionErrorKind.NOT_SUPPORTED, f"{name} is no file field.")
        case other:
            raise AssertionError(f"inject/act.js refused with an unknown word: {other}")


_EXAMPLES = {
    "date": "2026-03-31", "datetime-local": "2026-03-31T14:05", "month": "2026-03", "week": "2026-W14",
    "time": "14:05", "color": "#1a2b3c", "range": "42",
}  # fmt: skip


def _a(role: str) -> str:
    return f"{'an' if role[:1] in 'aeiou' else 'a'} {role}"


def _cover(hands: Hands, target: Target, by: Mapping[str, Any]) -> str:
    if by["key"] is not None:
        cover_id = hands.ids.id_of(ElementKey(target.world.document, by["key"]))
        if cover_id:
            return f"[{cover_id}]"
    return str(by["text"]) or "another element"


def _no_option(name: str, answer: Mapping[str, Any]) -> str:
    options = [str(option) for option in answer["options"]]
    wanted = str(answer["wanted"])[:60]
    if len(options) > 25:
        lower = {option.lower(): option for option in options}
        near = [
            lower[item] for item in difflib.get_close_matches(wanted.lower(), list(lower), n=5, cutoff=0.4)
        ]
        near += [o for o in options if wanted.lower() in o.lower() and o not in near][:5]
        shown = ", ".join(f"'{option}'" for option in near) or "none near"
        return f"{name} has no option '{wanted}'. Nearest of its {len(options)}: {shown}."
    return f"{name} has no option '{wanted}'. It has: {', '.join(f'{chr(39)}{option}{chr(39)}' for option in options)}."


async def input_event(hands: Hands, work: Awaitable[Any]) -> None:
    """Sends input through Playwright; a dialog that it opens does not block.

    Raises:
        BrowserFailed: The page died.
    """
    try:
        await hands.until_dialog(work)
    except PlaywrightError as exc:
        if hands.active.channel.closed:
            return  # the input closed its own page, which is no failure
        raise BrowserFailed(f"Input failed: {first_line(exc)}") from exc


async def aim(
    hands: Hands, target: Target, *, allow_disabled: bool = False, effect_ms: int = 0
) -> tuple[float, float]:
    """Scrolls the target into view and returns a point, in CSS pixels of the tab's viewport, that presses it.

    Args:
        hands: The session.
        target: What to press.
        allow_disabled: Whether a disabled element will do.
        effect_ms: How long settling shall wait for a first effect on the page, see `SettleOptions.effect_ms`.

    Raises:
        ActionRefused: It is gone, hidden, disabled, or something else lies over it.
    """
    point = await ask(hands, target, "aim", allow_disabled, effect_ms)
    x, y = float(point["x"]), float(point["y"])
    channel = hands.active.channel
    world = target.world
    while world.frame_id != channel.main_frame:
        parent = hands.active.frame_elements.get(world.document)
        if parent is None:
            _raise_stale(target.id)
        world, number = parent
        try:
            at = await channel.call("frameOffset", number, x, y, world=world)
        except DocumentGone:
            _raise_stale(target.id)
        if "error" in at:
            refuse(hands, Target(target.id, number, world), at)
        x, y = float(at["x"]), float(at["y"])
    return x, y


async def pause(seconds: float) -> None:
    """Waits; the one place where a policy's own wish lets time pass."""
    await asyncio.sleep(seconds)
