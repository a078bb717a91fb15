"""`TabStrip`: the tabs of one session. Opens and closes them, takes in pop-ups, holds dialogs, notices deaths."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from playwright.async_api import BrowserContext, Download
from playwright.async_api import Dialog as PlaywrightDialog
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as PlaywrightPage

from webserv.browser.actions.outcome import ActionRefused
from webserv.browser.page_channel import ANSWER_TIMEOUT_S, DocumentGone, PageChannel
from webserv.browser.tab import Tab
from webserv.errors import BrowserFailed
from webserv.types import ActionErrorKind
from webserv.types import Tab as TabRecord

POPUP_GRACE_S = 3.0
"""How long a window that a page asked for may take to appear; a blocked one never does."""


class TabStrip:
    """The tabs of one browser context.

    Args:
        context: The context; the strip listens to it until `close`.
        max_tabs: Pop-ups beyond this number are closed at once.
    """

    def __init__(self, context: BrowserContext, *, max_tabs: int) -> None:
        self.polls: set[str] = set()
        """Paths known as polls in this session."""
        self.notes: list[str] = []
        """What happened to tabs since the last observation, for its header."""
        self.failed: BrowserFailed | None = None
        self.attention = asyncio.Event()
        """Set when a dialog opened, a tab came or went, or the session failed: what one waits for may be moot."""
        self._context = context
        self._max_tabs = max_tabs
        self._tabs: dict[int, Tab] = {}
        self._active = 0
        self._last_id = 0
        self._opening = 0
        self._adding = 0
        self._unclaimed: list[PlaywrightPage] = []
        self._own_pages: set[PlaywrightPage] = set()
        self._arriving: set[asyncio.Task[None]] = set()
        self._errands: set[asyncio.Task[Any]] = set()
        self._blocked: list[asyncio.Task[Any]] = []
        self._windows_seen = 0
        self._windows_of_closed = 0
        self._closing = False
        context.on("page", self._on_page)
        context.on("dialog", self._on_dialog)
        context.on("close", lambda _: self.fail("The browser context was closed."))

    @property
    def active(self) -> Tab:
        """The tab that the policy looks at."""
        return self._tabs[self._active]

    @property
    def is_empty(self) -> bool:
        """Whether every tab is gone, as after a page closed itself."""
        return self._active not in self._tabs

    def records(self) -> tuple[TabRecord, ...]:
        """The tabs as an observation shows them."""
        return tuple(
            TabRecord(tab.id, tab.title, tab.url, tab.id == self._active) for tab in self._tabs.values()
        )

    def fail(self, message: str) -> None:
        """The session is dead; the first reason counts."""
        if not self._closing and self.failed is None:
            self.failed = BrowserFailed(message)
            self.attention.set()
            for tab in self._tabs.values():
                tab.channel.mark_closed()

    async def open(self) -> Tab:
        """Opens an empty tab and makes it active."""
        return await self._add(await self._new_page())

    async def open_aside(self) -> tuple[PlaywrightPage, PageChannel]:
        """Opens a page that is no tab, for an evaluator; the caller closes it."""
        page = await self._new_page()
        self._own_pages.add(page)
        page.on("close", lambda _: self._own_pages.discard(page))
        return page, await PageChannel.open(page, self.polls)

    async def switch(self, tab_id: int) -> None:
        """Makes a tab active.

        Raises:
            ActionRefused: There is no such tab.
        """
        tab = self._get(tab_id)
        self._active = tab.id
        await tab.page.bring_to_front()

    async def close_tab(self, tab_id: int) -> None:
        """Closes a tab; the last opened of the others becomes active when it was the active one.

        Raises:
            ActionRefused: There is no such tab, or it is the only one.
        """
        tab = self._get(tab_id)
        if len(self._tabs) == 1:
            raise ActionRefused(ActionErrorKind.NO_TAB, "The only tab cannot be closed.")
        if tab.dialog is not None:
            await self.answer_dialog(tab, accept=False, text=None)
        self._drop(tab)
        await tab.page.close(run_before_unload=False)
        await self.active.page.bring_to_front()

    async def answer_dialog(self, tab: Tab, *, accept: bool, text: str | None) -> None:
        """Answers the tab's dialog and lets the input that opened it go on, until the next dialog."""
        dialog, tab.dialog = tab.dialog, None
        tab.dialog_opened.clear()
        if dialog is None:
            raise ActionRefused(ActionErrorKind.NO_DIALOG, "No dialog is open.")
        if accept:
            await dialog.accept(dialog.default_value if text is None else text)
        else:
            await dialog.dismiss()
        blocked, self._blocked = self._blocked, []
        if blocked:
            await self.until_dialog(asyncio.gather(*blocked, return_exceptions=True))

    async def until_dialog(self, work: Awaitable[Any]) -> None:
        """Awaits `work`; when a dialog blocks it, returns at once and lets it go on after the answer.

        Raises:
            BrowserFailed: It takes longer than any page that still lives.
        """
        task = asyncio.ensure_future(work)
        notice = asyncio.ensure_future(self.active.dialog_opened.wait())
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                await asyncio.wait({task, notice}, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError as exc:
            task.cancel()
            raise BrowserFailed(f"The page did not take the input within {ANSWER_TIMEOUT_S:g} s.") from exc
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            notice.cancel()
        if task.done():
            task.result()
        else:
            self._blocked.append(task)

    async def wait_arrivals(self) -> None:
        """Waits until windows that pages have asked for are tabs, and until there is a tab at all."""
        deadline = asyncio.get_running_loop().time() + POPUP_GRACE_S
        while self.failed is None:
            if not self.is_empty and self.active.dialog is not None:
                return  # it may hold the window up
            for task in list(self._arriving):
                await task
            missing = self._windows_asked() - self._windows_seen
            left = deadline - asyncio.get_running_loop().time()
            if missing <= 0 or left <= 0:
                self._windows_seen = max(self._windows_seen, self._windows_asked())
                break
            self.attention.clear()
            await _wait_event(self.attention, left)
        if self.is_empty and self.failed is None:
            await self.open()
            self.notes.append("the page closed the last tab; an empty one was opened")

    async def close(self) -> None:
        """Stops listening; tasks that hang on dialogs end."""
        self._closing = True
        tasks = [*self._arriving, *self._errands, *self._blocked]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _get(self, tab_id: int) -> Tab:
        if tab_id not in self._tabs:
            known = ", ".join(str(known) for known in self._tabs)
            raise ActionRefused(ActionErrorKind.NO_TAB, f"There is no tab {tab_id}. Tabs: {known}.")
        return self._tabs[tab_id]

    async def _new_page(self) -> PlaywrightPage:
        self._opening += 1
        try:
            page = await self._context.new_page()
        finally:
            self._opening -= 1
            unclaimed, self._unclaimed = self._unclaimed, []
        for other in unclaimed:
            if other is not page:
                self._arrive(other)
        return page

    async def _add(self, page: PlaywrightPage) -> Tab:
        channel = await PageChannel.open(page, self.polls)
        self._last_id += 1
        tab = Tab(self._last_id, page, channel)
        self._tabs[tab.id] = tab
        self._active = tab.id
        page.on("close", lambda _: self._drop(tab))
        page.on("crash", lambda _: self.fail("The page crashed."))
        page.on("download", self._on_download)
        self.attention.set()
        return tab

    def _drop(self, tab: Tab) -> None:
        if self._tabs.pop(tab.id, None) is None or self._closing:
            return
        tab.channel.mark_closed()
        self._windows_of_closed += tab.channel.windows_opened
        if self._active == tab.id and self._tabs:
            self._active = max(self._tabs)
        self.attention.set()

    def _windows_asked(self) -> int:
        return self._windows_of_closed + sum(tab.channel.windows_opened for tab in self._tabs.values())

    def _on_page(self, page: PlaywrightPage) -> None:
        if self._opening:
            self._unclaimed.append(page)
        else:
            self._arrive(page)

    def _arrive(self, page: PlaywrightPage) -> None:
        task = asyncio.get_running_loop().create_task(self._take_in(page))
        self._arriving.add(task)
        task.add_done_callback(self._arriving.discard)

    async def _take_in(self, page: PlaywrightPage) -> None:
        self._windows_seen += 1
        self.attention.set()
        if len(self._tabs) + self._adding >= self._max_tabs:
            await page.close()
            note = f"the page tried to open a tab, but {self._max_tabs} are open already"
            if note not in self.notes:
                self.notes.append(note)
            return
        self._adding += 1
        try:
            tab = await self._add(page)
        except (BrowserFailed, DocumentGone):
            return  # a window that closed at once
        finally:
            self._adding -= 1
        self.notes.append(f"the page opened tab {tab.id}, which is active now")

    def _on_dialog(self, dialog: PlaywrightDialog) -> None:
        page = dialog.page
        tab = next((tab for tab in self._tabs.values() if tab.page is page), None)
        if tab is None or self._closing:
            # An evaluator's page, or one that is not a tab yet: nobody could answer.
            self._errand(_dismiss(dialog))
            return
        tab.dialog = dialog
        tab.dialog_opened.set()
        self.attention.set()
        tab.channel.changed.set()

    def _on_download(self, download: Download) -> None:
        self.notes.append(f"the file '{download.suggested_filename}' was downloaded")

    def _errand(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)


async def _dismiss(dialog: PlaywrightDialog) -> None:
    try:
        await dialog.dismiss()
    except PlaywrightError:
        return  # it went with its page


async def _wait_event(event: asyncio.Event, timeout_s: float) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            await event.wait()
    except TimeoutError:
        return
