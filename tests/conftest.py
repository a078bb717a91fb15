"""What tests of all parts share: where things are kept, the built shop, and which tests may not be skipped.

A test says by its marker what it needs: `root` (the native engine works), `browser` (a real Chromium), `shop` (the
built shop). Where that is lacking it is skipped, unless ``WEBSERV_REQUIRE`` names the marker: then a skip fails.
`make test` sets it to what the machine can run.
"""

from __future__ import annotations

import http.client
import os
import signal
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from functools import cache
from pathlib import Path

import pytest

import webserv.testing.guestbook
from webserv.errors import MissingPrerequisite, NotBuilt
from webserv.server.engines.native import NativeEngine
from webserv.server.gc import collect
from webserv.server.host import probe_native
from webserv.server.site import Site, load_site, load_site_file, split_origin
from webserv.server.snapshot import Snapshot, ensure_snapshot, find_snapshot
from webserv.server.world import Clone

Ask = Callable[..., tuple[int, str]]

REQUIRED = frozenset(filter(None, os.environ.get("WEBSERV_REQUIRE", "").split(",")))
"""Markers whose tests may not be skipped."""


def pytest_configure(config: pytest.Config) -> None:
    # Under nohup the signal is ignored, here and in every child; commands honour that, so tests of it need the default.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    unknown = REQUIRED - {"root", "browser", "shop"}
    if unknown:
        raise pytest.UsageError(
            f"WEBSERV_REQUIRE names no marker of a prerequisite: {', '.join(sorted(unknown))}"
        )


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, lack in (("root", _lack_of_root), ("browser", _lack_of_browser), ("shop", _lack_of_shop)):
        if item.get_closest_marker(marker) and (reason := lack()):
            pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    required = REQUIRED & {marker.name for marker in item.iter_markers()}
    if report.skipped and required and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = (
            f"skipped, though WEBSERV_REQUIRE names {', '.join(sorted(required))}: {report.longrepr}"
        )
    return report


@cache
def _lack_of_root() -> str:
    native = probe_native()
    return "" if native.works else f"the native engine does not work here: {native.reason}"


@cache
def _lack_of_browser() -> str:
    from webserv.browser.executable import find_executable

    try:
        find_executable()
    except MissingPrerequisite as exc:
        return str(exc)
    return ""


@cache
def _lack_of_shop() -> str:
    if "shop" in REQUIRED:
        return ""  # the fixture builds it
    try:
        find_snapshot(load_site("shop"))
    except NotBuilt as exc:
        return str(exc)
    return ""


@pytest.fixture(scope="session")
def shop_snapshot() -> Snapshot:
    """The seeded shop in this user's own data folder, built once for all runs. Mark the test `shop`."""
    if reason := _lack_of_shop():
        pytest.skip(reason)
    return ensure_snapshot(load_site("shop"))


@pytest.fixture
def webserv_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder for this test, on the disk as it is: no loop pool is made."""
    home = tmp_path / "home"
    monkeypatch.setenv("WEBSERV_HOME", str(home))
    monkeypatch.setenv("WEBSERV_POOL", str(home / "pool"))
    return home


@pytest.fixture(scope="session")
def guestbook_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder for worlds of the guestbook; a loop pool in it is unmounted at the end."""
    home = tmp_path_factory.mktemp("home")
    yield home
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEBSERV_HOME", str(home))
        patch.delenv("WEBSERV_POOL", raising=False)
        collect()


@pytest.fixture
def home(guestbook_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That data folder, in force for this test."""
    monkeypatch.setenv("WEBSERV_HOME", str(guestbook_home))
    monkeypatch.delenv("WEBSERV_POOL", raising=False)
    return guestbook_home


@pytest.fixture(scope="session")
def guestbook_site() -> Site:
    return load_site_file(Path(webserv.testing.guestbook.__file__).parent / "site.yaml")


@pytest.fixture
def guestbook(home: Path, guestbook_site: Site) -> Snapshot:
    return ensure_snapshot(guestbook_site)


@pytest.fixture
async def native(home: Path) -> AsyncIterator[NativeEngine]:
    """A native engine in that data folder. Mark the test `root`."""
    async with NativeEngine() as engine:
        yield engine


@pytest.fixture(scope="session")
def ask() -> Ask:
    """Sends one request to a clone past the router and returns status and body."""

    def send(clone: Clone, path: str, *, method: str = "GET", body: str | None = None) -> tuple[int, str]:
        connection = http.client.HTTPConnection(*split_origin(clone.snapshot.site.origins[0]), timeout=20)
        connection.sock = clone.target.open_socket()
        try:
            connection.sock.settimeout(20)
            connection.sock.connect(clone.target.address)
            headers = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    return send
