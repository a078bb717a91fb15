"""A process tree in a bubblewrap sandbox, and what surrounds the sandbox of a booted clone."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from webserv.errors import WorldFailed
from webserv.server._linux.mounts import overlay_options
from webserv.server._linux.namespaces import NetworkNamespace
from webserv.server._linux.processes import OWNER_VARIABLE, ProcessHandle
from webserv.server.engines import sandbox
from webserv.server.logs import last_line
from webserv.server.snapshot import Snapshot


class Sandboxed:
    """A process tree in a bubblewrap sandbox: the monitor outside and the first process inside.

    The inner one is the init of its pid namespace: once it has ended, so has everything in the sandbox.
    """

    def __init__(self, outer: asyncio.subprocess.Process, inner: ProcessHandle) -> None:
        self._outer = outer
        self._inner = inner
        self.pid = inner.pid

    @property
    def alive(self) -> bool:
        """Whether the first process inside runs."""
        return self._inner.alive

    def add_exit_callback(self, callback: Callable[[], None]) -> None:
        """Calls `callback` once when everything inside has ended; at once if it has."""
        self._inner.add_exit_callback(callback)

    async def kill(self) -> None:
        """Ends everything inside, waits for it and reaps the monitor; a second call is harmless."""
        await self._inner.kill()
        await self._outer.wait()


async def run_sandboxed(
    snapshot: Snapshot,
    *,
    prefix: Sequence[str],
    command: Sequence[str],
    environment: dict[str, str],
    binds: Sequence[tuple[str, str, str]],
    owner: str,
    log: Path,
    new_network: bool,
    pass_fds: Sequence[int] = (),
) -> Sandboxed:
    """Starts `command` in a sandbox and returns once its first process exists. Call it through `whole_or_undone`.

    Args:
        snapshot: Whose image is shown inside.
        prefix: What runs bubblewrap, for instance to mount and join things first; may be empty.
        command: What runs inside.
        environment: Set inside, beside the fixed part.
        binds: See `sandbox.bubblewrap_command`.
        owner: Owner id, found again by the reaper.
        log: Where it prints to.
        new_network: Whether the sandbox gets an empty network namespace.
        pass_fds: Descriptors that the command inherits.

    Raises:
        WorldFailed: The sandbox did not start; says what it printed last.
    """
    info_read, info_write = os.pipe()
    with tempfile.TemporaryFile() as hosts, log.open("ab") as output:
        hosts.write(sandbox.hosts_file().encode())
        hosts.seek(0)
        arguments = sandbox.bubblewrap_command(
            snapshot,
            command=command,
            environment=environment,
            binds=binds,
            hosts_fd=hosts.fileno(),
            info_fd=info_write,
            owner=owner,
            new_network=new_network,
        )
        try:
            outer = await asyncio.create_subprocess_exec(
                *prefix,
                *arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[hosts.fileno(), info_write, *pass_fds],
                env={**os.environ, OWNER_VARIABLE: owner},
            )
        except BaseException:
            os.close(info_read)
            raise
        finally:
            os.close(info_write)
    try:
        with os.fdopen(info_read, "rb") as info:
            told = await asyncio.to_thread(info.read)
        return Sandboxed(outer, ProcessHandle(os.pidfd_open(json.loads(told)["child-pid"])))
    except (ValueError, KeyError, ProcessLookupError) as exc:
        await outer.wait()
        said = last_line(log) or "no message"
        raise WorldFailed(f"The sandbox of site '{snapshot.site.name}' did not start: {said}.") from exc


async def whole_or_undone(starting: Coroutine[Any, Any, Sandboxed]) -> Sandboxed:
    """Awaits a start; a cancel in between lets it finish, which takes milliseconds, and ends what it started.

    Broken off half-way it would leave a process that nobody knows.
    """
    task = asyncio.ensure_future(starting)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if task.exception() is None:
            await task.result().kill()
        raise


def prepare_boot(
    *,
    lower: Path,
    upper: Path,
    work: Path,
    merged: Path,
    namespace: NetworkNamespace,
    groups: Sequence[Path],
) -> list[str]:
    """A command prefix that joins groups and network and mounts the overlay where nobody else sees it.

    Groups and namespace are named by path, so that the site inherits no descriptor of the host's.
    """
    joins = "".join(f"echo 0 > '{group}/cgroup.procs'; " for group in groups)
    script = f'{joins}mount -t overlay overlay -o "$0" "$1" && shift && exec "$@"'
    options = overlay_options(lower=str(lower), upper=str(upper), work=str(work))
    enter = ["nsenter", f"--net=/proc/{os.getpid()}/fd/{namespace.fileno()}", "--"]
    private = ["unshare", "--mount", "--propagation", "private", "--"]
    return [*enter, *private, "sh", "-c", script, options, str(merged)]
