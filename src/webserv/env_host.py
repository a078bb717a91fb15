"""`EnvHost`: engine, pool and browsers of this machine, from which envs are made."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

from webserv.browser.fleet import BrowserFleet, BrowserOptions
from webserv.env import EnvOptions, WebEnv
from webserv.server._linux.processes import OWNER_VARIABLE
from webserv.server.engines.interface import Engine
from webserv.server.engines.load import load_engine
from webserv.server.pool import PoolOptions, WorldPool
from webserv.server.site import StartModeName, load_site
from webserv.server.snapshot import Snapshot, ensure_snapshot


class EnvHost:
    """What the envs of one process share; an async context manager.

    ```python
    async with EnvHost(sites=("shop",), max_worlds=32) as host:
        env = host.make_env()
        observation = await env.reset(task)
    ```

    Args:
        sites: Names of the sites that tasks will need; built on entry where they are not.
        engine: ``auto`` takes the best that this host has proved to run.
        start_mode: None takes each site's fastest.
        max_worlds: Worlds at once.
        warm: Worlds kept ready; None keeps a quarter of `max_worlds`, at least one.
        browser: How browsers are started and pages observed.
        progress: Told, in a line each, what a long start is at.

    Raises:
        UnknownName: There is no such site or engine.
        MissingPrerequisite: No engine or no browser works here.
        WorldFailed: A site does not come up.
    """

    def __init__(
        self,
        *,
        sites: Sequence[str],
        engine: str = "auto",
        start_mode: StartModeName | None = None,
        max_worlds: int = 8,
        warm: int | None = None,
        browser: BrowserOptions | None = None,
        progress: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._sites = tuple(sites)
        self._engine_name = engine
        self._start_mode = start_mode
        self._pool_options = PoolOptions(
            max_worlds=max_worlds,
            warm=max(1, max_worlds // 4) if warm is None else warm,
            launch_concurrency=max(2, os.cpu_count() or 2),
        )
        self._browser_options = browser or BrowserOptions()
        self._progress = progress
        self._stack = AsyncExitStack()
        self.engine: Engine[Any]
        self.pool: WorldPool
        self.browsers: BrowserFleet

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as undo:
            snapshots: dict[str, Snapshot] = {}
            for name in self._sites:
                snapshots[name] = ensure_snapshot(load_site(name), self._progress)
            self.engine = await undo.enter_async_context(load_engine(self._engine_name))
            self._progress(
                f"starting {', '.join(self._sites) or 'no site'} with engine '{self.engine.info.name}'"
            )
            await self.engine.prepare(list(snapshots.values()), start_mode=self._start_mode)
            self.pool = await undo.enter_async_context(
                WorldPool(self.engine, snapshots, options=self._pool_options, start_mode=self._start_mode)
            )
            # The mark lets the reaper know browsers as ours; the user's own processes must not carry it.
            owner = self.engine.owner
            fleet = BrowserFleet(
                self._browser_options,
                environment={OWNER_VARIABLE: owner.id},
                scratch=owner.folder / "browsers",  # the reaper removes a dead owner's folder as a whole
            )
            self.browsers = await undo.enter_async_context(fleet)
            self._stack = undo.pop_all()
        return self

    def make_env(self, options: EnvOptions | None = None) -> WebEnv:
        """A new env; it takes a world with each reset and gives it back with the next or with `close`."""
        return WebEnv(worlds=self.pool, browsers=self.browsers, options=options)

    async def close(self) -> None:
        """Closes browsers, worlds and engine; a second call is harmless."""
        await self._stack.aclose()

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
