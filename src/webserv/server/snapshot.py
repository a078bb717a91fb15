"""`Snapshot`: a seeded, ready state of a site that clones start from; found by a hash of everything that made it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from webserv.errors import NotBuilt
from webserv.paths import images_dir, snapshots_dir
from webserv.server.site import Site
from webserv.server.storage.interface import Storage, refused
from webserv.server.storage.load import open_storage
from webserv.types import Cookie

CLONE_UID = 65534
"""Clones run as this user (nobody), and snapshot data belongs to it."""

Progress = Callable[[str], None]


class Recipe(Protocol):
    """What a site's recipe module offers."""

    def image_inputs(self) -> Sequence[Path]:
        """Files whose contents decide the image."""
        ...

    def snapshot_inputs(self) -> Sequence[Path]:
        """Files that, beside the image, decide the snapshot."""
        ...

    def build_image(self, target: Path, progress: Progress) -> None:
        """Makes the image in the empty folder `target`, where it stays."""
        ...

    def build_snapshot(self, image: Path, target: Path, progress: Progress) -> Mapping[str, Any]:
        """Makes the seeded data in the empty folder `target` and returns metadata with ``logins``."""
        ...


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A seeded state. What is known of it lies outside the pool and can be read without mounting it."""

    site: Site
    name: str
    """``<site>-<hash>``; also the folder's name in the pool."""
    image: Path
    start: Path
    """Folder with copies of the files that evaluators compare against (the database)."""
    digest: str
    """SHA-256 over the files that the site declares as its state."""
    logins: Mapping[str, tuple[Cookie, ...]]
    metadata: Mapping[str, Any]

    @property
    def database(self) -> Path:
        """The database as it was before any episode.

        Raises:
            ValueError: The site declares none.
        """
        if self.site.database is None:
            raise ValueError(f"site '{self.site.name}' declares no database")
        return self.start / self.site.database.path

    def data(self, storage: Storage) -> Path:
        """The data folder in an open pool."""
        return storage.snapshots / self.name


def find_snapshot(site: Site) -> Snapshot:
    """Returns the built snapshot that fits the site's present files.

    Raises:
        NotBuilt: There is none; the message names the command that builds it.
    """
    return _read_snapshot(site, _snapshot_name(site), _image_path(site))


