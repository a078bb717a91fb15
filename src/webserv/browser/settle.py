"""Settle: after an action, wait until the page is at rest, and say why if it does not come to rest.

A page is at rest when no document, XHR, fetch, script or style sheet is in flight, no navigation or pop-up is about
to begin, the load event has fired, no finite animation runs, images in view are there, and its DOM has not changed
for a short window that begins after the last of these. `inject/quiet.js` judges what only the page can see,
`network.py` what only the network can.
"""

from __future__ import annotations

import asyncio
import time

from webserv.browser.network import UNREAD_AFTER_S, Request
from webserv.browser.options import SettleOptions
from webserv.browser.page_channel import DocumentGone, PageChannel
from webserv.types import Settle

_LOOK_AGAIN_S = 0.02


async def settle_page(
    channel: PageChannel, options: SettleOptions, *, wake: asyncio.Event | None = None
) -> Settle:
    """Waits until the page is at rest.

    Args:
        channel: The page.
        options: Windows and caps.
        wake: Ends the wait early, as settled: something waits for the policy (a dialog), or the tab is no longer
            the one to look at.

    Raises:
        BrowserFailed: The page does not answer.
    """
    start = time.monotonic()
    deadline = start + options.cap_s
    reason = "the page"
    while not channel.closed and not (wake and wake.is_set()):
        left = deadline - time.monotonic()
        if left <= 0:
            channel.network.learn(options.learn_after_s)
            return Settle(False, reason, time.monotonic() - start)
        channel.changed.clear()
        reason = await _unrest(channel, options, left, wake)
        if not reason:
            break
    return Settle(True, "quiet", time.monotonic() - start)


async def _unrest(
    channel: PageChannel, options: SettleOptions, left: float, wake: asyncio.Event | None
) -> str:
    """Waits for one thing; returns what it was, or an empty text when nothing was left to wait for."""
    pending = channel.network.pending(options.poll_count)
    if pending:
        answered = any(request.kind == "Fetch" and request.answered for request in pending)
        await _either(channel.changed, wake, min(left, UNREAD_AFTER_S / 5) if answered else left)
        return _shown(pending[0])
    if channel.main_world() is None:
        await _either(channel.changed, wake, left)
        return "a new document"
    asked = time.monotonic()
    reasons = await _ask_frames(channel, options, left, wake)
    if reasons is None:
        return "a new document"
    if any(reasons):
        await asyncio.sleep(_LOOK_AGAIN_S)
        return next(reason for reason in reasons if reason)
    if channel.network.pending(options.poll_count) or channel.network.last_change > asked:
        # A request began or ended within the window: its effects need a window of their own.
        return "the network"
    return ""


async def _ask_frames(
    channel: PageChannel, options: SettleOptions, left: float, wake: asyncio.Event | None
) -> list[str] | None:
    """Each frame's unrest after its quiet window; None when a document went away or the wait was woken."""
    worlds = channel.worlds()
    main = channel.main_world()
    cap_ms = max(1, int(left * 1000))
    # Once the network has seen a document being asked for, it knows better than the page what becomes of it.
    grace_ms = 0 if channel.network.documents_asked else options.navigation_grace_ms
    arguments = (options.quiet_ms, cap_ms, grace_ms, channel.network.active)
    calls = [
        asyncio.ensure_future(channel.call("waitQuiet", *arguments, world=world, timeout_s=left + 20))
        for world in worlds
    ]
    waker = asyncio.ensure_future(wake.wait()) if wake else None
    try:
        pending = set(calls) | ({waker} if waker else set())
        while any(call in pending for call in calls):
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            if waker in done:
                return None
        answers: list[str] = []
        for world, call in zip(worlds, calls, strict=True):
            error = call.exception()
            if isinstance(error, DocumentGone):
                if world == main:
                    return None
                continue
            if error is not None:
                raise error
            answers.append(call.result() or "")
        return answers
    finally:
        tasks = [task for task in (*calls, waker) if task is not None]
        for task in tasks:
            task.cancel()
        # Gathered also where they are done: an exception that nobody looks at would be logged.
        await asyncio.gather(*tasks, return_exceptions=True)


async def _either(first: asyncio.Event, second: asyncio.Event | None, timeout_s: float) -> None:
    """Returns when one of the events is set, or the time is up."""
    waits = [asyncio.ensure_future(event.wait()) for event in (first, second) if event is not None]
    try:
        await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


def _shown(request: Request) -> str:
    """Without query and time, so that two runs say the same."""
    return request.path if request.kind != "Document" else f"the page {request.path.partition(' ')[2]}"
