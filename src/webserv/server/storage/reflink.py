"""Copies that share blocks: FICLONE on Linux, clonefile on macOS, else a plain copy."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import sys
import tempfile
from pathlib import Path

_FICLONE = 0x40049409
"""ioctl_ficlonerange(2)."""


def has_reflink(folder: Path) -> bool:
    """Whether files in `folder` can share blocks, found out by doing it."""
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".reflink-") as name:
            source = Path(name, "a")
            source.write_bytes(b"x" * 4096)
            return clone_file(source, Path(name, "b"))
    except OSError:
        return False


def clone_file(source: Path, target: Path) -> bool:
    """Copies a file so that it shares blocks; returns False, leaving nothing, where that cannot be done."""
    if sys.platform == "darwin":
        # clonefile(2): copies attributes too; fails on other file systems than APFS.
        libc = ctypes.CDLL(None, use_errno=True)
        return bool(libc.clonefile(os.fsencode(source), os.fsencode(target), 0) == 0)
    import fcntl

    try:
        with source.open("rb") as reading, target.open("xb") as writing:
            fcntl.ioctl(writing.fileno(), _FICLONE, reading.fileno())
    except OSError:
        with contextlib.suppress(FileNotFoundError):
            target.unlink()
        return False
    shutil.copystat(source, target)
    return True


def copy_file(source: str, target: str) -> str:
    """`shutil.copytree`'s copy function: shares blocks where the disk can."""
    if not clone_file(Path(source), Path(target)):
        shutil.copy2(source, target)
    return target


def copy_tree(source: Path, target: Path) -> None:
    """Copies a folder, sharing blocks where the disk can; `target` must not exist."""
    shutil.copytree(source, target, symlinks=True, copy_function=copy_file)
