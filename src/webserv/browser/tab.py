"""`Tab`: one page of a session, with what an observation needs to know about it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from playwright.async_api import Dialog as PlaywrightDialog
from playwright.async_api import Page as PlaywrightPage

from webserv.browser.observation.collect import frames_of, put_in, read_page
from webserv.browser.observation.element import Page
from webserv.browser.options import ObservationOptions
from webserv.browser.page_channel import DocumentGone, PageChannel, World
from webserv.types import Dialog

_ATTEMPTS = 20
"""How often a page that keeps navigating away is read before it is shown as empty."""


@dataclass(slots=True)
class Tab:
    """One tab. Its id is never given to another tab of the session."""

    id: int
    page: PlaywrightPage
    channel: PageChannel
    dialog: PlaywrightDialog | None = None
    """Waits for an answer; until then nothing can be asked of the page."""
    dialog_opened: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while `dialog` waits."""
    last: Page | None = None
    """What was last read of it."""
    frame_elements: dict[str, tuple[World, int]] = field(default_factory=dict)
    """For the document of each child frame: the document that holds its frame element, and that element's number."""

    @property
    def url(self) -> str:
        """The address as Chromium's address bar would show it."""
        failed = self.channel.network.failed_document
        return failed[0] if failed and self.page.url.startswith("chrome-error:") else self.page.url

    @property
    def title(self) -> str:
        """The title that was last read."""
        return self.last.title if self.last else ""

    @property
    def load_error(self) -> str:
        """Network error in place of the page, for instance ``net::ERR_CONNECTION_REFUSED``; empty if there is none."""
        failed = self.channel.network.failed_document
        return failed[1] if failed and self.page.url.startswith("chrome-error:") else ""

    @property
    def open_dialog(self) -> Dialog | None:
        """The open dialog as a record."""
        if self.dialog is None:
            return None
        message = self.dialog.message
        return Dialog(self.dialog.type, message, self.dialog.default_value or "")

    async def read(self, options: ObservationOptions) -> Page:
        """Reads the page model, all frames put together.

        While a dialog is open, the page cannot be asked and what was read before it is returned.

        Raises:
            BrowserFailed: The page does not answer.
        """
        if self.dialog is not None or self.load_error:
            return Page(self.url, self.title if self.dialog else "")
        for attempt in range(_ATTEMPTS):
            world = self.channel.main_world()
            try:
                if world is not None:
                    self.last = await self._read_frame(world, options, depth=0)
                    return self.last
            except DocumentGone:
                pass
            await asyncio.sleep(0.01 * attempt)
        return Page(self.url, "")

    async def _read_frame(self, world: World, options: ObservationOptions, depth: int) -> Page:
        raw = await self.channel.call("collect", {"maxNodes": options.max_nodes}, world=world)
        page = read_page(raw, world.document)
        if depth < 8:
            for node in frames_of(page):
                inner = await self.world_in_frame(world, node.level)
                if inner is None:
                    continue
                self.frame_elements[inner.document] = (world, node.level)
                try:
                    put_in(page, node, await self._read_frame(inner, options, depth + 1))
                except DocumentGone:
                    continue
        return page

    async def world_in_frame(self, world: World, number: int) -> World | None:
        """The world of the document that the frame element with that number shows."""
        handle = await self.channel.object_id(number, world)
        if handle is None:
            return None
        described = await self.channel.send("DOM.describeNode", {"objectId": handle})
        frame_id = described["node"].get("frameId")
        return self.channel.world_of_frame(frame_id) if frame_id else None
