"""One fleet for all tests here: sessions are cheap, browsers are not. Tests that use it share its event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import pytest
import pytest_asyncio

from webserv.browser.fleet import BrowserFleet
from webserv.browser.options import BrowserOptions, ObservationOptions, SettleOptions
from webserv.browser.session import BrowserSession
from webserv.testing.page_server import PageServer, Reply
from webserv.testing.page_view import OpenPage, See, body


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def fleet() -> AsyncIterator[BrowserFleet]:
    async with BrowserFleet(BrowserOptions(recycle_after=10_000, contexts_per_browser=64)) as fleet:
        yield fleet


@pytest_asyncio.fixture(loop_scope="session")
async def pages() -> AsyncIterator[PageServer]:
    async with PageServer() as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(fleet: BrowserFleet, pages: PageServer) -> AsyncIterator[OpenPage]:
    """Serves the given pages (one text is the page "/") and opens a session on the first of them."""
    sessions: list[BrowserSession] = []

    async def open_page(content: str | Mapping[str, str | Reply], **options: object) -> BrowserSession:
        served = {"/": content} if isinstance(content, str) else content
        pages.pages.update(served)
        session = await fleet.open_session(options=make_options(**options))
        sessions.append(session)
        await session.start([pages.url(next(iter(served)))])
        return session

    yield open_page
    for session in sessions:
        await session.close()


@pytest.fixture
def see(open_page: OpenPage) -> See:
    """Opens a page and returns what is seen of it, without the header lines."""

    async def see(content: str | Mapping[str, str | Reply], **options: object) -> str:
        session = await open_page(content, **options)
        return body(await session.observe())

    return see


def make_options(**options: object) -> BrowserOptions:
    settle = {key: options.pop(key) for key in list(options) if key in SettleOptions.__dataclass_fields__}
    observation = {
        key: options.pop(key) for key in list(options) if key in ObservationOptions.__dataclass_fields__
    }
    return BrowserOptions(
        settle=SettleOptions(**settle),  # type: ignore[arg-type]
        observation=ObservationOptions(**observation),  # type: ignore[arg-type]
        **options,  # type: ignore[arg-type]
    )
