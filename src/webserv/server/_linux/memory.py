"""How much memory is left."""

from __future__ import annotations

from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")


def available_bytes(meminfo: Path = Path("/proc/meminfo"), groups: Path = CGROUPS) -> int | None:
    """Memory that can be had without swapping, None where it is unknown.

    The host's MemAvailable (proc_meminfo(5)), or what a container's limit leaves of it if that is less.
    """
    try:
        lines = meminfo.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    available = next(
        (int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None
    )
    if available is None:
        return None
    for limit, usage in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        left = _left(groups / limit, groups / usage)
        if left is not None:
            available = min(available, left)
    return available


def _left(limit: Path, usage: Path) -> int | None:
    try:
        most, used = limit.read_text(encoding="ascii").strip(), usage.read_text(encoding="ascii").strip()
    except OSError:
        return None
    # v2 writes "max" and v1 a number near 2**63 where there is no limit.
    return max(0, int(most) - int(used)) if most.isdigit() and int(most) < 1 << 60 else None
