"""`PageChannel`: one page's CDP session, its isolated worlds and its requests in flight.

Playwright drives input, tabs and contexts. Observing and waiting go through a CDP session of our own on the same
connection, because they need an isolated world in every frame and network events that cost no further round trip.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from webserv.browser.inject_source import WORLD, inject_source
from webserv.browser.network import NetworkTracker
from webserv.errors import BrowserFailed

ANSWER_TIMEOUT_S = 30.0
"""A page that does not answer a question for so long (its script never yields) counts as dead."""


class DocumentGone(Exception):
    """The document navigated away while it was asked; ask again, of the next one."""


class InjectedScriptError(RuntimeError):
    """Our script threw in the page: a bug of ours that a page has brought to light."""


@dataclass(frozen=True, slots=True)
class World:
    """Our isolated world in one document."""

    context_id: int
    document: str
    """Unique over all documents of the browser."""
    frame_id: str


class PageChannel:
    """Talks to one page. Made by `open`; dies with the page."""

    def __init__(self, page: Page, session: CDPSession, polls: set[str]) -> None:
        self.page = page
        self.changed = asyncio.Event()
        """Set when a request or document begins or ends, and when the page dies; waits clear it."""
        self.network = NetworkTracker(polls, self.changed.set)
        self.windows_opened = 0
        """Pop-ups that this page has asked for."""
        self.main_frame = ""
        self._session = session
        self._worlds: dict[int, World] = {}
        self._closed = False

    @classmethod
    async def open(cls, page: Page, polls: set[str]) -> PageChannel:
        """Attaches to the page.

        Raises:
            BrowserFailed: The page is gone already.
        """
        try:
            session = await page.context.new_cdp_session(page)
        except PlaywrightError as exc:
            raise BrowserFailed(f"A page could not be attached to: {first_line(exc)}.") from exc
        channel = cls(page, session, polls)
        channel._listen()
        script = {"source": inject_source(), "worldName": WORLD, "runImmediately": True}
        tree, *_ = await asyncio.gather(
            channel.send("Page.getFrameTree"),
            channel.send("Page.enable"),
            channel.send("Network.enable"),
            channel.send("Page.addScriptToEvaluateOnNewDocument", script),
            channel.send("Runtime.enable"),
        )
        channel.main_frame = tree["frameTree"]["frame"]["id"]
        return channel

    def _listen(self) -> None:
        on = self._session.on
        on("Runtime.executionContextCreated", self._on_world)
        on(
            "Runtime.executionContextDestroyed",
            lambda event: self._on_world_gone(event["executionContextId"]),
        )
        on("Runtime.executionContextsCleared", lambda _: self._on_worlds_gone())
        on("Network.requestWillBeSent", self.network.on_request)
        on("Network.responseReceived", self.network.on_response)
        on("Network.dataReceived", self.network.on_data)
        on("Network.loadingFinished", self.network.on_finished)
        on("Network.loadingFailed", self.network.on_finished)
        on("Page.frameNavigated", self._on_navigated)
        on("Page.frameDetached", lambda event: self.network.on_frame_gone(event["frameId"]))
        on("Page.windowOpen", lambda _: self._on_window())
        self.page.on("close", lambda _: self.mark_closed())
        self.page.on("crash", lambda _: self.mark_closed())

    async def send(
        self, method: str, params: dict[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> Any:
        """Sends one CDP command.

        Raises:
            DocumentGone: The document it was meant for has navigated away.
            BrowserFailed: The page, its browser or the connection died, or did not answer in time.
        """
        try:
            async with asyncio.timeout(timeout_s or ANSWER_TIMEOUT_S):
                return await self._session.send(method, params or {})
        except TimeoutError as exc:
            raise BrowserFailed(
                f"The page did not answer {method} within {timeout_s or ANSWER_TIMEOUT_S:g} s."
            ) from exc
        except PlaywrightError as exc:
            message = first_line(exc)
            if "Connection closed" in message:
                self.mark_closed()
                raise BrowserFailed(f"The browser driver died: {message}.") from exc
            if is_target_gone(message):
                # A page may close itself; the session knows from its events whether anything failed.
                self.mark_closed()
                raise DocumentGone(message) from exc
            if is_document_gone(message):
                raise DocumentGone(message) from exc
            raise BrowserFailed(f"{method} failed: {message}") from exc

    async def call(
        self, function: str, *arguments: Any, world: World | None = None, timeout_s: float | None = None
    ) -> Any:
        """Calls a function of inject/exports.js and returns its (awaited) value.

        Args:
            function: Its name.
            arguments: JSON values.
            world: Of which document; the main frame's current one by default.
            timeout_s: How long it may take.

        Raises:
            DocumentGone: The document is not there, or goes while it is asked.
            BrowserFailed: The page does not answer.
        """
        world = world or self.main_world()
        if world is None:
            raise DocumentGone("The page has no document at the moment.")
        expression = f"__webserv.{function}({', '.join(json.dumps(argument) for argument in arguments)})"
        params = {
            "expression": expression, "contextId": world.context_id, "returnByValue": True, "awaitPromise": True,
        }  # fmt: skip
        answer = await self.send("Runtime.evaluate", params, timeout_s=timeout_s)
        if "exceptionDetails" in answer:
            text = _exception_text(answer["exceptionDetails"])
            if "__webserv is not defined" in text:
                raise DocumentGone(text)
            raise InjectedScriptError(f"{function} in {self.page.url}: {text}")
        return answer["result"].get("value")

    async def object_id(self, number: int, world: World) -> str | None:
        """CDP's handle of an element, None if it is gone."""
        params = {"expression": f"__webserv.element({number})", "contextId": world.context_id}
        answer = await self.send("Runtime.evaluate", params)
        found: str | None = answer["result"].get("objectId")
        return found

    def main_world(self) -> World | None:
        """Our world in the main frame's document; None between two documents."""
        return self.world_of_frame(self.main_frame)

    def world_of_frame(self, frame_id: str) -> World | None:
        """Our world in the frame's current document."""
        return next((world for world in reversed(self._worlds.values()) if world.frame_id == frame_id), None)

    def world_of_document(self, document: str) -> World | None:
        """Our world in that document; None once it is gone."""
        return next((world for world in self._worlds.values() if world.document == document), None)

    def worlds(self) -> list[World]:
        """Our worlds in all frames."""
        return list(self._worlds.values())

    @property
    def closed(self) -> bool:
        """Whether the page is gone."""
        return self._closed

    def mark_closed(self) -> None:
        """The page is gone; whoever waits for it wakes up."""
        self._closed = True
        self.changed.set()

    def _on_world(self, event: dict[str, Any]) -> None:
        context = event["context"]
        data = context.get("auxData", {})
        if context["name"] == WORLD and not data.get("isDefault"):
            self._worlds[context["id"]] = World(context["id"], context["uniqueId"], data.get("frameId", ""))
            self.changed.set()

    def _on_world_gone(self, context_id: int) -> None:
        if self._worlds.pop(context_id, None):
            self.changed.set()

    def _on_worlds_gone(self) -> None:
        self._worlds.clear()
        self.changed.set()

    def _on_navigated(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        self.network.on_frame_gone(frame["id"], frame.get("loaderId", ""))
        if "parentId" not in frame and not frame.get("unreachableUrl"):
            self.network.failed_document = None
        self.changed.set()

    def _on_window(self) -> None:
        self.windows_opened += 1
        self.changed.set()


def first_line(exc: BaseException) -> str:
    """The first line of an error's text, without Playwright's prefix."""
    text = str(exc).strip().splitlines()
    return (
        text[0].removeprefix("CDPSession.send: ").removeprefix("Protocol error ")
        if text
        else type(exc).__name__
    )


def is_document_gone(message: str) -> bool:
    """Whether CDP says that the document, not the page, went away."""
    return any(
        words in message
        for words in (
            "Cannot find context", "Execution context was destroyed", "Inspected target navigated",
            "uniqueContextId not found", "Cannot find default execution context", "Could not find node",
            "Could not find object", "Promise was collected", "No frame for given id",
        )
    )  # fmt: skip


def is_target_gone(message: str) -> bool:
    """Whether the page, its context, its browser or the connection to it is gone."""
    return any(
        words in message
        for words in (
            "Target closed", "has been closed", "Session closed", "Connection closed", "Target crashed", "Page crashed",
            "Browser closed", "detached",
        )
    )  # fmt: skip


def _exception_text(details: dict[str, Any]) -> str:
    described: str = details.get("exception", {}).get("description") or details.get("text", "")
    return described
