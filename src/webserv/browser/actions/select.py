"""select: options of a native select. Custom drop-downs are clicked open, as a person does."""

from __future__ import annotations

from webserv.browser.actions.execute import Hands, ask, find_target
from webserv.browser.actions.types import Select


async def select(hands: Hands, action: Select) -> None:
    """Chooses by label (exactly, then by value, then in any case) and tells the page by input and change events."""
    await ask(hands, find_target(hands, action.target), "choose", list(action.values))
