"""A reflink pool in a sparse file: XFS on a loop device, mounted while somebody uses it.

Every user holds a shared lock on ``pool.users.lock``. The last one to leave finds that it can have the lock alone and
unmounts; the kernel then frees the loop device by itself (autoclear). Locks go with their process, so a killed user
holds nothing back, and `unmount_if_unused` (``webserv gc``) does what it could not do.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from webserv.errors import HostRefused, MissingPrerequisite
from webserv.server._linux import mounts
from webserv.server.storage.interface import Storage, StorageInfo

_LARGEST_BYTES = 512 * 2**30
_SMALLEST_BYTES = 2**30


class LoopStorage(Storage):
    """The pool in ``<home>/pool.img``, mounted at ``<home>/pool``.

    Raises:
        MissingPrerequisite: No mkfs.xfs.
        HostRefused: The kernel refuses the mount, or the disk is too small.
    """

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._home = home
        with _mount_lock(home):
            if not mounts.is_mounted(home / "pool"):
                _mount(home)
            self._users = os.open(home / "pool.users.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._users, fcntl.LOCK_SH)
        super().__init__(StorageInfo("loop", home / "pool", copy_on_write=True))
        self.snapshots.mkdir(exist_ok=True)
        self.clones.mkdir(exist_ok=True)

    def close(self) -> None:
        """Leaves the pool and unmounts it if nobody else is in it."""
        if self._users < 0:
            return
        with _mount_lock(self._home):
            os.close(self._users)
            self._users = -1
            _unmount_if_unused(self._home)


def unmount_if_unused(home: Path) -> bool:
    """Unmounts a pool that no living process uses; says whether it did."""
    if not (home / "pool.img").exists():
        return False
    with _mount_lock(home):
        return _unmount_if_unused(home)


def _unmount_if_unused(home: Path) -> bool:
    if not mounts.is_mounted(home / "pool"):
        return False
    users = os.open(home / "pool.users.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        mounts.unmount(str(home / "pool"), mounts.MNT_DETACH)
    except BlockingIOError:
        return False
    finally:
        os.close(users)
    return True


def _mount(home: Path) -> None:
    image = home / "pool.img"
    fresh = not image.exists()
    if fresh:
        _make_file_system(image)
    (home / "pool").mkdir(exist_ok=True)
    # mount(8) reuses the loop device if the file already has one, so that two mounts never are two file systems.
    command = [
        "mount",
        "-t",
        "xfs",
        "-o",
        "loop,noatime,discard,nosuid,nodev,nouuid",
        str(image),
        str(home / "pool"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        if fresh:
            # A root that may not mount (an unprivileged container) goes on with a plain folder.
            image.unlink()
        raise HostRefused(
            f"The pool '{image}' cannot be mounted: {' '.join(done.stderr.split())}.",
            hint="Run 'webserv doctor', or set WEBSERV_POOL to a folder on XFS or btrfs.",
        )


def _make_file_system(image: Path) -> None:
    if not shutil.which("mkfs.xfs"):
        raise MissingPrerequisite("mkfs.xfs is missing.", hint="apt-get install xfsprogs")
    size = min(_LARGEST_BYTES, int(shutil.disk_usage(image.parent).free * 0.9))
    if size < _SMALLEST_BYTES:
        raise HostRefused(
            f"The disk under '{image.parent}' has less than 1 GiB free.",
            hint="Set WEBSERV_HOME to a larger disk.",
        )
    new = image.with_suffix(".new")
    with new.open("wb") as file:
        file.truncate(size)
    command = ["mkfs.xfs", "-q", "-f", "-K", "-m", "reflink=1", str(new)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        new.unlink()
        raise HostRefused(f"mkfs.xfs failed on '{image}': {' '.join(done.stderr.split())}.")
    new.rename(image)


@contextmanager
def _mount_lock(home: Path) -> Iterator[None]:
    with (home / "pool.mount.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
