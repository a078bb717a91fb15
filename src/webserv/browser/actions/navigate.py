"""goto, back, forward and refresh."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

from webserv.browser.actions.execute import Hands
from webserv.browser.actions.outcome import ActionRefused
from webserv.browser.actions.types import Goto
from webserv.browser.page_channel import DocumentGone, PageChannel
from webserv.types import ActionErrorKind

BLOCKED_ERRORS = ("ERR_SOCKS_CONNECTION_FAILED", "ERR_SOCKS_CONNECTION_HOST_UNREACHABLE", "ERR_PROXY_CONNECTION_FAILED",
                  "ERR_TUNNEL_CONNECTION_FAILED", "ERR_NAME_NOT_RESOLVED")  # fmt: skip
"""What Chromium says of a host that the world's router refuses."""


def checked_url(url: str) -> str:
    """The address, if a policy may load it.

    Raises:
        ActionRefused: It is no http or https address, nor about:blank.
    """
    url = url.strip()
    if url == "about:blank":
        return url
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ActionRefused(
            ActionErrorKind.NAVIGATION,
            f"'{url[:100]}' cannot be loaded; write an address such as http://host/path.",
        )
    return url


def navigation_refused(url: str, error: str) -> ActionRefused:
    """The refusal for a page that could not be loaded."""
    host = urlsplit(url).netloc
    code = error.removeprefix("net::")
    if code in BLOCKED_ERRORS:
        message = f"{url[:200]} could not be loaded: host {host} is not part of this world. Use back()."
    elif code == "ERR_CACHE_MISS":
        message = (
            f"{url[:200]} was the answer to a form, which is not sent again. Use goto() or back() once more."
        )
    else:
        message = f"{url[:200]} could not be loaded ({code})."
    return ActionRefused(ActionErrorKind.NAVIGATION, message)


async def goto(hands: Hands, action: Goto) -> None:
    """Loads an address."""
    await load(hands, checked_url(action.url))


async def load(hands: Hands, url: str) -> None:
    """Loads an address in the active tab and returns once its document has begun.

    Raises:
        ActionRefused: It could not be loaded, or its server did not answer in time.
    """
    channel = hands.active.channel
    answer = await _navigate(hands, channel, "Page.navigate", {"url": url})
    error = answer.get("errorText") if answer else None
    if error and error != "net::ERR_ABORTED":  # aborted: the answer was a download or an empty 204
        channel.network.failed_document = (url, error)
        raise navigation_refused(url, error)


async def move(hands: Hands, by: int) -> None:
    """Goes back (-1) or forward (1) in the tab's history."""
    channel = hands.active.channel
    history = await channel.send("Page.getNavigationHistory")
    entries, at = history["entries"], history["currentIndex"] + by
    if not 0 <= at < len(entries) or (at == 0 and entries[0]["url"] == "about:blank" and by < 0):
        word = "earlier" if by < 0 else "later"
        raise ActionRefused(ActionErrorKind.NAVIGATION, f"This tab's history has no {word} page.")
    await _until_begun(hands, channel, "Page.navigateToHistoryEntry", {"entryId": entries[at]["id"]})


async def refresh(hands: Hands) -> None:
    """Loads the page anew."""
    await _until_begun(hands, hands.active.channel, "Page.reload", {})


async def _until_begun(hands: Hands, channel: PageChannel, method: str, params: dict[str, Any]) -> None:
    """Sends a command that returns before the navigation begins, and waits for its first sign."""
    before = channel.main_world()
    channel.changed.clear()
    await _navigate(hands, channel, method, params)
    if channel.network.pending(1_000_000) or channel.main_world() != before or channel.closed:
        return
    try:
        # A history entry of the same document changes nothing that we could see: the wait is short.
        async with asyncio.timeout(0.2):
            await channel.changed.wait()
    except TimeoutError:
        return


async def _navigate(
    hands: Hands, channel: PageChannel, method: str, params: dict[str, Any]
) -> dict[str, Any]:
    """Sends a navigation command; a beforeunload dialog ends the wait for it."""
    answer: dict[str, Any] = {}

    async def send() -> None:
        try:
            answer.update(
                await channel.send(method, params, timeout_s=hands.options.navigation_timeout_s + 5) or {}
            )
        except DocumentGone:
            return

    try:
        async with asyncio.timeout(hands.options.navigation_timeout_s):
            await hands.until_dialog(send())
    except TimeoutError as exc:
        url = params.get("url", hands.active.url)
        await channel.send("Page.stopLoading")
        raise ActionRefused(
            ActionErrorKind.TIMEOUT,
            f"{url[:200]} did not begin to answer within {hands.options.navigation_timeout_s:g} s.",
        ) from exc
    return answer
