"""Removes what killed owners left: processes, control groups, layers, an unused loop pool, half-made files."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from webserv.paths import data_home, run_dir, snapshots_dir
from webserv.server._linux import cgroups, processes
from webserv.server._linux.mounts import is_mounted
from webserv.server.owner import home_tag, is_owner_alive, owners_dir
from webserv.server.site import list_sites, load_site
from webserv.server.snapshot import list_outdated
from webserv.server.storage.load import open_storage
from webserv.server.storage.loop import unmount_if_unused


@dataclass(frozen=True, slots=True)
class GcReport:
    """What was removed."""

    owners: int = 0
    processes: int = 0
    layers: int = 0
    groups: int = 0
    outdated: int = 0
    """Images and snapshots of earlier versions."""
    unmounted: bool = False

    def __str__(self) -> str:
        return (
            f"removed {self.owners} dead owners, {self.processes} processes, {self.layers} layers, "
            f"{self.groups} control groups, {self.outdated} outdated images and snapshots"
            + ("; pool unmounted" if self.unmounted else "")
        )


def collect(*, outdated: bool = False) -> GcReport:
    """Removes what dead owners left and unmounts the pool if nobody uses it.

    Args:
        outdated: Also remove images and snapshots that no present site file asks for.
    """
    if not run_dir().exists() and not snapshots_dir().exists():
        return GcReport()  # nothing was ever made here, and gc is not the one to make a pool
    was_mounted = _is_pool_mounted()
    with closing(open_storage()) as storage:
        owners, killed, layers, groups = collect_orphans(storage.clones)
        old = _remove_outdated(storage.snapshots) if outdated else 0
    unmount_if_unused(data_home())
    return GcReport(owners, killed, layers, groups, old, was_mounted and not _is_pool_mounted())


def collect_orphans(clones: Path) -> tuple[int, int, int, int]:
    """Removes what dead owners left in an open pool; every engine calls it when it starts.

    Returns:
        Numbers of owners, processes, layers and control groups that were removed.
    """
    all_groups = cgroups.list_owners() if sys.platform == "linux" else {}
    groups_by_owner = {
        name: groups for name, groups in all_groups.items() if name.startswith(f"{home_tag()}-")
    }
    names = {folder.name for folder in _folders(owners_dir())}
    names |= {folder.name for folder in _folders(clones)} | set(groups_by_owner)
    dead = [name for name in names if not is_owner_alive(name)]
    killed = layers = groups = 0
    for name in dead:
        killed += _kill_processes(name)
        for group in groups_by_owner.get(name, []):
            # A member that we cannot end (of another pid namespace, on v1) keeps its group; the rest goes.
            with contextlib.suppress(OSError):
                cgroups.delete_group(group)
                groups += 1
        layers += len(_folders(clones / name))
        shutil.rmtree(clones / name, ignore_errors=True)
        shutil.rmtree(owners_dir() / name, ignore_errors=True)
    return len(dead), killed, layers, groups


def _kill_processes(owner: str) -> int:
    pids = processes.processes_of_owner(owner) if sys.platform == "linux" else []
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 2.0
    while any(Path(f"/proc/{pid}/exe").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.005)  # a layer must not be removed under a process that is still ending
    return len(pids)


def _remove_outdated(snapshots: Path) -> int:
    removed = 0
    for name in list_sites():
        site = load_site(name)
        for folder in list_outdated(site):
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
    for folder in _folders(snapshots):
        if not (snapshots_dir() / folder.name / "snapshot.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
    return removed


def _is_pool_mounted() -> bool:
    return sys.platform == "linux" and is_mounted(data_home() / "pool")


def _folders(parent: Path) -> list[Path]:
    try:
        return [entry for entry in parent.iterdir() if entry.is_dir()]
    except FileNotFoundError:
        return []
