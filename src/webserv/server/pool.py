"""`WorldPool`: worlds made ahead of demand, so that a reset is a swap."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from webserv.errors import UserError, WorldFailed
from webserv.server._linux.memory import available_bytes
from webserv.server.engines.interface import Engine
from webserv.server.site import StartModeName
from webserv.server.snapshot import Snapshot
from webserv.server.world import World


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


@dataclass(eq=False, slots=True)
class _Waiter:
    """A caller of `acquire`. It is granted a ready world, or None: room to make one."""

    key: tuple[str, ...]
    granted: asyncio.Future[World | None]


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
        engine: Engine[Any],
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
        self._acquired = 0
        self._acquired_ready = 0
        self._expired = 0
        self._closed = False
        self._queue: deque[_Waiter] = deque()
        self._launches = asyncio.Semaphore(options.launch_concurrency)
        self._tasks: set[asyncio.Task[None]] = set()
        self._reaper = asyncio.get_running_loop().create_task(self._reap())

    async def warm(self, sites: Sequence[str]) -> None:
        """Begins to prepare worlds with these sites and returns when one is ready.

        Raises:
            WorldFailed: A site does not come up.
        """
        world = await self.acquire(sites)
        del self._in_use[world]
        self._ready.setdefault(tuple(sites), deque()).append(world)
        self._serve_queue()

    async def acquire(self, sites: Sequence[str]) -> World:
        """Returns a world with these sites, prepared if there is one.

        While `max_worlds` exist, callers wait and are served in order of asking.

        Raises:
            UserError: A site was not given to the pool, or the pool is closed.
            WorldFailed: The world could not be made.
            HostRefused: The disk is full.
        """
        key = tuple(sites)
        unknown = [name for name in key if name not in self._snapshots]
        if unknown:
            raise UserError(
                f"This host was not opened for site '{unknown[0]}'.", hint="Name it in EnvHost(sites=…)."
            )
        if self._closed:
            raise UserError("The pool of worlds is closed.")
        waiter = _Waiter(key, asyncio.get_running_loop().create_future())
        self._queue.append(waiter)
        self._serve_queue()
        try:
            world = await waiter.granted
        except asyncio.CancelledError:
            self._give_back(waiter)
            raise
        if world is None:
            world = await self._launch(key)
        else:
            self._acquired_ready += 1
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
            waiting=len(self._queue),
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
        for waiter in self._queue:
            if not waiter.granted.done():
                waiter.granted.set_exception(UserError("The pool of worlds was closed."))
        self._queue.clear()
        tasks = [self._reaper, *self._tasks]
        worlds = [*self._in_use, *(world for worlds in self._ready.values() for world in worlds)]
        self._in_use.clear()
        self._ready.clear()
        await asyncio.gather(*(world.close() for world in worlds))
        for task in tasks[1:]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _serve_queue(self) -> None:
        """Gives whoever waits what has come free. Nothing here awaits, so no cancellation falls between."""
        for waiter in list(self._queue):
            if waiter.granted.done():
                self._queue.remove(waiter)  # cancelled
                continue
            world = self._take_ready(waiter.key)
            if world is None and not (waiter is self._queue[0] and self._take_room(waiter.key)):
                continue  # a world made ready for a later caller's sites is of no use to this one
            self._queue.remove(waiter)
            waiter.granted.set_result(world)

    def _give_back(self, waiter: _Waiter) -> None:
        """A caller was cancelled, perhaps after it had been granted something."""
        if waiter in self._queue:
            self._queue.remove(waiter)
        elif not waiter.granted.cancelled():
            world = waiter.granted.result()
            if world is None:
                self._starting -= 1
            else:
                self._ready.setdefault(waiter.key, deque()).append(world)
        self._serve_queue()

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
            # After the caller has counted the world as its own.
            asyncio.get_running_loop().call_soon(self._serve_queue)

    def _take_room(self, key: tuple[str, ...]) -> bool:
        """Reserves a place for a world, dropping one prepared for other sites if need be."""
        if self._count >= self._options.max_worlds:
            other = next((worlds for name, worlds in self._ready.items() if name != key and worlds), None)
            if other is not None:
                self._retire(other.popleft())  # the queue is served again when it has gone
            return False
        # With nothing running there is nothing to wait for: the launch itself will say what is wrong.
        if self._count > 0 and not self._has_memory():
            return False
        self._starting += 1
        return True

    def _has_memory(self) -> bool:
        available = available_bytes()
        return available is None or available > self._options.reserve_memory_bytes

    def _refill(self, key: tuple[str, ...]) -> None:
        ready = self._ready.setdefault(key, deque())
        if self._queue:
            return  # whoever waits takes the room
        missing = self._options.warm - len(ready) - self._starting
        room = self._options.max_worlds - self._count
        for _ in range(min(missing, room)):
            if not self._closed and self._has_memory():
                self._starting += 1
                self._spawn(self._prepare(key))

    async def _prepare(self, key: tuple[str, ...]) -> None:
        try:
            world = await self._launch(key)
        except (WorldFailed, UserError):
            return  # whoever asks for a world next gets the reason
        if self._closed:
            await world.close()
            return
        self._ready.setdefault(key, deque()).append(world)
        self._serve_queue()

    def _retire(self, world: World) -> None:
        # It counts until it is gone: its memory does.
        self._closing += 1
        self._spawn(self._close_world(world))

    async def _close_world(self, world: World) -> None:
        try:
            await world.close()
        finally:
            self._closing -= 1
            self._serve_queue()
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
            self._serve_queue()  # memory may have come free

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