def _read_snapshot(site: Site, name: str, image: Path) -> Snapshot:
    known = snapshots_dir() / name
    try:
        record = json.loads((known / "snapshot.json").read_text(encoding="utf-8"))
        logins = {
            login: tuple(Cookie(**cookie) for cookie in cookies)
            for login, cookies in record["logins"].items()
        }
        snapshot = Snapshot(site, name, image, known / "start", record["digest"], logins, record)
    except FileNotFoundError:
        raise NotBuilt(
            f"Site '{site.name}' is not built on this host (or its files have changed).",
            hint="Run 'webserv setup'.",
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise NotBuilt(f"'{known / 'snapshot.json'}' is damaged.", hint="Run 'webserv setup'.") from exc
    if site.database is not None and not _is_sqlite(snapshot.database):
        raise NotBuilt(f"'{snapshot.database}' is damaged.", hint="Run 'webserv setup'.")
    return snapshot


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def ensure_snapshot(site: Site, progress: Progress = lambda line: None) -> Snapshot:
    """Builds image and snapshot unless they are there; a second call costs milliseconds.

    Two processes that build at once wait for each other. What a killed build left is removed by the next.

    Raises:
        HostRefused: The disk is full.
        MissingPrerequisite: The recipe needs something that this host lacks.
    """
    for folder in (images_dir(), snapshots_dir()):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise refused(exc, folder) from exc
    with _build_lock(site), closing(open_storage()) as storage:
        recipe = _recipe(site)
        # Names are taken once: somebody who edits the site while it is built gets what the build began with.
        image, name = _image_path(site), _snapshot_name(site)
        if not (image / ".complete").exists():
            _fresh(image)
            progress(f"building the image of '{site.name}'")
            recipe.build_image(image, progress)
            (image / ".complete").touch()
        try:
            snapshot = _read_snapshot(site, name, image)
        except NotBuilt:
            snapshot = None
        if snapshot is None or not snapshot.data(storage).exists():
            _build_snapshot(site, name, image, storage, progress)
            snapshot = _read_snapshot(site, name, image)
    return snapshot


def list_outdated(site: Site) -> list[Path]:
    """Images and metadata of earlier versions of the site's files."""
    keep = {_image_path(site).name, _snapshot_name(site)}
    return [
        folder
        for parent in (images_dir(), snapshots_dir())
        for folder in parent.glob(f"{site.name}-*")
        if folder.name not in keep
    ]


def state_digest(site: Site, data: Path, *, frozen: bool = False) -> str:
    """SHA-256 over the logical content of the files that the site declares as its state.

    SQLite databases count by their rows, since pages may lie differently in a file of equal content.

    Args:
        site: Whose state.
        data: The data folder.
        frozen: Nobody writes there now, so that SQLite needs no side files, which would stay behind.
    """
    digest = hashlib.sha256()
    mode = "immutable=1" if frozen else "mode=ro"
    files = sorted({path for pattern in site.state for path in data.glob(pattern) if path.is_file()})
    for path in files:
        digest.update(str(path.relative_to(data)).encode() + b"\0")
        if site.database is not None and path == data / site.database.path:
            with closing(sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True)) as connection:
                for line in connection.iterdump():
                    digest.update(line.encode())
        else:
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _build_snapshot(site: Site, name: str, image: Path, storage: Storage, progress: Progress) -> None:
    storage.check_free()
    data, target = storage.snapshots / f"{name}.new", storage.snapshots / name
    known, described = snapshots_dir() / name, snapshots_dir() / f"{name}.new"
    progress(f"seeding '{site.name}'")
    try:
        for folder in (data, described):
            _fresh(folder)
        metadata = dict(_recipe(site).build_snapshot(image, data, progress))
        if os.geteuid() == 0:
            # A root without CAP_CHOWN has the process engine only, whose clones run as their owner.
            with contextlib.suppress(PermissionError):
                _give_to_clones(data)
        if site.database is not None:
            copy = described / "start" / site.database.path
            copy.parent.mkdir(parents=True)
            shutil.copy2(data / site.database.path, copy)
        metadata["digest"] = state_digest(site, data, frozen=True)
        text = json.dumps(metadata, indent=1, sort_keys=True)
        (described / "snapshot.json").write_text(text, encoding="utf-8")
        # What was there stays until the new is whole.
        for new, place in ((data, target), (described, known)):
            shutil.rmtree(place, ignore_errors=True)
            new.rename(place)
    except OSError as exc:
        raise refused(exc, storage.info.root) from exc


def _give_to_clones(data: Path) -> None:
    for folder, _, files in os.walk(data):
        os.chown(folder, CLONE_UID, CLONE_UID)
        for file in files:
            os.chown(Path(folder, file), CLONE_UID, CLONE_UID, follow_symlinks=False)


def _fresh(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)


@contextmanager
def _build_lock(site: Site) -> Iterator[None]:
    with (images_dir() / f"{site.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _recipe(site: Site) -> Recipe:
    return cast(Recipe, import_module(site.recipe))


def _image_path(site: Site) -> Path:
    return images_dir() / f"{site.name}-{_hash_files(_recipe(site).image_inputs())}"


def _snapshot_name(site: Site) -> str:
    recipe = _recipe(site)
    # What counts as state decides the digest that is kept with the snapshot.
    state = repr((site.state, site.database))
    return f"{site.name}-{_hash_files([*recipe.image_inputs(), *recipe.snapshot_inputs()], state)}"


def _hash_files(paths: Sequence[Path], also: str = "") -> str:
    digest = hashlib.sha256(also.encode())
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
