"""`Engine`: what makes worlds. A driver says how a clone starts in each mode; the rest is here."""

from __future__ import annotations

import asyncio
import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

from webserv.errors import MissingPrerequisite, UserError, WorldFailed
from webserv.server.gc import collect_orphans
from webserv.server.owner import Owner
from webserv.server.router import Router
from webserv.server.site import StartModeName, split_origin
from webserv.server.snapshot import Snapshot
from webserv.server.start_modes.zygote import Zygote
from webserv.server.storage.load import open_storage
from webserv.server.world import Clone, World


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What an engine can do; code asks this record, never the engine's name."""

    name: str
    isolates_network: bool
    """Whether a clone can reach nothing but its world."""
    isolates_processes: bool
    """Whether a clone can neither see nor signal what is outside its world."""
    limits_resources: bool
    start_modes: tuple[StartModeName, ...]
    """Supported ones, fastest first."""
    note: str = ""
    """What a user should know of its limits; empty when there is nothing."""


@dataclass(frozen=True, slots=True)
class EngineStatistics:
    """Counts of an engine."""

    worlds_opened: int
    worlds_open: int
    worlds_failed: int
    """Worlds that could not be opened."""


Place = TypeVar("Place")
"""What the clones of one world share, for instance a network namespace."""


class Engine(ABC, Generic[Place]):
    """Makes worlds. Use it as an async context manager or call `close`.

    Opening an engine removes what killed owners left behind.

    Raises:
        MissingPrerequisite: This host cannot run it; the hint says what mends that.
        HostRefused: The disk is full or the data folder cannot be written.
    """

    info: EngineInfo

    def __init__(self) -> None:
        self.storage = open_storage()
        try:
            self.owner = Owner()
        except UserError:
            self.storage.close()
            raise
        try:
            collect_orphans(self.storage.clones)
        except BaseException:
            self._release()
            raise
        self._numbers = itertools.count(1)
        self._worlds: set[World] = set()
        self._opened = 0
        self._failed = 0
        self._closed = False
        self._preparing = asyncio.Lock()
        self._zygotes: dict[str, Zygote] = {}
        """By snapshot name."""

    async def prepare(
        self, snapshots: Sequence[Snapshot], *, start_mode: StartModeName | None = None
    ) -> None:
        """Does what can be done ahead of the first clone, for instance starts zygotes.

        Raises:
            WorldFailed: The site does not come up.
        """
        for snapshot in snapshots:
            mode = self.choose_start_mode(snapshot, start_mode)
            async with self._preparing:
                if not snapshot.data(self.storage).is_dir():
                    raise UserError(
                        f"The pool at '{self.storage.info.root}' does not hold snapshot '{snapshot.name}'.",
                        hint="Run 'webserv setup'.",
                    )
                if mode == "zygote":
                    await self._ensure_zygote(snapshot)

    async def _ensure_zygote(self, snapshot: Snapshot) -> None:
        zygote = self._zygotes.get(snapshot.name)
        if zygote is not None and zygote.alive:
            return
        if zygote is not None:
            await (
                zygote.close()
            )  # it died or hangs; its clones end with it, and the next ones get a new parent
        self._zygotes[snapshot.name] = await self._start_zygote(snapshot)

    async def open_world(
        self, snapshots: Sequence[Snapshot], *, start_mode: StartModeName | None = None, proxy_port: int = 0
    ) -> World:
        """Makes a world with a clone of each snapshot and waits until all serve.

        If it fails or is cancelled, nothing of the world stays.

        Args:
            snapshots: One for each site of the world.
            start_mode: None takes the fastest that engine and site share.
            proxy_port: Port of the world's SOCKS5 proxy; 0 takes a free one.

        Raises:
            WorldFailed: A clone did not come up.
            HostRefused: The disk is full, or the port is in use.
            MissingPrerequisite: The start mode is not to be had.
        """
        await self.prepare(snapshots, start_mode=start_mode)
        world_id = f"w{next(self._numbers)}"
        try:
            async with AsyncExitStack() as undo:
                router = Router({})
                await router.start(port=proxy_port)
                undo.push_async_callback(router.close)
                clones: dict[str, Clone] = {}
                starting = await self._start_clones(world_id, snapshots, start_mode, undo)
                for snapshot, clone in zip(snapshots, starting, strict=True):
                    clones[snapshot.site.name] = clone
                    for origin in snapshot.site.origins:
                        router.add_target(*split_origin(origin), clone.target)
                world = World(world_id, self.info.name, clones, router, self._forget)
                self._worlds.add(world)
                self._opened += 1
                undo.pop_all()
                return world
        except (OSError, WorldFailed):
            self._failed += 1
            raise

    def choose_start_mode(self, snapshot: Snapshot, wanted: StartModeName | None) -> StartModeName:
        """The start mode that a clone gets.

        Raises:
            MissingPrerequisite: Engine or site does not know `wanted`.
        """
        shared = [mode for mode in self.info.start_modes if mode in snapshot.site.start_modes]
        if wanted is None and shared:
            return shared[0]
        if wanted in shared:
            return wanted
        raise MissingPrerequisite(
            f"Engine '{self.info.name}' cannot start site '{snapshot.site.name}' by '{wanted or 'any mode'}'; "
            f"it can by: {', '.join(shared) or 'none'}."
        )

    def statistics(self) -> EngineStatistics:
        """Counts so far."""
        return EngineStatistics(self._opened, len(self._worlds), self._failed)

    async def close(self) -> None:
        """Closes all worlds and gives everything back; a second call is harmless."""
        if self._closed:
            return
        self._closed = True
        try:
            try:
                await asyncio.gather(*(world.close() for world in list(self._worlds)))
            finally:
                await self._close_modes()
        finally:
            self._release()

    def _release(self) -> None:
        self.storage.delete_owner(self.owner.id)
        self.owner.release()
        self.storage.close()

    async def _start_clones(
        self,
        world_id: str,
        snapshots: Sequence[Snapshot],
        start_mode: StartModeName | None,
        undo: AsyncExitStack,
    ) -> list[Clone]:
        place = self._make_place(undo)
        clones = []
        for snapshot in snapshots:
            mode = self.choose_start_mode(snapshot, start_mode)
            start = self._start_by_zygote if mode == "zygote" else self._start_by_boot
            clones.append(await start(f"{world_id}-{snapshot.site.name}", snapshot, place, undo))
        return clones

    @abstractmethod
    def _make_place(self, undo: AsyncExitStack) -> Place:
        """Makes what the clones of a new world share; registers on `undo` what takes it back."""

    @abstractmethod
    async def _start_zygote(self, snapshot: Snapshot) -> Zygote:
        """Starts a zygote and waits until it is loaded."""

    @abstractmethod
    async def _start_by_zygote(
        self, name: str, snapshot: Snapshot, place: Place, undo: AsyncExitStack
    ) -> Clone:
        """Forks a serving clone; registers on `undo` what takes each step back."""

    @abstractmethod
    async def _start_by_boot(
        self, name: str, snapshot: Snapshot, place: Place, undo: AsyncExitStack
    ) -> Clone:
        """Boots a serving clone; registers on `undo` what takes each step back."""

    def _zygote_log(self, snapshot: Snapshot) -> Path:
        return self.owner.log_path(f"zygote-{snapshot.site.name}")

    async def _close_modes(self) -> None:
        """Ends the zygotes and what else serves all worlds; called after all worlds are closed."""
        await asyncio.gather(*(zygote.close() for zygote in self._zygotes.values()))

    async def _forget(self, world: World) -> None:
        self._worlds.discard(world)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Engine {self.info.name} worlds={len(self._worlds)} {'closed' if self._closed else 'open'}>"
