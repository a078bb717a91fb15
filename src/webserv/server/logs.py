"""What site processes print, read for a failure's message."""

from __future__ import annotations

from pathlib import Path

_TAIL_BYTES = 4096
_LONGEST_LINE = 300


def last_line(log: Path) -> str:
    """The last line that is not empty, shortened; empty when there is none. Reads no more than the file's end."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:_LONGEST_LINE] if lines else ""
