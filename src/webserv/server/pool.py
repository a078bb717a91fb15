"""`WorldPool`: worlds made ahead of demand, so that a reset is a swap."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from webserv.errors import UserError, WorldFailed
from webserv.server._linux.memory import available_bytes
from webserv.server.engines.interface import Engine
from webserv.server.site import StartModeName
from webserv.server.snapshot import Snapshot
from webserv.server.world import World

_RETRY_S = 0.5
"""Pause before a failed preparation is tried again in the background."""


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """How many worlds, and when."""

    max_worlds: int = 8
    """Worlds at once, in use and prepared."""
    warm: int = 2
    """Prepared worlds kept for each set of sites that is asked for."""
    launch_concurrency: int = 2
    """Worlds made at the same time; more than the cores only makes each slower."""
    reserve_memory_bytes: int = 512 * 1024 * 1024
    """No world is begun while less memory than this is available."""
    lifetime_s: float = 2 * 3600
    """A world in use for longer is closed by the reaper; its episode ends as failure ``env``."""


@dataclass(frozen=True, slots=True)
class PoolStatistics:
    """What a pool holds and has done."""

    in_use: int
    ready: int
    starting: int
    waiting: int
    """Callers of `acquire` that have no world yet."""
    acquired: int
    acquired_ready: int
    """Of those, how many found a prepared world."""
    expired: int
    """Worlds that the reaper closed."""


class WorldPool:
    """Hands out fresh worlds; none is ever used twice.

    Args:
        engine: Makes the worlds; the pool does not close it.
        snapshots: The sites that worlds may be asked for, by name.
        options: Limits.
        start_mode: None takes each site's fastest.
    """

    def __init__(
        self,
        engine: Engine,
        snapshots: Mapping[str, Snapshot],
        *,
        options: PoolOptions = PoolOptions(),
        start_mode: StartModeName | None = None,
    ) -> None:
        self._engine = engine
        self._snapshots = dict(snapshots)
        self._options = options
        self._start_mode = start_mode
        self._ready: dict[tuple[str, ...], deque[World]] = {}
        self._in_use: dict[World, float] = {}
        self._starting = 0
        self._closing = 0
        self._waiting = 0
        self._acquired = 0
        self._acquired_ready = 0
        self._expired = 0
        self._closed = False
        self._changed = asyncio.Condition()
        self._launches = asyncio.Semaphore(options.launch_concurrency)
        self._tasks: set[asyncio.Task[None]] = set()
        self._reaper = asyncio.get_running_loop().create_task(self._reap())

    async def warm(self, sites: Sequence[str]) -> None:
        """Begins to prepare worlds with these sites and returns when one is ready.

        Raises:
            WorldFailed: A site does not come up.
        """
        world = await self.acquire(sites)
        self._in_use.pop(world, None)
        await self._keep(tuple(sites), world)

    async def acquire(self, sites: Sequence[str]) -> World:
        """Returns a world with these sites, prepared if there is one.

        Waits in order of asking while `max_worlds` are in use.

        Raises:
            UserError: A site was not given to the pool.
            WorldFailed: The world could not be made.
            HostRefused: The disk is full.
        """
        key = tuple(sites)
        unknown = [name for name in key if name not in self._snapshots]
        if unknown:
            raise UserError(
                f"This host was not opened for site '{unknown[0]}'.", hint="Name it in EnvHost(sites=…)."
            )
        self._waiting += 1
        try:
            async with self._changed:
                # A world may come free or room for one, whichever is first; both are claimed inside the predicate.
                claim = await self._changed.wait_for(lambda: self._take_ready(key) or self._take_room(key))
        finally:
            self._waiting -= 1
        if isinstance(claim, World):
            world = claim
            self._acquired_ready += 1
        else:
            world = await self._launch(key)
        self._acquired += 1
        self._in_use[world] = time.monotonic() + self._options.lifetime_s
        self._refill(key)
        return world

    async def release(self, world: World) -> None:
        """Closes a world in the background; a second call is harmless."""
        if self._in_use.pop(world, None) is not None:
            self._retire(world)

    def statistics(self) -> PoolStatistics:
        """Counts now."""
        return PoolStatistics(
            in_use=len(self._in_use),
            ready=sum(len(worlds) for worlds in self._ready.values()),
            starting=self._starting,
            waiting=self._waiting,
            acquired=self._acquired,
            acquired_ready=self._acquired_ready,
            expired=self._expired,
        )

    async def close(self) -> None:
        """Closes all worlds, also those in use; a second call is harmless."""
        if self._closed:
            return
        self._closed = True
        self._reaper.cancel()
        tasks = [self._reaper, *self._tasks]
        worlds = [*self._in_use, *(world for worlds in self._ready.values() for world in worlds)]
        self._in_use.clear()
        self._ready.clear()
        await asyncio.gather(*(world.close() for world in worlds))
        for task in tasks[1:]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _take_ready(self, key: tuple[str, ...]) -> World | None:
        worlds = self._ready.get(key)
        while worlds:
            world = worlds.popleft()
            if world.failure is None:
                return world
            self._retire(world)
        return None

    @property
    def _count(self) -> int:
        ready = sum(len(worlds) for worlds in self._ready.values())
        return len(self._in_use) + self._starting + self._closing + ready

    async def _launch(self, key: tuple[str, ...]) -> World:
        """Makes a world in the room that `_take_room` reserved."""
        try:
            async with self._launches:
                snapshots = [self._snapshots[name] for name in key]
                return await self._engine.open_world(snapshots, start_mode=self._start_mode)
        finally:
            self._starting -= 1
            await self._notify()

    def _take_room(self, key: tuple[str, ...]) -> bool:
        """Reserves a place for a world, dropping one prepared for other sites if need be."""
        if self._count >= self._options.max_worlds:
            other = next((worlds for name, worlds in self._ready.items() if name != key and worlds), None)
            if other is not None:
                self._retire(other.popleft())  # whoever waits is told when it has gone
            return False
        # With nothing running there is nothing to wait for: the launch itself will say what is wrong.
        if self._count > 0 and available_bytes() < self._options.reserve_memory_bytes:
            return False
        self._starting += 1
        return True

    def _refill(self, key: tuple[str, ...]) -> None:
        ready = self._ready.setdefault(key, deque())
        if self._waiting:
            return  # whoever waits takes the room
        missing = self._options.warm - len(ready) - self._starting
        room = self._options.max_worlds - self._count
        for _ in range(min(missing, room)):
            if not self._closed and available_bytes() > self._options.reserve_memory_bytes:
                self._starting += 1
                self._spawn(self._prepare(key))

    async def _prepare(self, key: tuple[str, ...]) -> None:
        try:
            world = await self._launch(key)
        except (WorldFailed, UserError):
            # Whoever asks for a world next gets the reason; here a pause keeps a broken site from spinning.
            await asyncio.sleep(_RETRY_S)
            return
        await self._keep(key, world)

    async def _keep(self, key: tuple[str, ...], world: World) -> None:
        if self._closed:
            await world.close()
            return
        self._ready.setdefault(key, deque()).append(world)
        await self._notify()

    def _retire(self, world: World) -> None:
        # It counts until it is gone: its memory does.
        self._closing += 1
        self._spawn(self._close_world(world))

    async def _close_world(self, world: World) -> None:
        try:
            await world.close()
        finally:
            self._closing -= 1
        await self._notify()
        for key in self._ready:
            self._refill(key)

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(min(5.0, self._options.lifetime_s / 4))
            now = time.monotonic()
            for world in [world for world, deadline in self._in_use.items() if deadline < now]:
                self._expired += 1
                del self._in_use[world]
                world.expire(self._options.lifetime_s)
                self._retire(world)
            async with self._changed:
                self._changed.notify_all()  # memory may have come free

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _spawn(self, coroutine: object) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(coroutine)  # type: ignore[arg-type]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<WorldPool {self.statistics()}>"
