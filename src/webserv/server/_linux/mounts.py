"""mount(2) and umount2(2), and what is mounted."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 0x2

_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Mounts `source` on `target`.

    Raises:
        OSError: With mount(2)'s errno; EINVAL for an overlay is explained in the kernel log only.
    """
    result = _libc.mount(source.encode(), target.encode(), kind.encode(), flags, options.encode())
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount {kind} on {target} ({options}): {os.strerror(number)}")


def unmount(target: str, flags: int = 0) -> None:
    """Unmounts `target`; MNT_DETACH lets it go as soon as nobody uses it."""
    if _libc.umount2(target.encode(), flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"umount {target}: {os.strerror(number)}")


def mount_overlay(*, lower: str, upper: str, work: str, target: str) -> None:
    """Mounts an overlay. `upper` and `work` must lie under one mount (kernel: overlayfs.rst).

    ``xino=off`` and ``index=off`` are the defaults of most kernels, stated because a shared lower layer under many
    uppers must not be indexed. ``volatile`` skips syncs: a clone does not outlive its processes.
    """
    options = overlay_options(lower=lower, upper=upper, work=work)
    mount("overlay", target, "overlay", MS_NOSUID | MS_NODEV, options)


def overlay_options(*, lower: str, upper: str, work: str) -> str:
    """Mount options of a clone's overlay."""
    return f"lowerdir={lower},upperdir={upper},workdir={work},index=off,xino=off,volatile"


def mount_points_below(folder: str) -> list[str]:
    """Where something is mounted below `folder`, outermost first, as this process sees it."""
    return [fields[1] for fields in _mount_table() if fields[1].startswith(f"{folder.rstrip('/')}/")]


def cover_with_tmpfs(folder: str, options: str) -> None:
    """Mounts an empty tmpfs on `folder`; what is mounted below `folder` stays where it is, with its flags."""
    # A descriptor still leads to a mount that has been covered.
    held = [(point, os.open(point, os.O_PATH | os.O_CLOEXEC)) for point in mount_points_below(folder)]
    mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, options)
    for point, fd in held:
        Path(point).mkdir(parents=True, exist_ok=True)
        mount(f"/proc/self/fd/{fd}", point, "none", MS_BIND)
        os.close(fd)


def is_mounted(target: Path) -> bool:
    """Whether something is mounted exactly at `target`, as this process sees it."""
    wanted = str(target)
    return any(fields[1] == wanted for fields in _mount_table())


def _mount_table() -> list[list[str]]:
    # A thread may be in a mount namespace of its own.
    lines = Path("/proc/thread-self/mounts").read_text(encoding="utf-8").splitlines()
    return [[_unescape(field) for field in line.split(" ")] for line in lines]


def _unescape(field: str) -> str:
    # The kernel writes space, tab, newline and backslash in octal (fs/proc_namespace.c).
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field
