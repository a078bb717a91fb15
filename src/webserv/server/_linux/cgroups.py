"""Resource limits by cgroup v2, v1, or the hybrid of both.

A group is a folder ``webserv/<owner>/<clone>`` in each hierarchy that has the controllers we need. Everything is found
again from the file system, so that a crashed owner's groups can be removed by another process.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
_CONTROLLERS = ("memory", "pids", "cpu")


@dataclass(frozen=True, slots=True)
class Hierarchies:
    """Where this host's controllers are."""

    version: int
    """2 (pure), 1 (v1, also in hybrid mode) or 0 (none usable)."""
    roots: tuple[Path, ...]
    """Folders to make groups in: one for v2, one for each controller for v1."""
    controllers: tuple[str, ...]


def find_hierarchies(root: Path = ROOT) -> Hierarchies:
    """Looks where memory, pids and cpu can be limited; hybrid hosts have them in v1."""
    if (root / "cgroup.controllers").exists():
        available = (root / "cgroup.controllers").read_text(encoding="ascii").split()
        wanted = tuple(name for name in _CONTROLLERS if name in available)
        usable = os.access(root / "cgroup.subtree_control", os.W_OK) and bool(wanted)
        return Hierarchies(2, (root,), wanted) if usable else Hierarchies(0, (), ())
    wanted = tuple(name for name in _CONTROLLERS if os.access(root / name / "cgroup.procs", os.W_OK))
    return Hierarchies(1, tuple(root / name for name in wanted), wanted) if wanted else Hierarchies(0, (), ())


class ControlGroup:
    """Limits of one clone.

    Args:
        name: ``<owner>/<clone>``.
        memory_bytes: Above it the kernel ends a process of the group.
        pids: Above it fork fails inside the group.
        cpus: Processors' worth of time, for instance 1.5.

    Raises:
        OSError: A folder or limit could not be written.
    """

    def __init__(
        self, name: str, *, memory_bytes: int, pids: int, cpus: float, where: Hierarchies | None = None
    ) -> None:
        where = where or find_hierarchies()
        self.folders: list[Path] = []
        settings = _v2_settings if where.version == 2 else _v1_settings
        for root in where.roots:
            folder = root / "webserv" / name
            if where.version == 2:
                _delegate(root, folder, where.controllers)
            folder.mkdir(parents=True, exist_ok=True)
            self.folders.append(folder)
            for file, value in settings(memory_bytes, pids, cpus):
                if (folder / file).exists():
                    (folder / file).write_text(value, encoding="ascii")

    def open_entries(self) -> list[int]:
        """File descriptors through which a process joins by writing ``0``; the caller closes them."""
        return [os.open(folder / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC) for folder in self.folders]

    def delete(self) -> None:
        """Removes the group, ending what still runs in it; a second call is harmless."""
        for folder in self.folders:
            delete_group(folder)
        self.folders = []


def prove_limits(name: str, root: Path = ROOT) -> tuple[Hierarchies, str]:
    """Finds hierarchies in which a group can really be made, by making and removing one called `name`.

    In a container with a cgroup namespace of its own, v2 refuses: a group that holds processes cannot hand controllers
    down (cgroup-v2.rst, "No Internal Process Constraint").

    Returns:
        The hierarchies, of version 0 if there are none, and then the reason.
    """
    found = find_hierarchies(root)
    if found.version == 0:
        return found, "no memory, pids or cpu controller is writable"
    try:
        ControlGroup(name, memory_bytes=1 << 30, pids=64, cpus=1.0, where=found).delete()
    except OSError as exc:
        return Hierarchies(0, (), ()), f"{exc.filename or root}: {exc.strerror}"
    return found, ""


def delete_group(folder: Path, *, timeout_s: float = 2.0) -> None:
    """Ends the processes of a group and of those below it and removes them all."""
    if not folder.exists():
        return
    for below in [entry for entry in folder.iterdir() if entry.is_dir()]:
        delete_group(below, timeout_s=timeout_s)
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError as exc:
            if exc.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
            _kill_members(folder)
            time.sleep(0.002)  # the kernel takes a moment to let a dead process go from its group
        else:
            return


def list_owners() -> dict[str, list[Path]]:
    """Folders by owner, over all hierarchies."""
    owners: dict[str, list[Path]] = {}
    for root in find_hierarchies().roots:
        with contextlib.suppress(FileNotFoundError):
            for folder in (root / "webserv").iterdir():
                if folder.is_dir():
                    owners.setdefault(folder.name, []).append(folder)
    return owners


def _kill_members(folder: Path) -> None:
    if (folder / "cgroup.kill").exists():  # v2 since Linux 5.14; also reaches members of other pid namespaces
        (folder / "cgroup.kill").write_text("1", encoding="ascii")
        return
    with contextlib.suppress(OSError):
        for pid in (folder / "cgroup.procs").read_text(encoding="ascii").split():
            # A member outside our pid namespace is listed as 0, and kill(0) would mean our own process group.
            if int(pid) > 0:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)


def _delegate(root: Path, folder: Path, controllers: tuple[str, ...]) -> None:
    # v2 passes a controller down one level at a time (cgroup-v2.rst, "Top-down Constraint").
    wanted = " ".join(f"+{name}" for name in controllers)
    level = root
    for part in folder.relative_to(root).parts:
        (level / "cgroup.subtree_control").write_text(wanted, encoding="ascii")
        level = level / part
        level.mkdir(exist_ok=True)


def _v2_settings(memory_bytes: int, pids: int, cpus: float) -> list[tuple[str, str]]:
    return [
        ("memory.max", str(memory_bytes)),
        ("memory.swap.max", "0"),
        ("pids.max", str(pids)),
        ("cpu.max", f"{int(cpus * 100_000)} 100000"),
    ]


def _v1_settings(memory_bytes: int, pids: int, cpus: float) -> list[tuple[str, str]]:
    return [
        ("memory.limit_in_bytes", str(memory_bytes)),
        ("pids.max", str(pids)),
        ("cpu.cfs_period_us", "100000"),
        ("cpu.cfs_quota_us", str(int(cpus * 100_000))),
    ]
