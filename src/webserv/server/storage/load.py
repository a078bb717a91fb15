"""Chooses the storage of this host."""

from __future__ import annotations

import os
from pathlib import Path

from webserv.errors import HostRefused, MissingPrerequisite
from webserv.paths import data_home
from webserv.server.storage.interface import Storage, StorageInfo, refused
from webserv.server.storage.loop import LoopStorage
from webserv.server.storage.reflink import has_reflink

PLAIN_NOTE = (
    "this disk cannot share blocks between files: the first write to a file copies all of it. "
    "Use XFS or btrfs, or run as root with xfsprogs installed for a loop pool."
)


def open_storage() -> Storage:
    """Opens the pool: a named folder, a reflink folder, a loop file, or a plain folder, the first that works.

    ``WEBSERV_POOL`` names a folder, best on XFS or btrfs.

    Raises:
        HostRefused: The folder cannot be written, or the disk is full.
    """
    home = data_home()
    named = os.environ.get("WEBSERV_POOL")
    folder = Path(named).expanduser().absolute() if named else home / "pool"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if named or not _loop_pool_exists(home):
            if has_reflink(folder):
                return _open_folder(folder, "reflink")
            if named or os.geteuid() != 0:
                return _open_folder(folder, "plain")
    except OSError as exc:
        raise refused(exc, folder) from exc
    try:
        return LoopStorage(home)
    except (MissingPrerequisite, HostRefused):
        # A pool that was made and cannot be mounted is an error; one that never was is only a loss of speed.
        if _loop_pool_exists(home):
            raise
        return _open_folder(folder, "plain")


def _loop_pool_exists(home: Path) -> bool:
    return (home / "pool.img").exists() and os.geteuid() == 0


def _open_folder(folder: Path, kind: str) -> Storage:
    shares = kind == "reflink"
    storage = Storage(StorageInfo(kind, folder, copy_on_write=shares, note="" if shares else PLAIN_NOTE))
    storage.snapshots.mkdir(exist_ok=True)
    storage.clones.mkdir(exist_ok=True)
    return storage
