"""`BrowserFleet`: few browser processes, many contexts. Dead browsers are replaced, worn ones recycled."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from playwright.async_api import (
    Browser,
    BrowserContext,
    Playwright,
    async_playwright,
)
from playwright.async_api import Error as PlaywrightError

from webserv.browser.executable import find_executable
from webserv.browser.launch import host_of, is_driver_gone, is_sandbox_refused, launch_flags
from webserv.browser.options import BrowserOptions
from webserv.browser.page_channel import first_line, is_target_gone
from webserv.browser.session import BrowserSession
from webserv.errors import BrowserFailed, MissingPrerequisite
from webserv.types import Cookie

__all__ = ["BrowserFleet", "BrowserOptions", "FleetStatistics"]

_log = logging.getLogger(__name__)

_LAUNCH_TIMEOUT_S = 60.0
_OPEN_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class FleetStatistics:
    """State of a fleet."""

    browsers: int
    """Browser processes alive."""
    sessions: int
    """Sessions open."""
    sessions_opened: int
    """Sessions since the fleet began."""
    browsers_launched: int
    browsers_died: int
    """Browsers that ended without being asked to."""


@dataclass(eq=False, slots=True)
class _Slot:
    """One browser process."""

    browser: Browser
    proxy_host: str | None = None
    """Where the proxy of all its sessions is."""
    sessions: set[BrowserSession] = field(default_factory=set)
    opening: int = 0
    served: int = 0
    closing: bool = False

    @property
    def load(self) -> int:
        return len(self.sessions) + self.opening


class BrowserFleet:
    """Browsers of this machine. Use it as an async context manager.

    Args:
        options: How browsers are started and sessions look.
        environment: Added to that of browsers and their driver.
        scratch: Folder for browsers' profiles, made when absent; None takes the system's. What a killed process leaves
            there is its owner's to remove.

    Raises:
        MissingPrerequisite: There is no Chromium (on entering the context).
    """

    def __init__(
        self,
        options: BrowserOptions = BrowserOptions(),  # noqa: B008  (it is frozen)
        *,
        environment: Mapping[str, str] | None = None,
        scratch: Path | None = None,
    ) -> None:
        self.options = options
        self._environment = dict(environment or {})
        self._scratch = scratch
        self._driver: Playwright | None = None
        self._slots: list[_Slot] = []
        self._lock = asyncio.Lock()
        self._late: set[asyncio.Future[None]] = set()
        # Chromium refuses to run as root with its sandbox; elsewhere it is wanted where the kernel lets it.
        self._sandbox = os.geteuid() != 0
        self._closed = False
        self._opened = self._launched = self._died = 0

    async def __aenter__(self) -> Self:
        await self._start_driver()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<BrowserFleet {self.statistics()}>"

    def statistics(self) -> FleetStatistics:
        """What the fleet holds and has done."""
        return FleetStatistics(
            browsers=len(self._slots),
            sessions=sum(len(slot.sessions) for slot in self._slots),
            sessions_opened=self._opened,
            browsers_launched=self._launched,
            browsers_died=self._died,
        )

    async def open_session(
        self,
        *,
        proxy_url: str | None = None,
        cookies: Sequence[Cookie] = (),
        storage_state: Any = None,
        options: BrowserOptions | None = None,
    ) -> BrowserSession:
        """Opens a session in a context of its own.

        Args:
            proxy_url: All requests go there, those to localhost included, for instance ``socks5://127.0.0.1:4000``.
            cookies: Set before the first page.
            storage_state: Cookies and local storage in Playwright's form.
            options: How this session looks and waits, where it differs from the fleet's.

        Raises:
            BrowserFailed: No browser could be started, or browsers keep dying.
        """
        options, reason = options or self.options, ""
        for _ in range(_OPEN_ATTEMPTS):
            slot = await self._slot(host_of(proxy_url))
            try:
                context = await self._new_context(slot, options, proxy_url, cookies, storage_state)
                return self._admit(slot, context, options)
            except PlaywrightError as exc:
                reason = first_line(exc)
                if not is_target_gone(reason):
                    raise BrowserFailed(f"No browser context could be opened: {reason}.") from exc
                self._forget(slot)
            finally:
                slot.opening -= 1
        raise BrowserFailed(f"No browser context could be opened, browsers keep dying: {reason}.")

    def _admit(self, slot: _Slot, context: BrowserContext, options: BrowserOptions) -> BrowserSession:
        session = BrowserSession(context, options, on_close=lambda: self._release(slot, session))
        slot.sessions.add(session)
        self._opened += 1
        return session

    async def close(self) -> None:
        """Closes all sessions and browsers and waits until their processes are gone. Twice is harmless."""
        self._closed = True
        slots, self._slots = self._slots, []
        for slot in slots:
            slot.closing = True
        await asyncio.gather(*(session.close() for slot in slots for session in list(slot.sessions)))
        await asyncio.gather(*(self._close_browser(slot) for slot in slots))
        driver, self._driver = self._driver, None
        if driver is not None:
            with suppress(PlaywrightError, OSError):  # it may be gone already
                await driver.stop()

    async def _slot(self, proxy_host: str | None) -> _Slot:
        """A browser with room, started if need be; a place in it is taken."""
        async with self._lock:
            if self._closed:
                raise BrowserFailed("The browser fleet is closed.")
            for slot in [slot for slot in self._slots if not slot.browser.is_connected()]:
                self._forget(slot)
            room = [
                slot
                for slot in self._slots
                if slot.proxy_host == proxy_host
                and slot.load < self.options.contexts_per_browser
                and slot.served < self.options.recycle_after
            ]
            slot = min(room, key=lambda slot: slot.load) if room else await self._launch(proxy_host)
            slot.opening += 1
            slot.served += 1
            return slot

    async def _launch(self, proxy_host: str | None) -> _Slot:
        try:
            browser = await self._launch_browser(proxy_host)
        except PlaywrightError as first:
            # A busy host may also let a good launch run into its limit: one more try, and the second failure is told.
            await self._mend(first)
            try:
                browser = await self._launch_browser(proxy_host)
            except PlaywrightError as exc:
                raise BrowserFailed(f"Chromium could not be started: {first_line(exc)}.") from exc
        slot = _Slot(browser, proxy_host)
        browser.on("disconnected", lambda _: self._on_disconnected(slot))
        self._slots.append(slot)
        self._launched += 1
        return slot

    async def _mend(self, failure: PlaywrightError) -> None:
        """Removes the cause of a failed launch, if it is one that can be."""
        if is_sandbox_refused(failure):
            if self._sandbox:
                _log.warning("Chromium's own sandbox does not work on this host; browsers run without it.")
            self._sandbox = False
        elif is_driver_gone(failure):
            # Only then: the browsers of a driver that lives, and their sessions, would end with it.
            await self._start_driver(anew=True)

    async def _launch_browser(self, proxy_host: str | None) -> Browser:
        driver = self._driver
        if driver is None:
            raise BrowserFailed("The browser fleet has not been entered.")
        path = find_executable(self.options.executable, playwright_path=driver.chromium.executable_path)
        return await driver.chromium.launch(
            executable_path=path,
            headless=True,
            args=launch_flags(proxy_host),
            chromium_sandbox=self._sandbox,
            env={**os.environ, **self._environment},
            timeout=_LAUNCH_TIMEOUT_S * 1000,
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )

    async def _start_driver(self, *, anew: bool = False) -> None:
        if self._driver is not None and not anew:
            return
        old, self._driver = self._driver, None
        if old is not None:
            with contextlib.suppress(PlaywrightError, OSError):
                await old.stop()
        added = dict(self._environment)
        if self._scratch is not None:
            self._scratch.mkdir(parents=True, exist_ok=True)
            # The driver makes the profiles. Browsers keep the system's folder, where their shared memory belongs.
            added["TMPDIR"] = str(self._scratch)
        try:
            with _environment(added):  # Playwright has no other way to hand it to its driver
                starter = async_playwright()
                self._driver = await starter.start()
        except Exception as exc:  # Playwright raises a bare one when its program does not start
            raise MissingPrerequisite(
                f"Playwright's driver does not start: {first_line(exc)}.",
                hint="Run 'playwright --version' to see why; on Debian: apt-get install libatomic1",
            ) from exc
        _take_note_of_death(starter)
        find_executable(self.options.executable, playwright_path=self._driver.chromium.executable_path)

    async def _new_context(
        self,
        slot: _Slot,
        options: BrowserOptions,
        proxy_url: str | None,
        cookies: Sequence[Cookie],
        storage_state: Any,
    ) -> BrowserContext:
        width, height = options.viewport
        extra: dict[str, Any] = {"storage_state": storage_state} if storage_state is not None else {}
        if proxy_url is not None:
            # Without the bypass rule Chromium goes to localhost directly, past the world.
            extra["proxy"] = {"server": proxy_url, "bypass": "<-loopback>"}
        making = asyncio.ensure_future(
            slot.browser.new_context(
                viewport={"width": width, "height": height},
                device_scale_factor=1,
                locale=options.locale,
                timezone_id=options.timezone,
                reduced_motion="reduce" if options.reduced_motion else "no-preference",
                **extra,
            )
        )
        try:
            context = await asyncio.shield(making)
        except asyncio.CancelledError:
            making.add_done_callback(self._close_late)
            raise
        if cookies:
            try:
                await context.add_cookies([_cookie(cookie) for cookie in cookies])  # type: ignore[misc]
            except BaseException:
                await context.close()
                raise
        return context

    def _close_late(self, making: asyncio.Future[BrowserContext]) -> None:
        """Closes a context that arrived after its caller was cancelled."""
        if not making.cancelled() and making.exception() is None:
            task = asyncio.ensure_future(making.result().close())
            self._late.add(task)
            task.add_done_callback(self._late.discard)

    async def _release(self, slot: _Slot, session: BrowserSession) -> None:
        slot.sessions.discard(session)
        worn = slot.served >= self.options.recycle_after
        if worn and slot.load == 0 and slot in self._slots:
            self._slots.remove(slot)
            await self._close_browser(slot)

    async def _close_browser(self, slot: _Slot) -> None:
        slot.closing = True
        with suppress(PlaywrightError):  # it may be gone already
            await slot.browser.close()

    def _on_disconnected(self, slot: _Slot) -> None:
        if not slot.closing:
            self._died += 1
            slot.closing = True
        self._forget(slot)

    def _forget(self, slot: _Slot) -> None:
        if slot in self._slots:
            self._slots.remove(slot)
        for session in slot.sessions:
            session.strip.fail("The browser process died.")


def _take_note_of_death(starter: object) -> None:
    """Reads the future in which Playwright keeps that its driver died, once it did.

    Nobody else does after the start, and asyncio then complains of it at the end of the process: a signal to the whole
    process group ends the driver too. Who talks to the driver is told by errors of its own.
    """
    owner = getattr(starter, "_client", None) or getattr(starter, "_connection", None)  # older Playwrights
    ended = getattr(getattr(owner, "_transport", None), "on_error_future", None)
    if ended is not None:
        ended.add_done_callback(lambda ended: ended.cancelled() or ended.exception())


def _cookie(cookie: Cookie) -> dict[str, Any]:
    record = {
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "httpOnly": cookie.http_only,
    }
    return cast("dict[str, Any]", record)


@contextlib.contextmanager
def _environment(added: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
