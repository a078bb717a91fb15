"""`PageServer`: a small HTTP server on the test's own event loop, whose answers a test can hold back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Self
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True, slots=True)
class Reply:
    """What a path answers."""

    body: str | bytes = ""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    unended: bool = False
    """The answer begins and never ends, like a stream of events."""


@dataclass(frozen=True, slots=True)
class Received:
    """A request that the server got."""

    method: str
    path: str
    """With query, percent escapes decoded."""
    body: str
    headers: Mapping[str, str]


class Gate:
    """Holds the answers of one path back until `open`."""

    def __init__(self) -> None:
        self._arrived = asyncio.Event()
        self._open = asyncio.Event()

    async def wait_request(self) -> None:
        """Returns once a request waits at the gate."""
        await self._arrived.wait()

    def open(self) -> None:
        """Lets the waiting and all later requests through."""
        self._open.set()

    async def _pass(self) -> None:
        self._arrived.set()
        await self._open.wait()


class PageServer:
    """Serves what `pages` holds on a free port of 127.0.0.1. Use it as an async context manager.

    Args:
        pages: Path to HTML text or `Reply`; a query is looked up with the path first, then without.
    """

    def __init__(self, pages: Mapping[str, str | Reply] | None = None) -> None:
        self.pages: dict[str, str | Reply] = dict(pages or {})
        self.requests: list[Received] = []
        """All requests so far, favicon aside."""
        self._gates: dict[str, Gate] = {}
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=2**20)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, path: str = "/", *, host: str = "127.0.0.1") -> str:
        """Address of a path; ``host="localhost"`` makes it another origin of another site."""
        return f"http://{host}:{self._port}{path}"

    def hold(self, path: str) -> Gate:
        """Holds the answers of a path back until the gate is opened."""
        return self._gates.setdefault(path, Gate())

    def count(self, path: str) -> int:
        """How many requests a path has had, whatever their query."""
        return sum(request.path.partition("?")[0] == path for request in self.requests)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._serve(reader, writer)
        except asyncio.CancelledError:
            return  # the server closes; asyncio would report the cancelled callback
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            request = await _read_request(reader)
            if request is None:
                return
            path = request.path.partition("?")[0]
            if path == "/favicon.ico":
                await _send(writer, Reply(status=404))
                continue
            self.requests.append(request)
            gate = self._gates.get(request.path) or self._gates.get(path)
            if gate is not None:
                await gate._pass()
            page = self.pages.get(request.path, self.pages.get(path, Reply("not found", status=404)))
            reply = page if isinstance(page, Reply) else Reply(page)
            await _send(writer, reply)
            if reply.unended:
                await asyncio.Event().wait()


async def _read_request(reader: asyncio.StreamReader) -> Received | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    path = unquote(parts.path) + (f"?{unquote(parts.query)}" if parts.query else "")
    return Received(method, path, body.decode("utf-8", "replace"), headers)


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> None:
    body = reply.body.encode() if isinstance(reply.body, str) else reply.body
    headers = {"Content-Type": reply.content_type, "Cache-Control": "no-store", **reply.headers}
    if reply.unended:
        headers["Transfer-Encoding"] = "chunked"
        body = b"%x\r\n%s\r\n" % (len(body), body) if body else b""
    else:
        headers["Content-Length"] = str(len(body))
    phrase = HTTPStatus(reply.status).phrase
    lines = [f"HTTP/1.1 {reply.status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()
