"""`Storage`: the folder with snapshots and clone layers, on one file system so that a first write shares blocks."""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from webserv.errors import HostRefused

_MINIMUM_FREE_BYTES = 256 * 1024 * 1024
"""Below this a clone is refused: a loop pool on a full disk would answer writes with I/O errors."""


@dataclass(frozen=True, slots=True)
class StorageInfo:
    """What a storage can do."""

    kind: str
    """``reflink`` (an existing folder), ``loop`` (a file of ours, mounted) or ``plain``."""
    root: Path
    copy_on_write: bool
    """Whether a copied file shares its blocks until written."""
    note: str = ""
    """What a lack costs, for people; empty when there is none."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The writable files of one clone."""

    folder: Path
    upper: Path
    work: Path


class Storage:
    """An open pool. `close` gives it back; a loop pool is unmounted when its last user has gone."""

    def __init__(self, info: StorageInfo) -> None:
        self.info = info

    @property
    def snapshots(self) -> Path:
        """Folder of snapshot data."""
        return self.info.root / "snapshots"

    @property
    def clones(self) -> Path:
        """Folder of clone layers, one folder for each owner."""
        return self.info.root / "clones"

    def create_layer(self, owner: str, name: str, *, uid: int) -> Layer:
        """Makes an empty layer whose root belongs to `uid`.

        Raises:
            HostRefused: The disk is full.
        """
        self.check_free()
        folder = self.clones / owner / name
        layer = Layer(folder, folder / "upper", folder / "work")
        try:
            layer.upper.mkdir(parents=True)
            layer.work.mkdir()
            os.chown(layer.upper, uid, uid)
        except OSError as exc:
            shutil.rmtree(folder, ignore_errors=True)
            raise refused(exc, self.info.root) from exc
        return layer

    def delete_layer(self, layer: Layer) -> None:
        """Removes a layer; a second call is harmless."""
        shutil.rmtree(layer.folder, ignore_errors=True)

    def delete_owner(self, owner: str) -> None:
        """Removes all layers of an owner."""
        shutil.rmtree(self.clones / owner, ignore_errors=True)

    def check_free(self) -> None:
        """Raises `HostRefused` when less than 256 MiB are free, here or under a loop file."""
        for folder in {self.info.root, self.info.root.parent}:
            free = shutil.disk_usage(folder).free
            if free < _MINIMUM_FREE_BYTES:
                raise HostRefused(
                    f"The disk under '{folder}' is full ({free // 2**20} MiB free).",
                    hint="Free some space, run 'webserv gc', or set WEBSERV_HOME to a larger disk.",
                )

    def close(self) -> None:
        """Gives the storage back; a second call is harmless."""


def refused(exc: OSError, where: Path) -> HostRefused:
    """The user's error for an operating system error in the pool."""
    if exc.errno in (errno.ENOSPC, errno.EDQUOT):
        return HostRefused(f"The disk under '{where}' is full.", hint="Free some space or run 'webserv gc'.")
    return HostRefused(f"'{where}' cannot be used: {exc.strerror or exc}.")
