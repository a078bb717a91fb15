"""`BrowserSession`: what a policy sees of a browser, and what it can do with it. One episode owns one session."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from webserv.browser.actions.dispatch import carry_out
from webserv.browser.actions.grammar import parse_action
from webserv.browser.actions.navigate import load, navigation_refused
from webserv.browser.actions.outcome import ActionRefused, malformed
from webserv.browser.actions.types import Terminate
from webserv.browser.observation.element import Node
from webserv.browser.observation.ids import IdBook
from webserv.browser.observation.observe import render, to_elements
from webserv.browser.options import BrowserOptions
from webserv.browser.page_channel import DocumentGone, first_line
from webserv.browser.settle import settle_page
from webserv.browser.tab import Tab
from webserv.browser.tab_strip import TabStrip
from webserv.errors import BrowserFailed
from webserv.types import ActionError, Observation, Settle

_DEATH_NOTICE_S = 2.0
"""How long Playwright may take to tell why a page that no longer answers is gone."""


class BrowserSession:
    """One browser context with its tabs.

    Made by `BrowserFleet.open_session`. Call `start` once, then `step` until `terminated`, then `close`.

    Args:
        context: A fresh context, owned by the session.
        options: How it looks and waits.
        on_close: Called once when the session has closed.
    """

    def __init__(
        self,
        context: BrowserContext,
        options: BrowserOptions,
        *,
        on_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.options = options
        self.ids = IdBook()
        self.strip = TabStrip(context, max_tabs=options.max_tabs)
        self._context = context
        self._on_close = on_close
        self._answer: str | None = None
        self._terminated = False
        self._closed = False
        self._reported: tuple[str, str] | None = None
        self._settle = Settle(True, "quiet", 0.0)
        self._error: ActionError | None = None

    def __repr__(self) -> str:
        state = "closed" if self._closed else "failed" if self.failed else "open"
        return f"<BrowserSession {state} tabs={len(self.strip.records())}>"

    @property
    def answer(self) -> str | None:
        """What the policy gave to ``terminate``; None before, or when it gave nothing."""
        return self._answer

    @property
    def terminated(self) -> bool:
        """Whether the policy has ended the episode."""
        return self._terminated

    @property
    def failed(self) -> BrowserFailed | None:
        """Why the session is dead; None while it lives."""
        return self.strip.failed

    @property
    def active(self) -> Tab:
        """The tab that the policy looks at."""
        self._check_alive()
        return self.strip.active

    @property
    def url(self) -> str:
        """Address of the active tab; empty once the session is dead or closed."""
        return "" if self.strip.is_empty else self.strip.active.url

    async def start(self, urls: Sequence[str]) -> Observation:
        """Opens the start pages, each in a tab, the first one active.

        Raises:
            BrowserFailed: One of them could not be loaded, or the browser died.
        """
        started = time.monotonic()
        with _mapped(self):
            for url in urls or ("about:blank",):
                await self.strip.open()
                try:
                    await load(self, url)
                except ActionRefused as exc:
                    raise BrowserFailed(f"Start page: {exc.error.message}") from exc
            for tab in self.strip.records()[1:]:
                await self.strip.switch(tab.id)
                await self._wait_settled()
                self._raise_unloaded()
                await self.strip.active.read(self.options.observation)
            await self.strip.switch(1)
            acted = time.monotonic() - started
            await self._wait_settled()
            self._raise_unloaded()
            self.strip.notes.clear()
            return await self._observe(self.options.screenshots, {"act": acted})

    async def step(self, action: str | Mapping[str, Any]) -> Observation:
        """Carries out one action, waits until the page is at rest and observes it.

        Nothing that a policy writes or a page does raises: it is the observation's `error`.

        Raises:
            BrowserFailed: The browser, context or page died or does not answer.
        """
        self._check_alive()
        self._error = None
        started = time.monotonic()
        with _mapped(self):
            self.active.channel.network.begin_step()
            try:
                await self._act(action)
            except ActionRefused as refused:
                self._error = refused.error
            except DocumentGone:
                await self._confirm_alive()
            acted = time.monotonic() - started
            await self._wait_settled()
            self._report_unloaded()
            return await self._observe(self.options.screenshots, {"act": acted})

    async def observe(self, *, screenshot: bool | None = None) -> Observation:
        """Observes the active tab as it is, without acting or waiting.

        Args:
            screenshot: Whether to take a picture; None does as the options say.

        Raises:
            BrowserFailed: The browser died or does not answer.
        """
        self._check_alive()
        with _mapped(self):
            return await self._observe(self.options.screenshots if screenshot is None else screenshot, {})

    async def page_text(self) -> str:
        """Visible text of the active tab, as `innerText` gives it; what was last read of it while a dialog is open.

        Raises:
            BrowserFailed: The browser died or does not answer.
        """
        tab = self.active
        if tab.dialog is not None:
            return _text_of(tab.last.body) if tab.last else ""
        with _mapped(self):
            try:
                return str(await tab.channel.call("pageText") or "")
            except DocumentGone:
                return ""

    async def visit(self, url: str) -> str:
        """Opens a page beside the policy's tabs, with the same cookies, and returns its visible text.

        Raises:
            BrowserFailed: It could not be loaded, or the browser died.
        """
        self._check_alive()
        with _mapped(self):
            page, channel = await self.strip.open_aside()
            try:
                answer = await channel.send(
                    "Page.navigate", {"url": url}, timeout_s=self.options.navigation_timeout_s
                )
                if answer.get("errorText"):
                    raise BrowserFailed(navigation_refused(url, answer["errorText"]).error.message)
                await settle_page(channel, self.options.settle)
                return str(await channel.call("pageText") or "")
            except DocumentGone as exc:
                raise BrowserFailed(f"{url} went away while it was read.") from exc
            finally:
                await page.close()

    async def close(self) -> None:
        """Closes the context with all its pages. A second call is harmless."""
        if self._closed:
            return
        self._closed = True
        await self.strip.close()
        try:
            async with asyncio.timeout(10):
                await self._context.close()
        except (PlaywrightError, TimeoutError):
            pass  # it died with its browser
        finally:
            if self._on_close is not None:
                await self._on_close()

    async def until_dialog(self, work: Awaitable[Any]) -> None:
        """Awaits `work`, or a dialog that blocks it; then `work` goes on once the dialog is answered."""
        await self.strip.until_dialog(work)

    async def _act(self, action: str | Mapping[str, Any]) -> None:
        try:
            parsed = parse_action(action)
        except ActionRefused:
            raise
        except Exception as error:  # whatever a policy gives is its own step, never a failure of the env
            raise malformed('The action cannot be read. Write for instance click("id").') from error
        if isinstance(parsed, Terminate):
            self._terminated, self._answer = True, parsed.answer
            return
        await carry_out(self, parsed)

    async def _wait_settled(self) -> None:
        """Until the active tab is at rest, whichever tab that is by then."""
        started = time.monotonic()
        options = self.options.settle
        while True:
            await self.strip.wait_arrivals()
            self._check_alive()
            tab = self.strip.active
            if tab.dialog is not None:
                self._settle = Settle(True, "quiet", time.monotonic() - started)
                return
            self.strip.attention.clear()
            settle = await settle_page(tab.channel, options, wake=self.strip.attention)
            self._settle = Settle(settle.settled, settle.reason, time.monotonic() - started)
            if self.strip.attention.is_set() and time.monotonic() - started < options.cap_s:
                continue
            if tab.channel.closed:
                await self._confirm_alive()
                continue
            return

    async def _observe(self, screenshot: bool, timings: dict[str, float]) -> Observation:
        started = time.monotonic()
        tab = self.active
        page = await tab.read(self.options.observation)
        await self._confirm_alive()
        if tab.load_error:
            page.body = [
                Node("text", f"This page could not be loaded ({tab.load_error.removeprefix('net::')}).")
            ]
        if tab.dialog is None:
            self.ids.assign(page.elements(), gone=page.gone)
        tabs, dialog = self.strip.records(), tab.open_dialog
        text = render(
            page,
            options=self.options.observation,
            tabs=tabs,
            dialog=dialog,
            error=self._error,
            notes=tuple(self.strip.notes),
            settle=self._settle,
        )
        self.strip.notes.clear()
        timings |= {"settle": self._settle.waited_s, "observe": time.monotonic() - started}
        picture = None
        if screenshot and dialog is None:
            taken = time.monotonic()
            picture = await self._screenshot(tab)
            timings["screenshot"] = time.monotonic() - taken
        return Observation(
            text=text,
            url=tab.url,
            title=page.title,
            elements=to_elements(page),
            tabs=tabs,
            dialog=dialog,
            error=self._error,
            settle=self._settle,
            screenshot=picture,
            timings=timings,
        )

    async def _screenshot(self, tab: Tab) -> bytes | None:
        params = {"format": "jpeg", "quality": self.options.screenshot_quality, "optimizeForSpeed": True}
        try:
            answer = await tab.channel.send("Page.captureScreenshot", params)
        except DocumentGone:
            return None
        return base64.b64decode(answer["data"])

    def _report_unloaded(self) -> None:
        """A click that led to a page that could not be loaded is an error of that action, once."""
        tab = self.strip.active
        failure = (tab.url, tab.load_error) if tab.load_error else None
        if failure and failure != self._reported and self._error is None:
            self._error = navigation_refused(*failure).error
        self._reported = failure

    def _raise_unloaded(self) -> None:
        tab = self.strip.active
        if tab.load_error:
            raise BrowserFailed(f"Start page: {navigation_refused(tab.url, tab.load_error).error.message}")

    def _check_alive(self) -> None:
        if self.failed is not None:
            raise self.failed
        if self._closed:
            raise BrowserFailed("The session is closed.")

    async def _confirm_alive(self) -> None:
        """After a page stopped answering: wait for the reason, raise it unless the page merely closed."""
        tab = None if self.strip.is_empty else self.strip.active
        if tab is not None and tab.channel.closed and self.failed is None:
            try:
                async with asyncio.timeout(_DEATH_NOTICE_S):
                    while not self.strip.is_empty and self.strip.active is tab and self.failed is None:
                        self.strip.attention.clear()
                        await self.strip.attention.wait()
            except TimeoutError:
                self.strip.fail("The page is gone and nothing tells why.")
        self._check_alive()


class _mapped:  # noqa: N801  (used as a statement)
    """Turns Playwright's errors into ours, and remembers ours as the session's failure."""

    def __init__(self, session: BrowserSession) -> None:
        self._session = session

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, PlaywrightError):
            self._session.strip.fail(f"The browser failed: {first_line(error)}")
            raise self._session.failed or BrowserFailed(first_line(error)) from error
        if isinstance(error, BrowserFailed):
            self._session.strip.fail(str(error))


def _text_of(nodes: Sequence[Node]) -> str:
    return " ".join(node.text.strip() for top in nodes for node in top.walk() if node.text.strip())
