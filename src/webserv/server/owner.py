"""`Owner`: the process that worlds belong to. What it leaves when it is killed is found by its id, by anyone.

An owner holds a lock on ``run/owners/<id>/lock`` for as long as it lives; the kernel lets go of it however the process
ends. Its clones' layers, control groups and processes carry the id in their path or environment.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from pathlib import Path

from webserv.paths import data_home, run_dir
from webserv.server.storage.interface import refused


class Owner:
    """Claims an id for this process.

    Raises:
        HostRefused: The data folder cannot be written.
    """

    def __init__(self) -> None:
        self.id = f"{home_tag()}-{os.getpid()}-{secrets.token_hex(4)}"
        self.folder = owners_dir() / self.id
        # Made elsewhere and moved in with its lock held, so that nobody ever sees a living owner without one.
        new = run_dir() / "new" / self.id
        try:
            owners_dir().mkdir(parents=True, exist_ok=True)
            new.mkdir(parents=True)
            self._lock = os.open(new / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            new.rename(self.folder)
        except OSError as exc:
            raise refused(exc, owners_dir()) from exc

    def log_path(self, name: str) -> Path:
        """Where a process of this owner writes what it has to say."""
        return self.folder / f"{name}.log"

    def release(self) -> None:
        """Gives the id up and removes its folder; a second call is harmless."""
        if self._lock >= 0:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


def home_tag() -> str:
    """Stands for the data folder in owner ids: control groups are the whole host's, and not all are ours to judge.

    It is drawn once and kept in the folder: two containers may call different folders by one path.
    """
    file = data_home() / "id"
    if (tag := _read_tag(file)) is not None:
        return tag
    file.unlink(missing_ok=True)  # damaged: what carries another tag is left to its owner
    data_home().mkdir(parents=True, exist_ok=True)
    drawn = file.with_name(f"id.{secrets.token_hex(4)}")
    drawn.write_text(secrets.token_hex(4), encoding="ascii")
    try:
        os.link(drawn, file)  # fails if another process was first, and never shows a half-written file
    except FileExistsError:
        pass
    finally:
        drawn.unlink()
    return _read_tag(file) or home_tag()


def _read_tag(file: Path) -> str | None:
    try:
        tag = file.read_bytes().decode("ascii", "replace")
    except FileNotFoundError:
        return None
    return tag if re.fullmatch("[0-9a-f]{8}", tag) else None


def owners_dir() -> Path:
    """One folder for each owner."""
    return run_dir() / "owners"


def is_owner_alive(owner_id: str) -> bool:
    """Whether the owner's process still holds its lock; works across pid namespaces."""
    try:
        lock = os.open(owners_dir() / owner_id / "lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
