"""The router: a SOCKS5 listener for one world that leads canonical origins to the world's clones.

What is not in the world is refused and recorded as blocked. Names are never resolved: Chromium hands a SOCKS5 proxy
the host name (RFC 1928, address type 3), and the router looks it up among the world's origins.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import socket
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from webserv.errors import HostRefused

_SUCCEEDED, _REFUSED_BY_RULE, _HOST_UNREACHABLE, _NO_SUCH_COMMAND, _NO_SUCH_ADDRESS = 0, 2, 4, 7, 8
_HIGH_WATER_BYTES = 256 * 1024
_LONGEST_GREETING_BYTES = 600


class Target(Protocol):
    """Where connections for one origin go."""

    def open_socket(self) -> socket.socket:
        """A socket that can reach the target, not yet connected."""
        ...

    @property
    def address(self) -> tuple[str, int]:
        """What to connect it to."""
        ...


@dataclass(frozen=True, slots=True)
class LoopbackTarget:
    """A port on this machine's loopback."""

    port: int

    def open_socket(self) -> socket.socket:
        """A plain socket."""
        return socket.socket(socket.AF_INET, socket.SOCK_STREAM)

    @property
    def address(self) -> tuple[str, int]:
        """The loopback port."""
        return ("127.0.0.1", self.port)


@dataclass(frozen=True, slots=True)
class RouterStatistics:
    """What went through a router."""

    connections: int
    open_connections: int
    refused: int
    """Connections to what is not in the world."""
    failed: int
    """Connections that a clone did not take."""


class Router:
    """Listens on this machine's loopback for one world.

    Args:
        targets: (host, port) of canonical origins, lower case, to where they are served.
    """

    def __init__(self, targets: Mapping[tuple[str, int], Target]) -> None:
        self._targets = dict(targets)
        self._server: asyncio.Server | None = None
        self._open: set[_Client] = set()
        self._connections = 0
        self._refused = 0
        self._failed = 0
        self.blocked: deque[str] = deque(maxlen=200)
        """``host:port`` of the last refused connections, oldest first."""

    async def start(self, *, port: int = 0) -> None:
        """Begins to listen; port 0 takes a free one.

        Raises:
            HostRefused: The port is in use or not allowed.
        """
        try:
            loop = asyncio.get_running_loop()
            self._server = await loop.create_server(lambda: _Client(self), "127.0.0.1", port)
        except OSError as exc:
            if exc.errno in (errno.EADDRINUSE, errno.EACCES):
                raise HostRefused(
                    f"Port {port} of 127.0.0.1 cannot be used: {os.strerror(exc.errno)}.",
                    hint="Choose another port.",
                ) from exc
            raise

    @property
    def port(self) -> int:
        """The port it listens on."""
        assert self._server is not None, "the router has not been started"
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def proxy_url(self) -> str:
        """For a browser's proxy setting; the bypass list must be ``<-loopback>``."""
        return f"socks5://127.0.0.1:{self.port}"

    def add_target(self, host: str, port: int, target: Target) -> None:
        """Adds or replaces an origin."""
        self._targets[host.lower(), port] = target

    async def connect(self, host: str, port: int) -> socket.socket | None:
        """A connected socket to an origin of the world; None, and a note in `blocked`, for anything else.

        Raises:
            OSError: The clone does not take the connection.
        """
        target = self._targets.get((host.lower().rstrip("."), port))
        if target is None:
            self._refused += 1
            self.blocked.append(f"{host}:{port}")
            return None
        sock = target.open_socket()
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.get_running_loop().sock_connect(sock, target.address)
        except OSError:
            self._failed += 1
            sock.close()
            raise
        return sock

    def statistics(self) -> RouterStatistics:
        """Counts so far."""
        return RouterStatistics(self._connections, len(self._open), self._refused, self._failed)

    async def close(self) -> None:
        """Stops listening and drops all connections; a second call is harmless."""
        if self._server is not None:
            self._server.close()
        for client in list(self._open):
            client.abort()

    def __repr__(self) -> str:
        where = self.proxy_url if self._server and self._server.sockets else "closed"
        return f"<Router {where} origins={sorted(self._targets)}>"

    def _entered(self, client: _Client) -> None:
        self._connections += 1
        self._open.add(client)

    def _left(self, client: _Client) -> None:
        self._open.discard(client)


