"""`World`: what one episode owns on the server side, a clone of each of its sites at their canonical origins."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from webserv.errors import EvaluatorFailed, WorldFailed
from webserv.server._linux.namespaces import run_in_mount_namespace
from webserv.server.logs import last_line
from webserv.server.router import Router, Target
from webserv.server.site import StartModeName
from webserv.server.snapshot import Snapshot, state_digest

T = TypeVar("T")

_QUERY_INSTRUCTIONS = 50_000_000
"""SQLite virtual machine instructions after which a query is broken off: some seconds."""


class CloneProcess(Protocol):
    """The root process of a clone."""

    pid: int

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        ...

    def add_exit_callback(self, callback: Callable[[], None]) -> None:
        """Calls `callback` once when it has ended; at once if it has."""
        ...

    async def kill(self) -> None:
        """Ends it and all that it started, and waits until they have ended."""
        ...


@dataclass(slots=True)
class Clone:
    """One running copy of a snapshot."""

    snapshot: Snapshot
    start_mode: StartModeName
    process: CloneProcess
    target: Target
    data: Path
    """The clone's data folder as its own processes see it."""
    private_files: bool
    """Whether `data` lies in a mount namespace of the clone's own."""
    delete_files: Callable[[], Awaitable[None]]
    """Removes what the clone leaves on disk and in cgroups, once its processes have ended."""
    log: Path
    """What its processes printed."""

    async def query(self, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Reads the clone's database, read-only.

        Raises:
            EvaluatorFailed: The site declares no database, or SQLite refuses the statement.
            WorldFailed: The clone has ended.
        """
        database = self.snapshot.site.database
        if database is None:
            raise EvaluatorFailed(f"Site '{self.snapshot.site.name}' declares no database.")
        if not self.process.alive:
            raise WorldFailed(f"Site '{self.snapshot.site.name}' has ended; its database cannot be read.")
        return await self._read(lambda: query_sqlite(self.data / database.path, sql, params))

    async def digest(self) -> str:
        """Digest of the state as it is now; equals the snapshot's while nothing was written."""
        return await self._read(lambda: state_digest(self.snapshot.site, self.data))

    async def _read(self, function: Callable[[], T]) -> T:
        """Runs `function` in a thread that sees the clone's files."""
        if not self.private_files:
            return await asyncio.to_thread(function)
        try:
            return await asyncio.to_thread(run_in_mount_namespace, self.process.pid, function)
        except FileNotFoundError as exc:
            raise WorldFailed(f"Site '{self.snapshot.site.name}' has ended.") from exc

    async def stop(self) -> None:
        """Ends the processes and removes the files; a second call is harmless."""
        await self.process.kill()
        await self.delete_files()


@dataclass(eq=False)
class World:
    """A set of clones behind one router."""

    id: str
    engine: str
    sites: Mapping[str, Clone]
    router: Router
    on_close: Callable[[World], Awaitable[None]]
    failure: WorldFailed | None = field(default=None, init=False)
    """Why the world is of no use any more; None while it is."""
    _closed: bool = field(default=False, init=False)
    _failed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def __post_init__(self) -> None:
        for name, clone in self.sites.items():
            clone.process.add_exit_callback(lambda name=name: self._on_exit(name))  # type: ignore[misc]

    @property
    def proxy_url(self) -> str:
        """SOCKS5 proxy through which a browser reaches the world, and nothing else."""
        return self.router.proxy_url

    def check_alive(self) -> None:
        """Raises `WorldFailed` when a clone has ended."""
        if self.failure is not None:
            raise self.failure

    async def wait_failed(self) -> None:
        """Returns when a clone ends; never for a healthy world."""
        await self._failed.wait()

    def expire(self, lifetime_s: float) -> None:
        """Marks the world as of no use because it has been held for too long."""
        if self.failure is None:
            self.failure = WorldFailed(f"World {self.id} was held for longer than {lifetime_s:.0f} s.")
            self._failed.set()

    async def close(self) -> None:
        """Ends the clones and removes their files; a second call is harmless."""
        if self._closed:
            return
        self._closed = True
        await self.router.close()
        try:
            await asyncio.gather(*(clone.stop() for clone in self.sites.values()))
        finally:
            await self.on_close(self)

    def _on_exit(self, name: str) -> None:
        if self._closed or self.failure is not None:
            return
        tail = last_line(self.sites[name].log)
        said = f"; the last that it printed: {tail}" if tail else "."
        self.failure = WorldFailed(f"Site '{name}' of world {self.id} ended{said}")
        self._failed.set()

    def __repr__(self) -> str:
        state = "closed" if self._closed else "failed" if self.failure else "open"
        return f"<World {self.id} {state} engine={self.engine} sites={sorted(self.sites)}>"


def query_sqlite(path: Path, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Runs one statement on a database that another process may be writing, read-only.

    Raises:
        EvaluatorFailed: The file cannot be opened, the statement is wrong, or it takes too long.
    """
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=10)) as connection:
            steps = itertools.count()
            connection.set_progress_handler(lambda: int(next(steps) * 10_000 > _QUERY_INSTRUCTIONS), 10_000)
            return connection.execute(sql, params).fetchall()
    except sqlite3.Error as exc:
        raise EvaluatorFailed(f"The query {sql!r} failed: {exc}.") from exc
