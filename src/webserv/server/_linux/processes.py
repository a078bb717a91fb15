"""Processes by pidfd, so that a number that was given to another process is never signalled."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from webserv.server._linux.namespaces import set_parent_death_signal

OWNER_VARIABLE = "WEBSERV_OWNER"
"""Every process that WebServ starts carries this variable; the reaper finds strays by it."""


class ProcessHandle:
    """A process that may be a descendant of somebody else, in any pid namespace.

    Args:
        pidfd: From pidfd_open(2); this object owns it.
    """

    def __init__(self, pidfd: int) -> None:
        self._pidfd = pidfd
        self.pid = _pid_of(pidfd)
        """Number in this process's pid namespace."""
        self._exited = asyncio.Event()
        self._callbacks: list[Callable[[], None]] = []
        self._loop = asyncio.get_running_loop()
        # A pidfd becomes readable when its process has ended, whoever reaps it (pidfd_open(2)).
        self._loop.add_reader(pidfd, self._on_exit)

    @property
    def alive(self) -> bool:
        """Whether the process runs, as far as the event loop has heard."""
        return not self._exited.is_set()

    def add_exit_callback(self, callback: Callable[[], None]) -> None:
        """Calls `callback` once when the process ends; at once if it has."""
        if self.alive:
            self._callbacks.append(callback)
        else:
            callback()

    async def kill(self) -> None:
        """Ends the process by SIGKILL and waits until it has ended; a second call is harmless.

        A process that is the init of its pid namespace takes everything in the namespace with it.
        """
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            await self._exited.wait()

    def _on_exit(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        self._exited.set()
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def __repr__(self) -> str:
        return f"<ProcessHandle pid={self.pid} {'alive' if self.alive else 'ended'}>"


def die_with_parent() -> None:
    """Asks for SIGKILL when the thread that made this process ends; for `subprocess.Popen(preexec_fn=…)`.

    Elsewhere than on Linux it does nothing.
    """
    if sys.platform == "linux":
        set_parent_death_signal(signal.SIGKILL)


def _pid_of(pidfd: int) -> int:
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text(encoding="ascii").splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    raise OSError(f"file descriptor {pidfd} is no pidfd")


def memory_pss_bytes(pid: int) -> int:
    """Proportional set size of one process (proc_pid_smaps(5)); shared pages count by their share."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def process_tree(pid: int) -> list[int]:
    """`pid` and its descendants, as far as they still are."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                found.extend(int(child) for child in (task / "children").read_text().split())
    return found


def processes_of_owner(owner: str) -> list[int]:
    """Processes, not this one, whose environment names `owner`."""
    needle = f"{OWNER_VARIABLE}={owner}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found
