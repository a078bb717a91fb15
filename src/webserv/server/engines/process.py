"""The `process` engine: private copies of the data folder and ordinary processes on loopback ports.

It needs no privileges, no mounts and no namespaces, so it runs in unprivileged containers and on macOS. It
separates data, not privileges: a clone runs as the user who started it, sees that user's files, can reach
the network and other clones' ports, and has no limits. Sites that are trusted (the built-in ones) are no
worse off for it: the router and the canonical origins are the native engine's, so episodes are the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeVar

import webserv
from webserv.errors import HostRefused, WorldFailed
from webserv.server._linux.processes import ProcessHandle
from webserv.server.engines import launcher
from webserv.server.engines.interface import Engine, EngineInfo
from webserv.server.engines.sandbox import fixed_environment
from webserv.server.router import LoopbackTarget
from webserv.server.snapshot import Snapshot
from webserv.server.start_modes.boot import wait_ready
from webserv.server.start_modes.zygote import Zygote, preloader_arguments, wait_status
from webserv.server.storage.interface import refused
from webserv.server.storage.reflink import copy_tree
from webserv.server.world import Clone

T = TypeVar("T")

NOTE = (
    "the process engine separates data, not privileges: clones run as you, without limits, "
    "and can reach your files and the network"
)

_LOG = logging.getLogger("webserv.server")


class ProcessEngine(Engine[None]):
    """Makes worlds of plain processes."""

    def __init__(self) -> None:
        super().__init__()
        self.info = EngineInfo(
            name="process",
            isolates_network=False,
            isolates_processes=False,
            limits_resources=False,
            # A zygote's clones are no children of ours: without pidfds (Linux 5.3) their end would go
            # unnoticed.
            start_modes=("zygote", "boot") if _has_pidfds() else ("boot",),
            note=NOTE,
        )
        _LOG.warning("%s", NOTE)
        # Closed by the kernel when this process ends, however it ends: `launcher` waits for that.
        self._lifeline, self._held = os.pipe()
        # The preloader finds this package here, and nothing else of our environment.
        self._library = self.owner.folder / "lib"
        self._library.mkdir()
        (self._library / "webserv").symlink_to(Path(webserv.__file__).parent)

    def _make_place(self, undo: AsyncExitStack) -> None:
        """Clones share nothing but this machine's loopback."""

    async def _close_modes(self) -> None:
        await super()._close_modes()
        for end in (self._lifeline, self._held):
            os.close(end)
        await _to_the_end(lambda: shutil.rmtree(self.storage.clones / self.owner.id, ignore_errors=True))

    async def _start_by_zygote(
        self, name: str, snapshot: Snapshot, place: None, undo: AsyncExitStack
    ) -> Clone:
        folder, delete = await self._copy(name, snapshot, undo)
        data = folder / "data"
        request = {
            "isolate": False,
            "hostname": snapshot.site.name,
            "data": str(data),
            "uid": os.getuid(),
            "overlay": None,
        }
        log = self.owner.log_path(name)
        status_read, status_write = os.pipe()
        # The socket listens before the clone exists: a connection made early waits in its backlog.
        with socket.create_server(("127.0.0.1", 0), backlog=128) as listening, log.open("ab") as output:
            target = LoopbackTarget(listening.getsockname()[1])
            try:
                fds = [listening.fileno(), status_write, output.fileno()]
                pid, pidfd = await self._zygotes[snapshot.name].fork(request, fds)
            except BaseException:
                os.close(status_read)
                raise
            finally:
                os.close(status_write)
        assert pidfd is not None
        handle = ProcessHandle(pidfd)
        process = ProcessGroup(pid)
        handle.add_exit_callback(process.on_exit)
        undo.push_async_callback(process.kill)
        await wait_status(status_read, snapshot.site.name)
        return Clone(
            snapshot=snapshot,
            start_mode="zygote",
            process=process,
            target=target,
            data=data,
            private_files=False,
            delete_files=delete,
            log=log,
        )

    async def _start_by_boot(self, name: str, snapshot: Snapshot, place: None, undo: AsyncExitStack) -> Clone:
        site = snapshot.site
        folder, delete = await self._copy(name, snapshot, undo)
        data = folder / "data"
        log = self.owner.log_path(name)
        with _free_port() as port:
            target = LoopbackTarget(port)
            values = {
                "data": str(data),
                "image": str(snapshot.image),
                "address": target.address[0],
                "port": str(port),
            }
            environment = {key: value.format_map(values) for key, value in site.boot.environment.items()}
            process = await self._launch(
                snapshot,
                [part.format_map(values) for part in site.boot.command],
                self._environment(snapshot, folder) | environment,
                log,
            )
            group = ProcessGroup(process.pid)
            group.follow(process)
            undo.push_async_callback(group.kill)
            await wait_ready(site, target, group)
        if not group.alive:
            raise WorldFailed(f"Site '{site.name}' ended while it was starting.")
        return Clone(
            snapshot=snapshot,
            start_mode="boot",
            process=group,
            target=target,
            data=data,
            private_files=False,
            delete_files=delete,
            log=log,
        )

    async def _start_zygote(self, snapshot: Snapshot) -> Zygote:
        zygote = snapshot.site.zygote
        assert zygote is not None
        name = f"zygote-{snapshot.site.name}"
        # Warming may open databases; only a copy keeps the snapshot as it is.
        async with AsyncExitStack() as undo:
            folder, _ = await self._copy(name, snapshot, undo)
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                arguments = preloader_arguments(zygote.adapter, theirs.fileno(), zygote.threads)
                search = f"{self._library}:{snapshot.image / 'app'}"
                process = await self._launch(
                    snapshot,
                    [str(snapshot.image / zygote.python), *arguments],
                    self._environment(snapshot, folder) | {"PYTHONPATH": search} | zygote.environment,
                    self._zygote_log(snapshot),
                    pass_fds=[theirs.fileno()],
                )
            group = ProcessGroup(process.pid)

            async def stop() -> None:
                group.kill_nowait()
                await process.wait()

            parent = Zygote(snapshot.site.name, ours, stop, self._zygote_log(snapshot))
            undo.push_async_callback(parent.close)
            await parent.wait_loaded()
            # The copy goes with the owner's folder when the engine closes.
            undo.pop_all()
            return parent

    async def _launch(
        self,
        snapshot: Snapshot,
        command: Sequence[str],
        environment: dict[str, str],
        log: Path,
        *,
        pass_fds: Sequence[int] = (),
    ) -> asyncio.subprocess.Process:
        app = snapshot.image / "app"
        with log.open("ab") as output:
            return await asyncio.create_subprocess_exec(
                *[sys.executable, "-I", "-S", launcher.__file__, str(self._lifeline), *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                cwd=app if app.is_dir() else snapshot.image,
                start_new_session=True,
                pass_fds=[self._lifeline, *pass_fds],
            )

    def _environment(self, snapshot: Snapshot, folder: Path) -> dict[str, str]:
        own = {"HOME": str(folder / "tmp"), "TMPDIR": str(folder / "tmp")}
        return fixed_environment(snapshot, self.owner.id, str(folder / "data")) | own

    async def _copy(
        self, name: str, snapshot: Snapshot, undo: AsyncExitStack
    ) -> tuple[Path, Callable[[], Awaitable[None]]]:
        """Makes the clone's folder with ``data`` and ``tmp``; returns it and what removes it."""
        folder = self.storage.clones / self.owner.id / name

        async def delete() -> None:
            await _to_the_end(lambda: shutil.rmtree(folder, ignore_errors=True))

        self.storage.check_free()
        undo.push_async_callback(delete)
        await _to_the_end(lambda: _copy_data(snapshot.data(self.storage), folder))
        return folder, delete


class ProcessGroup:
    """A clone's processes: the leader of a session and what it started.

    Args:
        pid: The leader's.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._ended = asyncio.Event()
        self._callbacks: list[Callable[[], None]] = []
        self._following: asyncio.Task[int] | None = None

    @property
    def alive(self) -> bool:
        """Whether the leader runs, as far as the event loop has heard."""
        return not self._ended.is_set()

    def add_exit_callback(self, callback: Callable[[], None]) -> None:
        """Calls `callback` once when the leader ends; at once if it has."""
        if self.alive:
            self._callbacks.append(callback)
        else:
            callback()

    def follow(self, process: asyncio.subprocess.Process) -> None:
        """Hears of the leader's end from our own child."""
        self._following = asyncio.get_running_loop().create_task(process.wait())
        self._following.add_done_callback(lambda _: self.on_exit())

    def on_exit(self) -> None:
        """The leader has ended: whatever else is in the group ends too."""
        if not self.alive:
            return
        self._signal()
        self._ended.set()
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    async def kill(self) -> None:
        """Ends the group by SIGKILL and waits for its leader; a second call is harmless."""
        self.kill_nowait()
        await self._ended.wait()

    def kill_nowait(self) -> None:
        """Sends SIGKILL to the group while its leader lives."""
        if self.alive:
            self._signal()

    def _signal(self) -> None:
        # While the leader or another member lives, the kernel gives its number to nobody else.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def __repr__(self) -> str:
        return f"<ProcessGroup pid={self.pid} {'alive' if self.alive else 'ended'}>"


def _has_pidfds() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # not Linux, before 5.3, or a sandbox that does not know the call
        return False
    return True


def _copy_data(source: Path, folder: Path) -> None:
    try:
        (folder / "tmp").mkdir(parents=True)
        copy_tree(source, folder / "data")
    except shutil.Error as exc:
        # One entry for each file: (source, target, the error's text).
        _, target, reason = exc.args[0][0]
        raise HostRefused(f"'{target}' cannot be written: {reason}.", hint="Run 'webserv gc'.") from exc
    except OSError as exc:
        raise refused(exc, folder) from exc


@contextlib.contextmanager
def _free_port() -> Iterator[int]:
    """A loopback port that nobody else is given during the block.

    On Linux it is held by a bound socket that does not listen. A server that sets SO_REUSEADDR, as
    practically all do, can bind it all the same (net/ipv4/inet_connection_sock.c, inet_bind_conflict).
    Elsewhere it is only free.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        if sys.platform != "linux":
            sock.close()
        yield port


async def _to_the_end(work: Callable[[], T]) -> T:
    """Runs `work` in a thread; a cancel waits for its end, so that nothing goes on behind our back."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
