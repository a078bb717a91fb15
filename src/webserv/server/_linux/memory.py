"""How much memory is left."""

from __future__ import annotations

from pathlib import Path


def available_bytes(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Memory that can be had without swapping (proc_meminfo(5), MemAvailable); a large number where it is unknown."""
    try:
        for line in meminfo.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 1 << 60
