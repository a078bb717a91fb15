"""An append-only file of zstd frames, one record each, that survives a kill at any byte.

The file is an ordinary ``.zst`` of JSON lines (``zstdcat`` reads it). A frame carries a checksum, so a torn
or damaged one is noticed; what follows a damaged frame is found again by the frame's magic number (RFC 8878,
3.1.1).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import zstandard

from webserv.errors import HostRefused

_MAGIC = b"\x28\xb5\x2f\xfd"
_CHUNK = 1 << 18
_MAX_RECORD = 1 << 30


@dataclass(frozen=True, slots=True)
class Frame:
    """A whole frame that was read."""

    payload: bytes
    start: int
    end: int
    """Offset of the first byte after it."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes that are no whole frame: the torn tail of a killed run, or damage on disk."""

    start: int
    end: int


def read_frames(path: Path) -> Iterator[Frame | Damage]:
    """Yields all frames in order, and the damage between or after them."""
    if not path.exists():
        return
    size = path.stat().st_size
    with path.open("rb") as file:
        offset = 0
        while offset < size:
            frame = _read_frame(file.fileno(), offset)
            if frame is None:
                end = _next_frame(file.fileno(), offset + 1, size)
                yield Damage(offset, end)
                offset = end
            else:
                yield frame
                offset = frame.end


def read_frame(path: Path, start: int) -> Frame | None:
    """The whole frame that begins at `start`; None if there is none."""
    with path.open("rb") as file:
        return _read_frame(file.fileno(), start)


def _read_frame(fd: int, start: int) -> Frame | None:
    if os.pread(fd, len(_MAGIC), start) != _MAGIC:
        return None
    decoder = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
    parts: list[bytes] = []
    position, size = start, 0
    try:
        while not decoder.eof:
            chunk = os.pread(fd, _CHUNK, position)
            if not chunk:
                return None
            position += len(chunk)
            part = decoder.decompress(chunk)
            size += len(part)
            if size > _MAX_RECORD:
                return None
            parts.append(part)
    except zstandard.ZstdError:
        return None
    return Frame(b"".join(parts), start, position - len(decoder.unused_data))


def _next_frame(fd: int, start: int, size: int) -> int:
    """Offset of the next whole frame at or after `start`; `size` if there is none."""
    offset = start
    while offset < size:
        window = os.pread(fd, _CHUNK, offset)
        found = window.find(_MAGIC)
        if found < 0:
            # The magic number may straddle two windows.
            offset += max(1, len(window) - len(_MAGIC) + 1)
        elif _read_frame(fd, offset + found) is not None:
            return offset + found
        else:
            offset += found + 1
    return size


class FrameWriter:
    """Appends frames; cuts a torn tail off when it opens the file.

    Two writers would spoil each other: take a lock first.

    Args:
        path: The file; made when absent.
        level: zstd's compression level.

    Raises:
        HostRefused: The file cannot be opened, or is none.
    """

    def __init__(self, path: Path, *, level: int = 6) -> None:
        self._compressor = zstandard.ZstdCompressor(level=level, write_checksum=True)
        self._path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise refused(error, path) from error
        self._end = 0
        last: Frame | Damage | None = None
        for last in read_frames(path):
            self._end = last.end if isinstance(last, Frame) else self._end
        if isinstance(last, Damage):
            os.ftruncate(self._fd, self._end)

    def append(self, payload: bytes) -> None:
        """Adds one frame and waits until it is on disk.

        Raises:
            HostRefused: The disk is full or the file cannot be written; the file is as it was before.
        """
        frame = self._compressor.compress(payload)
        try:
            written = 0
            while written < len(frame):
                written += os.pwrite(self._fd, frame[written:], self._end + written)
            os.fdatasync(self._fd)
        except OSError as error:
            os.ftruncate(self._fd, self._end)
            raise refused(error, self._path) from error
        self._end += len(frame)

    def close(self) -> None:
        """Closes the file; a second call is harmless."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def refused(error: OSError, path: Path) -> HostRefused:
    """The one line for people about a file that could not be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return HostRefused(
            f"The disk of '{path}' is full.",
            hint="Free some space and go on with --resume; what is finished is kept.",
        )
    return HostRefused(f"Cannot write '{path}': {error.strerror or error}.")
