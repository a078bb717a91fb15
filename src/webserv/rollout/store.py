"""`RunStore`: the folder of one run.

```
run.json              what was asked for, with which versions, on which host
episodes.jsonl.zst    one record per line, one zstd frame per record (frames.py)
blobs/ab/abcd….jpg    screenshots, by content (blobs.py)
summary.json          what came of it (summary.py)
report/index.html     the same for people (webserv.viewer.report)
.lock                 held while a process writes here
```
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Self

from webserv.errors import HostRefused, UserError
from webserv.rollout.blobs import BlobStore
from webserv.rollout.digest import EpisodeDigest, attempt_of, digest_of
from webserv.rollout.frames import Frame, FrameWriter, read_frame, read_frames, refused
from webserv.rollout.record import EpisodeRecord

RUN_SCHEMA = 1
EPISODES = "episodes.jsonl.zst"


class RunStore:
    """A run's folder, open for writing by this process alone. A context manager.

    Make one with `RunStore.create` or `RunStore.resume`.
    """

    def __init__(
        self, root: Path, lock: int, config: Mapping[str, Any], *, made: Sequence[Path] = ()
    ) -> None:
        self.root = root
        self.config = dict(config)
        self.blobs = BlobStore(root / "blobs")
        self._lock = lock
        self._made = tuple(made)
        self._is_new = False
        self._writing = threading.Lock()
        self._episodes = FrameWriter(root / EPISODES)

    @classmethod
    def create(cls, root: Path, config: Mapping[str, Any]) -> Self:
        """Starts a run in a folder that is absent or empty.

        Args:
            root: The folder.
            config: What decides the results; plain JSON, without secrets. A resume must bring the same.

        Raises:
            UserError: There is something in the folder already.
            HostRefused: The folder cannot be written, or another process writes to it.
        """
        made = [folder for folder in (root, *root.parents) if not folder.exists()]
        try:
            root.mkdir(parents=True, exist_ok=True)
            taken = [entry.name for entry in root.iterdir() if entry.name != ".lock"]
        except OSError as error:
            raise refused(error, root) from error
        if (root / "run.json").exists():
            raise UserError(
                f"'{root}' already holds a run.", hint="Go on with it by --resume, or name another --out."
            )
        if taken:
            raise UserError(f"'{root}' is not empty (it holds '{min(taken)}').", hint="Name another --out.")
        lock = _take_lock(root)
        about = {
            "schema": RUN_SCHEMA,
            "config": dict(config),
            "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {"webserv": _version("webserv"), "playwright": _version("playwright")},
            "host": _host(),
        }
        write_json(root / "run.json", about)
        store = cls(root, lock, config, made=made)
        store._is_new = True
        return store

    @classmethod
    def resume(cls, root: Path, config: Mapping[str, Any]) -> Self:
        """Goes on with the run in `root`.

        Raises:
            UserError: There is no run, or it was made with a different config; the message names what
                differs.
            HostRefused: Another process writes to it, or its file of episodes cannot be opened.
        """
        stored = read_config(root)
        for name in [*stored, *(name for name in config if name not in stored)]:
            if stored.get(name) != config.get(name):
                raise UserError(
                    f"The run in '{root}' was made with {name} = {json.dumps(stored.get(name))}, "
                    f"not {json.dumps(config.get(name))}.",
                    hint="Resume it with the same options, or name another --out.",
                )
        return cls._open(root, config)

    @classmethod
    def _open(cls, root: Path, config: Mapping[str, Any]) -> Self:
        lock = _take_lock(root)
        try:
            return cls(root, lock, config)
        except BaseException:
            os.close(lock)
            raise

    def add(self, record: EpisodeRecord) -> None:
        """Appends a record. Blocks until it is on disk; may be called from any thread.

        Raises:
            HostRefused: The disk is full; what was stored before is whole.
        """
        line = record.to_json().encode("ascii") + b"\n"
        with self._writing:
            self._episodes.append(line)
            self._is_new = False

    def digests(self) -> dict[str, EpisodeDigest]:
        """The episodes so far, see `read_digests`."""
        return read_digests(self.root)

    def withdraw(self) -> bool:
        """Removes the run if it was created here and has no record, so that it is in no later run's way.

        Returns:
            Whether it was removed; a resumed run and one with a record are left as they are.
        """
        if not self._is_new:
            return False
        self.close()
        shutil.rmtree(self.blobs.root, ignore_errors=True)
        for name in ("run.json", EPISODES, ".lock"):
            (self.root / name).unlink(missing_ok=True)
        for folder in self._made:  # from the inside out
            with contextlib.suppress(OSError):
                folder.rmdir()
        return True

    def close(self) -> None:
        """Waits for a running `add`, closes the files and frees the folder; a second call is harmless."""
        with self._writing:
            self._episodes.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_digests(root: Path) -> dict[str, EpisodeDigest]:
    """The latest record of each episode of a run, summed up, by the episode's key.

    Torn and damaged records are left out: such an episode is simply not finished.

    Raises:
        UserError: A record is whole and yet none that this WebServ can read: it was written by another version.
    """
    latest: dict[str, EpisodeDigest] = {}
    for frame in read_frames(root / EPISODES):
        if isinstance(frame, Frame):
            try:
                digest = digest_of(EpisodeRecord.from_json(frame.payload), offset=frame.start)
            except ValueError as error:
                raise UserError(
                    f"The record at byte {frame.start} of '{root / EPISODES}' cannot be read. {error}",
                    hint="Use the version of WebServ that wrote it (run.json names it), or name another --out.",
                ) from error
            latest[digest.key] = digest
    return latest


def read_record(root: Path, offset: int) -> EpisodeRecord:
    """The record that begins at `offset` of the file of episodes (`EpisodeDigest.offset`).

    Raises:
        ValueError: There is none.
    """
    frame = read_frame(root / EPISODES, offset)
    if frame is None:
        raise ValueError(f"No record begins at byte {offset} of '{root / EPISODES}'.")
    return EpisodeRecord.from_json(frame.payload)


def iterate_records(root: Path) -> Iterator[EpisodeRecord]:
    """The latest record of each episode, one at a time, in the order in which they were written."""
    for digest in sorted(read_digests(root).values(), key=lambda digest: digest.offset):
        yield read_record(root, digest.offset)


def read_config(root: Path) -> dict[str, Any]:
    """The config that the run in `root` was made with.

    Raises:
        UserError: There is no run, or its ``run.json`` is damaged or of another version.
    """
    path = root / "run.json"
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"There is no run in '{root}'.", hint="Leave --resume out to start one.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"'{path}' cannot be read: {error}.", hint="Name another --out.") from error
    if not isinstance(about, dict):
        raise UserError(f"'{path}' describes no run: it holds a {type(about).__name__}.")
    if about.get("schema") != RUN_SCHEMA:
        raise UserError(
            f"The run in '{root}' has schema {about.get('schema')}; this WebServ reads {RUN_SCHEMA}."
        )
    config = about.get("config")
    if not isinstance(config, dict):
        raise UserError(f"'{path}' describes no run: its config is a {type(config).__name__}.")
    return config


def continued(record: EpisodeRecord, earlier: EpisodeDigest | None) -> EpisodeRecord:
    """`record` with the failures of the record that it replaces as its first attempts."""
    if earlier is None or earlier.failure is None:
        return record
    return replace(record, attempts=(*earlier.attempts, attempt_of(earlier), *record.attempts))


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Writes a small JSON file whole or not at all.

    Raises:
        HostRefused: The disk is full or the file cannot be written.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        temporary.write_text(json.dumps(content, indent=2, default=str) + "\n")
        temporary.replace(path)
    except OSError as error:
        raise refused(error, path) from error


def _take_lock(root: Path) -> int:
    """Holds the folder until the descriptor is closed, by this or by the process's death (flock(2))."""
    try:
        descriptor = os.open(root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise refused(error, root / ".lock") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise HostRefused(
            f"Another process is writing to '{root}'.", hint="Wait for it or name another --out."
        ) from error
    return descriptor


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _host() -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "cpus": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }
