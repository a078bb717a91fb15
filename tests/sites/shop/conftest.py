"""The built shop, served by its own boot command on a private copy of its data."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from webserv.server.snapshot import Snapshot
from webserv.server.storage.load import open_storage


@dataclass
class Shop:
    """A running shop."""

    port: int
    data: Path
    snapshot: Snapshot

    def open_client(self, login: str = "") -> httpx.Client:
        """A browser without a screen; ``http://shop.example`` leads to this shop."""
        cookies = {cookie.name: cookie.value for cookie in self.snapshot.logins[login]} if login else {}
        return httpx.Client(
            base_url="http://shop.example",
            transport=_Direct(self.port),
            cookies=cookies,
            follow_redirects=True,
            timeout=30,
        )

    def query(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.data}/shop.sqlite3?mode=ro", uri=True)) as database:
            return database.execute(sql, params).fetchall()

    def dump(self) -> list[str]:
        """All rows, as SQL, but for what Oscar notes of its readers: their session, and which messages they saw."""
        notes = ('INSERT INTO "django_session"', 'INSERT INTO "communication_notification"')
        with closing(sqlite3.connect(f"file:{self.data}/shop.sqlite3?mode=ro", uri=True)) as database:
            return [line for line in database.iterdump() if not line.startswith(notes)]

    def submit(
        self,
        client: httpx.Client,
        page: str,
        values: dict[str, Any],
        *,
        action: str = "",
        files: dict[str, Any] | None = None,
    ) -> httpx.Response:
        """Fills in the form on `page` that posts to `action` (else to the page itself), with its hidden fields."""
        answer = client.get(page).raise_for_status()
        for head, body in re.findall(r"<form([^>]*)>(.*?)</form>", answer.text, re.S):
            found = re.search(r'action="([^"]*)"', head)
            target = answer.url.join(unescape(found[1]) if found else "")
            if 'method="post"' in head.lower() and target.path == (action or answer.url.path):
                fields = {**read_fields(body), **values}
                return client.post(target, data=fields, files=files, headers={"referer": str(answer.url)})
        raise AssertionError(f"{page} has no form for {action or 'itself'}")


class _Direct(httpx.HTTPTransport):
    """Connects to this machine whatever the host; the Host header stays."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._port = port

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        assert request.url.host == "shop.example", f"the site led to {request.url}"
        here = httpx.Request(
            request.method,
            request.url.copy_with(host="127.0.0.1", port=self._port),
            headers=request.headers,
            stream=request.stream,
        )
        return super().handle_request(here)


def read_fields(body: str) -> dict[str, Any]:
    """Values that a browser would send for the form's inputs, text areas and selects."""
    fields: dict[str, Any] = {}
    for tag in re.findall(r"<input[^>]*>", body):
        attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        kind = attributes.get("type", "text")
        unchecked = kind in ("checkbox", "radio") and not re.search(r"\bchecked\b", tag)
        if "name" in attributes and kind not in ("submit", "file") and not unchecked:
            fields[attributes["name"]] = unescape(attributes.get("value", "on" if kind == "checkbox" else ""))
    for name, value in re.findall(r'<textarea[^>]*name="([^"]+)"[^>]*>(.*?)</textarea>', body, re.S):
        fields[name] = unescape(value.strip("\r\n"))
    for head, options in re.findall(r"<select([^>]*)>(.*?)</select>", body, re.S):
        name = re.search(r'name="([^"]+)"', head)
        chosen = re.findall(r'<option value="([^"]*)"[^>]*\bselected', options)
        if name:
            fields[name[1]] = chosen if "multiple" in head else (chosen or [""])[0]
    return fields


@pytest.fixture(scope="session")
def shop_data(shop_snapshot: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the seeded data that nobody may change."""
    target = tmp_path_factory.mktemp("shop") / "data"
    with closing(open_storage()) as storage:
        shutil.copytree(shop_snapshot.data(storage), target)
    return target


@pytest.fixture(scope="session")
def serve_shop(
    shop_snapshot: Snapshot, shop_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Shop]]:
    """Starts a shop on data of its own."""
    processes: list[subprocess.Popen[bytes]] = []

    def serve() -> Shop:
        data = tmp_path_factory.mktemp("served") / "data"
        shutil.copytree(shop_data, data)
        with closing(socket.create_server(("127.0.0.1", 0))) as probe:
            port = probe.getsockname()[1]
        names = {"image": shop_snapshot.image, "data": data, "address": "127.0.0.1", "port": port}
        boot = shop_snapshot.site.boot
        environment = {key: value.format(**names) for key, value in boot.environment.items()}
        process = subprocess.Popen(
            [part.format(**names) for part in boot.command],
            env={**os.environ, **environment},
            cwd=shop_snapshot.image,
        )
        processes.append(process)
        _wait_until_open(process, port)
        return Shop(port, data, shop_snapshot)

    yield serve
    for process in processes:
        process.terminate()
        process.wait(10)


def _wait_until_open(process: subprocess.Popen[bytes], port: int) -> None:
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=30).close()
        except ConnectionRefusedError:
            # Nothing can be waited for: a child that is about to listen sends no event.
            os.sched_yield()
        else:
            return
    raise AssertionError(f"the shop ended with {process.returncode}")


@pytest.fixture(scope="session")
def read_shop(serve_shop: Callable[[], Shop]) -> Shop:
    """A shop that tests only look at."""
    return serve_shop()


@pytest.fixture
def shop(serve_shop: Callable[[], Shop]) -> Shop:
    """A shop that this test may change."""
    return serve_shop()