class _Side(asyncio.Protocol):
    """One end of a relayed connection; what comes in goes out at the peer, no faster than the peer takes it."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.peer: _Side | None = None
        self.ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.set_write_buffer_limits(high=_HIGH_WATER_BYTES)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self.peer is not None and self.peer.transport is not None:
            self.peer.transport.write(data)

    def eof_received(self) -> bool:
        self.ended = True
        self.pass_end_on()
        return True  # keep the other direction open

    def pass_end_on(self) -> None:
        if self.peer is None or self.peer.transport is None or self.transport is None:
            return
        if not self.peer.transport.is_closing():
            self.peer.transport.write_eof()
        if self.peer.ended:
            # Both have said all; what is still buffered is flushed before the sockets close.
            self.transport.close()
            self.peer.transport.close()

    def pause_writing(self) -> None:
        if self.peer is not None and self.peer.transport is not None:
            self.peer.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.peer is not None and self.peer.transport is not None:
            self.peer.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.peer is not None and self.peer.transport is not None:
            self.peer.transport.close()

    def abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()


class _Client(_Side):
    """The browser's end: speaks SOCKS5 (RFC 1928, no authentication, CONNECT only), then relays."""

    def __init__(self, router: Router) -> None:
        super().__init__()
        self._router = router
        self._buffer = bytearray()
        self._greeted = False
        self._connecting: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._router._entered(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._router._left(self)
        if self._connecting is not None:
            self._connecting.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.peer is not None:
            super().data_received(data)
            return
        self._buffer += data
        if self._connecting is None:
            self._read_handshake()

    def _read_handshake(self) -> None:
        assert self.transport is not None
        buffer = self._buffer
        if not self._greeted:
            if len(buffer) < 2 or len(buffer) < 2 + buffer[1]:
                self._wait_for_more()
                return
            methods = bytes(buffer[2 : 2 + buffer[1]])
            if buffer[0] != 5 or 0 not in methods:
                self.transport.write(b"\x05\xff")
                self.transport.close()
                return
            del buffer[: 2 + buffer[1]]
            self._greeted = True
            self.transport.write(b"\x05\x00")
        if len(buffer) < 5:
            return
        lengths = {1: 4, 3: 1 + buffer[4], 4: 16}
        length = lengths.get(buffer[3])
        if buffer[0] != 5 or length is None:
            self._reply(_NO_SUCH_ADDRESS)
        elif buffer[1] != 1:
            self._reply(_NO_SUCH_COMMAND)
        elif len(buffer) < 4 + length + 2:
            self._wait_for_more()
        else:
            host = _host(buffer[3], bytes(buffer[4 : 4 + length]))
            port = int.from_bytes(buffer[4 + length : 6 + length], "big")
            del buffer[: 6 + length]
            self._connecting = asyncio.get_running_loop().create_task(self._connect(host, port))

    def _wait_for_more(self) -> None:
        if len(self._buffer) > _LONGEST_GREETING_BYTES and self.transport is not None:
            self.transport.close()

    async def _connect(self, host: str, port: int) -> None:
        try:
            sock = await self._router.connect(host, port)
        except OSError:
            self._reply(_HOST_UNREACHABLE)
            return
        if sock is None:
            self._reply(_REFUSED_BY_RULE)
            return
        upstream = _Side()
        try:
            await asyncio.get_running_loop().create_connection(lambda: upstream, sock=sock)
        except BaseException:
            sock.close()
            raise
        upstream.peer = self
        self.peer = upstream
        self._reply(_SUCCEEDED)
        if self._buffer:
            super().data_received(bytes(self._buffer))
            self._buffer.clear()
        if self.ended:
            self.pass_end_on()

    def eof_received(self) -> bool:
        # Before there is an upstream, the end is kept for it; without a request on the way nothing will come.
        super().eof_received()
        return self._connecting is not None

    def _reply(self, code: int) -> None:
        if self.transport is None or self.transport.is_closing():
            return
        self.transport.write(bytes([5, code, 0, 1, 0, 0, 0, 0, 0, 0]))
        if code != _SUCCEEDED:
            self.transport.close()


def _host(kind: int, raw: bytes) -> str:
    if kind == 3:
        return raw[1:].decode("ascii", "replace")
    return str(ipaddress.ip_address(raw))
