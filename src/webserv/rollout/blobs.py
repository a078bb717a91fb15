"""`BlobStore`: files named by the hash of what is in them, for screenshots."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from webserv.rollout.frames import refused

_SUFFIXES = {"jpeg": "jpg"}


class BlobStore:
    """Content-addressed files, ``ab/abcdef….jpg``: the same bytes are kept once.

    A file appears under its name only when it is whole, so a kill leaves at most a ``.tmp`` file, which the
    next `BlobStore` on the folder does not mind.

    Args:
        root: The folder; made with the first blob.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._seen: set[str] = set()

    def put(self, content: bytes, kind: str) -> str:
        """Stores `content` and returns its name, for instance ``abcdef….jpg``.

        Args:
            content: The bytes.
            kind: What they are, ``"png"`` or ``"jpeg"``; becomes the name's suffix.

        Raises:
            HostRefused: The disk is full or the folder cannot be written.
        """
        suffix = _SUFFIXES.get(kind, kind)
        if not suffix.isalnum():
            raise ValueError(f"'{kind}' is no kind of file.")
        name = f"{hashlib.sha256(content).hexdigest()[:40]}.{suffix}"
        if name in self._seen:
            return name
        path = self.path(name)
        if not path.exists():
            try:
                _write_whole(path, content)
            except OSError as error:
                raise refused(error, path) from error
        self._seen.add(name)
        return name

    def path(self, name: str) -> Path:
        """Where the blob of that name is."""
        return self.root / name[:2] / name


def _write_whole(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
