"""Recipe of the guestbook: a virtual environment with the running interpreter's own waitress, a one-table database."""

from __future__ import annotations

import importlib.util
import shutil
import sqlite3
import venv
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from webserv.errors import MissingPrerequisite
from webserv.server.snapshot import Progress

_HERE = Path(__file__).parent


def image_inputs() -> list[Path]:
    """The program."""
    return [_HERE / "app" / "guestbook_app.py", _HERE / "build.py"]


def snapshot_inputs() -> list[Path]:
    """Nothing beside the image's."""
    return []


def build_image(target: Path, progress: Progress) -> None:
    """Makes the environment and copies the program."""
    progress("making the guestbook's environment")
    venv.create(target / "venv", with_pip=False, symlinks=True)
    found = importlib.util.find_spec("waitress")
    if found is None or found.origin is None:
        raise MissingPrerequisite("The guestbook needs waitress.", hint="pip install waitress")
    packages = next((target / "venv" / "lib").glob("python*/site-packages"))
    shutil.copytree(Path(found.origin).parent, packages / "waitress")
    (target / "app").mkdir()
    shutil.copy2(_HERE / "app" / "guestbook_app.py", target / "app")


def build_snapshot(image: Path, target: Path, progress: Progress) -> Mapping[str, Any]:
    """Makes the database with two entries and a folder with a note."""
    progress("seeding the guestbook")
    with closing(sqlite3.connect(target / "guestbook.sqlite3")) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE entry (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
        connection.executemany("INSERT INTO entry (text) VALUES (?)", [("first",), ("second",)])
        connection.commit()
    (target / "notes").mkdir()
    (target / "notes" / "welcome.txt").write_text("welcome\n", encoding="utf-8")
    cookie = {"name": "who", "value": "guest", "domain": "guestbook.example", "path": "/", "http_only": True}
    return {"logins": {"guest": [cookie]}}
