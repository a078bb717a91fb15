"""click, hover, drag and scroll: real mouse events at a point that the target receives."""

from __future__ import annotations

from webserv.browser.actions.execute import Hands, aim, ask, find_target, input_event
from webserv.browser.actions.outcome import ActionRefused
from webserv.browser.actions.types import Click, Drag, Hover, Scroll
from webserv.browser.page_channel import DocumentGone
from webserv.types import ActionErrorKind

DRAG_STEPS = 8
"""Mouse moves of a drag; some widgets start to drag only after a few."""


async def click(hands: Hands, action: Click) -> None:
    """Presses the element with the left button."""
    x, y = await aim(hands, find_target(hands, action.target), effect_ms=hands.options.settle.effect_ms)
    await input_event(hands, hands.active.page.mouse.click(x, y))


async def hover(hands: Hands, action: Hover) -> None:
    """Moves the mouse onto the element and leaves it there."""
    x, y = await aim(hands, find_target(hands, action.target), allow_disabled=True)
    await input_event(hands, hands.active.page.mouse.move(x, y))


async def drag(hands: Hands, action: Drag) -> None:
    """Presses on one element, moves to the other in steps and lets go; HTML drag and drop works as well."""
    source, goal = find_target(hands, action.target), find_target(hands, action.to)
    await aim(hands, goal, allow_disabled=True)
    x, y = await aim(hands, source)
    mouse = hands.active.page.mouse

    async def gesture() -> None:
        await mouse.move(x, y)
        await mouse.down()
        try:
            # Aimed at while the button is down: the press may have moved things, and has not to scroll any more.
            to_x, to_y = await aim(hands, goal, allow_disabled=True)
            await mouse.move(to_x, to_y, steps=DRAG_STEPS)
        finally:
            await mouse.up()

    await input_event(hands, gesture())


async def scroll(hands: Hands, action: Scroll) -> None:
    """Scrolls by most of a screen."""
    try:
        if action.target is None:
            answer = await hands.active.channel.call("scrollPage", None, action.direction)
        else:
            answer = await ask(hands, find_target(hands, action.target), "scrollPage", action.direction)
    except DocumentGone as exc:
        raise ActionRefused(
            ActionErrorKind.NAVIGATION, "The page is just being replaced by another."
        ) from exc
    if not answer["moved"]:
        end = "bottom" if action.direction == "down" else "top"
        raise ActionRefused(
            ActionErrorKind.NOT_SUPPORTED, f"Nothing to scroll {action.direction}: it is at the {end}."
        )
