"""Fixtures of the server half: a data folder of its own for the session, and the guestbook built in it."""

from __future__ import annotations

import http.client
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

import webserv.testing.guestbook
from webserv.server.engines.native import NativeEngine
from webserv.server.gc import collect
from webserv.server.host import probe_native
from webserv.server.site import Site, load_site_file, split_origin
from webserv.server.snapshot import Snapshot, ensure_snapshot
from webserv.server.world import Clone

Ask = Callable[..., tuple[int, str]]


@pytest.fixture(scope="session")
def server_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder for the tests of this folder; the loop pool in it is unmounted at the end."""
    home = tmp_path_factory.mktemp("home")
    patch = pytest.MonkeyPatch()
    patch.setenv("WEBSERV_HOME", str(home))
    patch.delenv("WEBSERV_POOL", raising=False)
    yield home
    collect()
    patch.undo()


@pytest.fixture
def home(server_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder, set for this test whatever another fixture has set since."""
    monkeypatch.setenv("WEBSERV_HOME", str(server_home))
    return server_home


@pytest.fixture(scope="session")
def guestbook_site() -> Site:
    return load_site_file(Path(webserv.testing.guestbook.__file__).parent / "site.yaml")


@pytest.fixture
def guestbook(home: Path, guestbook_site: Site) -> Snapshot:
    return ensure_snapshot(guestbook_site)


@pytest.fixture
async def native(home: Path) -> AsyncIterator[NativeEngine]:
    capability = probe_native()
    if not capability.works:
        pytest.skip(f"no native engine: {capability.reason}")
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


@pytest.fixture
def stray_processes() -> Callable[[str], list[int]]:
    """Processes that carry an owner's mark."""
    from webserv.server._linux.processes import processes_of_owner

    def find(owner: str) -> list[int]:
        return [pid for pid in processes_of_owner(owner) if pid != os.getpid()]

    return find
